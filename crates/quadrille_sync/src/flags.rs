//! Vulkan's flags and layouts, with Vulkan's values.
//!
//! The solver does not depend on Vulkan bindings, so it has its own definitions of the flags that it
//! uses. The backend converts them by a cast, and a test there compares every value.

use bitflags::bitflags;

use crate::topology::Capabilities;

bitflags! {
    /// `VkPipelineStageFlagBits2` (section "Pipeline Stages").
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Stages: u64 {
        /// Before all other stages; prefer an empty mask.
        const TOP_OF_PIPE = 1 << 0;
        /// Reads of indirect commands.
        const DRAW_INDIRECT = 1 << 1;
        /// `INDEX_INPUT` and `VERTEX_ATTRIBUTE_INPUT`.
        const VERTEX_INPUT = 1 << 2;
        /// The vertex shader.
        const VERTEX_SHADER = 1 << 3;
        /// The tessellation control shader.
        const TESSELLATION_CONTROL_SHADER = 1 << 4;
        /// The tessellation evaluation shader.
        const TESSELLATION_EVALUATION_SHADER = 1 << 5;
        /// The geometry shader.
        const GEOMETRY_SHADER = 1 << 6;
        /// The fragment shader.
        const FRAGMENT_SHADER = 1 << 7;
        /// Depth and stencil tests before fragment shading, and their load operations.
        const EARLY_FRAGMENT_TESTS = 1 << 8;
        /// Depth and stencil tests after fragment shading, and their store operations.
        const LATE_FRAGMENT_TESTS = 1 << 9;
        /// Blending, and load, store and resolve of color attachments.
        const COLOR_ATTACHMENT_OUTPUT = 1 << 10;
        /// The compute shader.
        const COMPUTE_SHADER = 1 << 11;
        /// `COPY`, `RESOLVE`, `BLIT`, `CLEAR` and `ACCELERATION_STRUCTURE_COPY`.
        const ALL_TRANSFER = 1 << 12;
        /// After all other stages; prefer an empty mask.
        const BOTTOM_OF_PIPE = 1 << 13;
        /// Reads and writes by the host.
        const HOST = 1 << 14;
        /// All stages of the graphics pipelines.
        const ALL_GRAPHICS = 1 << 15;
        /// All stages of all commands that the queue supports.
        const ALL_COMMANDS = 1 << 16;
        /// Preprocessing of device-generated commands.
        const COMMAND_PREPROCESS = 1 << 17;
        /// Reads of the predicate of conditional rendering.
        const CONDITIONAL_RENDERING = 1 << 18;
        /// The task shader.
        const TASK_SHADER = 1 << 19;
        /// The mesh shader.
        const MESH_SHADER = 1 << 20;
        /// All ray tracing shaders.
        const RAY_TRACING_SHADER = 1 << 21;
        /// Reads of the shading rate attachment.
        const FRAGMENT_SHADING_RATE_ATTACHMENT = 1 << 22;
        /// Reads of the fragment density map.
        const FRAGMENT_DENSITY_PROCESS = 1 << 23;
        /// Writes of transform feedback.
        const TRANSFORM_FEEDBACK = 1 << 24;
        /// Builds and updates of acceleration structures.
        const ACCELERATION_STRUCTURE_BUILD = 1 << 25;
        /// Video decode operations.
        const VIDEO_DECODE = 1 << 26;
        /// Video encode operations.
        const VIDEO_ENCODE = 1 << 27;
        /// Copies of acceleration structures.
        const ACCELERATION_STRUCTURE_COPY = 1 << 28;
        /// Optical flow operations.
        const OPTICAL_FLOW = 1 << 29;
        /// Builds of opacity micromaps.
        const MICROMAP_BUILD = 1 << 30;
        /// Copy commands.
        const COPY = 1 << 32;
        /// `vkCmdResolveImage2`.
        const RESOLVE = 1 << 33;
        /// `vkCmdBlitImage2`.
        const BLIT = 1 << 34;
        /// Clear, fill and update commands outside render passes.
        const CLEAR = 1 << 35;
        /// Reads of index buffers.
        const INDEX_INPUT = 1 << 36;
        /// Reads of vertex buffers.
        const VERTEX_ATTRIBUTE_INPUT = 1 << 37;
        /// All supported shader stages before rasterization.
        const PRE_RASTERIZATION_SHADERS = 1 << 38;
    }
}

