//! Vulkan's rules of stages and accesses: the stages that a queue supports, stage groups, logical
//! order, and the stages of each access.
//!
//! Written from the tables of the chapter "Synchronization and Cache Control" (sections "Pipeline
//! Stages" and "Access Types"), independently of the solver.

use quadrille_sync::flags::{AccessMask, Stages};
use quadrille_sync::plan::Scope;
use quadrille_sync::topology::Capabilities;

/// The number of bits that stage masks use, which is the number of rows in a clock.
pub(crate) const STAGE_COUNT: usize = 40;

/// An artificial stage for operations outside of all pipeline stages: layout transitions and releases
/// of ownership in barriers. `ALL_COMMANDS` includes it in both scopes ("all operations performed by
/// all commands"), and so do semaphore signals.
pub(crate) const COMMAND: Stages = Stages::from_bits_retain(1 << 39);

/// The stages of the primitive graphics pipeline in logical order. Mesh shading has an order of its
/// own, [`MESH_ORDER`].
const GRAPHICS_ORDER: [Stages; 13] = [
    Stages::DRAW_INDIRECT,
    Stages::INDEX_INPUT,
    Stages::VERTEX_ATTRIBUTE_INPUT,
    Stages::VERTEX_SHADER,
    Stages::TESSELLATION_CONTROL_SHADER,
    Stages::TESSELLATION_EVALUATION_SHADER,
    Stages::GEOMETRY_SHADER,
    Stages::TRANSFORM_FEEDBACK,
    Stages::FRAGMENT_SHADING_RATE_ATTACHMENT,
    Stages::EARLY_FRAGMENT_TESTS,
    Stages::FRAGMENT_SHADER,
    Stages::LATE_FRAGMENT_TESTS,
    Stages::COLOR_ATTACHMENT_OUTPUT,
];

/// The mesh shading pipeline's stages in logical order.
const MESH_ORDER: [Stages; 8] = [
    Stages::DRAW_INDIRECT,
    Stages::TASK_SHADER,
    Stages::MESH_SHADER,
    Stages::FRAGMENT_SHADING_RATE_ATTACHMENT,
    Stages::EARLY_FRAGMENT_TESTS,
    Stages::FRAGMENT_SHADER,
    Stages::LATE_FRAGMENT_TESTS,
    Stages::COLOR_ATTACHMENT_OUTPUT,
];

/// The compute pipeline's stages in logical order.
const COMPUTE_ORDER: [Stages; 2] = [Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER];

/// The ray tracing pipeline's stages in logical order.
const RAY_TRACING_ORDER: [Stages; 2] = [Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER];

/// All logical orders. `CONDITIONAL_RENDERING`, `COMMAND_PREPROCESS` and `FRAGMENT_DENSITY_PROCESS`
/// have no logical order.
const ORDERS: [&[Stages]; 4] = [
    &GRAPHICS_ORDER,
    &MESH_ORDER,
    &COMPUTE_ORDER,
    &RAY_TRACING_ORDER,
];

/// `ALL_TRANSFER`.
const TRANSFER: Stages = Stages::COPY
    .union(Stages::RESOLVE)
    .union(Stages::BLIT)
    .union(Stages::CLEAR)
    .union(Stages::ACCELERATION_STRUCTURE_COPY);

/// `PRE_RASTERIZATION_SHADERS`.
const PRE_RASTERIZATION: Stages = Stages::VERTEX_SHADER
    .union(Stages::TESSELLATION_CONTROL_SHADER)
    .union(Stages::TESSELLATION_EVALUATION_SHADER)
    .union(Stages::GEOMETRY_SHADER)
    .union(Stages::TASK_SHADER)
    .union(Stages::MESH_SHADER);

