//! Descriptors of bindings: each bound resource is checked against the declaration in the shader.

use super::view;
use crate::error::{CommandError, OtherLayout};
use crate::record::encode::{Encoder, Failure};
use crate::resources::buffer::BufferUsage;
use crate::resources::compatible::check_kind;
use crate::resources::handle::Handle;
use crate::resources::image::ImageUsage;
use crate::resources::texels::Texels;
use crate::resources::view::ViewKey;
use crate::shader::{Binding, BindingKind, ShaderImage};
use ash::vk;
use quadrille_sync::flags::{AccessMask, Layout};

impl Encoder<'_> {
    /// Checks the resource at a binding and completes its data for a push.
    pub(super) fn describe(&mut self, pipeline: &str, binding: &Binding) -> Result<(), Failure> {
        let at = binding.binding as usize;
        let kind = binding.kind;
        let bound = match kind {
            BindingKind::UniformBuffer | BindingKind::StorageBuffer => self.bindings.has_buffer,
            BindingKind::SampledImage(_) | BindingKind::StorageImage(_) => self.bindings.has_image,
            BindingKind::Sampler => self.bindings.has_sampler,
            BindingKind::CombinedImageSampler(_) => {
                self.bindings.has_image & self.bindings.has_sampler
            }
            BindingKind::InputAttachment(_) => u32::MAX,
        };
        if bound & (1 << at) == 0 {
            return Err(unbound(pipeline, binding).into());
        }
        match kind {
            BindingKind::UniformBuffer | BindingKind::StorageBuffer => {
                self.check_buffer(pipeline, binding)?;
            }
            BindingKind::Sampler => {
                let sampler = self.bindings.samplers[at];
                self.bindings.infos[at].image = vk::DescriptorImageInfo::default().sampler(sampler);
            }
            BindingKind::SampledImage(seen)
            | BindingKind::StorageImage(seen)
            | BindingKind::CombinedImageSampler(seen) => {
                let storage = matches!(kind, BindingKind::StorageImage(_));
                if self.bindings.images[at].storage != storage {
                    return Err(unbound(pipeline, binding).into());
                }
                let entry = self.bindings.images[at].entry;
                if entry.is_none_or(|entry| entry.view_kind != seen.view) {
                    // The version of the entry does not cover other views of the image, so do not cache.
                    self.calls.give_up();
                }
                let mut info = self.describe_image(at, &seen)?;
                if matches!(kind, BindingKind::CombinedImageSampler(_)) {
                    info.sampler = self.bindings.samplers[at];
                }
                self.bindings.infos[at].image = info;
            }
            BindingKind::InputAttachment(seen) => {
                let info = self.describe_attachment(pipeline, binding, seen)?;
                self.bindings.infos[at].image = info;
                self.bindings.has_attachment |= 1 << at;
                // `Info` is a union: the image descriptor has replaced that of a buffer.
                self.bindings.has_buffer &= !(1 << at);
            }
        }
        Ok(())
    }

    /// Checks a bound buffer against device limits and the shader's declaration.
    fn check_buffer(&self, pipeline: &str, binding: &Binding) -> Result<(), CommandError> {
        let limits = &self.device.limits;
        let at = binding.binding as usize;
        let (usage, word, multiple, most) = if binding.kind == BindingKind::UniformBuffer {
            (
                BufferUsage::UNIFORM,
                "UNIFORM",
                limits.min_uniform_buffer_offset_alignment,
                limits.max_uniform_buffer_range,
            )
        } else {
            (
                BufferUsage::STORAGE,
                "STORAGE",
                limits.min_storage_buffer_offset_alignment,
                limits.max_storage_buffer_range,
            )
        };
        // SAFETY: `has_buffer` is set for this binding, so the union holds buffer data.
        let info = unsafe { self.bindings.infos[at].buffer };
        let name = || {
            let index = self.bindings.indices[at];
            self.resources.handle(index).name().to_owned()
        };
        if self.bindings.usages[at] & usage.bits() == 0 {
            return Err(CommandError::Usage {
                name: name(),
                usage: word,
            });
        }
        // Vulkan's alignments are powers of two.
        if info.offset & multiple.saturating_sub(1) != 0 {
            let what = format!("the offset {} of {}", info.offset, name());
            return Err(CommandError::Alignment { what, multiple });
        }
        if info.range > u64::from(most) {
            let what = format!("the binding of {} bytes of {}", info.range, name());
            return Err(CommandError::Limit {
                what,
                limit: most.into(),
            });
        }
        if info.range < binding.least_bytes {
            return Err(CommandError::TooSmall {
                pipeline: pipeline.into(),
                binding: binding.binding,
                variable: binding.name.as_str().into(),
                name: name().into(),
                given: info.range,
                wanted: binding.least_bytes,
            });
        }
        if info.offset == 0 && self.bindings.has_layout & (1 << at) != 0 {
            return self.check_layout(pipeline, binding);
        }
        Ok(())
    }

    /// Compares the memory layout of the value in a buffer with the type in the shader.
    fn check_layout(&self, pipeline: &str, binding: &Binding) -> Result<(), CommandError> {
        let index = self.bindings.indices[binding.binding as usize];
        let Handle::Buffer(buffer) = self.resources.handle(index) else {
            return Ok(());
        };
        match buffer.layout() {
            Some(value) if binding.layout.contradicts_written(&value) => {
                Err(CommandError::OtherLayout(Box::new(OtherLayout {
                    value: value.name,
                    name: buffer.name().to_owned(),
                    given: value.text(),
                    pipeline: pipeline.to_owned(),
                    binding: binding.binding,
                    variable: binding.name.clone(),
                    shader: binding.layout.text(),
                })))
            }
            _ => Ok(()),
        }
    }

    fn describe_image(
        &mut self,
        at: usize,
        seen: &ShaderImage,
    ) -> Result<vk::DescriptorImageInfo, Failure> {
        let bound = self.bindings.images[at];
        let index = self.bindings.indices[at];
        let (usage, word) = if bound.storage {
            (ImageUsage::STORAGE, "STORAGE")
        } else {
            (ImageUsage::SAMPLED, "SAMPLED")
        };
        if self.bindings.usages[at] & usage.bits() == 0 {
            let name = self.resources.handle(index).name().to_owned();
            return Err(CommandError::Usage { name, usage: word }.into());
        }
        let known = bound.entry.filter(|entry| entry.view_kind == seen.view);
        let texels = match (bound.entry, self.resources.handle(index)) {
            (Some(entry), _) => entry.texels,
            (None, Handle::Image(image)) => Texels::of(image),
            (None, Handle::Buffer(_)) => Texels::NONE,
        };
        if let Some(problem) = texels.problem(seen) {
            return Err(CommandError::View {
                name: self.resources.handle(index).name().to_owned(),
                kind: seen.view,
                problem,
            }
            .into());
        }
        let image_view = match (known, self.resources.handle(index)) {
            (Some(entry), _) => entry.view,
            (None, Handle::Image(image)) => {
                let key = ViewKey {
                    view: bound.view,
                    aspects: texels.aspects(),
                    kind: seen.view,
                };
                check_kind(image, key)?;
                view(image, key)?
            }
            (None, Handle::Buffer(_)) => unreachable!("an image is bound here"),
        };
        let image_layout = if bound.storage {
            let access = AccessMask::SHADER_STORAGE_READ | AccessMask::SHADER_STORAGE_WRITE;
            self.layout(index, texels.aspects(), access, Layout::General)
        } else {
            self.layout(
                index,
                texels.aspects(),
                AccessMask::SHADER_SAMPLED_READ,
                Layout::ShaderReadOnlyOptimal,
            )
        };
        Ok(vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view,
            image_layout,
        })
    }
}

/// The error for a binding without a resource, or with one of another kind.
#[cold]
fn unbound(pipeline: &str, binding: &Binding) -> CommandError {
    CommandError::Unbound {
        pipeline: pipeline.to_owned(),
        binding: binding.binding,
        variable: binding.name.clone(),
        kind: binding.kind.word(),
    }
}
