//! Cubes of environments: image assets that are cubes, and cubes generated from image assets.
//!
//! A generated cube records its source's version, and is regenerated when that changes. Cubes that no camera
//! used in a frame are dropped after it.

use bevy_asset::{AssetId, Handle};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, Renderer, SamplerDesc};
use quadrille::vulkan::resources::{ImageTable, ImageTableDesc, TableIndex};
use quadrille::vulkan::{Error, Format, vk};
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::RateLimitedWarnings;

use crate::environment::filter::{FilterJob, FilterJobs3d, IRRADIANCE_SIZE};

/// Bindless table of cube maps: skyboxes and environment maps.
#[derive(Resource, Deref, DerefMut)]
pub struct Cubes3d(ImageTable);

/// Bindless table of irradiance volumes.
#[derive(Resource, Deref, DerefMut)]
pub struct Volumes3d(ImageTable);

/// Maximum number of irradiance volumes in use at once.
const MAX_VOLUMES: u32 = 256;

impl Volumes3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let sampler = gpu.create_sampler(&SamplerDesc {
            name: "volumes".to_owned(),
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            ..SamplerDesc::linear()
        })?;
        let desc = ImageTableDesc::d3("3d volumes", MAX_VOLUMES).with_sampler(&sampler);
        Ok(Self(gpu.image_table(&desc)?))
    }
}

/// Maximum number of cube maps in use at once.
const MAX_CUBES: u32 = 256;

/// Format of generated cubes.
const FORMAT: Format = Format::R16G16B16A16_SFLOAT;

/// Range of sides of generated cubes: smaller ones have too few mip levels for roughness.
const CUBE_SIZE_LIMITS: [u32; 2] = [64, 1024];

/// Largest side on software devices, which must finish before the fence timeout.
const MAX_SOFTWARE_CUBE_SIZE: u32 = 256;

/// Side of the last level of a prefiltered cube, for perceptual roughness 1.
const MIN_RADIANCE_SIZE: u32 = 8;

impl Cubes3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let sampler = gpu.create_sampler(&SamplerDesc {
            name: "cubes".to_owned(),
            ..SamplerDesc::linear()
        })?;
        let desc = ImageTableDesc::cube("3d cubes", MAX_CUBES).with_sampler(&sampler);
        Ok(Self(gpu.image_table(&desc)?))
    }
}

/// Cube maps in use, and cubes generated from images.
#[derive(Resource, Default)]
pub struct EnvironmentMaps3d {
    generated: HashMap<AssetId<Image>, GeneratedMap>,
    /// Filtered cubes of the skies of cameras with an atmosphere: irradiance and prefiltered radiance.
    pub(crate) atmospheres: EntityHashMap<[GpuImage; 2]>,
    cubes: ResidentImages,
    volumes: ResidentImages,
    /// Number of submitted frames.
    pub(crate) submitted: u64,
}

/// An image in a table.
struct Resident {
    image: GpuImage,
    index: TableIndex,
    is_used: bool,
}

/// Images of a table; those not used in a frame are dropped.
#[derive(Default)]
struct ResidentImages(Vec<Resident>);

impl ResidentImages {
    /// Returns the table index of an image; `None`, with a warning, if the table is full.
    fn index(
        &mut self,
        table: &mut ImageTable,
        image: &GpuImage,
        warnings: &RateLimitedWarnings,
    ) -> Option<u32> {
        if let Some(resident) = self.0.iter_mut().find(|resident| resident.image == *image) {
            resident.is_used = true;
            return Some(resident.index.0);
        }
        match table.insert(image) {
            Ok(index) => {
                self.0.push(Resident {
                    image: image.clone(),
                    index,
                    is_used: true,
                });
                Some(index.0)
            }
            Err(error) => {
                let subject = format_args!("the image `{}` of a light", image.name());
                warnings.warn(subject, || error.to_string());
                None
            }
        }
    }

    /// Drops images that were not used in this frame.
    fn drop_unused(&mut self, table: &mut ImageTable) {
        self.0.retain_mut(|resident| {
            let keeps = std::mem::take(&mut resident.is_used);
            if !keeps {
                // Cannot fail: the index is in use.
                let _ = table.remove(resident.index);
            }
            keeps
        });
    }
}