/// `ALL_GRAPHICS`.
const GRAPHICS: Stages = PRE_RASTERIZATION
    .union(Stages::DRAW_INDIRECT)
    .union(Stages::INDEX_INPUT)
    .union(Stages::VERTEX_ATTRIBUTE_INPUT)
    .union(Stages::TRANSFORM_FEEDBACK)
    .union(Stages::FRAGMENT_SHADING_RATE_ATTACHMENT)
    .union(Stages::FRAGMENT_DENSITY_PROCESS)
    .union(Stages::CONDITIONAL_RENDERING)
    .union(Stages::EARLY_FRAGMENT_TESTS)
    .union(Stages::FRAGMENT_SHADER)
    .union(Stages::LATE_FRAGMENT_TESTS)
    .union(Stages::COLOR_ATTACHMENT_OUTPUT);

/// All shader stages.
const SHADERS: Stages = PRE_RASTERIZATION
    .union(Stages::FRAGMENT_SHADER)
    .union(Stages::COMPUTE_SHADER)
    .union(Stages::RAY_TRACING_SHADER);

/// Masks that mean several stages, or none, and are no stage themselves.
const GROUPS: Stages = Stages::TOP_OF_PIPE
    .union(Stages::BOTTOM_OF_PIPE)
    .union(Stages::VERTEX_INPUT)
    .union(Stages::ALL_TRANSFER)
    .union(Stages::ALL_GRAPHICS)
    .union(Stages::ALL_COMMANDS)
    .union(Stages::PRE_RASTERIZATION_SHADERS);

/// All single stages of the device.
pub(crate) const EVERY: Stages = Stages::all().difference(GROUPS).difference(Stages::HOST);

/// The single stages of a mask, for access scopes: logical order does not extend these.
pub(crate) const fn single(mask: Stages) -> Stages {
    let mut stages = mask.difference(GROUPS);
    if mask.contains(Stages::VERTEX_INPUT) {
        stages = stages
            .union(Stages::INDEX_INPUT)
            .union(Stages::VERTEX_ATTRIBUTE_INPUT);
    }
    if mask.contains(Stages::ALL_TRANSFER) {
        stages = stages.union(TRANSFER);
    }
    if mask.contains(Stages::ALL_GRAPHICS) {
        stages = stages.union(GRAPHICS);
    }
    if mask.contains(Stages::PRE_RASTERIZATION_SHADERS) {
        stages = stages.union(PRE_RASTERIZATION);
    }
    if mask.contains(Stages::ALL_COMMANDS) {
        stages = stages.union(EVERY);
    }
    stages
}

/// The stages of a first synchronization scope: those named, and all logically earlier ones.
pub(crate) fn first_scope(mask: Stages) -> Stages {
    let mut stages = single(mask);
    if mask.intersects(Stages::BOTTOM_OF_PIPE | Stages::ALL_COMMANDS) {
        stages |= EVERY | COMMAND;
    }
    for order in ORDERS {
        let last = order.iter().rposition(|stage| stages.contains(*stage));
        stages |= order[..last.map_or(0, |last| last + 1)]
            .iter()
            .copied()
            .collect();
    }
    stages
}

/// The stages of a second synchronization scope: those named, and all logically later ones.
pub(crate) fn second_scope(mask: Stages) -> Stages {
    let mut stages = single(mask);
    if mask.intersects(Stages::TOP_OF_PIPE | Stages::ALL_COMMANDS) {
        stages |= EVERY | COMMAND;
    }
    for order in ORDERS {
        let first = order.iter().position(|stage| stages.contains(*stage));
        stages |= order[first.unwrap_or(order.len())..]
            .iter()
            .copied()
            .collect();
    }
    stages
}

