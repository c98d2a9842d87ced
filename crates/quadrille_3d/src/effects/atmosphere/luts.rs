//! LUTs of atmospheres: images that are written when what they depend on changes.

use bevy_asset::AssetId;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_math::UVec3;
use quadrille::prelude::{GpuBuffer, GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::resources::TableIndex;
use quadrille::vulkan::{Error, Format};

use super::component::AtmosphereSettings;
use super::row::AtmosphereRow;
use crate::environment::filter::FilterJob;

/// LUTs of this frame: transmittance and multiple scattering of each medium, then sky view, aerial scattering and aerial
/// optical depth of each view, then the cubes of skies that light meshes.
#[derive(Resource, Default, Deref)]
pub struct AtmosphereLuts3d(pub(super) Vec<GpuImage>);

/// Rows of the atmospheres of views.
#[derive(Resource, Deref)]
pub struct AtmosphereRows3d(pub(super) GpuBuffer);

/// Whether an image has the contents for a key.
#[derive(Default)]
pub(super) struct Contents {
    key: Vec<u8>,
    /// Number of submitted frames when the image was last written, until the next frame.
    written_at: Option<u64>,
    is_valid: bool,
}

impl Contents {
    /// Whether this frame, after a number of submitted ones, has to write the image. What a frame wrote that was not
    /// submitted is written again.
    pub(super) fn begin_write(&mut self, key: &[u8], submitted: u64) -> bool {
        if let Some(at) = self.written_at.take() {
            self.is_valid = submitted > at;
        }
        if self.is_valid && self.key == key {
            return false;
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.is_valid = false;
        self.written_at = Some(submitted);
        true
    }
}

/// Medium and planet of [`MediumLuts`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MediumKey {
    pub(super) medium: AssetId<ScatteringMedium>,
    pub(super) version: u64,
    planet: Vec<u8>,
    sizes: [UVec3; 2],
}

impl MediumKey {
    pub(super) fn new(
        (medium, version): (AssetId<ScatteringMedium>, u64),
        row: &AtmosphereRow,
        settings: &AtmosphereSettings,
    ) -> Self {
        Self {
            medium,
            version,
            planet: row.planet().to_vec(),
            sizes: [
                settings.transmittance_lut_size.extend(1),
                settings.multiscattering_lut_size.extend(1),
            ],
        }
    }

    /// Bytes that tell LUTs of one planet apart, for the keys of images that are made from them.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let sizes = self.sizes.map(|size| size.to_array());
        [&self.version.to_le_bytes(), bytemuck::bytes_of(&sizes)].concat()
    }
}

/// LUTs that views with one medium and planet share.
pub(super) struct MediumLuts {
    pub(super) key: MediumKey,
    pub(super) images: [GpuImage; 2],
    pub(super) contents: Contents,
    /// Index of the transmittance in the table of textures, once a light of a view needs it.
    pub(super) texture: Option<TableIndex>,
    /// Row of a view that has the planet, in frames that write the images.
    pub(super) writer: Option<u32>,
    /// Index of the medium's first image in `AtmosphereMedia3d`.
    pub(super) first_medium_image: usize,
}

/// Cubes of the sky around a camera, which light meshes.
pub(super) struct SkyCubes {
    /// Side as the lights have it.
    wanted: u32,
    pub(super) job: FilterJob,
    pub(super) contents: Contents,
}

/// LUTs of a view.
pub(super) struct ViewLuts {
    pub(super) camera: Entity,
    pub(super) planet: Entity,
    sizes: [UVec3; 2],
    pub(super) images: [GpuImage; 3],
    pub(super) sky: Contents,
    pub(super) aerial: Contents,
    pub(super) cubes: Option<SkyCubes>,
    /// Index of its [`MediumLuts`].
    pub(super) medium: usize,
    pub(super) row: AtmosphereRow,
    pub(super) drawn: Option<DrawnView>,
}

/// View that is drawn in this frame.
#[derive(Clone, Copy)]
pub(super) struct DrawnView {
    /// Index in `Scene3d::views`.
    pub(super) view: usize,
    /// Row in [`AtmosphereRows3d`].
    pub(super) row: u32,
    pub(super) writes_sky: bool,
    pub(super) writes_aerial: bool,
    pub(super) writes_cube: bool,
}

/// LUTs of all views.
#[derive(Resource, Default)]
pub(super) struct LutCache {
    pub(super) media: Vec<MediumLuts>,
    pub(super) views: Vec<ViewLuts>,
    /// Indices in the table of textures of LUTs that were dropped.
    pub(super) unused_textures: Vec<TableIndex>,
}

/// LUTs of the previous frame, for reuse.
pub(super) struct PreviousLuts {
    media: Vec<MediumLuts>,
    views: Vec<ViewLuts>,
}

/// Images of a medium in [`AtmosphereLuts3d`].
pub(super) const MEDIUM_LUTS: usize = 2;
/// Images of a view in [`AtmosphereLuts3d`].
pub(super) const VIEW_LUTS: usize = 3;