bitflags! {
    /// `VkAccessFlagBits2` (section "Access Types").
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct AccessMask: u64 {
        /// Reads of indirect command data.
        const INDIRECT_COMMAND_READ = 1 << 0;
        /// Reads of index buffers.
        const INDEX_READ = 1 << 1;
        /// Reads of vertex buffers.
        const VERTEX_ATTRIBUTE_READ = 1 << 2;
        /// Reads of uniform buffers.
        const UNIFORM_READ = 1 << 3;
        /// Reads of input attachments.
        const INPUT_ATTACHMENT_READ = 1 << 4;
        /// All shader reads of the kinds below; prefer those.
        const SHADER_READ = 1 << 5;
        /// `SHADER_STORAGE_WRITE`; prefer that.
        const SHADER_WRITE = 1 << 6;
        /// Reads of color attachments: blending, load.
        const COLOR_ATTACHMENT_READ = 1 << 7;
        /// Writes of color attachments, clears at load included.
        const COLOR_ATTACHMENT_WRITE = 1 << 8;
        /// Reads of depth or stencil attachments.
        const DEPTH_STENCIL_ATTACHMENT_READ = 1 << 9;
        /// Writes of depth or stencil attachments.
        const DEPTH_STENCIL_ATTACHMENT_WRITE = 1 << 10;
        /// Reads by transfer commands.
        const TRANSFER_READ = 1 << 11;
        /// Writes by transfer commands.
        const TRANSFER_WRITE = 1 << 12;
        /// Reads by the host.
        const HOST_READ = 1 << 13;
        /// Writes by the host.
        const HOST_WRITE = 1 << 14;
        /// All reads.
        const MEMORY_READ = 1 << 15;
        /// All writes.
        const MEMORY_WRITE = 1 << 16;
        /// Reads by preprocessing of device-generated commands.
        const COMMAND_PREPROCESS_READ = 1 << 17;
        /// Writes by preprocessing of device-generated commands.
        const COMMAND_PREPROCESS_WRITE = 1 << 18;
        /// Advanced blending reads without coherence.
        const COLOR_ATTACHMENT_READ_NONCOHERENT = 1 << 19;
        /// Reads of conditional rendering predicates.
        const CONDITIONAL_RENDERING_READ = 1 << 20;
        /// Reads of acceleration structures.
        const ACCELERATION_STRUCTURE_READ = 1 << 21;
        /// Writes of acceleration structures.
        const ACCELERATION_STRUCTURE_WRITE = 1 << 22;
        /// Reads of shading rate attachments.
        const FRAGMENT_SHADING_RATE_ATTACHMENT_READ = 1 << 23;
        /// Reads of fragment density maps.
        const FRAGMENT_DENSITY_MAP_READ = 1 << 24;
        /// Writes of transform feedback buffers.
        const TRANSFORM_FEEDBACK_WRITE = 1 << 25;
        /// Reads of transform feedback counters.
        const TRANSFORM_FEEDBACK_COUNTER_READ = 1 << 26;
        /// Writes of transform feedback counters.
        const TRANSFORM_FEEDBACK_COUNTER_WRITE = 1 << 27;
        /// Shader reads of sampled images and uniform texel buffers.
        const SHADER_SAMPLED_READ = 1 << 32;
        /// Shader reads of storage images and buffers.
        const SHADER_STORAGE_READ = 1 << 33;
        /// Shader writes of storage images and buffers.
        const SHADER_STORAGE_WRITE = 1 << 34;
        /// Reads by video decode.
        const VIDEO_DECODE_READ = 1 << 35;
        /// Writes by video decode.
        const VIDEO_DECODE_WRITE = 1 << 36;
        /// Reads by video encode.
        const VIDEO_ENCODE_READ = 1 << 37;
        /// Writes by video encode.
        const VIDEO_ENCODE_WRITE = 1 << 38;
        /// Reads of shader binding tables.
        const SHADER_BINDING_TABLE_READ = 1 << 40;
        /// Reads of descriptor buffers.
        const DESCRIPTOR_BUFFER_READ = 1 << 41;
        /// Reads by optical flow.
        const OPTICAL_FLOW_READ = 1 << 42;
        /// Writes by optical flow.
        const OPTICAL_FLOW_WRITE = 1 << 43;
        /// Reads of micromaps.
        const MICROMAP_READ = 1 << 44;
        /// Writes of micromaps.
        const MICROMAP_WRITE = 1 << 45;
    }
}

