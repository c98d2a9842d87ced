//! Phase `check` for custom accesses: named accesses are valid combinations by construction, but
//! stages, access mask and layout from the caller have to be checked.

use crate::access::CustomAccess;
use crate::flags::{AccessMask, Layout, Stages};

/// Describes the problem with a custom access; `None` if Vulkan allows it.
pub(crate) fn wrong(custom: &CustomAccess, image: bool) -> Option<String> {
    let CustomAccess {
        stages,
        access,
        layout,
        writes,
    } = *custom;
    let made = |kind: &AccessMask| stages_of(*kind).intersects(stages.expanded());
    if let Some(kind) = access.iter().find(|kind| !made(kind)) {
        return Some(format!(
            "none of the stages {} can make {} (section \"Access Types\")",
            names(stages),
            names(kind),
        ));
    }
    let written = access.writes();
    if writes && written.is_empty() {
        return Some("`writes` is set, but the access mask has no write".into());
    }
    if !writes && !written.is_empty() {
        return Some(format!(
            "`writes` is not set, but the access mask has {}",
            names(written)
        ));
    }
    if stages.contains(Stages::HOST) && stages != Stages::HOST {
        return Some(
            "its stages are of both host and device, but a pass runs on one of them".into(),
        );
    }
    if stages.intersects(ENDS) {
        return Some(format!(
            "no command does work in {} (section \"Pipeline Stages\"); name the stages of the commands, \
             or ALL_COMMANDS",
            names(stages & ENDS)
        ));
    }
    if image && matches!(layout, Layout::Undefined | Layout::Preinitialized) {
        return Some(format!("no image can be transitioned to layout {layout:?}"));
    }
    None
}

/// Top and bottom of the pipeline: each means all stages in one scope and no stage in the other.
const ENDS: Stages = Stages::TOP_OF_PIPE.union(Stages::BOTTOM_OF_PIPE);

/// Flags with their Vulkan names.
fn names<T: bitflags::Flags>(flags: T) -> String {
    let names: Vec<&str> = flags.iter_names().map(|(name, _)| name).collect();
    if names.is_empty() {
        return "(none)".into();
    }
    names.join(" and ")
}

/// All shader stages.
const SHADERS: Stages = Stages::VERTEX_SHADER
    .union(Stages::TESSELLATION_CONTROL_SHADER)
    .union(Stages::TESSELLATION_EVALUATION_SHADER)
    .union(Stages::GEOMETRY_SHADER)
    .union(Stages::TASK_SHADER)
    .union(Stages::MESH_SHADER)
    .union(Stages::FRAGMENT_SHADER)
    .union(Stages::COMPUTE_SHADER)
    .union(Stages::RAY_TRACING_SHADER);

/// The stages that make a kind of access (table "Supported access types").
pub(crate) const fn stages_of(kind: AccessMask) -> Stages {
    let builds = Stages::ACCELERATION_STRUCTURE_BUILD.union(Stages::MICROMAP_BUILD);
    let copies = Stages::COPY
        .union(Stages::RESOLVE)
        .union(Stages::BLIT)
        .union(Stages::ACCELERATION_STRUCTURE_COPY)
        .union(builds);
    match kind {
        AccessMask::INDIRECT_COMMAND_READ => {
            Stages::DRAW_INDIRECT.union(Stages::ACCELERATION_STRUCTURE_BUILD)
        }
        AccessMask::INDEX_READ => Stages::INDEX_INPUT,
        AccessMask::VERTEX_ATTRIBUTE_READ => Stages::VERTEX_ATTRIBUTE_INPUT,
        AccessMask::UNIFORM_READ
        | AccessMask::SHADER_WRITE
        | AccessMask::SHADER_SAMPLED_READ
        | AccessMask::SHADER_STORAGE_READ
        | AccessMask::SHADER_STORAGE_WRITE
        | AccessMask::DESCRIPTOR_BUFFER_READ => SHADERS,
        AccessMask::SHADER_READ => SHADERS.union(builds),
        AccessMask::INPUT_ATTACHMENT_READ => Stages::FRAGMENT_SHADER,
        AccessMask::COLOR_ATTACHMENT_READ
        | AccessMask::COLOR_ATTACHMENT_WRITE
        | AccessMask::COLOR_ATTACHMENT_READ_NONCOHERENT => Stages::COLOR_ATTACHMENT_OUTPUT,
        AccessMask::DEPTH_STENCIL_ATTACHMENT_READ | AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE => {
            Stages::EARLY_FRAGMENT_TESTS.union(Stages::LATE_FRAGMENT_TESTS)
        }
        AccessMask::TRANSFER_READ => copies,
        AccessMask::TRANSFER_WRITE => copies.union(Stages::CLEAR),
        AccessMask::HOST_READ | AccessMask::HOST_WRITE => Stages::HOST,
        AccessMask::MEMORY_READ | AccessMask::MEMORY_WRITE => {
            Stages::all().difference(Stages::TOP_OF_PIPE.union(Stages::BOTTOM_OF_PIPE))
        }
        AccessMask::COMMAND_PREPROCESS_READ | AccessMask::COMMAND_PREPROCESS_WRITE => {
            Stages::COMMAND_PREPROCESS
        }
        AccessMask::CONDITIONAL_RENDERING_READ => Stages::CONDITIONAL_RENDERING,
        AccessMask::ACCELERATION_STRUCTURE_READ => SHADERS
            .union(Stages::ACCELERATION_STRUCTURE_BUILD)
            .union(Stages::ACCELERATION_STRUCTURE_COPY),
        AccessMask::ACCELERATION_STRUCTURE_WRITE => {
            Stages::ACCELERATION_STRUCTURE_BUILD.union(Stages::ACCELERATION_STRUCTURE_COPY)
        }
        AccessMask::FRAGMENT_SHADING_RATE_ATTACHMENT_READ => {
            Stages::FRAGMENT_SHADING_RATE_ATTACHMENT
        }
        AccessMask::FRAGMENT_DENSITY_MAP_READ => Stages::FRAGMENT_DENSITY_PROCESS,
        AccessMask::TRANSFORM_FEEDBACK_COUNTER_READ => {
            Stages::TRANSFORM_FEEDBACK.union(Stages::DRAW_INDIRECT)
        }
        AccessMask::TRANSFORM_FEEDBACK_WRITE | AccessMask::TRANSFORM_FEEDBACK_COUNTER_WRITE => {
            Stages::TRANSFORM_FEEDBACK
        }
        AccessMask::VIDEO_DECODE_READ | AccessMask::VIDEO_DECODE_WRITE => Stages::VIDEO_DECODE,
        AccessMask::VIDEO_ENCODE_READ | AccessMask::VIDEO_ENCODE_WRITE => Stages::VIDEO_ENCODE,
        AccessMask::SHADER_BINDING_TABLE_READ => Stages::RAY_TRACING_SHADER,
        AccessMask::OPTICAL_FLOW_READ | AccessMask::OPTICAL_FLOW_WRITE => Stages::OPTICAL_FLOW,
        AccessMask::MICROMAP_READ => builds,
        AccessMask::MICROMAP_WRITE => Stages::MICROMAP_BUILD,
        _ => Stages::empty(),
    }
}

#[cfg(test)]
mod tests;
