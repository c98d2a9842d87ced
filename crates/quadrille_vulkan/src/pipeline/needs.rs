//! Needs of bindings in few bits, so that checking whether a resource may be bound mostly takes one
//! comparison instead of a walk over the whole interface.

use ash::vk;
use bitflags::bitflags;

use crate::shader::{Binding, BindingKind};

bitflags! {
    /// Needs of a binding from the resource that is bound there.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Needs: u8 {
        /// An image; without it, a buffer.
        const IMAGE = 1;
        /// Read as a uniform buffer.
        const UNIFORM = 1 << 1;
        /// Sampled or loaded as a texture.
        const SAMPLED = 1 << 2;
        /// A storage buffer or storage image.
        const STORAGE = 1 << 3;
        /// Some invocation may write it.
        const WRITES = 1 << 4;
        /// The vertex shader touches it.
        const VERTEX = 1 << 5;
        /// The fragment shader touches it.
        const FRAGMENT = 1 << 6;
        /// The compute shader touches it.
        const COMPUTE = 1 << 7;
    }
}

impl Needs {
    /// Nothing for what is no resource that passes bind.
    fn of(binding: &Binding) -> Self {
        let kind = match binding.kind {
            BindingKind::UniformBuffer => Self::UNIFORM,
            BindingKind::StorageBuffer => Self::STORAGE,
            BindingKind::StorageImage(_) => Self::STORAGE | Self::IMAGE,
            BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_) => {
                Self::SAMPLED | Self::IMAGE
            }
            BindingKind::Sampler | BindingKind::InputAttachment(_) => return Self::empty(),
        };
        let if_in = |stage, needs: Self| {
            if binding.stages.contains(stage) {
                needs
            } else {
                Self::empty()
            }
        };
        let writes = if binding.writes {
            Self::WRITES
        } else {
            Self::empty()
        };
        kind | writes
            | if_in(vk::ShaderStageFlags::VERTEX, Self::VERTEX)
            | if_in(vk::ShaderStageFlags::FRAGMENT, Self::FRAGMENT)
            | if_in(vk::ShaderStageFlags::COMPUTE, Self::COMPUTE)
    }
}

/// How many bindings are looked up by number.
const LOW: usize = 16;

/// Needs of the bindings of a pipeline.
///
/// ```no_run
/// # use quadrille_vulkan::{BindingNeeds, ComputePipeline, Needs};
/// # fn example(pipeline: &ComputePipeline) {
/// // @group(0) @binding(0) var<storage, read_write> cells: array<u32>;
/// let needs = pipeline.needs();
/// assert_eq!(needs.at(0), Needs::STORAGE | Needs::WRITES | Needs::COMPUTE);
/// assert_ne!(needs.numbers() & BindingNeeds::bit(0), 0, "it is there");
/// # }
/// ```
#[derive(Debug)]
pub struct BindingNeeds {
    /// By number.
    low: [Needs; LOW],
    /// The bindings that passes bind, a bit each.
    numbers: u64,
}

impl BindingNeeds {
    pub(super) fn of(bindings: &[Binding]) -> Self {
        let mut low = [Needs::empty(); LOW];
        let mut numbers = 0;
        for binding in bindings {
            if let Some(needs) = low.get_mut(binding.binding as usize) {
                *needs = Needs::of(binding);
            }
            // Attachments bind themselves.
            if !matches!(binding.kind, BindingKind::InputAttachment(_)) {
                numbers |= Self::bit(binding.binding);
            }
        }
        Self { low, numbers }
    }

    /// Returns the needs of the binding of a number; empty where there is none, where a sampler belongs,
    /// and from number 16 on.
    #[inline]
    pub fn at(&self, binding: u32) -> Needs {
        self.low.get(binding as usize).copied().unwrap_or_default()
    }

    /// All bindings but attachments, which bind themselves, each as its [`bit`](Self::bit).
    #[inline]
    pub fn numbers(&self) -> u64 {
        self.numbers
    }

    /// The bit of a binding in [`numbers`](Self::numbers). Numbers 64 apart share one.
    #[inline]
    pub fn bit(binding: u32) -> u64 {
        1 << (binding & 63)
    }
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