impl LutCache {
    /// Begins a frame.
    pub(super) fn take(&mut self) -> PreviousLuts {
        PreviousLuts {
            media: std::mem::take(&mut self.media),
            views: std::mem::take(&mut self.views),
        }
    }

    /// Adds the LUTs of a medium, if they are not in the list. Returns their index.
    pub(super) fn add_medium(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut PreviousLuts,
        (key, first_medium_image): (MediumKey, usize),
    ) -> Result<usize, Error> {
        if let Some(at) = self.media.iter().position(|luts| luts.key == key) {
            return Ok(at);
        }
        let mut luts = match previous.media.iter().position(|luts| luts.key == key) {
            Some(at) => previous.media.swap_remove(at),
            None => {
                let [transmittance, multiscattering] = key.sizes;
                let images = [
                    lut(gpu, "atmosphere transmittance", transmittance)?,
                    lut(gpu, "atmosphere multiscattering", multiscattering)?,
                ];
                MediumLuts {
                    key,
                    images,
                    contents: Contents::default(),
                    texture: None,
                    writer: None,
                    first_medium_image,
                }
            }
        };
        luts.writer = None;
        luts.first_medium_image = first_medium_image;
        self.media.push(luts);
        Ok(self.media.len() - 1)
    }

    /// Adds the LUTs of a camera's view.
    pub(super) fn add_view(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut PreviousLuts,
        (camera, planet): (Entity, Entity),
        (medium, row): (usize, AtmosphereRow),
        (settings, cube_side): (&AtmosphereSettings, Option<u32>),
    ) -> Result<(), Error> {
        // An image with one slice has two dimensions.
        let aerial = settings.aerial_view_lut_size.max(UVec3::new(1, 1, 2));
        let sizes = [settings.sky_view_lut_size.extend(1), aerial];
        let known = previous.views.iter().position(|luts| luts.camera == camera);
        let known = known.map(|at| previous.views.swap_remove(at));
        let mut luts = match known.filter(|luts| luts.sizes == sizes) {
            Some(luts) => luts,
            None => ViewLuts {
                camera,
                planet,
                sizes,
                images: [
                    lut(gpu, "atmosphere sky view", sizes[0])?,
                    lut(gpu, "atmosphere aerial scattering", aerial)?,
                    lut(gpu, "atmosphere aerial depth", aerial)?,
                ],
                sky: Contents::default(),
                aerial: Contents::default(),
                cubes: None,
                medium,
                row,
                drawn: None,
            },
        };
        (luts.planet, luts.medium, luts.row, luts.drawn) = (planet, medium, row, None);
        let known = luts.cubes.take();
        luts.cubes = match known.filter(|cubes| Some(cubes.wanted) == cube_side) {
            None => cube_side.map(|side| SkyCubes::new(gpu, side)).transpose()?,
            known => known,
        };
        self.views.push(luts);
        Ok(())
    }

    /// Drops the LUTs of the previous frame that are left.
    pub(super) fn drop_unused(&mut self, previous: PreviousLuts) {
        let textures = previous.media.into_iter().filter_map(|luts| luts.texture);
        self.unused_textures.extend(textures);
    }

    /// Lists all images.
    pub(super) fn list(&self, images: &mut Vec<GpuImage>) {
        images.clear();
        images.extend(self.media.iter().flat_map(|luts| &luts.images).cloned());
        images.extend(self.views.iter().flat_map(|luts| &luts.images).cloned());
        let cubes = self.views.iter().filter_map(|luts| luts.cubes.as_ref());
        images.extend(cubes.filter_map(|cubes| cubes.job.cube.clone()));
    }

    /// Index in [`AtmosphereLuts3d`] of the cube of a view.
    pub(super) fn cube_image(&self, view: usize) -> usize {
        let before = self.views.iter().take(view);
        self.first_view_image(self.views.len()) + before.filter(|luts| luts.cubes.is_some()).count()
    }

    /// Index in [`AtmosphereLuts3d`] of the first image of a view.
    pub(super) fn first_view_image(&self, view: usize) -> usize {
        self.media.len() * MEDIUM_LUTS + view * VIEW_LUTS
    }
}

impl SkyCubes {
    fn new(gpu: &GpuDevice, side: u32) -> Result<Self, Error> {
        Ok(Self {
            wanted: side,
            job: FilterJob::of_cube(gpu, side)?,
            contents: Contents::default(),
        })
    }

    /// Irradiance and prefiltered radiance.
    pub(super) fn filtered(&self) -> Option<[GpuImage; 2]> {
        Some([self.job.irradiance.clone()?, self.job.radiance.clone()?])
    }
}

fn lut(gpu: &GpuDevice, name: &str, size: UVec3) -> Result<GpuImage, Error> {
    let size = size.max(UVec3::ONE).to_array();
    gpu.create_image(&ImageDesc::storage(name, size, Format::R16G16B16A16_SFLOAT))
}

#[cfg(test)]
mod tests;
