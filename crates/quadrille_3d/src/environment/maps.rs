//! Which cubes there are: those of image assets, and those that the device makes of image assets.
//!
//! A cube that the device makes has its source's version, and is made again when that changes. What
//! no camera needed in a frame is dropped after it.

use bevy_asset::{AssetId, Handle};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{
    Format, GpuDevice, GpuImage, ImageDesc, ImageTable, ImageTableDesc, Renderer, SamplerDesc,
    TableIndex,
};
use quadrille::vulkan::{Error, vk};
use quadrille_content::{Complaints, DeviceImages};

use crate::environment::filter::{Filter, FilterJobs3d};

/// The table of the cubes that cameras see: skies and environment maps.
#[derive(Resource, Deref, DerefMut)]
pub struct Cubes3d(ImageTable);

/// The table of irradiance volumes that cameras see.
#[derive(Resource, Deref, DerefMut)]
pub struct Volumes3d(ImageTable);

/// How many irradiance volumes cameras can see at once.
const MOST_VOLUMES: u32 = 256;

impl Volumes3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let sampler = gpu.create_sampler(&SamplerDesc {
            name: "volumes".to_owned(),
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            ..SamplerDesc::linear()
        })?;
        let desc = ImageTableDesc::d3("3d volumes", MOST_VOLUMES).with_sampler(&sampler);
        Ok(Self(gpu.image_table(&desc)?))
    }
}

/// How many cubes cameras can see at once.
const CAPACITY: u32 = 256;

/// Of cubes that the device makes.
const FORMAT: Format = Format::R16G16B16A16_SFLOAT;

/// The sides of cubes that the device makes: small ones would have too few levels for roughness.
const SIDES: [u32; 2] = [64, 1024];

/// The largest side on a CPU, which has to end before the device counts as hung.
const SOFTWARE_SIDE: u32 = 256;

/// The side of the last level of a mirrored cube, for perceptual roughness 1.
const ROUGHEST_SIDE: u32 = 8;

/// The side of cubes of scattered light.
pub(crate) const SCATTERED_SIDE: u32 = 16;

impl Cubes3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let sampler = gpu.create_sampler(&SamplerDesc {
            name: "cubes".to_owned(),
            ..SamplerDesc::linear()
        })?;
        let desc = ImageTableDesc::cube("3d cubes", CAPACITY).with_sampler(&sampler);
        Ok(Self(gpu.image_table(&desc)?))
    }
}

/// The cubes that cameras see, and those that the device made of images.
#[derive(Resource, Default)]
pub struct EnvironmentMaps3d {
    made: HashMap<AssetId<Image>, Made>,
    cubes: Residents,
    volumes: Residents,
    /// Frames that were submitted before the one that is prepared.
    pub(crate) submitted: u64,
}

/// An image in a table.
struct Resident {
    image: GpuImage,
    index: TableIndex,
    is_used: bool,
}

/// The images of a table, of which those stay that a frame needed.
#[derive(Default)]
struct Residents(Vec<Resident>);

impl Residents {
    /// Where shaders find an image; none, with a warning, if there is no room.
    fn place(
        &mut self,
        table: &mut ImageTable,
        image: &GpuImage,
        complaints: &Complaints,
    ) -> Option<u32> {
        if let Some(known) = self.0.iter_mut().find(|known| known.image == *image) {
            known.is_used = true;
            return Some(known.index.0);
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
                let who = format_args!("the image `{}` of a light", image.name());
                complaints.warn(who, || error.to_string());
                None
            }
        }
    }

    /// Drops what was not needed.
    fn end(&mut self, table: &mut ImageTable) {
        self.0.retain_mut(|resident| {
            let keeps = std::mem::take(&mut resident.is_used);
            if !keeps {
                // The index is one of this table's.
                let _ = table.remove(resident.index);
            }
            keeps
        });
    }
}

/// What is made of an image.
struct Made {
    /// The version of the image that it is made of.
    version: u64,
    filter: Filter,
    /// The number of submitted frames at which it was asked for: it is made once there are more.
    asked: Option<u64>,
    is_used: bool,
}

/// A cube for shaders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubePlace {
    pub(crate) place: u32,
    pub(crate) levels: u32,
}

