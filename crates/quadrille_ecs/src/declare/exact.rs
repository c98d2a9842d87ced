//! Rules for accesses by the solver's name ([`AccessKind::Exactly`](crate::AccessKind)), derived from their stages and
//! access masks.

use quadrille_sync::access::Access;
use quadrille_sync::flags::{AccessMask, Stages};
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::shader::{Binding, BindingKind};
use quadrille_vulkan::vk;

/// Whether the access covers a shader's binding, in all stages that use it.
pub(crate) fn allows(access: Access, info: &Binding) -> bool {
    let given = access.scope(Capabilities::all());
    let is_seen = |(stage, by): &(vk::ShaderStageFlags, Stages)| {
        !info.stages.contains(*stage) || given.stages.intersects(*by)
    };
    given.access.intersects(needed(info)) && STAGES.iter().all(is_seen)
}

/// Whether the access is that of a color or depth attachment.
pub(crate) fn is_attachment(access: Access) -> bool {
    let attachments = AccessMask::COLOR_ATTACHMENT_READ
        | AccessMask::COLOR_ATTACHMENT_WRITE
        | AccessMask::DEPTH_STENCIL_ATTACHMENT_READ
        | AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE
        | AccessMask::MEMORY_READ
        | AccessMask::MEMORY_WRITE;
    access
        .scope(Capabilities::all())
        .access
        .intersects(attachments)
}

/// Shader stages, with the pipeline stages that cover each of them.
const STAGES: [(vk::ShaderStageFlags, Stages); 3] = [
    (
        vk::ShaderStageFlags::VERTEX,
        Stages::VERTEX_SHADER
            .union(Stages::PRE_RASTERIZATION_SHADERS)
            .union(Stages::ALL_GRAPHICS)
            .union(Stages::ALL_COMMANDS),
    ),
    (
        vk::ShaderStageFlags::FRAGMENT,
        Stages::FRAGMENT_SHADER
            .union(Stages::ALL_GRAPHICS)
            .union(Stages::ALL_COMMANDS),
    ),
    (
        vk::ShaderStageFlags::COMPUTE,
        Stages::COMPUTE_SHADER.union(Stages::ALL_COMMANDS),
    ),
];

/// Returns the access masks of which a shader's binding needs one. A declared write is accepted for `read_write`, as
/// with declared kinds: WGSL has no write-only storage buffers.
fn needed(info: &Binding) -> AccessMask {
    let (read, write) = (AccessMask::SHADER_READ, AccessMask::SHADER_WRITE);
    let own = match (info.kind, info.writes) {
        (BindingKind::UniformBuffer, _) => AccessMask::UNIFORM_READ,
        (BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_), _) => {
            AccessMask::SHADER_SAMPLED_READ | read
        }
        (BindingKind::InputAttachment(_), _) => AccessMask::INPUT_ATTACHMENT_READ,
        (_, false) => AccessMask::SHADER_STORAGE_READ | read,
        (_, true) => return AccessMask::SHADER_STORAGE_WRITE | write | AccessMask::MEMORY_WRITE,
    };
    own | AccessMask::MEMORY_READ
}

#[cfg(test)]
mod tests;
