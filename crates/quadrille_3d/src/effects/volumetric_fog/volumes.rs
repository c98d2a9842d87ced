//! Fog volumes of the frame, for each view.

use std::ops::Range;

use bevy_camera::Camera3d;
use bevy_camera::visibility::InheritedVisibility;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_light::{FogVolume, VolumetricFog, VolumetricLight};
use bevy_math::{Affine3A, Mat4, UVec4, Vec3, Vec4};
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuBuffer, GpuDevice, GpuImage, ImageDesc, Sampler, Uploads};
use quadrille::vulkan::Format;
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use super::row::FogVolumeRow;
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::lists::{LightLists, ViewRows};
use crate::scene::rows::LightRow;
use crate::schedule::Pass3dSystems;
use crate::tables::table::{UNIFORM_BYTES, ensure_not_empty, table_buffer, uniform_buffer};

/// Fog volumes of all views: rows of 256 bytes.
#[derive(Resource, Deref)]
pub struct FogVolumes3d(GpuBuffer);

/// Volumetric lights of all views.
#[derive(Resource, Deref)]
pub struct FogLights3d(GpuBuffer);

/// Density images: a placeholder, then those of volumes.
#[derive(Resource, Default, Deref)]
pub struct FogDensities3d(Vec<GpuImage>);

/// Rows of [`FogVolumes3d`] and [`FogLights3d`].
#[derive(Resource, Default)]
pub(super) struct FogRows {
    volumes: RawBufferVec<FogVolumeRow>,
    lights: RawBufferVec<LightRow>,
}

/// One volume in one view.
pub(super) struct FogDraw {
    /// Index in [`Scene3d::views`].
    view: usize,
    /// Row in [`FogVolumes3d`].
    pub(super) row: u32,
    /// Index in [`FogDensities3d`].
    pub(super) density: usize,
    /// Sampler of the density image.
    pub(super) sampler: Option<Sampler>,
    /// Left, top, width and height of the pixels that the volume may cover.
    pub(super) bounds: UVec4,
    /// Depth of the center, by which draws are sorted.
    depth: f32,
}

/// Draws of the frame, by view, back to front.
#[derive(Resource, Default)]
pub(super) struct FogDraws(Vec<FogDraw>);

impl FogDraws {
    /// Draws of a view, by its index in [`Scene3d::views`].
    pub(super) fn of_view(&self, view: usize) -> impl Iterator<Item = &FogDraw> {
        self.0.iter().filter(move |draw| draw.view == view)
    }
}

/// Creates the buffers and the placeholder, at the start and after a lost device.
pub(super) fn init_fog_buffers(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    (mut rows, mut draws): (ResMut<FogRows>, ResMut<FogDraws>),
) -> Result {
    draws.0.clear();
    rows.volumes.mark_all_dirty();
    rows.lights.mark_all_dirty();
    let volumes = uniform_buffer(&gpu, "3d fog volumes", UNIFORM_BYTES)?;
    let lights = table_buffer(&gpu, "3d volumetric lights", UNIFORM_BYTES)?;
    for buffer in [&volumes, &lights] {
        uploads.write_buffer(buffer, 0, &[0; UNIFORM_BYTES as usize]);
    }
    commands.insert_resource(FogVolumes3d(volumes));
    commands.insert_resource(FogLights3d(lights));
    let placeholder = gpu.create_image(&ImageDesc {
        extent: [1, 1, 2],
        ..ImageDesc::sampled("full density", [1; 2], Format::R8_UNORM)
    })?;
    uploads.write_image(&placeholder, &[255; 2]);
    commands.insert_resource(FogDensities3d(vec![placeholder]));
    Ok(())
}