impl EnvironmentMaps3d {
    /// The cubes that were filtered of an image for a `GeneratedEnvironmentMapLight`: the light that
    /// surfaces scatter, by their normal and divided by pi, and what mirrors show, whose perceptual
    /// roughness grows from 0 at the first mip level to 1 at the last.
    pub fn filtered(&self, image: impl Into<AssetId<Image>>) -> Option<[&GpuImage; 2]> {
        let filter = &self.made.get(&image.into())?.filter;
        Some([filter.scattered.as_ref()?, filter.mirrored.as_ref()?])
    }

    /// Forgets what the device had.
    pub(crate) fn begin_anew(&mut self) {
        self.made.clear();
        self.cubes = Residents::default();
        self.volumes = Residents::default();
    }

    /// Drops what was not needed, and lists what is to be made in this frame.
    pub(crate) fn end(
        &mut self,
        cubes: &mut Cubes3d,
        volumes: &mut Volumes3d,
        jobs: &mut FilterJobs3d,
    ) {
        self.cubes.end(cubes);
        self.volumes.end(volumes);
        let submitted = self.submitted;
        jobs.0.clear();
        self.made.retain(|_, made| {
            if made.asked.is_some_and(|asked| asked < submitted) {
                made.asked = None;
                made.filter.drop_unneeded();
            }
            if made.asked.is_some() {
                jobs.0.push(made.filter.clone());
            }
            std::mem::take(&mut made.is_used)
        });
    }
}

/// Counts submitted frames: what was to be made in one that was not is to be made in the next.
pub(crate) fn count_submitted(
    renderer: Option<Res<Renderer>>,
    mut maps: ResMut<EnvironmentMaps3d>,
) {
    if let Some(renderer) = renderer {
        maps.submitted = renderer.submitted_frames();
    }
}

/// What maps are looked up in.
pub(crate) struct MapSource<'a> {
    pub(crate) maps: &'a mut EnvironmentMaps3d,
    pub(crate) cubes: &'a mut Cubes3d,
    pub(crate) volumes: &'a mut Volumes3d,
    pub(crate) images: &'a DeviceImages,
    pub(crate) complaints: &'a Complaints,
    pub(crate) gpu: &'a GpuDevice,
}

