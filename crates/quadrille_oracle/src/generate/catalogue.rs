//! Catalogue of the accesses that random passes make, by kind of resource.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::resource::{Resource, ResourceKind};
use quadrille_sync::topology::Capabilities;

/// Kind of work that a random pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Graphics,
    Compute,
    Transfer,
    Host,
}

impl Work {
    /// Returns the capabilities that the work requires of a queue.
    pub(super) fn required(self) -> Capabilities {
        match self {
            Work::Graphics => Capabilities::GRAPHICS,
            Work::Compute => Capabilities::COMPUTE,
            Work::Transfer => Capabilities::TRANSFER,
            Work::Host => Capabilities::empty(),
        }
    }
}

const GRAPHICS_BUFFER: &[Access] = &[
    Access::VertexRead,
    Access::IndexRead,
    Access::IndirectRead,
    Access::UniformReadVertex,
    Access::UniformReadFragment,
    Access::UniformReadGraphics,
    Access::UniformReadTaskMesh,
    Access::UniformReadAny,
    Access::StorageReadFragment,
    Access::StorageReadAny,
    Access::StorageWriteFragment,
    Access::StorageWriteVertex,
    Access::StorageWriteGraphics,
    Access::StorageReadWriteFragment,
    Access::ConditionalRenderingRead,
    Access::TransformFeedbackWrite,
    Access::TransformFeedbackCounterReadWrite,
    Access::CopyWrite,
];

const GRAPHICS_COLOR: &[Access] = &[
    Access::ColorAttachmentWrite,
    Access::ColorAttachmentWrite,
    Access::ColorAttachmentReadWrite,
    Access::SampledVertex,
    Access::SampledFragment,
    Access::SampledFragment,
    Access::SampledGraphics,
    Access::SampledAny,
    Access::ColorAttachmentLocalReadWrite,
    Access::InputAttachmentRead,
    Access::StorageReadFragment,
    Access::StorageWriteFragment,
    Access::StorageReadWriteFragment,
    Access::ResolveAttachmentWrite,
    Access::ResolveRead,
    Access::ResolveWrite,
    Access::BlitRead,
    Access::BlitWrite,
];

const GRAPHICS_DEPTH: &[Access] = &[
    Access::DepthAttachmentWrite,
    Access::DepthAttachmentReadWrite,
    Access::DepthReadOnly,
    Access::DepthAttachmentLocalReadWrite,
    Access::DepthReadOnlySampled,
    Access::SampledFragment,
    Access::DepthResolveAttachmentWrite,
    Access::BlitWrite,
];

const GRAPHICS_STENCIL: &[Access] = &[
    Access::StencilAttachmentWrite,
    Access::StencilAttachmentReadWrite,
    Access::StencilReadOnly,
    Access::SampledFragment,
];

const COMPUTE_BUFFER: &[Access] = &[
    Access::StorageReadCompute,
    Access::StorageReadCompute,
    Access::StorageWriteCompute,
    Access::StorageWriteCompute,
    Access::StorageReadWriteCompute,
    Access::StorageReadWriteAny,
    Access::UniformReadCompute,
    Access::UniformReadRayTracing,
    Access::IndirectRead,
    Access::AccelerationStructureBuildInput,
    Access::AccelerationStructureBuildRead,
    Access::AccelerationStructureBuildWrite,
    Access::AccelerationStructureBuildScratch,
    Access::AccelerationStructureCopyRead,
    Access::AccelerationStructureTraceReadRayTracing,
    Access::AccelerationStructureTraceReadCompute,
    Access::ShaderBindingTableRead,
    Access::Clear,
];

const COMPUTE_IMAGE: &[Access] = &[
    Access::SampledCompute,
    Access::SampledAny,
    Access::StorageReadCompute,
    Access::StorageWriteCompute,
    Access::StorageReadWriteCompute,
    Access::StorageWriteRayTracing,
    Access::Clear,
];

const COMPUTE_DEPTH: &[Access] = &[Access::SampledCompute, Access::CopyRead];

const TRANSFER: &[Access] = &[
    Access::CopyRead,
    Access::CopyWrite,
    Access::TransferRead,
    Access::TransferWrite,
];

const HOST: &[Access] = &[
    Access::HostRead,
    Access::HostRead,
    Access::HostWrite,
    Access::HostReadWrite,
];

/// Returns the accesses that a pass of this kind may make to aspects of a resource; empty if none.
pub(super) fn accesses(work: Work, resource: &Resource, aspects: Aspects) -> &'static [Access] {
    let is_image = matches!(resource.kind, ResourceKind::Image { .. });
    let is_color = aspects == Aspects::COLOR;
    match (work, is_image, is_color) {
        (Work::Graphics, false, _) => GRAPHICS_BUFFER,
        (Work::Graphics, true, true) => GRAPHICS_COLOR,
        (Work::Graphics, true, false) if aspects == Aspects::STENCIL => GRAPHICS_STENCIL,
        (Work::Graphics, true, false) => GRAPHICS_DEPTH,
        (Work::Compute, false, _) => COMPUTE_BUFFER,
        (Work::Compute, true, true) => COMPUTE_IMAGE,
        (Work::Compute, true, false) => COMPUTE_DEPTH,
        (Work::Transfer, ..) => TRANSFER,
        (Work::Host, ..) => HOST,
    }
}