/// The stages and groups that are valid on a queue with these capabilities (table "Supported pipeline
/// stage flags"). Blits and resolves need graphics, as their commands do.
pub(crate) fn supported(capabilities: Capabilities) -> Stages {
    let mut stages =
        Stages::TOP_OF_PIPE | Stages::BOTTOM_OF_PIPE | Stages::ALL_COMMANDS | Stages::HOST;
    let graphics = capabilities.contains(Capabilities::GRAPHICS);
    let compute = capabilities.contains(Capabilities::COMPUTE);
    if graphics {
        stages |= GRAPHICS | Stages::VERTEX_INPUT | Stages::PRE_RASTERIZATION_SHADERS;
        stages |= Stages::ALL_GRAPHICS | Stages::RESOLVE | Stages::BLIT;
    }
    if compute {
        stages |= Stages::COMPUTE_SHADER | Stages::RAY_TRACING_SHADER;
        stages |= Stages::ACCELERATION_STRUCTURE_BUILD | Stages::ACCELERATION_STRUCTURE_COPY;
        stages |= Stages::MICROMAP_BUILD;
    }
    if graphics || compute {
        stages |=
            Stages::DRAW_INDIRECT | Stages::CONDITIONAL_RENDERING | Stages::COMMAND_PREPROCESS;
    }
    if graphics || compute || capabilities.contains(Capabilities::TRANSFER) {
        stages |= Stages::ALL_TRANSFER | Stages::COPY | Stages::CLEAR;
    }
    let special = [
        (Capabilities::VIDEO_DECODE, Stages::VIDEO_DECODE),
        (Capabilities::VIDEO_ENCODE, Stages::VIDEO_ENCODE),
        (Capabilities::OPTICAL_FLOW, Stages::OPTICAL_FLOW),
    ];
    for (capability, stage) in special {
        if capabilities.contains(capability) {
            stages |= stage;
        }
    }
    stages
}

/// The single device stages of a queue with these capabilities.
pub(crate) fn stages_of_queue(capabilities: Capabilities) -> Stages {
    supported(capabilities) & EVERY
}

/// The single stages in which an access can happen (table "Supported access types").
fn stages_of(access: AccessMask) -> Stages {
    use AccessMask as A;
    use Stages as S;
    let transfer =
        S::ACCELERATION_STRUCTURE_BUILD | S::ACCELERATION_STRUCTURE_COPY | S::MICROMAP_BUILD;
    match access {
        A::INDIRECT_COMMAND_READ => S::DRAW_INDIRECT | S::ACCELERATION_STRUCTURE_BUILD,
        A::INDEX_READ => S::INDEX_INPUT,
        A::VERTEX_ATTRIBUTE_READ => S::VERTEX_ATTRIBUTE_INPUT,
        A::UNIFORM_READ
        | A::SHADER_SAMPLED_READ
        | A::SHADER_STORAGE_READ
        | A::SHADER_STORAGE_WRITE
        | A::SHADER_WRITE => SHADERS,
        A::DESCRIPTOR_BUFFER_READ => SHADERS,
        A::INPUT_ATTACHMENT_READ => S::FRAGMENT_SHADER,
        A::SHADER_READ => SHADERS | S::ACCELERATION_STRUCTURE_BUILD | S::MICROMAP_BUILD,
        A::COLOR_ATTACHMENT_READ
        | A::COLOR_ATTACHMENT_WRITE
        | A::COLOR_ATTACHMENT_READ_NONCOHERENT => S::COLOR_ATTACHMENT_OUTPUT,
        A::DEPTH_STENCIL_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_WRITE => {
            S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS
        }
        A::TRANSFER_READ => transfer | S::COPY | S::RESOLVE | S::BLIT,
        A::TRANSFER_WRITE => transfer | S::COPY | S::RESOLVE | S::BLIT | S::CLEAR,
        A::HOST_READ | A::HOST_WRITE => S::HOST,
        A::MEMORY_READ | A::MEMORY_WRITE => EVERY | S::HOST,
        A::COMMAND_PREPROCESS_READ | A::COMMAND_PREPROCESS_WRITE => S::COMMAND_PREPROCESS,
        A::CONDITIONAL_RENDERING_READ => S::CONDITIONAL_RENDERING,
        A::ACCELERATION_STRUCTURE_READ => {
            SHADERS | S::ACCELERATION_STRUCTURE_BUILD | S::ACCELERATION_STRUCTURE_COPY
        }
        A::ACCELERATION_STRUCTURE_WRITE => {
            S::ACCELERATION_STRUCTURE_BUILD | S::ACCELERATION_STRUCTURE_COPY
        }
        A::FRAGMENT_SHADING_RATE_ATTACHMENT_READ => S::FRAGMENT_SHADING_RATE_ATTACHMENT,
        A::FRAGMENT_DENSITY_MAP_READ => S::FRAGMENT_DENSITY_PROCESS,
        A::TRANSFORM_FEEDBACK_WRITE | A::TRANSFORM_FEEDBACK_COUNTER_WRITE => S::TRANSFORM_FEEDBACK,
        A::TRANSFORM_FEEDBACK_COUNTER_READ => S::DRAW_INDIRECT | S::TRANSFORM_FEEDBACK,
        A::VIDEO_DECODE_READ | A::VIDEO_DECODE_WRITE => S::VIDEO_DECODE,
        A::VIDEO_ENCODE_READ | A::VIDEO_ENCODE_WRITE => S::VIDEO_ENCODE,
        A::SHADER_BINDING_TABLE_READ => S::RAY_TRACING_SHADER,
        A::OPTICAL_FLOW_READ | A::OPTICAL_FLOW_WRITE => S::OPTICAL_FLOW,
        A::MICROMAP_READ => S::ACCELERATION_STRUCTURE_BUILD | S::MICROMAP_BUILD,
        A::MICROMAP_WRITE => S::MICROMAP_BUILD,
        _ => S::empty(),
    }
}

