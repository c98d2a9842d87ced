//! Cache of samplers by description.

use bevy_image::{
    ImageAddressMode, ImageFilterMode, ImageSamplerBorderColor, ImageSamplerDescriptor,
};
use quadrille::prelude::{GpuDevice, Sampler, SamplerDesc};
use quadrille::vulkan::{Error, vk};

/// Highest anisotropy of devices (`maxSamplerAnisotropy` with the feature).
const MOST_ANISOTROPY: u16 = 16;

/// Levels of detail from which on a maximum is none: more than any image has.
const NO_MAX_LOD: f32 = 32.0;

/// Steps of a level of detail, so that a maximum that changes each frame does not exhaust `maxSamplerAllocationCount`,
/// of which 4,000 is the guaranteed minimum.
const LOD_STEPS: f32 = 16.0;

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

/// Converts bevy's description, but for the comparison: samplers of images filter colors.
fn to_desc(descriptor: &ImageSamplerDescriptor) -> SamplerDesc {
    let filter = |mode| match mode {
        ImageFilterMode::Nearest => vk::Filter::NEAREST,
        ImageFilterMode::Linear => vk::Filter::LINEAR,
    };
    let address = |mode| match mode {
        ImageAddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        ImageAddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        ImageAddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        ImageAddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    let addresses = [
        descriptor.address_mode_u,
        descriptor.address_mode_v,
        descriptor.address_mode_w,
    ];
    let addresses = addresses.map(address);
    // `max` replaces NaN.
    let lod = |level: f32| (level.max(0.0) * LOD_STEPS).round() / LOD_STEPS;
    let most = descriptor.lod_max_clamp;
    let most = if most < NO_MAX_LOD {
        lod(most)
    } else {
        vk::LOD_CLAMP_NONE
    };
    SamplerDesc {
        name: "sampler of images".to_owned(),
        magnify: filter(descriptor.mag_filter),
        minify: filter(descriptor.min_filter),
        mipmap: match descriptor.mipmap_filter {
            ImageFilterMode::Nearest => vk::SamplerMipmapMode::NEAREST,
            ImageFilterMode::Linear => vk::SamplerMipmapMode::LINEAR,
        },
        address: addresses[0],
        // One form for one sampler: descriptions are compared.
        addresses: addresses
            .iter()
            .any(|it| *it != addresses[0])
            .then_some(addresses),
        border: match descriptor.border_color {
            Some(ImageSamplerBorderColor::OpaqueBlack) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
            Some(ImageSamplerBorderColor::OpaqueWhite) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
            Some(ImageSamplerBorderColor::TransparentBlack | ImageSamplerBorderColor::Zero)
            | None => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        },
        levels: [lod(descriptor.lod_min_clamp).min(most), most],
        anisotropy: f32::from(descriptor.anisotropy_clamp.clamp(1, MOST_ANISOTROPY)),
        ..SamplerDesc::linear()
    }
}

#[cfg(test)]
mod tests;