/// Visible fog volumes and the lights of all fog.
#[derive(SystemParam)]
pub(super) struct FogWorld<'w, 's> {
    volumes: Query<
        'w,
        's,
        (
            Entity,
            &'static FogVolume,
            &'static GlobalTransform,
            &'static InheritedVisibility,
        ),
    >,
    lights: Query<'w, 's, (), With<VolumetricLight>>,
    cameras: Query<'w, 's, (Entity, &'static VolumetricFog), With<Camera3d>>,
}

impl FogWorld<'_, '_> {
    /// Visible volumes by index of their entities; none without any volumetric light, as in bevy.
    fn visible(&self) -> Vec<(Entity, &FogVolume, Affine3A)> {
        if self.lights.is_empty() {
            return Vec::new();
        }
        let volumes = self.volumes.iter().filter(|(.., visible)| visible.get());
        let mut volumes: Vec<_> = volumes
            .map(|(entity, volume, transform, _)| (entity, volume, transform.affine()))
            .collect();
        volumes.sort_unstable_by_key(|(entity, ..)| (entity.index_u32(), *entity));
        volumes
    }

    fn has_visible(&self) -> bool {
        let mut volumes = self.volumes.iter();
        !self.lights.is_empty() && volumes.any(|(.., visible)| visible.get())
    }
}

/// Lists the cameras with fog, which draw linear light as under all effects. Without volumes there are none.
pub(super) fn list_fog_cameras(world: FogWorld, mut listed: ResMut<EffectCameras>) {
    if !world.has_visible() {
        return;
    }
    for (camera, _) in &world.cameras {
        listed.add(camera, Some(Pass3dSystems::EarlyPostProcess), false);
    }
}

/// Lists that [`prepare_volumetric_fog`] fills.
#[derive(SystemParam)]
pub(super) struct FogLists<'w> {
    rows: ResMut<'w, FogRows>,
    draws: ResMut<'w, FogDraws>,
    densities: ResMut<'w, FogDensities3d>,
    volumes_buffer: ResMut<'w, FogVolumes3d>,
    lights_buffer: ResMut<'w, FogLights3d>,
}

/// Device resources of [`prepare_volumetric_fog`].
#[derive(SystemParam)]
pub(super) struct FogDevice<'w> {
    images: Res<'w, DeviceImages>,
    gpu: Res<'w, GpuDevice>,
    uploads: ResMut<'w, Uploads>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Lists and uploads the volumes of each view.
pub(super) fn prepare_volumetric_fog(
    world: FogWorld,
    (scene, view_rows, lights): (Res<Scene3d>, Res<ViewRows>, Res<LightLists>),
    mut lists: FogLists,
    mut device: FogDevice,
) -> Result {
    lists.draws.0.clear();
    lists.densities.0.truncate(1);
    if world.cameras.is_empty() {
        return Ok(());
    }
    let FogRows {
        volumes: rows,
        lights: light_rows,
    } = &mut *lists.rows;
    rows.clear();
    light_rows.clear();
    let visible = world.visible();
    for (at, view) in scene.views().iter().enumerate() {
        let (Ok((_, fog)), Some(view_row)) = (
            world.cameras.get(view.camera()),
            view_rows.rows.get(view.row() as usize),
        ) else {
            continue;
        };
        let first = light_rows.len() as u32;
        let of_view = lights.volumetric.iter();
        let of_view =
            of_view.filter(|(camera, light)| *camera == view.camera() && !light.is_rect());
        light_rows.extend(of_view.map(|(_, light)| *light));
        let lights = (first, light_rows.len() as u32 - first);
        let clip_from_world = Mat4::from_cols_array(&view_row.clip_from_world);
        for &(entity, volume, transform) in &visible {
            let row = FogVolumeRow::new((volume, transform), fog, lights);
            if !device.is_valid(entity, &row) {
                continue;
            }
            let clip_from_local = clip_from_world * Mat4::from(transform);
            let (Some(bounds), Some((density, sampler))) = (
                covered_pixels(view, clip_from_local),
                device.density(entity, volume, &mut lists.densities),
            ) else {
                continue;
            };
            let center = Vec3::from(transform.translation) - Vec3::from(view_row.position);
            lists.draws.0.push(FogDraw {
                view: at,
                row: rows.len() as u32,
                density,
                sampler,
                bounds,
                depth: Vec3::from(view_row.forward).dot(center),
            });
            rows.push(row);
        }
    }
    // Volumes of equal depth stay in the order of their entities.
    let draws = &mut lists.draws.0;
    draws.sort_by(|a, b| a.view.cmp(&b.view).then(b.depth.total_cmp(&a.depth)));
    ensure_not_empty(rows);
    ensure_not_empty(light_rows);
    let FogDevice { gpu, uploads, .. } = &mut device;
    rows.upload(gpu, uploads, &mut lists.volumes_buffer.0)?;
    light_rows.upload(gpu, uploads, &mut lists.lights_buffer.0)?;
    Ok(())
}

