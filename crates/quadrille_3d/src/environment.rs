//! Image-based lighting: environment maps of cameras and of light probes.
//!
//! [`queue_environments`] lists the visible probes and the own environment of each camera, with indices of their cube
//! maps in one table. [`filter_env_3d`](crate::systems::filter_env_3d) generates cubes from images, once per image (see
//! [`maps`]).

pub(crate) mod filter;
pub(crate) mod maps;
pub(crate) mod sky;

use std::cmp::Reverse;

use bevy_app::{App, First};
use bevy_camera::visibility::{NoCpuCulling, RenderLayers, VisibleEntities};
use bevy_camera::{Camera, Camera3d, Exposure};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_light::cluster::ClusterVisibilityClass;
use bevy_light::{
    AtmosphereEnvironmentMapLight, EnvironmentMapLight, GeneratedEnvironmentMapLight,
    IrradianceVolume, LightProbe, ParallaxCorrection, Skybox,
};
use bevy_math::{Affine3A, Quat, Vec3};
use bevy_transform::components::GlobalTransform;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::ShaderRow;
use quadrille_content::affine::affine_rows;
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::cameras::unique_visible_entities;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::constants::{KIND_CAMERA, KIND_IRRADIANCE_VOLUME, KIND_LIGHT_PROBE};
use crate::environment::filter::{FilterCubes3d, FilterJobs3d, FilterResults3d, FilterSources3d};
use crate::environment::maps::{Cubes3d, EnvironmentMaps3d, MapSource, Volumes3d, count_submitted};
use crate::environment::sky::{Skies, sky_of};
use crate::extract::unculled::Unculled;
use crate::scene::lists::{QueuedViews, ViewRows};
use crate::tables::table::ensure_not_empty;

/// Environment row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/environment.wgsl", "Environment")]
pub(crate) struct EnvironmentRow {
    /// Rows of the affine matrix from world to probe space.
    probe_from_world: [[f32; 4]; 3],
    falloff: [f32; 3],
    /// Candela per square metre per unit of the images.
    intensity: f32,
    /// Half extents of the parallax correction box, in probe space; zeros: no parallax correction.
    bounds: [f32; 3],
    /// [`KIND_LIGHT_PROBE`], [`KIND_CAMERA`] or [`KIND_IRRADIANCE_VOLUME`].
    kind: u32,
    /// Indices in the table of cubes; for an irradiance volume, `diffuse` is its index in the table of volumes.
    diffuse: u32,
    specular: u32,
    /// Mip level of perceptual roughness 1.
    max_mip_level: f32,
    unused: u32,
}

/// Environments of all views: per view irradiance volumes, reflection probes, then the camera's own.
#[derive(Resource, Deref)]
pub struct Environments3d(pub(crate) GpuBuffer);

/// Rows of [`Environments3d`].
#[derive(Resource, Default)]
pub(crate) struct EnvironmentList(pub(crate) RawBufferVec<EnvironmentRow>);

/// Environment components of an entity. `EnvironmentMapLight` takes precedence over a generated one, as in bevy, and
/// both over that of an atmosphere.
#[derive(QueryData)]
pub(crate) struct EnvironmentSource {
    prefiltered: Option<&'static EnvironmentMapLight>,
    generated: Option<&'static GeneratedEnvironmentMapLight>,
    atmosphere: Option<&'static AtmosphereEnvironmentMapLight>,
}

/// Camera with its environment components.
#[derive(QueryData)]
pub(crate) struct EnvironmentCamera {
    pub(crate) camera: &'static Camera,
    pub(crate) transform: &'static GlobalTransform,
    pub(crate) exposure: &'static Exposure,
    pub(crate) skybox: Option<&'static Skybox>,
    visible: &'static VisibleEntities,
    layers: Option<&'static RenderLayers>,
    environment_map: EnvironmentSource,
}

/// Light probe with an environment.
#[derive(QueryData)]
pub(crate) struct Probe {
    probe: &'static LightProbe,
    transform: &'static GlobalTransform,
    parallax: Option<&'static ParallaxCorrection>,
    volume: Option<&'static IrradianceVolume>,
    environment_map: EnvironmentSource,
}

/// Filter for entities with an environment of any kind.
type HasEnvironment = Or<(
    With<EnvironmentMapLight>,
    With<GeneratedEnvironmentMapLight>,
    With<AtmosphereEnvironmentMapLight>,
    With<IrradianceVolume>,
)>;

