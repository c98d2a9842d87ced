//! The ways a pass can touch a resource, as a front end names them.
//!
//! [`AccessKind`] says what is done, [`StageWish`] says where; together they name one
//! [`Access`] of the solver. Passes rarely say where: [`StageWish::Auto`] takes the stages of the
//! pipelines that the pass really used.

use quadrille_sync::Access;
use quadrille_vulkan::vk;

/// What a pass does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Reads a uniform buffer.
    Uniform,
    /// Samples or fetches from an image through a texture binding.
    Sampled,
    /// Reads a storage buffer or storage image.
    StorageRead,
    /// Writes a storage buffer or storage image and does not read what was there.
    StorageWrite,
    /// Reads and writes a storage buffer or storage image.
    StorageReadWrite,
    /// Draws to a colour attachment.
    ColorTarget,
    /// Draws with a depth attachment that is tested and written.
    DepthTarget,
    /// Draws with a depth attachment that is only tested.
    DepthRead,
    /// Reads vertices.
    Vertex,
    /// Reads indices.
    Index,
    /// Reads draw or dispatch arguments.
    Indirect,
    /// Decides about draws or dispatches.
    Condition,
    /// Gets the results of queries.
    Query,
    /// Is the source of a copy.
    TransferRead,
    /// Is the destination of a copy.
    TransferWrite,
    /// Is read by a host pass.
    HostRead,
    /// Is written by a host pass.
    HostWrite,
    /// Is read and written by a host pass.
    HostReadWrite,
    /// An access of the solver by its own name.
    Exactly(Access),
}

/// Calls a macro with the names of all kinds but [`AccessKind::Exactly`]: for what there is one of
/// for each kind.
macro_rules! for_each_kind {
    ($macro:ident) => {
        $macro! {
            Uniform,
            Sampled,
            StorageRead,
            StorageWrite,
            StorageReadWrite,
            ColorTarget,
            DepthTarget,
            DepthRead,
            Vertex,
            Index,
            Indirect,
            Condition,
            Query,
            TransferRead,
            TransferWrite,
            HostRead,
            HostWrite,
            HostReadWrite,
        }
    };
}
pub(crate) use for_each_kind;

/// The shader stages of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StageWish {
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

/// Which pipelines a recording bound: what [`StageWish::Auto`] resolves to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) graphics: bool,
    pub(crate) compute: bool,
}

impl StageWish {
    /// Whether the stages of a shader are among those that are declared.
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

    /// How messages call it.
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

    /// The stages without [`StageWish::Auto`].
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
            (wish, _) => wish,
        }
    }
}

impl AccessKind {
    /// The solver's name of this access in the given stages.
    pub(crate) fn access(self, stages: StageWish, used: Used) -> Access {
        use Access as A;
        let by_stage = |vertex, fragment, graphics, compute, any| match stages.resolve(used) {
            StageWish::Vertex => vertex,
            StageWish::Fragment => fragment,
            StageWish::Graphics => graphics,
            StageWish::Compute => compute,
            StageWish::Auto | StageWish::Any => any,
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

    /// Whether a recorded access is no more than this declared one allows.
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

    /// How messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform read",
            Self::Sampled => "sampled",
            Self::StorageRead => "storage read",
            Self::StorageWrite => "storage write",
            Self::StorageReadWrite => "storage read and write",
            Self::ColorTarget => "colour target",
            Self::DepthTarget => "depth target",
            Self::DepthRead => "depth read",
            Self::Vertex => "vertex read",
            Self::Index => "index read",
            Self::Indirect => "indirect read",
            Self::Condition => "condition read",
            Self::Query => "query write",
            Self::TransferRead => "transfer read",
            Self::TransferWrite => "transfer write",
            Self::HostRead => "host read",
            Self::HostWrite => "host write",
            Self::HostReadWrite => "host read and write",
            Self::Exactly(access) => access.name(),
        }
    }
}