bitflags! {
    /// `VkImageAspectFlagBits` (section "Image Views").
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Aspects: u32 {
        /// Color.
        const COLOR = 1 << 0;
        /// Depth.
        const DEPTH = 1 << 1;
        /// Stencil.
        const STENCIL = 1 << 2;
        /// Metadata of sparse images.
        const METADATA = 1 << 3;
        /// First plane of a multi-planar format.
        const PLANE_0 = 1 << 4;
        /// Second plane.
        const PLANE_1 = 1 << 5;
        /// Third plane.
        const PLANE_2 = 1 << 6;
    }
}

impl Aspects {
    /// Whether a format can have all of these aspects (`VkImageSubresourceRange`, VUID 01670 on
    /// `aspectMask`, and the chapter "Formats"): color, depth or stencil or both, or planes.
    pub(crate) const fn are_of_one_format(self) -> bool {
        let planes = Self::PLANE_0.union(Self::PLANE_1).union(Self::PLANE_2);
        let own = self.difference(Self::METADATA);
        Self::COLOR.contains(own)
            || Self::DEPTH.union(Self::STENCIL).contains(own)
            || planes.contains(own)
    }
}

/// `VkImageLayout` (section "Image Layouts").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i32)]
pub enum Layout {
    /// Contents are not kept, or there are none.
    #[default]
    Undefined = 0,
    /// All uses; storage images need it.
    General = 1,
    /// Color attachments.
    ColorAttachmentOptimal = 2,
    /// Depth and stencil attachments, written.
    DepthStencilAttachmentOptimal = 3,
    /// Depth and stencil attachments that are only read, and sampling of them.
    DepthStencilReadOnlyOptimal = 4,
    /// Sampled images and input attachments.
    ShaderReadOnlyOptimal = 5,
    /// Sources of transfers.
    TransferSrcOptimal = 6,
    /// Destinations of transfers.
    TransferDstOptimal = 7,
    /// Linear images that the host has filled.
    Preinitialized = 8,
    /// Images handed to the presentation engine.
    PresentSrc = 1_000_001_002,
    /// Output of video decode.
    VideoDecodeDst = 1_000_024_000,
    /// Reserved by video decode.
    VideoDecodeSrc = 1_000_024_001,
    /// Reference pictures of video decode.
    VideoDecodeDpb = 1_000_024_002,
    /// Images shared with the presentation engine.
    SharedPresent = 1_000_111_000,
    /// Depth only read, stencil written.
    DepthReadOnlyStencilAttachmentOptimal = 1_000_117_000,
    /// Depth written, stencil only read.
    DepthAttachmentStencilReadOnlyOptimal = 1_000_117_001,
    /// Shading rate attachments.
    FragmentShadingRateAttachmentOptimal = 1_000_164_003,
    /// Fragment density maps.
    FragmentDensityMapOptimal = 1_000_218_000,
    /// Attachments that are read back in the same render pass.
    RenderingLocalRead = 1_000_232_000,
    /// The depth aspect as an attachment, written.
    DepthAttachmentOptimal = 1_000_241_000,
    /// The depth aspect, only read.
    DepthReadOnlyOptimal = 1_000_241_001,
    /// The stencil aspect as an attachment, written.
    StencilAttachmentOptimal = 1_000_241_002,
    /// The stencil aspect, only read.
    StencilReadOnlyOptimal = 1_000_241_003,
    /// Reserved by video encode.
    VideoEncodeDst = 1_000_299_000,
    /// Input of video encode.
    VideoEncodeSrc = 1_000_299_001,
    /// Reference pictures of video encode.
    VideoEncodeDpb = 1_000_299_002,
    /// Any aspect, only read.
    ReadOnlyOptimal = 1_000_314_000,
    /// Any aspect as an attachment.
    AttachmentOptimal = 1_000_314_001,
    /// Attachments sampled in the same render pass.
    AttachmentFeedbackLoopOptimal = 1_000_339_000,
}

