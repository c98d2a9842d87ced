//! Samplers by description: few, found again.

use bevy_image::{ImageAddressMode, ImageFilterMode, ImageSamplerDescriptor};
use quadrille::prelude::{GpuDevice, Sampler, SamplerDesc};
use quadrille::vulkan::{Error, vk};

/// Devices have no more (`maxSamplerAnisotropy` is 16 where there is anisotropy at all). As other values of bevy's
/// descriptor are few, so are samplers: 512 at most, of the 4,000 that each device has.
const MOST_ANISOTROPY: u16 = 16;

/// All samplers that images have named so far. None is forgotten, as there are few.
#[derive(Default)]
pub struct Samplers(Vec<Sampler>);

impl Samplers {
    /// The place of the sampler for this description.
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

    /// The sampler at a place.
    pub fn get(&self, index: u32) -> Option<&Sampler> {
        self.0.get(index as usize)
    }
}

/// Returns the description that the device gets for bevy's. The address mode of u holds for v as well.
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
