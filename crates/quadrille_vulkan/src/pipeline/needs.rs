//! Needs of bindings as bit masks, so that checking a bound resource usually takes one
//! comparison instead of a walk over the interface.

use ash::vk;
use bitflags::bitflags;

use crate::shader::{Binding, BindingKind};

bitflags! {
    /// Requirements of a binding on the bound resource.
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
        /// A shader may write it.
        const WRITES = 1 << 4;
        /// The vertex shader accesses it.
        const VERTEX = 1 << 5;
        /// The fragment shader accesses it.
        const FRAGMENT = 1 << 6;
        /// The compute shader accesses it.
        const COMPUTE = 1 << 7;
    }
}

impl Needs {
    /// Computes the needs of a binding; empty if passes bind no buffer or image to it.
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

/// Number of bindings with a table entry.
const LOW: usize = 16;

/// Needs of the bindings of a pipeline.
///
/// ```no_run
/// # use quadrille_vulkan::pipeline::{BindingNeeds, ComputePipeline, Needs};
/// # fn example(pipeline: &ComputePipeline) {
/// // @group(0) @binding(0) var<storage, read_write> cells: array<u32>;
/// let needs = pipeline.needs();
/// assert_eq!(needs.at(0), Needs::STORAGE | Needs::WRITES | Needs::COMPUTE);
/// assert_ne!(needs.numbers() & BindingNeeds::bit(0), 0, "it is there");
/// # }
/// ```
#[derive(Debug)]
pub struct BindingNeeds {
    /// Needs of the lowest binding numbers.
    low: [Needs; LOW],
    /// Bit mask of the bindings that passes bind.
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
            // Input attachments are bound automatically.
            if !matches!(binding.kind, BindingKind::InputAttachment(_)) {
                numbers |= Self::bit(binding.binding);
            }
        }
        Self { low, numbers }
    }

    /// Returns the needs of a binding; empty if it does not exist, is a sampler, or its number is 16 or above.
    #[inline]
    pub fn at(&self, binding: u32) -> Needs {
        self.low.get(binding as usize).copied().unwrap_or_default()
    }

    /// Bit mask of all bindings except input attachments, which are bound automatically; see [`bit`](Self::bit).
    #[inline]
    pub fn numbers(&self) -> u64 {
        self.numbers
    }

    /// The bit of a binding in [`numbers`](Self::numbers). Numbers with equal remainder modulo 64 share a bit.
    #[inline]
    pub fn bit(binding: u32) -> u64 {
        1 << (binding & 63)
    }
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