impl Layout {
    /// All layouts, in the order of their values.
    pub const ALL: &'static [Layout] = &[
        Layout::Undefined,
        Layout::General,
        Layout::ColorAttachmentOptimal,
        Layout::DepthStencilAttachmentOptimal,
        Layout::DepthStencilReadOnlyOptimal,
        Layout::ShaderReadOnlyOptimal,
        Layout::TransferSrcOptimal,
        Layout::TransferDstOptimal,
        Layout::Preinitialized,
        Layout::PresentSrc,
        Layout::VideoDecodeDst,
        Layout::VideoDecodeSrc,
        Layout::VideoDecodeDpb,
        Layout::SharedPresent,
        Layout::DepthReadOnlyStencilAttachmentOptimal,
        Layout::DepthAttachmentStencilReadOnlyOptimal,
        Layout::FragmentShadingRateAttachmentOptimal,
        Layout::FragmentDensityMapOptimal,
        Layout::RenderingLocalRead,
        Layout::DepthAttachmentOptimal,
        Layout::DepthReadOnlyOptimal,
        Layout::StencilAttachmentOptimal,
        Layout::StencilReadOnlyOptimal,
        Layout::VideoEncodeDst,
        Layout::VideoEncodeSrc,
        Layout::VideoEncodeDpb,
        Layout::ReadOnlyOptimal,
        Layout::AttachmentOptimal,
        Layout::AttachmentFeedbackLoopOptimal,
    ];

    /// The value of Vulkan's enumeration.
    pub const fn value(self) -> i32 {
        self as i32
    }
}

/// Stages that graphics queues have and others do not.
const GRAPHICS_STAGES: Stages = Stages::VERTEX_INPUT
    .union(Stages::INDEX_INPUT)
    .union(Stages::VERTEX_ATTRIBUTE_INPUT)
    .union(PRE_RASTERIZATION_STAGES)
    .union(Stages::PRE_RASTERIZATION_SHADERS)
    .union(Stages::FRAGMENT_SHADER)
    .union(Stages::EARLY_FRAGMENT_TESTS)
    .union(Stages::LATE_FRAGMENT_TESTS)
    .union(Stages::COLOR_ATTACHMENT_OUTPUT)
    .union(Stages::ALL_GRAPHICS)
    .union(Stages::FRAGMENT_SHADING_RATE_ATTACHMENT)
    .union(Stages::FRAGMENT_DENSITY_PROCESS)
    .union(Stages::TRANSFORM_FEEDBACK)
    .union(Stages::RESOLVE)
    .union(Stages::BLIT);