/// Inputs of [`queue_environments`].
#[derive(SystemParam)]
pub(crate) struct EnvironmentParams<'w, 's> {
    cameras: Query<'w, 's, EnvironmentCamera, With<Camera3d>>,
    probes: Query<'w, 's, Probe, HasEnvironment>,
    /// Probes on mesh entities: these are culled on the device, so bevy's lists do not have them.
    unculled: Query<'w, 's, Unculled, (HasEnvironment, With<LightProbe>, With<NoCpuCulling>)>,
    images: Res<'w, DeviceImages>,
    pub(crate) warnings: Res<'w, RateLimitedWarnings>,
    gpu: Res<'w, GpuDevice>,
}

/// Adds the resources of environments.
pub(crate) fn add_resources(app: &mut App) {
    app.init_resource::<EnvironmentMaps3d>()
        .init_resource::<EnvironmentList>()
        .init_resource::<Skies>()
        .init_resource::<FilterJobs3d>()
        .init_resource::<FilterSources3d>()
        .init_resource::<FilterCubes3d>()
        .init_resource::<FilterResults3d>()
        .add_systems(First, count_submitted);
}

/// Lists the environments of all views, and requests their generated cubes.
pub(crate) fn queue_environments(
    world: EnvironmentParams,
    (mut view_rows, views): (ResMut<ViewRows>, Res<QueuedViews>),
    (mut list, mut skies): (ResMut<EnvironmentList>, ResMut<Skies>),
    mut maps: ResMut<EnvironmentMaps3d>,
    (mut cubes, mut volumes): (ResMut<Cubes3d>, ResMut<Volumes3d>),
    mut jobs: ResMut<FilterJobs3d>,
    mut probe_entities: Local<Vec<Entity>>,
) {
    let rows = &mut list.0;
    rows.clear();
    let mut source = MapSource {
        maps: &mut maps,
        cubes: &mut cubes,
        volumes: &mut volumes,
        images: &world.images,
        warnings: &world.warnings,
        gpu: &world.gpu,
    };
    skies.0.clear();
    for view in &views.0 {
        let Ok(environment_camera) = world.cameras.get(view.camera) else {
            continue;
        };
        if let Some(sky) = sky_of(&environment_camera, view, &world, &mut source) {
            skies.0.insert(view.row, sky);
        }
        let first = rows.len();
        let eye = Eye {
            camera: view.camera,
            exposure: environment_camera.exposure.exposure(),
        };
        world.collect_probes(&environment_camera, &mut probe_entities);
        for &entity in &*probe_entities {
            if let Ok(probe) = world.probes.get(entity) {
                let subject = format_args!("the irradiance volume {}", entity_name(entity));
                rows.extend(
                    volume_row(&probe, &mut source).and_then(|row| world.validated(subject, row)),
                );
            }
        }
        for &entity in &*probe_entities {
            if let Ok(probe) = world.probes.get(entity) {
                let subject = format_args!("the light probe {}", entity_name(entity));
                rows.extend(
                    probe_row(&probe, &mut source, eye)
                        .and_then(|row| world.validated(subject, row)),
                );
            }
        }
        let subject = format_args!("the environment of the camera {}", entity_name(view.camera));
        rows.extend(
            camera_environment_row(&environment_camera.environment_map, &mut source, eye)
                .and_then(|row| world.validated(subject, row)),
        );
        if let Some(row) = view_rows.rows.get_mut(view.row as usize) {
            row.first_environment = first as u32;
            row.environment_count = (rows.len() - first) as u32;
        }
    }
    maps.drop_unused(&mut cubes, &mut volumes, &mut jobs);
}

/// Uploads the list of environments if it has changed.
pub(crate) fn upload_environments(
    mut list: ResMut<EnvironmentList>,
    mut to: ResMut<Environments3d>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    ensure_not_empty(&mut list.0);
    list.0.upload(&gpu, &mut uploads, &mut to.0)?;
    Ok(())
}

impl EnvironmentParams<'_, '_> {
    /// Collects candidates for the visible probes of a camera.
    fn collect_probes(
        &self,
        environment_camera: &EnvironmentCameraItem<'_, '_>,
        probe_entities: &mut Vec<Entity>,
    ) {
        probe_entities.clear();
        probe_entities.extend(unique_visible_entities::<ClusterVisibilityClass>(
            environment_camera.visible,
        ));
        let layers = environment_camera.layers.unwrap_or_default();
        let unculled = self
            .unculled
            .iter()
            .filter(|probe| probe.is_visible_to(layers));
        probe_entities.extend(unculled.map(|probe| probe.entity));
        probe_entities.sort_unstable_by_key(|probe| Reverse(probe.index_u32()));
        probe_entities.dedup();
    }

