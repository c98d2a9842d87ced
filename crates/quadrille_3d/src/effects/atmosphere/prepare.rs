//! Atmospheres of the frame's views.

use bevy_asset::{AssetEvent, Assets};
use bevy_camera::{Camera, Camera3d};
use bevy_color::ColorToComponents as _;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{Atmosphere, AtmosphereEnvironmentMapLight, DirectionalLight, SunDisk};
use bevy_math::Vec3;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use super::component::AtmosphereSettings;
use super::luts::{
    AtmosphereLuts3d, AtmosphereRows3d, DrawnView, LutCache, MediumKey, PreviousLuts, SkyCubes,
};
use super::medium::{AtmosphereMedia3d, Media};
use super::row::{AtmosphereRow, MAX_LIGHTS, Sun};
use crate::environment::filter::FilterJobs3d;
use crate::environment::maps::EnvironmentMaps3d;
use crate::extract::invalid_lights::direction_to_light;
use crate::extract::unculled::Unculled;
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::lists::ViewRows;
use crate::tables::table::{ensure_not_empty, uniform_buffer};

/// Rows of [`AtmosphereRows3d`].
#[derive(Resource, Default)]
pub(super) struct RowList(RawBufferVec<AtmosphereRow>);

/// Creates the buffer of rows, and drops images of a lost device.
pub(super) fn init_atmosphere_buffers(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut rows: ResMut<RowList>,
    (mut media, mut cache): (ResMut<Media>, ResMut<LutCache>),
) -> Result {
    rows.0.mark_all_dirty();
    media.clear();
    *cache = LutCache::default();
    let bytes = size_of::<AtmosphereRow>() as u64;
    let buffer = uniform_buffer(&gpu, "atmosphere rows", bytes)?;
    commands.insert_resource(AtmosphereRows3d(buffer));
    commands.insert_resource(AtmosphereLuts3d::default());
    commands.insert_resource(AtmosphereMedia3d::default());
    Ok(())
}

/// Planets, and cameras that see them.
#[derive(SystemParam)]
pub(super) struct AtmosphereWorld<'w, 's> {
    planets: Query<'w, 's, (Entity, &'static Atmosphere, &'static GlobalTransform)>,
    cameras: Query<
        'w,
        's,
        (
            Entity,
            &'static AtmosphereSettings,
            &'static Camera,
            &'static GlobalTransform,
        ),
        With<Camera3d>,
    >,
    /// Lights of cameras and probes.
    lights: Query<'w, 's, &'static AtmosphereEnvironmentMapLight>,
}

impl AtmosphereWorld<'_, '_> {
    /// Side of the cubes of skies, for the largest of the lights; `None` without lights.
    fn cube_side(&self) -> Option<u32> {
        self.lights.iter().map(|light| light.size.x).max()
    }

    /// Planet whose center is nearest to a position; of equal distances that of the first entity by index.
    fn nearest(&self, position: Vec3) -> Option<(Entity, &Atmosphere)> {
        let distance = |transform: &GlobalTransform| transform.translation().distance(position);
        let nearest = self.planets.iter().min_by(|a, b| {
            let order = distance(a.2).total_cmp(&distance(b.2));
            order.then(a.0.index_u32().cmp(&b.0.index_u32()))
        });
        nearest.map(|(planet, atmosphere, _)| (planet, atmosphere))
    }
}

/// Images of [`list_atmospheres`].
#[derive(SystemParam)]
pub(super) struct AtmosphereImages<'w, 's> {
    assets: Res<'w, Assets<ScatteringMedium>>,
    changes: MessageReader<'w, 's, AssetEvent<ScatteringMedium>>,
    media: ResMut<'w, Media>,
    cache: ResMut<'w, LutCache>,
    luts: ResMut<'w, AtmosphereLuts3d>,
    medium_images: ResMut<'w, AtmosphereMedia3d>,
    gpu: Res<'w, GpuDevice>,
    uploads: ResMut<'w, Uploads>,
    warnings: Res<'w, RateLimitedWarnings>,
    maps: ResMut<'w, EnvironmentMaps3d>,
}