/// Stages that `PRE_RASTERIZATION_SHADERS` includes.
const PRE_RASTERIZATION_STAGES: Stages = Stages::VERTEX_SHADER
    .union(Stages::TESSELLATION_CONTROL_SHADER)
    .union(Stages::TESSELLATION_EVALUATION_SHADER)
    .union(Stages::GEOMETRY_SHADER)
    .union(Stages::TASK_SHADER)
    .union(Stages::MESH_SHADER);

/// Stages that `ALL_TRANSFER` includes.
const TRANSFER_STAGES: Stages = Stages::COPY
    .union(Stages::RESOLVE)
    .union(Stages::BLIT)
    .union(Stages::CLEAR)
    .union(Stages::ACCELERATION_STRUCTURE_COPY);

/// Stages of queues with graphics or compute.
const PIPELINE_STAGES: Stages = Stages::DRAW_INDIRECT
    .union(Stages::CONDITIONAL_RENDERING)
    .union(Stages::COMMAND_PREPROCESS);

/// Stages of queues with compute.
const COMPUTE_STAGES: Stages = Stages::COMPUTE_SHADER
    .union(Stages::RAY_TRACING_SHADER)
    .union(Stages::ACCELERATION_STRUCTURE_BUILD)
    .union(Stages::ACCELERATION_STRUCTURE_COPY)
    .union(Stages::MICROMAP_BUILD);

/// Stages of every queue.
const COMMON_STAGES: Stages = Stages::TOP_OF_PIPE
    .union(Stages::BOTTOM_OF_PIPE)
    .union(Stages::ALL_COMMANDS)
    .union(Stages::HOST);

impl Stages {
    /// The stages that a queue with these capabilities supports (table "Supported pipeline stage
    /// flags"). Blit and resolve count as graphics stages, because their commands require graphics.
    pub const fn supported_by(capabilities: Capabilities) -> Stages {
        let mut stages = COMMON_STAGES;
        let graphics = capabilities.contains(Capabilities::GRAPHICS);
        let compute = capabilities.contains(Capabilities::COMPUTE);
        if graphics {
            stages = stages.union(GRAPHICS_STAGES);
        }
        if compute {
            stages = stages.union(COMPUTE_STAGES);
        }
        if graphics || compute {
            stages = stages.union(PIPELINE_STAGES);
        }
        if graphics || compute || capabilities.contains(Capabilities::TRANSFER) {
            stages = stages
                .union(Stages::ALL_TRANSFER)
                .union(Stages::COPY)
                .union(Stages::CLEAR);
        }
        if capabilities.contains(Capabilities::VIDEO_DECODE) {
            stages = stages.union(Stages::VIDEO_DECODE);
        }
        if capabilities.contains(Capabilities::VIDEO_ENCODE) {
            stages = stages.union(Stages::VIDEO_ENCODE);
        }
        if capabilities.contains(Capabilities::OPTICAL_FLOW) {
            stages = stages.union(Stages::OPTICAL_FLOW);
        }
        stages
    }

    /// Adds the stages that shorthands such as `ALL_GRAPHICS` include, so that scopes can be compared
    /// bit by bit.
    pub const fn expanded(self) -> Stages {
        let mut stages = self;
        if stages.contains(Stages::ALL_COMMANDS) {
            // `ALL_COMMANDS` does not include the host.
            return Stages::all().difference(Stages::HOST).union(stages);
        }
        if stages.contains(Stages::ALL_GRAPHICS) {
            let graphics = GRAPHICS_STAGES.difference(Stages::RESOLVE.union(Stages::BLIT));
            // `ALL_GRAPHICS` does not include `COMMAND_PREPROCESS`.
            let shared = PIPELINE_STAGES.difference(Stages::COMMAND_PREPROCESS);
            stages = stages.union(graphics).union(shared);
        }
        if stages.contains(Stages::VERTEX_INPUT) {
            stages = stages
                .union(Stages::INDEX_INPUT)
                .union(Stages::VERTEX_ATTRIBUTE_INPUT);
        }
        if stages.contains(Stages::PRE_RASTERIZATION_SHADERS) {
            stages = stages.union(PRE_RASTERIZATION_STAGES);
        }
        if stages.contains(Stages::ALL_TRANSFER) {
            stages = stages.union(TRANSFER_STAGES);
        }
        stages
    }