impl MapSource<'_> {
    /// The cube of an image that is one; none until it is there.
    pub(crate) fn cube(&mut self, handle: &Handle<Image>, who: &str) -> Option<CubePlace> {
        let image = self.images.image(handle)?.clone();
        if !is_cube(&image) {
            self.refuse(
                &image,
                who,
                "is no cube; a `GeneratedEnvironmentMapLight` takes others",
            );
            return None;
        }
        self.place(&image)
    }

    /// The place of an image that is an irradiance volume; none until it is there.
    pub(crate) fn volume(&mut self, handle: &Handle<Image>) -> Option<u32> {
        let image = self.images.image(handle)?.clone();
        let [_, height, depth] = image.desc().extent;
        if depth % 3 != 0 || height % 2 != 0 {
            self.complaints.warn("an irradiance volume", || {
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
        residents.place(self.volumes, &image, self.complaints)
    }

    /// The cube that a sky shows: the image, or one made of it.
    pub(crate) fn sky(&mut self, handle: &Handle<Image>) -> Option<CubePlace> {
        let image = self.images.image(handle)?.clone();
        if is_cube(&image) {
            return self.place(&image);
        }
        let sky = self.made(handle.id(), &image, Need::Sky)?.cube.clone();
        self.place(&sky?)
    }

    /// The two cubes that are filtered of an image: of scattered light, and of mirrored.
    pub(crate) fn filtered(&mut self, handle: &Handle<Image>) -> Option<[CubePlace; 2]> {
        let image = self.images.image(handle)?.clone();
        let filter = self.made(handle.id(), &image, Need::Light)?;
        let (scattered, mirrored) = (filter.scattered.clone(), filter.mirrored.clone());
        Some([self.place(&scattered?)?, self.place(&mirrored?)?])
    }

    /// What is made of an image, with what is needed of it.
    fn made(&mut self, id: AssetId<Image>, image: &GpuImage, need: Need) -> Option<&Filter> {
        if !is_cube(image) && !is_sphere(image) {
            self.refuse(
                image,
                "a sky",
                "is neither a cube nor an image twice as wide as high",
            );
            return None;
        }
        let version = self.images.version(id)?;
        let submitted = self.maps.submitted;
        let known = self.maps.made.get(&id);
        let (mut filter, is_stale) = match known {
            Some(made) if made.version == version && made.filter.has(need) => (None, false),
            Some(made) => (Some(made.filter.clone()), true),
            None => (Some(Filter::new(image)), true),
        };
        if let Some(filter) = &mut filter {
            filter.source = image.clone();
            if let Err(error) = self.complete(filter, need) {
                self.complaints
                    .warn("a sky", || format!("its cube cannot be made: {error}"));
                return None;
            }
        }
        let made = self.maps.made.entry(id).or_insert_with(|| Made {
            version,
            filter: Filter::new(image),
            asked: None,
            is_used: true,
        });
        made.is_used = true;
        if let Some(filter) = filter {
            made.filter = filter;
            made.version = version;
        }
        if is_stale {
            made.asked = Some(submitted);
        }
        Some(&made.filter)
    }

    /// Makes the cubes that a need is met with.
    fn complete(&self, filter: &mut Filter, need: Need) -> Result<(), Error> {
        let [width, _, _] = filter.source.desc().extent;
        let wide = if filter.is_sphere { width / 4 } else { width };
        let most = if self.gpu.info().software {
            SOFTWARE_SIDE
        } else {
            SIDES[1]
        };
        let side = wide.clamp(SIDES[0], most).next_power_of_two();
        let levels = side.ilog2() + 1;
        let cube = |name, side, levels| {
            let desc = ImageDesc::storage(name, [side, side], FORMAT);
            self.gpu.create_image(&ImageDesc {
                cube: true,
                ..desc.with_layers(6).with_mips(levels)
            })
        };
        let is_of_side = |cube: &GpuImage| cube.desc().extent[0] == side;
        if !filter.cube.as_ref().is_some_and(is_of_side) {
            filter.cube = Some(cube("3d sky", side, levels)?);
        }
        filter.keeps_cube |= need == Need::Sky;
        if need == Need::Light && !filter.mirrored.as_ref().is_some_and(is_of_side) {
            let rough_levels = levels - ROUGHEST_SIDE.ilog2();
            filter.mirrored = Some(cube("3d mirrored", side, rough_levels)?);
            filter.scattered = Some(cube("3d scattered", SCATTERED_SIDE, 1)?);
        }
        Ok(())
    }

    /// Where shaders find a cube.
    fn place(&mut self, image: &GpuImage) -> Option<CubePlace> {
        let levels = image.desc().mip_levels;
        let residents = &mut self.maps.cubes;
        let place = residents.place(self.cubes, image, self.complaints)?;
        Some(CubePlace { place, levels })
    }

    fn refuse(&self, image: &GpuImage, who: &str, why: &str) {
        let [width, height, _] = image.desc().extent;
        let layers = image.desc().array_layers;
        self.complaints.warn(who, || {
            let name = image.name();
            format!("its image `{name}` of {width}x{height} texels and {layers} layers {why}")
        });
    }
}

/// What is wanted of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// A cube to be seen.
    Sky,
    /// Cubes of scattered and mirrored light.
    Light,
}

impl Filter {
    fn new(image: &GpuImage) -> Self {
        Self {
            source: image.clone(),
            is_sphere: !is_cube(image),
            cube: None,
            keeps_cube: false,
            mirrored: None,
            scattered: None,
        }
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Sky => self.keeps_cube,
            Need::Light => self.mirrored.is_some(),
        }
    }

    /// Drops what is needed no more once all is made.
    fn drop_unneeded(&mut self) {
        if !self.keeps_cube {
            self.cube = None;
        }
    }
}

fn is_cube(image: &GpuImage) -> bool {
    image.desc().cube && image.desc().array_layers == 6
}

/// All directions by longitude and latitude.
fn is_sphere(image: &GpuImage) -> bool {
    let [width, height, depth] = image.desc().extent;
    width == 2 * height && depth == 1 && image.desc().array_layers == 1
}