/// Cubes generated from one image.
struct GeneratedMap {
    /// Version of the source image.
    version: u64,
    filter: FilterJob,
    /// Number of submitted frames at the request; the map is complete once more are submitted.
    requested_at: Option<u64>,
    is_used: bool,
}

/// Table index and mip levels of a cube for shaders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubeEntry {
    pub(crate) index: u32,
    pub(crate) levels: u32,
}

impl EnvironmentMaps3d {
    /// Cubes that were filtered from an image for a `GeneratedEnvironmentMapLight`: irradiance by normal,
    /// divided by pi, and prefiltered radiance, whose perceptual
    /// roughness grows from 0 at the first mip level to 1 at the last.
    pub fn filtered(&self, image: impl Into<AssetId<Image>>) -> Option<[&GpuImage; 2]> {
        let filter = &self.generated.get(&image.into())?.filter;
        Some([filter.irradiance.as_ref()?, filter.radiance.as_ref()?])
    }

    /// Drops all maps (lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.generated.clear();
        self.atmospheres.clear();
        self.cubes = ResidentImages::default();
        self.volumes = ResidentImages::default();
    }

    /// Drops unused maps, and lists the jobs of this frame.
    pub(crate) fn drop_unused(
        &mut self,
        cubes: &mut Cubes3d,
        volumes: &mut Volumes3d,
        jobs: &mut FilterJobs3d,
    ) {
        self.cubes.drop_unused(cubes);
        self.volumes.drop_unused(volumes);
        let submitted = self.submitted;
        jobs.0.clear();
        self.generated.retain(|_, generated| {
            if generated
                .requested_at
                .is_some_and(|requested_at| requested_at < submitted)
            {
                generated.requested_at = None;
                generated.filter.drop_unneeded();
            }
            if generated.requested_at.is_some() {
                jobs.0.push(generated.filter.clone());
            }
            std::mem::take(&mut generated.is_used)
        });
    }
}

/// Counts submitted frames, because jobs of a failed frame must be repeated.
pub(crate) fn count_submitted(
    renderer: Option<Res<Renderer>>,
    mut maps: ResMut<EnvironmentMaps3d>,
) {
    if let Some(renderer) = renderer {
        maps.submitted = renderer.submitted_frames();
    }
}

/// Stores for the lookup of maps.
pub(crate) struct MapSource<'a> {
    pub(crate) maps: &'a mut EnvironmentMaps3d,
    pub(crate) cubes: &'a mut Cubes3d,
    pub(crate) volumes: &'a mut Volumes3d,
    pub(crate) images: &'a DeviceImages,
    pub(crate) warnings: &'a RateLimitedWarnings,
    pub(crate) gpu: &'a GpuDevice,
}

