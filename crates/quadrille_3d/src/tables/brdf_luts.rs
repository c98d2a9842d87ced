//! BRDF lookup tables as images.

use bevy_asset::RenderAssetUsages;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::{CompressedImageFormats, Image, ImageSampler, ImageType};
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Uploads};
use quadrille::vulkan::{Error, Format};

use crate::tables::dfg;

/// LUT of the DFG term (`dfg.rs`), for [`Quadrille3dPlugin::dfg_lut`](crate::Quadrille3dPlugin::dfg_lut) and for
/// rectangular lights.
#[derive(Resource, Deref)]
pub struct DfgLut(GpuImage);

impl DfgLut {
    pub(crate) fn new(gpu: &GpuDevice, uploads: &mut Uploads) -> Result<Self, Error> {
        let desc = ImageDesc::sampled("3d dfg", [dfg::LUT_SIZE as u32; 2], Format::R16G16_SFLOAT);
        let image = gpu.create_image(&desc)?;
        uploads.write_image(&image, bytemuck::cast_slice(dfg::table()));
        Ok(Self(image))
    }
}

/// LUT of linearly transformed cosines (Heitz 2016): matrices from the GGX lobe to the cosine, from the paper's data
/// (`assets/LICENSES.md`), by perceptual roughness and `sqrt(1 - n_dot_v)`.
#[derive(Resource, Deref)]
pub struct LtcLut(GpuImage);

impl LtcLut {
    pub(crate) fn new(gpu: &GpuDevice, uploads: &mut Uploads) -> Result<Self, BevyError> {
        let bytes = include_bytes!("../../assets/lights/ltc.ktx2");
        let table = texels(bytes)?;
        let side = table.texture_descriptor.size.width;
        let desc = ImageDesc::sampled("3d ltc", [side; 2], Format::R16G16B16A16_SFLOAT);
        let image = gpu.create_image(&desc)?;
        // The second layer is the DFG term, which `DfgLut` has.
        let data = table.data.as_deref().unwrap_or_default();
        uploads.write_image(&image, &data[..data.len() / 2]);
        Ok(Self(image))
    }
}

/// Decodes a LUT from a KTX2 file.
pub(crate) fn texels(bytes: &[u8]) -> Result<Image, BevyError> {
    Ok(Image::from_buffer(
        bytes,
        ImageType::Extension("ktx2"),
        CompressedImageFormats::NONE,
        false,
        ImageSampler::linear(),
        RenderAssetUsages::default(),
    )?)
}