impl FogDevice<'_> {
    /// Whether all numbers of a row are finite; warns if not.
    fn is_valid(&self, volume: Entity, row: &FogVolumeRow) -> bool {
        let coefficients = row.coefficients();
        let mut numbers = row.numbers().to_vec();
        numbers.push((
            "density, absorption, scattering or asymmetry",
            &coefficients,
        ));
        let is_valid = numbers.iter().all(|(_, numbers)| is_finite(numbers));
        if !is_valid {
            let subject = format_args!("the fog volume {}", entity_name(volume));
            self.warnings.warn(subject, || first_non_finite(&numbers));
        }
        is_valid
    }

    /// Index of a volume's density image in the list, and its sampler. `None` until it is resident, and with a warning if
    /// it has no three dimensions.
    fn density(
        &self,
        entity: Entity,
        volume: &FogVolume,
        densities: &mut FogDensities3d,
    ) -> Option<(usize, Option<Sampler>)> {
        let Some(handle) = &volume.density_texture else {
            return Some((0, None));
        };
        // A complete image: fog of few mip levels would look like other fog.
        let image = self.images.image(handle)?;
        let desc = image.desc();
        if desc.extent[2] < 2 || desc.array_layers != 1 {
            self.warnings.warn_message(|| {
                format!(
                    "the fog volume {} is not drawn: its density texture `{}` has {:?} texels in {} layers. Use an image of \
                     three dimensions.",
                    entity_name(entity),
                    image.name(),
                    desc.extent,
                    desc.array_layers
                )
            });
            return None;
        }
        let sampler = self.images.resident(handle)?.sampler;
        let sampler = self.images.samplers().get(sampler).cloned();
        let known = densities.0.iter().position(|known| known == image);
        let index = known.unwrap_or_else(|| {
            densities.0.push(image.clone());
            densities.0.len() - 1
        });
        Some((index, sampler))
    }
}

/// Left, top, width and height of the pixels that a box of sides 1 may cover; `None` if it covers none.
fn covered_pixels(view: &View3d, clip_from_local: Mat4) -> Option<UVec4> {
    let [width, height] = view.size();
    let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
        let side = |bit: u32| (corner >> bit & 1) as f32 - 0.5;
        clip_from_local * Vec4::new(side(0), side(1), side(2), 1.0)
    });
    let [across, down] = pixel_ranges(&corners, [width, height])?;
    let (width, height) = (across.len() as u32, down.len() as u32);
    Some(UVec4::new(across.start, down.start, width, height))
}

/// Columns and rows of pixels within the bounds of points in clip space; `None` if there are none. A point behind the
/// camera makes the bounds unknown, so all pixels count.
fn pixel_ranges(corners: &[Vec4; 8], [width, height]: [u32; 2]) -> Option<[Range<u32>; 2]> {
    const MIN_W: f32 = 1e-6;
    let behind = corners.iter().filter(|corner| corner.w < MIN_W).count();
    if behind == corners.len() {
        return None;
    }
    if behind > 0 {
        return Some([0..width, 0..height]);
    }
    let size = Vec3::new(width as f32, height as f32, 0.0);
    let pixels = corners.map(|corner| {
        let ndc = corner.truncate() / corner.w;
        (ndc * Vec3::new(0.5, -0.5, 0.0) + Vec3::new(0.5, 0.5, 0.0)) * size
    });
    let low = pixels.iter().copied().reduce(Vec3::min)?.floor();
    let high = pixels.iter().copied().reduce(Vec3::max)?.ceil();
    // A pixel more on each side, for rounding.
    let range = |low: f32, high: f32, size: u32| {
        let low = (low - 1.0).clamp(0.0, size as f32) as u32;
        let high = (high + 1.0).clamp(0.0, size as f32) as u32;
        (low < high).then_some(low..high)
    };
    Some([range(low.x, high.x, width)?, range(low.y, high.y, height)?])
}

#[cfg(test)]
mod tests;