/// Lists the cameras with an atmosphere, and creates the images that they lack.
pub(super) fn list_atmospheres(
    world: AtmosphereWorld,
    mut images: AtmosphereImages,
    mut listed: ResMut<EffectCameras>,
) {
    let AtmosphereImages { media, changes, .. } = &mut images;
    media.apply(changes);
    let mut previous = images.cache.take();
    images.medium_images.0.clear();
    let cube_side = world.cube_side();
    for (camera, settings, view, transform) in &world.cameras {
        let planet = world.nearest(transform.translation());
        let Some((planet, atmosphere)) = planet.filter(|_| view.is_active) else {
            continue;
        };
        let settings = (settings, cube_side);
        let added = images.add(&mut previous, (camera, planet), atmosphere, settings);
        match added {
            Ok(true) => listed.add_atmosphere(camera),
            Ok(false) => {}
            Err(problem) => images.warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!("the camera {camera} has no atmosphere: {problem}")
            }),
        }
    }
    let AtmosphereImages { media, cache, .. } = &mut images;
    media.retain(|id| cache.media.iter().any(|luts| luts.key.medium == id));
    images.maps.atmospheres.clear();
    for luts in &images.cache.views {
        let cubes = luts.cubes.as_ref().and_then(SkyCubes::filtered);
        images
            .maps
            .atmospheres
            .extend(cubes.map(|cubes| (luts.camera, cubes)));
    }
    images.cache.drop_unused(previous);
    images.cache.list(&mut images.luts.0);
}

impl AtmosphereImages<'_, '_> {
    /// Adds the images of a camera. Returns whether its medium is loaded.
    fn add(
        &mut self,
        previous: &mut PreviousLuts,
        (camera, planet): (Entity, Entity),
        atmosphere: &Atmosphere,
        (settings, cube_side): (&AtmosphereSettings, Option<u32>),
    ) -> Result<bool, String> {
        let Some(row) = AtmosphereRow::new(atmosphere, settings) else {
            return Err(
                "set radii above 0, the outer one above the inner one, and a finite distance above 0"
                    .to_owned(),
            );
        };
        let text = |error: quadrille::vulkan::Error| error.to_string();
        let id = atmosphere.medium.id();
        let device = (&*self.gpu, &mut *self.uploads);
        let Some(medium) = self.media.get(id, &self.assets, device).map_err(text)? else {
            return Ok(false);
        };
        let Some(medium_images) = &medium.images else {
            return Err("its medium has a coefficient that is negative or not finite".to_owned());
        };
        let known = self.medium_images.0.iter();
        let known = known.clone().position(|image| *image == medium_images[0]);
        let first = known.unwrap_or_else(|| {
            self.medium_images.0.extend(medium_images.iter().cloned());
            self.medium_images.0.len() - medium_images.len()
        });
        let key = MediumKey::new((id, medium.version), &row, settings);
        let (gpu, cache) = (&self.gpu, &mut self.cache);
        let medium = cache
            .add_medium(gpu, previous, (key, first))
            .map_err(text)?;
        let view = (camera, planet);
        cache
            .add_view(gpu, previous, view, (medium, row), (settings, cube_side))
            .map_err(text)?;
        Ok(true)
    }
}

/// Directional lights of [`prepare_atmospheres`].
type Suns<'w, 's> = Query<
    'w,
    's,
    (
        Unculled,
        &'static DirectionalLight,
        &'static GlobalTransform,
        Option<&'static SunDisk>,
    ),
>;

/// Directional lights of a view with this exposure, in the order of their entities' indices.
fn suns_of(view: &View3d, lights: &Suns, exposure: f32) -> Vec<Sun> {
    let visible = lights.iter();
    let visible = visible.filter(|(light, ..)| light.is_visible_to(&view.queued.layers));
    let suns = visible.filter_map(|(found, light, transform, disk)| {
        let color = Vec3::from(light.color.to_linear().to_f32_array_no_alpha());
        let disk = disk.unwrap_or_default();
        let sun = Sun {
            direction_to_light: direction_to_light(transform)?,
            color: color * light.illuminance * exposure,
            disk: [disk.angular_size, disk.intensity],
        };
        let is_finite = sun.color.is_finite() && sun.disk.iter().all(|it| it.is_finite());
        is_finite.then_some((found.entity, sun))
    });
    let mut suns: Vec<_> = suns.collect();
    suns.sort_unstable_by_key(|(entity, _)| (entity.index_u32(), *entity));
    suns.into_iter().map(|(_, sun)| sun).collect()
}

