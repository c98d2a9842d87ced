//! Kinds of accesses as this crate names them.
//!
//! An [`AccessKind`] and a [`StageScope`] together determine one
//! [`Access`] of the solver. The default [`StageScope::Auto`] means the stages of the
//! pipelines that the pass used.

use quadrille_sync::access::Access;
use quadrille_vulkan::vk;

/// Calls a macro with all kinds except [`AccessKind::Exactly`]: documentation, name, and name in messages.
macro_rules! for_each_kind {
    ($macro:ident) => {
        $macro! {
            /// Reads a uniform buffer.
            Uniform "uniform read",
            /// Samples or fetches from an image through a texture binding.
            Sampled "sampled",
            /// Reads a storage buffer or storage image.
            StorageRead "storage read",
            /// Writes a storage buffer or storage image without reading it.
            StorageWrite "storage write",
            /// Reads and writes a storage buffer or storage image.
            StorageReadWrite "storage read and write",
            /// Draws to a color attachment.
            ColorTarget "color target",
            /// Draws with a depth attachment that is tested and written.
            DepthTarget "depth target",
            /// Draws with a depth attachment that is only tested.
            DepthRead "depth read",
            /// Draws to a color attachment that later draws of the same rendering read.
            ColorLocalRead "color target with local reads",
            /// Draws with a depth attachment that later draws of the same rendering read.
            DepthLocalRead "depth target with local reads",
            /// Reads vertices.
            Vertex "vertex read",
            /// Reads indices.
            Index "index read",
            /// Reads draw or dispatch arguments.
            Indirect "indirect read",
            /// Reads the predicate of conditional rendering.
            Condition "condition read",
            /// Writes the results of queries.
            Query "query write",
            /// Reads as the source of a copy.
            TransferRead "transfer read",
            /// Writes as the destination of a copy.
            TransferWrite "transfer write",
            /// Reads in a host pass.
            HostRead "host read",
            /// Writes in a host pass.
            HostWrite "host write",
            /// Reads and writes in a host pass.
            HostReadWrite "host read and write",
        }
    };
}
pub(crate) use for_each_kind;

macro_rules! access_kinds {
    ($($(#[$doc:meta])* $name:ident $word:literal,)*) => {
        /// Kind of access of a resource by a pass.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AccessKind {
            $($(#[$doc])* $name,)*
            /// An access by the solver's name.
            Exactly(Access),
        }

        impl AccessKind {
            /// Name in messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Exactly(access) => access.name(),
                }
            }
        }
    };
}
for_each_kind!(access_kinds);

/// The shader stages of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StageScope {
    /// The stages of the pipelines that the pass binds.
    #[default]
    Auto,
    /// The vertex shader.
    Vertex,
    /// The fragment shader.
    Fragment,
    /// All graphics shaders.
    Graphics,
    /// The compute shader.
    Compute,
    /// All shaders that the queue can run.
    Any,
}

/// Kinds of pipelines that a recording bound: [`StageScope::Auto`] resolves to these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) graphics: bool,
    pub(crate) compute: bool,
}

impl StageScope {
    /// Whether the declared stages include these shader stages.
    #[inline]
    pub(crate) fn covers(self, stages: vk::ShaderStageFlags) -> bool {
        let declared = match self {
            Self::Auto | Self::Any => return true,
            Self::Vertex => vk::ShaderStageFlags::VERTEX,
            Self::Fragment => vk::ShaderStageFlags::FRAGMENT,
            Self::Graphics => vk::ShaderStageFlags::ALL_GRAPHICS,
            Self::Compute => vk::ShaderStageFlags::COMPUTE,
        };
        declared.contains(stages)
    }

    /// Name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "the stages of its pipelines",
            Self::Vertex => "the vertex shader",
            Self::Fragment => "the fragment shader",
            Self::Graphics => "graphics shaders",
            Self::Compute => "the compute shader",
            Self::Any => "all shaders",
        }
    }

    /// Replaces [`StageScope::Auto`] by the stages of the used pipelines.
    pub(crate) fn resolve(self, used: Used) -> Self {
        match (self, used) {
            (
                Self::Auto,
                Used {
                    graphics: true,
                    compute: false,
                },
            ) => Self::Graphics,
            (
                Self::Auto,
                Used {
                    graphics: false,
                    compute: true,
                },
            ) => Self::Compute,
            (Self::Auto, _) => Self::Any,
            (preference, _) => preference,
        }
    }
}

impl AccessKind {
    /// Returns the solver's access for this kind in the given stages.
    pub(crate) fn access(self, stages: StageScope, used: Used) -> Access {
        use Access as A;
        let by_stage = |vertex, fragment, graphics, compute, any| match stages.resolve(used) {
            StageScope::Vertex => vertex,
            StageScope::Fragment => fragment,
            StageScope::Graphics => graphics,
            StageScope::Compute => compute,
            StageScope::Auto | StageScope::Any => any,
        };
        match self {
            Self::Uniform => by_stage(
                A::UniformReadVertex,
                A::UniformReadFragment,
                A::UniformReadGraphics,
                A::UniformReadCompute,
                A::UniformReadAny,
            ),
            Self::Sampled => by_stage(
                A::SampledVertex,
                A::SampledFragment,
                A::SampledGraphics,
                A::SampledCompute,
                A::SampledAny,
            ),
            Self::StorageRead => by_stage(
                A::StorageReadVertex,
                A::StorageReadFragment,
                A::StorageReadGraphics,
                A::StorageReadCompute,
                A::StorageReadAny,
            ),
            Self::StorageWrite => by_stage(
                A::StorageWriteVertex,
                A::StorageWriteFragment,
                A::StorageWriteGraphics,
                A::StorageWriteCompute,
                A::StorageWriteAny,
            ),
            Self::StorageReadWrite => by_stage(
                A::StorageReadWriteVertex,
                A::StorageReadWriteFragment,
                A::StorageReadWriteGraphics,
                A::StorageReadWriteCompute,
                A::StorageReadWriteAny,
            ),
            Self::ColorTarget => A::ColorAttachmentReadWrite,
            Self::DepthTarget => A::DepthAttachmentReadWrite,
            Self::DepthRead => A::DepthReadOnly,
            Self::ColorLocalRead => A::ColorAttachmentLocalReadWrite,
            Self::DepthLocalRead => A::DepthAttachmentLocalReadWrite,
            Self::Vertex => A::VertexRead,
            Self::Index => A::IndexRead,
            Self::Indirect => A::IndirectRead,
            Self::Condition => A::ConditionalRenderingRead,
            Self::Query => A::CopyWrite,
            Self::TransferRead => A::TransferRead,
            Self::TransferWrite => A::TransferWrite,
            Self::HostRead => A::HostRead,
            Self::HostWrite => A::HostWrite,
            Self::HostReadWrite => A::HostReadWrite,
            Self::Exactly(access) => access,
        }
    }

    /// Whether this declared access allows a recorded one.
    pub(crate) fn covers(&self, recorded: &Self) -> bool {
        self == recorded
            || matches!(
                (self, recorded),
                (
                    Self::StorageReadWrite,
                    Self::StorageRead | Self::StorageWrite
                ) | (Self::DepthTarget, Self::DepthRead)
            )
    }
}