    /// Returns the row; `None`, with a warning, if a value is not finite.
    fn validated(
        &self,
        subject: impl std::fmt::Display,
        row: EnvironmentRow,
    ) -> Option<EnvironmentRow> {
        let matrix = row.probe_from_world.as_flattened();
        let named_values: [(&str, &[f32]); 4] = [
            ("transform or rotation", matrix),
            ("falloff", &row.falloff),
            ("intensity", &[row.intensity]),
            ("parallax correction", &row.bounds),
        ];
        if named_values.iter().all(|(_, numbers)| is_finite(numbers)) {
            return Some(row);
        }
        self.warnings
            .warn(subject, || first_non_finite(&named_values));
        None
    }
}

/// Camera that sees an environment.
#[derive(Clone, Copy)]
struct Eye {
    camera: Entity,
    exposure: f32,
}

/// Row of a camera's environment map.
fn camera_environment_row(
    environment_map: &EnvironmentSourceItem<'_, '_>,
    source: &mut MapSource,
    eye: Eye,
) -> Option<EnvironmentRow> {
    let (row, rotation) = lookup_maps(environment_map, source, eye)?;
    Some(EnvironmentRow {
        probe_from_world: affine_rows(Affine3A::from_quat(rotation.inverse())),
        kind: KIND_CAMERA,
        ..row
    })
}

/// Row of a reflection probe.
fn probe_row(item: &ProbeItem<'_, '_>, source: &mut MapSource, eye: Eye) -> Option<EnvironmentRow> {
    let (row, rotation) = lookup_maps(&item.environment_map, source, eye)?;
    let world_from_probe = item.transform.affine() * Affine3A::from_quat(rotation);
    let bounds = match item.parallax {
        Some(ParallaxCorrection::None) => Vec3::ZERO,
        Some(ParallaxCorrection::Custom(bounds)) => *bounds,
        Some(ParallaxCorrection::Auto) | None => Vec3::splat(0.5),
    };
    Some(EnvironmentRow {
        probe_from_world: affine_rows(world_from_probe.inverse()),
        falloff: item.probe.falloff.to_array(),
        bounds: bounds.to_array(),
        kind: KIND_LIGHT_PROBE,
        ..row
    })
}

/// Row of an irradiance volume.
fn volume_row(item: &ProbeItem<'_, '_>, source: &mut MapSource) -> Option<EnvironmentRow> {
    let volume = item.volume?;
    Some(EnvironmentRow {
        probe_from_world: affine_rows(item.transform.affine().inverse()),
        falloff: item.probe.falloff.to_array(),
        intensity: volume.intensity,
        kind: KIND_IRRADIANCE_VOLUME,
        diffuse: source.volume(&volume.voxels)?,
        ..EnvironmentRow::zeroed()
    })
}

/// Row with the cubes of an environment, and its rotation; `None` until the cubes are resident.
fn lookup_maps(
    environment_map: &EnvironmentSourceItem<'_, '_>,
    source: &mut MapSource,
    eye: Eye,
) -> Option<(EnvironmentRow, Quat)> {
    let (cubes, intensity, rotation) = if let Some(light) = environment_map.prefiltered {
        let diffuse = source.cube(&light.diffuse_map, "a diffuse map")?;
        let specular = source.cube(&light.specular_map, "a specular map")?;
        ([diffuse, specular], light.intensity, light.rotation)
    } else if let Some(light) = environment_map.generated {
        let filtered = source.filtered(&light.environment_map)?;
        (filtered, light.intensity, light.rotation)
    } else {
        let light = environment_map.atmosphere?;
        let cubes = source.atmosphere(eye.camera)?;
        // The sky is pre-exposed.
        (cubes, light.intensity / eye.exposure, Quat::IDENTITY)
    };
    let [diffuse, specular] = cubes;
    let row = EnvironmentRow {
        intensity,
        diffuse: diffuse.index,
        specular: specular.index,
        max_mip_level: (specular.levels - 1) as f32,
        ..EnvironmentRow::zeroed()
    };
    Some((row, rotation))
}