/// Frame of [`prepare_atmospheres`].
#[derive(SystemParam)]
pub(super) struct AtmosphereFrame<'w> {
    scene: Res<'w, Scene3d>,
    view_rows: Res<'w, ViewRows>,
    effects: Res<'w, EffectCameras>,
    warnings: Res<'w, RateLimitedWarnings>,
    gpu: Res<'w, GpuDevice>,
    uploads: ResMut<'w, Uploads>,
    jobs: ResMut<'w, FilterJobs3d>,
}

/// Uploads the rows of views, and lists the images that have to be written.
pub(super) fn prepare_atmospheres(
    mut frame: AtmosphereFrame,
    world: AtmosphereWorld,
    lights: Suns,
    mut cache: ResMut<LutCache>,
    (mut rows, mut buffer): (ResMut<RowList>, ResMut<AtmosphereRows3d>),
) -> Result {
    if cache.views.is_empty() {
        return Ok(());
    }
    let rows = &mut rows.0;
    rows.clear();
    let LutCache { media, views, .. } = &mut *cache;
    let submitted = frame.effects.submitted;
    for (at, view) in frame.scene.views().iter().enumerate() {
        let (Some(luts), Ok((_, _, camera, transform)), Some(view_row)) = (
            views.iter_mut().find(|it| it.camera == view.camera()),
            world.cameras.get(view.camera()),
            frame.view_rows.rows.get(view.row() as usize),
        ) else {
            continue;
        };
        let Ok((.., planet)) = world.planets.get(luts.planet) else {
            continue;
        };
        let suns = suns_of(view, &lights, view_row.exposure);
        luts.row.set_suns(&suns);
        frame.warn_of_many(view.camera(), suns.len());
        if !luts.row.set_view(planet, (camera, transform)) {
            frame.warn_of_transform(view.camera());
            continue;
        }
        let row = rows.len() as u32;
        let medium = &mut media[luts.medium];
        if medium.writer.is_none() && medium.contents.begin_write(&[], submitted) {
            medium.writer = Some(row);
        }
        // The key of their images has the rest of what these depend on.
        let of_medium = medium.key.bytes();
        let key = |part: &[u8]| [part, &of_medium].concat();
        let sky_key = key(luts.row.sky());
        let mut writes_cube = false;
        if let Some(cubes) = &mut luts.cubes {
            writes_cube = cubes.contents.begin_write(&sky_key, submitted);
            frame.jobs.0.extend(writes_cube.then(|| cubes.job.clone()));
        }
        luts.drawn = Some(DrawnView {
            view: at,
            row,
            writes_sky: luts.sky.begin_write(&sky_key, submitted),
            writes_cube,
            writes_aerial: luts.aerial.begin_write(&key(luts.row.view()), submitted),
        });
        rows.push(luts.row);
    }
    ensure_not_empty(rows);
    rows.upload(&frame.gpu, &mut frame.uploads, &mut buffer.0)?;
    Ok(())
}

impl AtmosphereFrame<'_> {
    fn warn_of_many(&self, camera: Entity, count: usize) {
        if count > MAX_LIGHTS {
            self.warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!(
                    "the atmosphere of the camera {camera} scatters the light of {MAX_LIGHTS} of {count} directional \
                     lights. Give the others render layers that the camera lacks."
                )
            });
        }
    }

    fn warn_of_transform(&self, camera: Entity) {
        self.warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!(
                "the camera {camera} has no atmosphere: its transform or projection, or the planet's transform, is not \
                 finite"
            )
        });
    }
}
