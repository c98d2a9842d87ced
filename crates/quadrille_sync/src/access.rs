//! Accesses: named kinds of memory access, each with its Vulkan stages, access mask and layout.
//!
//! A pass declares an access by name, such as sampling in the fragment shader. The one table here maps
//! it to stages, access mask and layout. Accesses that the table lacks are declared as
//! [`CustomAccess`].
//!
//! The names of shader accesses end with their shader stages: `Vertex`, `Fragment`, `TaskMesh`,
//! `Graphics` (all shaders of graphics pipelines), `Compute`, `RayTracing`, and `Any` (graphics and
//! compute, as far as the queue supports them). Stages that need a device feature occur only in accesses
//! that need the feature too. So `Graphics` uses `PRE_RASTERIZATION_SHADERS`, which includes only stages
//! that the device supports.

use crate::flags::{AccessMask, Layout, Stages};
use crate::plan::Scope;
use crate::topology::Capabilities;

mod target;

pub use target::Target;

/// An access in Vulkan's own terms, for uses that have no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CustomAccess {
    /// The pipeline stages.
    pub stages: Stages,
    /// The kinds of memory access.
    pub access: AccessMask,
    /// The layout that images must be in; buffers ignore it.
    pub layout: Layout,
    /// Whether memory is written. Reads follow from `access`.
    pub writes: bool,
}

/// One row of the table of accesses.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    name: &'static str,
    pub(crate) stages: Stages,
    pub(crate) access: AccessMask,
    pub(crate) layout: Layout,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) target: Target,
}

/// Defines the enumeration and its table from one list, so that they agree.
macro_rules! accesses {
    ($($(#[$doc:meta])* $name:ident = [$($stage:ident)|*] [$($mask:ident)|*] $layout:ident $($mode:ident)+;)+) => {
        /// A named kind of memory access.
        ///
        /// ```
        /// use quadrille_sync::access::Access;
        /// use quadrille_sync::flags::{AccessMask, Layout, Stages};
        /// use quadrille_sync::topology::Capabilities;
        /// let scope = Access::SampledFragment.scope(Capabilities::GRAPHICS);
        /// assert_eq!(scope.stages, Stages::FRAGMENT_SHADER);
        /// assert_eq!(scope.access, AccessMask::SHADER_SAMPLED_READ);
        /// assert_eq!(Access::SampledFragment.layout(), Layout::ShaderReadOnlyOptimal);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Access {
            $($(#[$doc])* $name,)+
            /// Anything else, in Vulkan's terms.
            Custom(CustomAccess),
        }

        /// Index of the row of an access.
        enum RowIndex { $($name),+ }

        impl Access {
            /// All named accesses, in the order of their declaration.
            pub const ALL: &'static [Access] = &[$(Access::$name),+];

            /// The rows of all named accesses, in this order.
            const ROWS: &'static [Row] = &[$(Row {
                name: stringify!($name),
                stages: Stages::empty()$(.union(Stages::$stage))*,
                access: AccessMask::empty()$(.union(AccessMask::$mask))*,
                layout: Layout::$layout,
                reads: false $(| accesses!(@reads $mode))+,
                writes: false $(| accesses!(@writes $mode))+,
                target: Target::ANY $(.and(accesses!(@target $mode)))+,
            }),+];

            /// The row of a named access.
            #[inline(always)]
            const fn row(&self) -> Result<&'static Row, &CustomAccess> {
                match self {
                    $(Access::$name => Ok(&Self::ROWS[RowIndex::$name as usize]),)+
                    Access::Custom(custom) => Err(custom),
                }
            }
        }
    };
    (@reads read) => { true };
    (@reads $other:ident) => { false };
    (@writes write) => { true };
    (@writes $other:ident) => { false };
    (@target buffer) => { Target::BUFFER };
    (@target image) => { Target::IMAGE };
    (@target color) => { Target::COLOR };
    (@target depth) => { Target::DEPTH };
    (@target $other:ident) => { Target::ANY };
}