/// Kinds of access that write.
const WRITES: AccessMask = AccessMask::SHADER_WRITE
    .union(AccessMask::SHADER_STORAGE_WRITE)
    .union(AccessMask::COLOR_ATTACHMENT_WRITE)
    .union(AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE)
    .union(AccessMask::TRANSFER_WRITE)
    .union(AccessMask::HOST_WRITE)
    .union(AccessMask::MEMORY_WRITE)
    .union(AccessMask::COMMAND_PREPROCESS_WRITE)
    .union(AccessMask::ACCELERATION_STRUCTURE_WRITE)
    .union(AccessMask::TRANSFORM_FEEDBACK_WRITE)
    .union(AccessMask::TRANSFORM_FEEDBACK_COUNTER_WRITE)
    .union(AccessMask::VIDEO_DECODE_WRITE)
    .union(AccessMask::VIDEO_ENCODE_WRITE)
    .union(AccessMask::OPTICAL_FLOW_WRITE)
    .union(AccessMask::MICROMAP_WRITE);

/// The write accesses or the read accesses of a mask.
pub(crate) fn accesses(mask: AccessMask, writes: bool) -> AccessMask {
    if writes { mask & WRITES } else { mask - WRITES }
}

/// One kind of access in one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageAccess {
    pub(crate) stage: Stages,
    pub(crate) access: AccessMask,
}

/// The pairs of a single stage and a single access in a scope.
pub(crate) fn pairs(scope: Scope) -> impl Iterator<Item = StageAccess> {
    let stages = single(scope.stages);
    scope.access.iter().flat_map(move |access| {
        let stages = stages & stages_of(access);
        stages
            .iter()
            .map(move |stage| StageAccess { stage, access })
    })
}

/// Whether an access scope covers one kind of access in one stage.
pub(crate) fn covers(scope: Scope, pair: StageAccess) -> bool {
    let mut groups = pair.access;
    let write = WRITES.contains(pair.access);
    groups |= if write {
        AccessMask::MEMORY_WRITE
    } else {
        AccessMask::MEMORY_READ
    };
    let shader_reads = AccessMask::SHADER_SAMPLED_READ
        | AccessMask::SHADER_STORAGE_READ
        | AccessMask::SHADER_BINDING_TABLE_READ;
    if shader_reads.contains(pair.access) {
        groups |= AccessMask::SHADER_READ;
    }
    if pair.access == AccessMask::SHADER_STORAGE_WRITE {
        groups |= AccessMask::SHADER_WRITE;
    }
    if pair.access == AccessMask::SHADER_WRITE {
        groups |= AccessMask::SHADER_STORAGE_WRITE;
    }
    single(scope.stages).contains(pair.stage) && scope.access.intersects(groups)
}

/// The accesses of a scope that none of its stages can make.
pub(crate) fn impossible(scope: Scope) -> AccessMask {
    let stages = single(scope.stages);
    let possible = |access: &AccessMask| stages_of(*access).intersects(stages);
    scope
        .access
        .iter()
        .filter(|access| !possible(access))
        .collect()
}

#[cfg(test)]
mod tests;