    /// Removes stages that shorthands in the set include.
    ///
    /// ```
    /// use quadrille_sync::flags::Stages;
    /// let stages = Stages::ALL_TRANSFER | Stages::COPY | Stages::FRAGMENT_SHADER;
    /// assert_eq!(stages.simplified(), Stages::ALL_TRANSFER | Stages::FRAGMENT_SHADER);
    /// ```
    #[inline]
    pub const fn simplified(self) -> Stages {
        if self.intersects(SHORTHANDS) {
            self.without_parts()
        } else {
            self
        }
    }

    /// Removes the stages that the set's shorthands include.
    const fn without_parts(self) -> Stages {
        let shorthands = [
            Stages::ALL_COMMANDS,
            Stages::ALL_GRAPHICS,
            Stages::VERTEX_INPUT,
            Stages::PRE_RASTERIZATION_SHADERS,
            Stages::ALL_TRANSFER,
        ];
        let mut stages = self;
        let mut at = 0;
        while at < shorthands.len() {
            let shorthand = shorthands[at];
            if stages.contains(shorthand) {
                stages = stages.difference(shorthand.expanded()).union(shorthand);
            }
            at += 1;
        }
        stages
    }

    /// Whether the set includes every stage of `other`, with shorthands expanded.
    #[inline]
    pub const fn covers(self, other: Stages) -> bool {
        // Most masks have no shorthands and need no expansion.
        self.contains(other)
            || self.intersects(SHORTHANDS) && self.expanded().contains(other.expanded())
    }
}

/// The stages that include others.
pub(crate) const SHORTHANDS: Stages = Stages::ALL_COMMANDS
    .union(Stages::ALL_GRAPHICS)
    .union(Stages::VERTEX_INPUT)
    .union(Stages::PRE_RASTERIZATION_SHADERS)
    .union(Stages::ALL_TRANSFER);

/// The kinds of access that include others.
const SHORTHAND_KINDS: AccessMask = AccessMask::MEMORY_READ
    .union(AccessMask::MEMORY_WRITE)
    .union(AccessMask::SHADER_READ)
    .union(AccessMask::SHADER_WRITE);

/// All kinds of read.
const READS: AccessMask = AccessMask::INDIRECT_COMMAND_READ
    .union(AccessMask::INDEX_READ)
    .union(AccessMask::VERTEX_ATTRIBUTE_READ)
    .union(AccessMask::UNIFORM_READ)
    .union(AccessMask::INPUT_ATTACHMENT_READ)
    .union(AccessMask::SHADER_READ)
    .union(AccessMask::COLOR_ATTACHMENT_READ)
    .union(AccessMask::DEPTH_STENCIL_ATTACHMENT_READ)
    .union(AccessMask::TRANSFER_READ)
    .union(AccessMask::HOST_READ)
    .union(AccessMask::MEMORY_READ)
    .union(AccessMask::COMMAND_PREPROCESS_READ)
    .union(AccessMask::COLOR_ATTACHMENT_READ_NONCOHERENT)
    .union(AccessMask::CONDITIONAL_RENDERING_READ)
    .union(AccessMask::ACCELERATION_STRUCTURE_READ)
    .union(AccessMask::FRAGMENT_SHADING_RATE_ATTACHMENT_READ)
    .union(AccessMask::FRAGMENT_DENSITY_MAP_READ)
    .union(AccessMask::TRANSFORM_FEEDBACK_COUNTER_READ)
    .union(AccessMask::SHADER_SAMPLED_READ)
    .union(AccessMask::SHADER_STORAGE_READ)
    .union(AccessMask::VIDEO_DECODE_READ)
    .union(AccessMask::VIDEO_ENCODE_READ)
    .union(AccessMask::SHADER_BINDING_TABLE_READ)
    .union(AccessMask::DESCRIPTOR_BUFFER_READ)
    .union(AccessMask::OPTICAL_FLOW_READ)
    .union(AccessMask::MICROMAP_READ);