accesses! {
    /// Uniform buffers read by the vertex shader.
    UniformReadVertex = [VERTEX_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by the fragment shader.
    UniformReadFragment = [FRAGMENT_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by the task and mesh shaders.
    UniformReadTaskMesh = [TASK_SHADER | MESH_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by all shaders of graphics pipelines.
    UniformReadGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by the compute shader.
    UniformReadCompute = [COMPUTE_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by ray tracing shaders.
    UniformReadRayTracing = [RAY_TRACING_SHADER] [UNIFORM_READ] General read buffer;
    /// Uniform buffers read by all graphics and compute shaders that the queue has.
    UniformReadAny = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [UNIFORM_READ] General read buffer;
    /// Sampled images or uniform texel buffers read by the vertex shader.
    SampledVertex = [VERTEX_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by the fragment shader.
    SampledFragment = [FRAGMENT_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by the task and mesh shaders.
    SampledTaskMesh = [TASK_SHADER | MESH_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by all shaders of graphics pipelines.
    SampledGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by the compute shader.
    SampledCompute = [COMPUTE_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by ray tracing shaders.
    SampledRayTracing = [RAY_TRACING_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Sampled images or uniform texel buffers read by all graphics and compute shaders that the
    /// queue has.
    SampledAny = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [SHADER_SAMPLED_READ] ShaderReadOnlyOptimal read;
    /// Storage buffers or images read by the vertex shader.
    StorageReadVertex = [VERTEX_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by the fragment shader.
    StorageReadFragment = [FRAGMENT_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by the task and mesh shaders.
    StorageReadTaskMesh = [TASK_SHADER | MESH_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by all shaders of graphics pipelines.
    StorageReadGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by the compute shader.
    StorageReadCompute = [COMPUTE_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by ray tracing shaders.
    StorageReadRayTracing = [RAY_TRACING_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images read by all graphics and compute shaders that the queue has.
    StorageReadAny = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [SHADER_STORAGE_READ] General read;
    /// Storage buffers or images written by the vertex shader.
    StorageWriteVertex = [VERTEX_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by the fragment shader.
    StorageWriteFragment = [FRAGMENT_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by the task and mesh shaders.
    StorageWriteTaskMesh = [TASK_SHADER | MESH_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by all shaders of graphics pipelines.
    StorageWriteGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by the compute shader.
    StorageWriteCompute = [COMPUTE_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by ray tracing shaders.
    StorageWriteRayTracing = [RAY_TRACING_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images written by all graphics and compute shaders that the queue has.
    StorageWriteAny = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [SHADER_STORAGE_WRITE] General write;
    /// Storage buffers or images read and written by the vertex shader.
    StorageReadWriteVertex = [VERTEX_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by the fragment shader.
    StorageReadWriteFragment = [FRAGMENT_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by the task and mesh shaders.
    StorageReadWriteTaskMesh = [TASK_SHADER | MESH_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by all shaders of graphics pipelines.
    StorageReadWriteGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by the compute shader.
    StorageReadWriteCompute = [COMPUTE_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by ray tracing shaders.
    StorageReadWriteRayTracing = [RAY_TRACING_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// Storage buffers or images read and written by all graphics and compute shaders that the
    /// queue has.
    StorageReadWriteAny = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [SHADER_STORAGE_READ | SHADER_STORAGE_WRITE] General read write;
    /// A color attachment that is cleared or not loaded, without blending.
    ColorAttachmentWrite = [COLOR_ATTACHMENT_OUTPUT] [COLOR_ATTACHMENT_WRITE] ColorAttachmentOptimal write color;
    /// A color attachment that is loaded or blended.
    ColorAttachmentReadWrite = [COLOR_ATTACHMENT_OUTPUT] [COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_WRITE] ColorAttachmentOptimal read write color;
    /// A color attachment that is blended by advanced operations without coherence.
    ColorAttachmentAdvancedBlendReadWrite = [COLOR_ATTACHMENT_OUTPUT] [COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_READ_NONCOHERENT | COLOR_ATTACHMENT_WRITE] ColorAttachmentOptimal read write color;
    /// A color attachment that the fragment shader reads back as an input attachment while it is
    /// drawn to.
    ColorAttachmentLocalReadWrite = [FRAGMENT_SHADER | COLOR_ATTACHMENT_OUTPUT] [INPUT_ATTACHMENT_READ | COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_WRITE] RenderingLocalRead read write color;
    /// A color attachment that the fragment shader samples while it is drawn to.
    ColorAttachmentFeedbackReadWrite = [FRAGMENT_SHADER | COLOR_ATTACHMENT_OUTPUT] [SHADER_SAMPLED_READ | COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_WRITE] AttachmentFeedbackLoopOptimal read write color;
    /// A depth attachment that is cleared or not loaded; tests read what the pass wrote.
    DepthAttachmentWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE] DepthStencilAttachmentOptimal write depth;
    /// A depth attachment that is loaded, tested and written.
    DepthAttachmentReadWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE] DepthStencilAttachmentOptimal read write depth;
    /// A depth attachment that is tested and not written.
    DepthReadOnly = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ] DepthStencilReadOnlyOptimal read depth;
    /// A depth attachment that is tested, not written, and sampled by the fragment shader.
    DepthReadOnlySampled = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS | FRAGMENT_SHADER] [DEPTH_STENCIL_ATTACHMENT_READ | SHADER_SAMPLED_READ] DepthStencilReadOnlyOptimal read depth;
    /// A depth attachment that is tested, not written, and read by the fragment shader as an input
    /// attachment.
    DepthReadOnlyInputAttachment = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS | FRAGMENT_SHADER] [DEPTH_STENCIL_ATTACHMENT_READ | INPUT_ATTACHMENT_READ] DepthStencilReadOnlyOptimal read depth;
    /// A depth attachment that is written and that the fragment shader reads back as an input
    /// attachment.
    DepthAttachmentLocalReadWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS | FRAGMENT_SHADER] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE | INPUT_ATTACHMENT_READ] RenderingLocalRead read write depth;
    /// A depth attachment that is written and that the fragment shader samples.
    DepthAttachmentFeedbackReadWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS | FRAGMENT_SHADER] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE | SHADER_SAMPLED_READ] AttachmentFeedbackLoopOptimal read write depth;
    /// A depth or stencil attachment that is drawn to and that the render pass resolves from;
    /// Vulkan puts the resolve in the color output stage.
    DepthAttachmentResolvedReadWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS | COLOR_ATTACHMENT_OUTPUT] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE | COLOR_ATTACHMENT_READ] DepthStencilAttachmentOptimal read write depth;
    /// A stencil attachment that is cleared or not loaded.
    StencilAttachmentWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE] DepthStencilAttachmentOptimal write depth;
    /// A stencil attachment that is loaded, tested and written.
    StencilAttachmentReadWrite = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE] DepthStencilAttachmentOptimal read write depth;
    /// A stencil attachment that is tested and not written.
    StencilReadOnly = [EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS] [DEPTH_STENCIL_ATTACHMENT_READ] DepthStencilReadOnlyOptimal read depth;
    /// An input attachment read by the fragment shader.
    InputAttachmentRead = [FRAGMENT_SHADER] [INPUT_ATTACHMENT_READ] ShaderReadOnlyOptimal read image;
    /// A fragment shading rate attachment.
    FragmentShadingRateRead = [FRAGMENT_SHADING_RATE_ATTACHMENT] [FRAGMENT_SHADING_RATE_ATTACHMENT_READ] FragmentShadingRateAttachmentOptimal read color;
    /// A fragment density map.
    FragmentDensityMapRead = [FRAGMENT_DENSITY_PROCESS] [FRAGMENT_DENSITY_MAP_READ] FragmentDensityMapOptimal read color;
    /// A color attachment that a render pass resolves into.
    ResolveAttachmentWrite = [COLOR_ATTACHMENT_OUTPUT] [COLOR_ATTACHMENT_WRITE] ColorAttachmentOptimal write color;
    /// A depth or stencil attachment that a render pass resolves into; Vulkan puts it in the
    /// color output stage.
    DepthResolveAttachmentWrite = [COLOR_ATTACHMENT_OUTPUT] [COLOR_ATTACHMENT_WRITE] DepthStencilAttachmentOptimal write depth;
    /// The source of `vkCmdResolveImage2`.
    ResolveRead = [RESOLVE] [TRANSFER_READ] TransferSrcOptimal read image;
    /// The destination of `vkCmdResolveImage2`.
    ResolveWrite = [RESOLVE] [TRANSFER_WRITE] TransferDstOptimal write image;
    /// The source of `vkCmdBlitImage2`.
    BlitRead = [BLIT] [TRANSFER_READ] TransferSrcOptimal read image;
    /// The destination of `vkCmdBlitImage2`.
    BlitWrite = [BLIT] [TRANSFER_WRITE] TransferDstOptimal write image;
    /// The source of a copy command.
    CopyRead = [COPY] [TRANSFER_READ] TransferSrcOptimal read;
    /// The destination of a copy command.
    CopyWrite = [COPY] [TRANSFER_WRITE] TransferDstOptimal write;
    /// The target of a clear, fill or update command outside a render pass.
    Clear = [CLEAR] [TRANSFER_WRITE] TransferDstOptimal write;
    /// The source of any transfer command.
    TransferRead = [ALL_TRANSFER] [TRANSFER_READ] TransferSrcOptimal read;
    /// The destination of any transfer command.
    TransferWrite = [ALL_TRANSFER] [TRANSFER_WRITE] TransferDstOptimal write;
    /// Arguments of indirect draws, dispatches and trace calls, and their counts.
    IndirectRead = [DRAW_INDIRECT] [INDIRECT_COMMAND_READ] General read buffer;
    /// An index buffer.
    IndexRead = [INDEX_INPUT] [INDEX_READ] General read buffer;
    /// A vertex buffer.
    VertexRead = [VERTEX_ATTRIBUTE_INPUT] [VERTEX_ATTRIBUTE_READ] General read buffer;
    /// The predicate of conditional rendering.
    ConditionalRenderingRead = [CONDITIONAL_RENDERING] [CONDITIONAL_RENDERING_READ] General read buffer;
    /// A transform feedback buffer.
    TransformFeedbackWrite = [TRANSFORM_FEEDBACK] [TRANSFORM_FEEDBACK_WRITE] General write buffer;
    /// A transform feedback counter buffer, resumed and paused.
    TransformFeedbackCounterReadWrite = [DRAW_INDIRECT | TRANSFORM_FEEDBACK] [TRANSFORM_FEEDBACK_COUNTER_READ | TRANSFORM_FEEDBACK_COUNTER_WRITE] General read write buffer;
    /// Vertices, indices, transforms or instances that a build reads.
    AccelerationStructureBuildInput = [ACCELERATION_STRUCTURE_BUILD] [SHADER_READ] General read buffer;
    /// An acceleration structure that a build reads: the bottom levels of a top level, or the
    /// source of an update.
    AccelerationStructureBuildRead = [ACCELERATION_STRUCTURE_BUILD] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// An acceleration structure that a build writes.
    AccelerationStructureBuildWrite = [ACCELERATION_STRUCTURE_BUILD] [ACCELERATION_STRUCTURE_WRITE] General write buffer;
    /// Scratch memory of a build.
    AccelerationStructureBuildScratch = [ACCELERATION_STRUCTURE_BUILD] [ACCELERATION_STRUCTURE_READ | ACCELERATION_STRUCTURE_WRITE] General write buffer;
    /// Ranges of an indirect build.
    AccelerationStructureBuildIndirectRead = [ACCELERATION_STRUCTURE_BUILD] [INDIRECT_COMMAND_READ] General read buffer;
    /// A micromap that a build of an acceleration structure refers to.
    AccelerationStructureBuildMicromapRead = [ACCELERATION_STRUCTURE_BUILD] [MICROMAP_READ] General read buffer;
    /// The source of a copy of an acceleration structure.
    AccelerationStructureCopyRead = [ACCELERATION_STRUCTURE_COPY] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// The destination of a copy of an acceleration structure.
    AccelerationStructureCopyWrite = [ACCELERATION_STRUCTURE_COPY] [ACCELERATION_STRUCTURE_WRITE] General write buffer;
    /// Memory that an acceleration structure is deserialized from.
    AccelerationStructureCopyBufferRead = [ACCELERATION_STRUCTURE_COPY] [TRANSFER_READ] General read buffer;
    /// Memory that an acceleration structure is serialized to.
    AccelerationStructureCopyBufferWrite = [ACCELERATION_STRUCTURE_COPY] [TRANSFER_WRITE] General write buffer;
    /// An acceleration structure traced by ray tracing shaders.
    AccelerationStructureTraceReadRayTracing = [RAY_TRACING_SHADER] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// An acceleration structure traced by the compute shader.
    AccelerationStructureTraceReadCompute = [COMPUTE_SHADER] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// An acceleration structure traced by the fragment shader.
    AccelerationStructureTraceReadFragment = [FRAGMENT_SHADER] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// An acceleration structure traced by all shaders of graphics pipelines.
    AccelerationStructureTraceReadGraphics = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER] [ACCELERATION_STRUCTURE_READ] General read buffer;
    /// A shader binding table.
    ShaderBindingTableRead = [RAY_TRACING_SHADER] [SHADER_BINDING_TABLE_READ] General read buffer;
    /// A micromap that a build reads.
    MicromapBuildRead = [MICROMAP_BUILD] [MICROMAP_READ] General read buffer;
    /// A micromap that a build writes.
    MicromapBuildWrite = [MICROMAP_BUILD] [MICROMAP_WRITE] General write buffer;
    /// Data that a build of a micromap reads.
    MicromapBuildInput = [MICROMAP_BUILD] [SHADER_READ] General read buffer;
    /// Scratch memory of a build of a micromap.
    MicromapBuildScratch = [MICROMAP_BUILD] [MICROMAP_READ | MICROMAP_WRITE] General write buffer;
    /// A descriptor buffer read by all graphics and compute shaders that the queue has.
    DescriptorBufferRead = [PRE_RASTERIZATION_SHADERS | FRAGMENT_SHADER | COMPUTE_SHADER] [DESCRIPTOR_BUFFER_READ] General read buffer;
    /// Input of preprocessed device-generated commands.
    CommandPreprocessRead = [COMMAND_PREPROCESS] [COMMAND_PREPROCESS_READ] General read buffer;
    /// Output of preprocessed device-generated commands.
    CommandPreprocessWrite = [COMMAND_PREPROCESS] [COMMAND_PREPROCESS_WRITE] General write buffer;
    /// The bitstream that video decode reads.
    VideoDecodeRead = [VIDEO_DECODE] [VIDEO_DECODE_READ] General read buffer;
    /// The picture that video decode writes.
    VideoDecodeWrite = [VIDEO_DECODE] [VIDEO_DECODE_WRITE] VideoDecodeDst write image;
    /// Reference pictures of video decode.
    VideoDecodeReferenceReadWrite = [VIDEO_DECODE] [VIDEO_DECODE_READ | VIDEO_DECODE_WRITE] VideoDecodeDpb read write image;
    /// Reference pictures that video decode only reads.
    VideoDecodeReferenceRead = [VIDEO_DECODE] [VIDEO_DECODE_READ] VideoDecodeDpb read image;
    /// The picture that video encode reads.
    VideoEncodeRead = [VIDEO_ENCODE] [VIDEO_ENCODE_READ] VideoEncodeSrc read image;
    /// The bitstream that video encode writes.
    VideoEncodeWrite = [VIDEO_ENCODE] [VIDEO_ENCODE_WRITE] General write buffer;
    /// Reference pictures of video encode.
    VideoEncodeReferenceReadWrite = [VIDEO_ENCODE] [VIDEO_ENCODE_READ | VIDEO_ENCODE_WRITE] VideoEncodeDpb read write image;
    /// Reference pictures that video encode only reads.
    VideoEncodeReferenceRead = [VIDEO_ENCODE] [VIDEO_ENCODE_READ] VideoEncodeDpb read image;
    /// Input of optical flow.
    OpticalFlowRead = [OPTICAL_FLOW] [OPTICAL_FLOW_READ] General read image;
    /// Output of optical flow.
    OpticalFlowWrite = [OPTICAL_FLOW] [OPTICAL_FLOW_WRITE] General write image;
    /// Memory that a host pass reads.
    HostRead = [HOST] [HOST_READ] General read;
    /// Memory that a host pass writes.
    HostWrite = [HOST] [HOST_WRITE] General write;
    /// Memory that a host pass reads and writes.
    HostReadWrite = [HOST] [HOST_READ | HOST_WRITE] General read write;
    /// An image that the app itself presents after the pass. Images with `Lifetime::Swapchain` need no
    /// such use.
    Present = [] [] PresentSrc read color;
}

impl Access {
    /// The stages and access mask on a queue with these capabilities.
    ///
    /// Stages that the queue does not support are left out, which is meant for `Any`. Other accesses need
    /// all their stages; see [`Access::runs_on`].
    pub const fn scope(self, capabilities: Capabilities) -> Scope {
        self.scope_in(Stages::supported_by(capabilities))
    }

    /// [`Access::scope`] for a queue with these stages.
    #[inline]
    pub(crate) const fn scope_in(self, supported: Stages) -> Scope {
        let (stages, access) = match self.row() {
            Ok(row) => (row.stages, row.access),
            Err(custom) => (custom.stages, custom.access),
        };
        Scope {
            stages: stages.intersection(supported),
            access,
        }
    }

    /// The stages of the access, without regard to a queue.
    #[inline]
    pub const fn stages(self) -> Stages {
        match self.row() {
            Ok(row) => row.stages,
            Err(custom) => custom.stages,
        }
    }

    /// The layout that an image must be in; ignored for buffers.
    #[inline]
    pub const fn layout(self) -> Layout {
        match self.row() {
            Ok(row) => row.layout,
            Err(custom) => custom.layout,
        }
    }

    /// Whether the access needs the old contents.
    #[inline]
    pub const fn is_read(self) -> bool {
        match self.row() {
            Ok(row) => row.reads,
            Err(custom) => !custom.writes || !custom.access.reads().is_empty(),
        }
    }

    /// Resources and aspects that the access applies to; any for custom accesses.
    ///
    /// ```
    /// use quadrille_sync::access::{Access, Target};
    /// assert_eq!(Access::IndexRead.target(), Target::BUFFER);
    /// assert_eq!(Access::BlitRead.target(), Target::IMAGE);
    /// assert_eq!(Access::ColorAttachmentWrite.target(), Target::COLOR);
    /// assert_eq!(Access::CopyRead.target(), Target::ANY);
    /// ```
    #[inline]
    pub const fn target(self) -> Target {
        match self.row() {
            Ok(row) => row.target,
            Err(_) => Target::ANY,
        }
    }

    /// Whether the access changes the contents.
    #[inline]
    pub const fn is_write(self) -> bool {
        match self.row() {
            Ok(row) => row.writes,
            Err(custom) => custom.writes,
        }
    }

    /// Whether a declaration of this access permits the other one: its stages and its access mask include
    /// those of the other. Layouts are not compared.
    ///
    /// ```
    /// use quadrille_sync::access::Access;
    /// assert!(Access::StorageReadWriteCompute.covers(Access::StorageReadCompute));
    /// assert!(Access::TransferRead.covers(Access::BlitRead));
    /// assert!(!Access::StorageReadVertex.covers(Access::StorageReadGraphics));
    /// ```
    pub const fn covers(self, other: Access) -> bool {
        let all = Capabilities::all();
        let (own, other) = (self.scope(all), other.scope(all));
        own.stages.covers(other.stages) && own.access.covers(other.access)
    }

    /// The name of the access, as in this enumeration.
    pub const fn name(self) -> &'static str {
        match self.row() {
            Ok(row) => row.name,
            Err(_) => "Custom",
        }
    }

    /// Whether the host makes the access, so that only host passes may declare it.
    #[inline]
    pub const fn is_host(self) -> bool {
        self.stages().contains(Stages::HOST)
    }

    /// Whether a queue with these capabilities has the stages of the access: all of them, or for
    /// the accesses that end in `Any`, one of them.
    pub const fn runs_on(self, capabilities: Capabilities) -> bool {
        self.runs_in(Stages::supported_by(capabilities))
    }

    /// [`Access::runs_on`] for a queue with these stages.
    #[inline]
    pub(crate) const fn runs_in(self, supported: Stages) -> bool {
        let stages = self.stages();
        supported.contains(stages) || self.is_any() && stages.intersects(supported)
    }

    /// Whether the access uses any shader stages that the queue supports.
    const fn is_any(self) -> bool {
        matches!(
            self,
            Access::UniformReadAny
                | Access::SampledAny
                | Access::StorageReadAny
                | Access::StorageWriteAny
                | Access::StorageReadWriteAny
                | Access::DescriptorBufferRead
        )
    }
}

#[cfg(test)]
mod tests;
