//! Cache of samplers by description.

use bevy_image::{ImageAddressMode, ImageFilterMode, ImageSamplerDescriptor};
use quadrille::prelude::{GpuDevice, Sampler, SamplerDesc};
use quadrille::vulkan::{Error, vk};

/// Highest anisotropy of devices (`maxSamplerAnisotropy` with the feature). bevy's descriptor has so few other values
/// that at most 512 samplers exist, within the guaranteed `maxSamplerAllocationCount` of 4,000.
const MOST_ANISOTROPY: u16 = 16;

/// Samplers of all images so far; never evicted, since there are few.
#[derive(Default)]
pub struct Samplers(Vec<Sampler>);

impl Samplers {
    /// Returns the index of the sampler for a description, creating it if necessary.
    pub(crate) fn index(
        &mut self,
        gpu: &GpuDevice,
        descriptor: &ImageSamplerDescriptor,
    ) -> Result<u32, Error> {
        let desc = to_desc(descriptor);
        let known = self.0.iter().position(|sampler| *sampler.desc() == desc);
        if let Some(known) = known {
            return Ok(known as u32);
        }
        self.0.push(gpu.create_sampler(&desc)?);
        Ok(self.0.len() as u32 - 1)
    }

    /// Returns the sampler at an index.
    pub fn get(&self, index: u32) -> Option<&Sampler> {
        self.0.get(index as usize)
    }
}

/// Converts bevy's description. The address mode of u is used for v as well.
fn to_desc(descriptor: &ImageSamplerDescriptor) -> SamplerDesc {
    let filter = |mode| match mode {
        ImageFilterMode::Nearest => vk::Filter::NEAREST,
        ImageFilterMode::Linear => vk::Filter::LINEAR,
    };
    let address = match descriptor.address_mode_u {
        ImageAddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        ImageAddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        ImageAddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        ImageAddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    SamplerDesc {
        name: "sampler of images".to_owned(),
        magnify: filter(descriptor.mag_filter),
        minify: filter(descriptor.min_filter),
        mipmap: match descriptor.mipmap_filter {
            ImageFilterMode::Nearest => vk::SamplerMipmapMode::NEAREST,
            ImageFilterMode::Linear => vk::SamplerMipmapMode::LINEAR,
        },
        address,
        anisotropy: f32::from(descriptor.anisotropy_clamp.clamp(1, MOST_ANISOTROPY)),
        ..SamplerDesc::linear()
    }
}

#[cfg(test)]
mod tests;