impl MapSource<'_> {
    /// Returns the cube of a cube image; `None` until it is resident.
    pub(crate) fn cube(&mut self, handle: &Handle<Image>, subject: &str) -> Option<CubeEntry> {
        let image = self.images.image(handle)?.clone();
        if !is_cube(&image) {
            self.warn_unusable(
                &image,
                subject,
                "is no cube; a `GeneratedEnvironmentMapLight` takes others",
            );
            return None;
        }
        self.index(&image)
    }

    /// Returns the table index of an irradiance volume; `None` until its image is resident.
    pub(crate) fn volume(&mut self, handle: &Handle<Image>) -> Option<u32> {
        let image = self.images.image(handle)?.clone();
        let [_, height, depth] = image.desc().extent;
        if depth % 3 != 0 || height % 2 != 0 {
            self.warnings.warn("an irradiance volume", || {
                format!(
                    "its image `{}` of {:?} texels is no 3D image of twice as many rows and three \
                     times as many slices as there are cubes",
                    image.name(),
                    image.desc().extent
                )
            });
            return None;
        }
        let residents = &mut self.maps.volumes;
        residents.index(self.volumes, &image, self.warnings)
    }

    /// Returns the cube of a skybox: the image itself, or one generated from it.
    pub(crate) fn sky(&mut self, handle: &Handle<Image>) -> Option<CubeEntry> {
        let image = self.images.image(handle)?.clone();
        if is_cube(&image) {
            return self.index(&image);
        }
        let sky = self
            .generated(handle.id(), &image, MapUse::Sky)?
            .cube
            .clone();
        self.index(&sky?)
    }

    /// Returns the filtered cubes of an image: irradiance and prefiltered radiance.
    pub(crate) fn filtered(&mut self, handle: &Handle<Image>) -> Option<[CubeEntry; 2]> {
        let image = self.images.image(handle)?.clone();
        let filter = self.generated(handle.id(), &image, MapUse::Light)?;
        let (irradiance, radiance) = (filter.irradiance.clone(), filter.radiance.clone());
        Some([self.index(&irradiance?)?, self.index(&radiance?)?])
    }

    /// Returns the filtered cubes of the sky of a camera.
    pub(crate) fn atmosphere(&mut self, camera: Entity) -> Option<[CubeEntry; 2]> {
        let [irradiance, radiance] = self.maps.atmospheres.get(&camera)?.clone();
        Some([self.index(&irradiance)?, self.index(&radiance)?])
    }

    /// Returns the generated map of an image, with the cubes that `need` requires.
    fn generated(
        &mut self,
        id: AssetId<Image>,
        image: &GpuImage,
        need: MapUse,
    ) -> Option<&FilterJob> {
        if !is_cube(image) && !is_equirectangular(image) {
            self.warn_unusable(
                image,
                "a sky",
                "is neither a cube nor an image twice as wide as high",
            );
            return None;
        }
        let version = self.images.version(id)?;
        let submitted = self.maps.submitted;
        let resident = self.maps.generated.get(&id);
        let (mut filter, is_stale) = match resident {
            Some(generated) if generated.version != version => {
                (Some(generated.filter.of_image(image)), true)
            }
            Some(generated) if generated.filter.satisfies(need) => (None, false),
            Some(generated) => (Some(generated.filter.clone()), true),
            None => (Some(FilterJob::new(image)), true),
        };
        if let Some(filter) = &mut filter {
            // Another image has other cubes for all uses.
            let uses = [MapUse::Sky, MapUse::Light];
            let uses = uses.map(|it| (it == need || filter.satisfies(it)).then_some(it));
            filter.source = Some(image.clone());
            for need in uses.into_iter().flatten() {
                if let Err(error) = self.create_missing_cubes(filter, image, need) {
                    self.warnings.warn("a skybox", || {
                        format!("its cube cannot be created: {error}")
                    });
                    return None;
                }
            }
        }
        let generated = self
            .maps
            .generated
            .entry(id)
            .or_insert_with(|| GeneratedMap {
                version,
                filter: FilterJob::new(image),
                requested_at: None,
                is_used: true,
            });
        generated.is_used = true;
        if let Some(filter) = filter {
            generated.filter = filter;
            generated.version = version;
        }
        if is_stale {
            generated.requested_at = Some(submitted);
        }
        Some(&generated.filter)
    }

    /// Creates the missing cubes of `need`.
    fn create_missing_cubes(
        &self,
        filter: &mut FilterJob,
        image: &GpuImage,
        need: MapUse,
    ) -> Result<(), Error> {
        let [width, _, _] = image.desc().extent;
        let wide = if filter.is_equirectangular {
            width / 4
        } else {
            width
        };
        let side = cube_side(self.gpu, wide);
        let is_of_side = |cube: &GpuImage| cube.desc().extent[0] == side;
        if !filter.cube.as_ref().is_some_and(is_of_side) {
            filter.cube = Some(sky_cube(self.gpu, side)?);
        }
        filter.keeps_cube |= need == MapUse::Sky;
        if need == MapUse::Light && !filter.radiance.as_ref().is_some_and(is_of_side) {
            let [irradiance, radiance] = filtered_cubes(self.gpu, side)?;
            (filter.irradiance, filter.radiance) = (Some(irradiance), Some(radiance));
        }
        Ok(())
    }

    /// Returns the table entry of a cube.
    fn index(&mut self, image: &GpuImage) -> Option<CubeEntry> {
        let levels = image.desc().mip_levels;
        let residents = &mut self.maps.cubes;
        let index = residents.index(self.cubes, image, self.warnings)?;
        Some(CubeEntry { index, levels })
    }

    fn warn_unusable(&self, image: &GpuImage, subject: &str, why: &str) {
        let [width, height, _] = image.desc().extent;
        let layers = image.desc().array_layers;
        self.warnings.warn(subject, || {
            let name = image.name();
            format!("its image `{name}` of {width}x{height} texels and {layers} layers {why}")
        });
    }
}