/// All kinds of write.
const WRITES: AccessMask = AccessMask::SHADER_WRITE
    .union(AccessMask::COLOR_ATTACHMENT_WRITE)
    .union(AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE)
    .union(AccessMask::TRANSFER_WRITE)
    .union(AccessMask::HOST_WRITE)
    .union(AccessMask::MEMORY_WRITE)
    .union(AccessMask::COMMAND_PREPROCESS_WRITE)
    .union(AccessMask::ACCELERATION_STRUCTURE_WRITE)
    .union(AccessMask::TRANSFORM_FEEDBACK_WRITE)
    .union(AccessMask::TRANSFORM_FEEDBACK_COUNTER_WRITE)
    .union(AccessMask::SHADER_STORAGE_WRITE)
    .union(AccessMask::VIDEO_DECODE_WRITE)
    .union(AccessMask::VIDEO_ENCODE_WRITE)
    .union(AccessMask::OPTICAL_FLOW_WRITE)
    .union(AccessMask::MICROMAP_WRITE);

impl AccessMask {
    /// The writes in the set.
    pub const fn writes(self) -> AccessMask {
        self.intersection(WRITES)
    }

    /// The reads in the set.
    pub const fn reads(self) -> AccessMask {
        self.intersection(READS)
    }

    /// Adds the kinds that shorthands such as `SHADER_READ` include.
    pub const fn expanded(self) -> AccessMask {
        let mut access = self;
        if access.contains(AccessMask::MEMORY_READ) {
            access = access.union(READS);
        }
        if access.contains(AccessMask::MEMORY_WRITE) {
            access = access.union(WRITES);
        }
        if access.contains(AccessMask::SHADER_READ) {
            access = access
                .union(AccessMask::SHADER_SAMPLED_READ)
                .union(AccessMask::SHADER_STORAGE_READ)
                .union(AccessMask::SHADER_BINDING_TABLE_READ);
        }
        if access.contains(AccessMask::SHADER_WRITE) {
            access = access.union(AccessMask::SHADER_STORAGE_WRITE);
        }
        access
    }

    /// Removes kinds that shorthands in the set include.
    ///
    /// ```
    /// use quadrille_sync::flags::AccessMask;
    /// let access = AccessMask::SHADER_READ | AccessMask::SHADER_SAMPLED_READ;
    /// assert_eq!(access.simplified(), AccessMask::SHADER_READ);
    /// ```
    #[inline]
    pub const fn simplified(self) -> AccessMask {
        if self.intersects(SHORTHAND_KINDS) {
            self.without_parts()
        } else {
            self
        }
    }

    /// Removes the kinds that the set's shorthands include.
    const fn without_parts(self) -> AccessMask {
        let shorthands = [
            AccessMask::MEMORY_READ,
            AccessMask::MEMORY_WRITE,
            AccessMask::SHADER_READ,
            AccessMask::SHADER_WRITE,
        ];
        let mut access = self;
        let mut at = 0;
        while at < shorthands.len() {
            let shorthand = shorthands[at];
            if access.contains(shorthand) {
                access = access.difference(shorthand.expanded()).union(shorthand);
            }
            at += 1;
        }
        access
    }

    /// Whether the set includes every kind of `other`, with shorthands expanded.
    #[inline]
    pub const fn covers(self, other: AccessMask) -> bool {
        self.contains(other)
            || self.intersects(SHORTHAND_KINDS) && self.expanded().contains(other.expanded())
    }
}

#[cfg(test)]
mod tests;