/// Use of a map of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapUse {
    /// Skybox.
    Sky,
    /// Image-based lighting: irradiance and prefiltered radiance.
    Light,
}

impl FilterJob {
    fn new(image: &GpuImage) -> Self {
        Self {
            source: Some(image.clone()),
            is_equirectangular: !is_cube(image),
            cube: None,
            keeps_cube: false,
            radiance: None,
            irradiance: None,
        }
    }

    /// The filtering of a cube with sides of about this many texels, whose first level another pass writes.
    pub(crate) fn of_cube(gpu: &GpuDevice, side: u32) -> Result<Self, Error> {
        let side = cube_side(gpu, side);
        let [irradiance, radiance] = filtered_cubes(gpu, side)?;
        Ok(Self {
            source: None,
            is_equirectangular: false,
            cube: Some(sky_cube(gpu, side)?),
            keeps_cube: true,
            radiance: Some(radiance),
            irradiance: Some(irradiance),
        })
    }

    /// The same cubes from another image.
    fn of_image(&self, image: &GpuImage) -> Self {
        Self {
            is_equirectangular: !is_cube(image),
            ..self.clone()
        }
    }

    fn satisfies(&self, need: MapUse) -> bool {
        match need {
            MapUse::Sky => self.keeps_cube,
            MapUse::Light => self.radiance.is_some(),
        }
    }

    /// Drops the source and intermediate cubes after generation.
    fn drop_unneeded(&mut self) {
        if !self.keeps_cube {
            self.cube = None;
        }
    }
}

/// Side of a generated cube: the next power of two within the limits of the device.
pub(crate) fn cube_side(gpu: &GpuDevice, wanted: u32) -> u32 {
    let most = if gpu.info().software {
        MAX_SOFTWARE_CUBE_SIZE
    } else {
        CUBE_SIZE_LIMITS[1]
    };
    wanted.clamp(CUBE_SIZE_LIMITS[0], most).next_power_of_two()
}

fn generated_cube(
    gpu: &GpuDevice,
    (name, side, levels): (&str, u32, u32),
) -> Result<GpuImage, Error> {
    let desc = ImageDesc::storage(name, [side, side], FORMAT);
    gpu.create_image(&ImageDesc {
        cube: true,
        ..desc.with_layers(6).with_mips(levels)
    })
}

/// Creates a cube with all mip levels.
fn sky_cube(gpu: &GpuDevice, side: u32) -> Result<GpuImage, Error> {
    generated_cube(gpu, ("3d sky", side, side.ilog2() + 1))
}

/// Creates cubes of irradiance and prefiltered radiance.
fn filtered_cubes(gpu: &GpuDevice, side: u32) -> Result<[GpuImage; 2], Error> {
    let rough_levels = side.ilog2() + 1 - MIN_RADIANCE_SIZE.ilog2();
    let irradiance = generated_cube(gpu, ("3d irradiance", IRRADIANCE_SIZE, 1))?;
    let radiance = generated_cube(gpu, ("3d prefiltered radiance", side, rough_levels))?;
    Ok([irradiance, radiance])
}

fn is_cube(image: &GpuImage) -> bool {
    image.desc().cube && image.desc().array_layers == 6
}

/// Whether an image has the 2:1 aspect of an equirectangular panorama.
fn is_equirectangular(image: &GpuImage) -> bool {
    let [width, height, depth] = image.desc().extent;
    width == 2 * height && depth == 1 && image.desc().array_layers == 1
}
