//! Lights and shadow maps of a frame.

use std::f32::consts::{PI, SQRT_2};

use bevy_camera::primitives::{CUBE_MAP_FACES, CubeMapFace};
use bevy_camera::visibility::RenderLayers;
use bevy_color::{Color, ColorToComponents as _};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_light::{
    CascadeShadowConfig, Cascades, DirectionalLight, DirectionalLightShadowMap, PointLight,
    PointLightShadowMap, RectLight, SpotLight, SunDisk, VolumetricLight, spot_light_clip_from_view,
    spot_light_world_from_view,
};
use bevy_math::{Mat4, Vec3, proj};
use bevy_transform::components::{GlobalTransform, Transform};
use quadrille::vulkan::Format;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::constants::{
    CASTS_CONTACT_SHADOWS, DIRECTIONAL, MAX_ATLAS_TILES, MAX_POINT_FACES, POINT, RECT, SPOT,
};
use crate::extract::instances::InstanceStore;
use crate::extract::invalid_lights::direction_to_light;
use crate::prepare::cascades::{drawn_cascades, has_precision_of_16_bits};
use crate::prepare::light_textures::{LightTextureQuery, WithLightTexture};
use crate::prepare::shadow_maps::tile_side;
use crate::prepare::shadow_sides::{LitRegion, ViewResolution};
use crate::prepare::soft_shadows::{soft_field, soft_size};
use crate::scene::cull_view::CullViewRow;
use crate::scene::formats::SHADOW_FORMATS;
use crate::scene::lists::{SceneLists, ShadowMapDraw, ShadowMapKind};
use crate::scene::rows::{LightRow, LightTextureRow, ShadowViewRow};
use crate::tables::textures::TextureSource;

/// Components of a directional light.
#[derive(QueryData)]
pub(crate) struct DirectionalLightQuery {
    light: &'static DirectionalLight,
    transform: &'static GlobalTransform,
    config: &'static CascadeShadowConfig,
    cascades: &'static Cascades,
    layers: Option<&'static RenderLayers>,
    disk: Option<&'static SunDisk>,
}

/// Lights of the world.
#[derive(SystemParam)]
pub(crate) struct LightParams<'w, 's> {
    directional: Query<'w, 's, DirectionalLightQuery>,
    points: Query<
        'w,
        's,
        (
            &'static PointLight,
            &'static GlobalTransform,
            Option<&'static RenderLayers>,
        ),
    >,
    spots: Query<
        'w,
        's,
        (
            &'static SpotLight,
            &'static GlobalTransform,
            Option<&'static RenderLayers>,
        ),
    >,
    rects: Query<'w, 's, (&'static RectLight, &'static GlobalTransform)>,
    light_texture_query: Query<'w, 's, LightTextureQuery, WithLightTexture>,
    volumetric: Query<'w, 's, (), With<VolumetricLight>>,
    atlas_tile_size: Res<'w, DirectionalLightShadowMap>,
    point_face_size: Res<'w, PointLightShadowMap>,
    pub(crate) instances: Res<'w, InstanceStore>,
    pub(crate) warnings: Res<'w, RateLimitedWarnings>,
}

/// Allocator of shadow maps of a frame.
#[derive(Default)]
pub(crate) struct ShadowMapAllocator {
    /// First shadow map row and count of point and spot lights, whose maps are shared by all views.
    shared_shadow_rows: EntityHashMap<(u32, u32)>,
    atlas_tiles: u32,
    point_face_tiles: u32,
    /// Whether a map of the atlas needs more than 16 bits.
    needs_float_atlas: bool,
    /// Maximum number of shadow maps, by memory for their draws.
    max_maps: u32,
    /// Resolutions of all cameras, which share the maps of point and spot lights.
    views: Vec<ViewResolution>,
}

impl ShadowMapAllocator {
    /// Begins a frame of cameras with at most `max_maps` shadow maps.
    pub(crate) fn begin(&mut self, max_maps: u32, views: impl Iterator<Item = ViewResolution>) {
        self.max_maps = max_maps;
        self.views.clear();
        self.views.extend(views);
        self.shared_shadow_rows.clear();
        self.atlas_tiles = 0;
        self.point_face_tiles = 0;
        self.needs_float_atlas = false;
    }

    /// Required tiles: cascades and spot lights, then point light faces.
    pub(crate) fn tiles(&self) -> [u32; 2] {
        [self.atlas_tiles, self.point_face_tiles]
    }

    /// Format of the image of cascades and spot lights.
    pub(crate) fn atlas_format(&self) -> Format {
        SHADOW_FORMATS[usize::from(self.needs_float_atlas)]
    }

    /// Adds a light of a view to the list of lights.
    pub(crate) fn add_light(
        &mut self,
        lists: &mut SceneLists,
        lights: &LightParams,
        textures: &mut TextureSource,
        (view, entity): (Entity, Entity),
    ) {
        let mut row = if let Ok(item) = lights.directional.get(entity) {
            let Some(direction_to_light) = direction(lights, entity, item.transform) else {
                return;
            };
            self.directional(lists, lights, (view, entity), (&item, direction_to_light))
        } else if let Ok(item) = lights.points.get(entity) {
            self.point(lists, lights, entity, item)
        } else if let Ok(item) = lights.spots.get(entity) {
            let Some(direction_to_light) = direction(lights, entity, item.1) else {
                return;
            };
            self.spot(lists, lights, (entity, direction_to_light), item)
        } else if let Ok((light, transform)) = lights.rects.get(entity) {
            rect(light, transform)
        } else {
            return;
        };
        let vectors = [row.position_or_direction, row.color, row.axis, row.up];
        let rest = [
            row.inverse_range_squared,
            row.cone_scale,
            row.cone_offset,
            row.radius,
        ];
        if is_finite(vectors.as_flattened())
            && is_finite(&rest)
            && is_finite(&[row.depth_bias, row.normal_bias])
        {
            row.texture = add_light_texture(lists, lights, textures, entity);
            lists.lights.rows.push(row);
            if lights.volumetric.contains(entity) {
                lists.lights.volumetric.push((view, row));
            }
            return;
        }
        lights
            .warnings
            .warn(format_args!("the light {}", entity_name(entity)), || {
                first_non_finite(&[
                    ("position or direction", &row.position_or_direction),
                    ("color times intensity", &row.color),
                    ("direction", &row.axis),
                    ("upper half", &row.up),
                    ("range, angles and radius", &rest),
                    ("shadow biases", &[row.depth_bias, row.normal_bias]),
                ])
            });
    }

    fn directional(
        &mut self,
        lists: &mut SceneLists,
        lights: &LightParams,
        (view, entity): (Entity, Entity),
        (item, direction_to_light): (&DirectionalLightQueryItem<'_, '_>, Vec3),
    ) -> LightRow {
        let light = item.light;
        let mut shadows = (0, 0);
        if light.shadow_maps_enabled
            && let Some(cascades) = item.cascades.cascades.get(&view)
        {
            let count = drawn_cascades(&lights.warnings, entity, item.config, cascades);
            if count > 0
                && let Some(first) = self.allocate_atlas_tiles(lights, count, "a directional light")
            {
                let soft_size = soft_field::<Option<f32>>(light, "soft_shadow_size").flatten();
                shadows = (lists.shadows.rows.len() as u32, count);
                for (at, cascade) in cascades.iter().take(count as usize).enumerate() {
                    let far = item.config.bounds.get(at).copied().unwrap_or_default();
                    self.needs_float_atlas |= !has_precision_of_16_bits(
                        &cascade.clip_from_world,
                        light.shadow_depth_bias,
                    );
                    let tile = (first + at as u32, tile_side(lights.atlas_tile_size.size));
                    let shadow = ShadowMapDraw {
                        clamps_depth: true,
                        ..ShadowMapDraw::new(ShadowMapKind::Atlas, tile)
                    };
                    let row = ShadowViewRow {
                        clip_from_world: cascade.clip_from_world.to_cols_array(),
                        tile: [0.0; 4],
                        far,
                        blend: far * (1.0 - item.config.overlap_proportion),
                        texel_size: cascade.texel_size,
                        soft_size: soft_size.unwrap_or(0.0),
                    };
                    let cull_row = CullViewRow::cascade(&cascade.clip_from_world);
                    let shadow = (shadow, row, cull_row);
                    add_shadow(lists, &lights.instances, shadow, item.layers);
                }
            }
        }
        LightRow {
            position_or_direction: direction_to_light.to_array(),
            bits: bits(DIRECTIONAL, shadows) | contact_bit(light.contact_shadows_enabled),
            color: color(light.color, light.illuminance),
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2,
            up: [0.0, item.disk.unwrap_or_default().angular_size, 0.0],
            ..NO_LIGHT
        }
    }

    /// Side of a map of a point or spot light. Without a soft size there is no map; soft shadows, which are as wide as a
    /// number of texels, keep that of the app's setting.
    fn map_side(&self, lit: &LitRegion, setting: usize, soft_size: Option<f32>) -> u32 {
        let full = tile_side(setting);
        match soft_size {
            None => full,
            Some(size) if size > 0.0 => full,
            Some(_) => lit.side(full, &self.views),
        }
    }

    /// First row and number of the shadow maps of a light that all cameras share: those of an earlier camera, or new ones.
    fn shared_shadows(
        &mut self,
        light: Entity,
        has_shadows: bool,
        allocate: impl FnOnce(&mut Self) -> Option<(u32, u32)>,
    ) -> (u32, u32) {
        if let Some(&shadows) = self.shared_shadow_rows.get(&light) {
            return shadows;
        }
        if !has_shadows {
            return (0, 0);
        }
        let shadows = allocate(self).unwrap_or_default();
        self.shared_shadow_rows.insert(light, shadows);
        shadows
    }

    fn point(
        &mut self,
        lists: &mut SceneLists,
        lights: &LightParams,
        entity: Entity,
        (light, transform, layers): (&PointLight, &GlobalTransform, Option<&RenderLayers>),
    ) -> LightRow {
        let lit = LitRegion::of_point_face(light, transform);
        let has_shadows = light.shadow_maps_enabled;
        let soft_size = has_shadows.then(|| soft_size(light, light.radius));
        let side = self.map_side(&lit, lights.point_face_size.size, soft_size);
        let shadows = self.shared_shadows(entity, has_shadows, |allocator| {
            let first = allocator.allocate_point_faces(lights)?;
            let shadows = (lists.shadows.rows.len() as u32, 6);
            for (at, face) in (0..).zip(&CUBE_MAP_FACES) {
                let shadow = ShadowMapDraw::new(ShadowMapKind::PointFaces, (first + at, side));
                let clip = face_clip_from_world(transform, face, light.shadow_map_near_z);
                let cull_row = CullViewRow::light(&clip, transform.translation(), light.range);
                let shadow = (shadow, shadow_row(clip, soft_size), cull_row);
                add_shadow(lists, &lights.instances, shadow, layers);
            }
            Some(shadows)
        });
        LightRow {
            position_or_direction: transform.translation().to_array(),
            bits: bits(POINT, shadows) | contact_bit(light.contact_shadows_enabled),
            color: color(light.color, light.intensity / (4.0 * PI)),
            inverse_range_squared: 1.0 / (light.range * light.range),
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2 * 2.0 / side as f32,
            radius: light.radius,
            ..NO_LIGHT
        }
    }

    fn spot(
        &mut self,
        lists: &mut SceneLists,
        lights: &LightParams,
        (entity, direction_to_light): (Entity, Vec3),
        (light, transform, layers): (&SpotLight, &GlobalTransform, Option<&RenderLayers>),
    ) -> LightRow {
        let lit = LitRegion::of_spot(light, transform);
        let has_shadows = light.shadow_maps_enabled;
        let soft_size = has_shadows.then(|| soft_size(light, light.radius));
        let side = self.map_side(&lit, lights.atlas_tile_size.size, soft_size);
        let shadows = self.shared_shadows(entity, has_shadows, |allocator| {
            let tile = allocator.allocate_atlas_tiles(lights, 1, "a spot light")?;
            allocator.needs_float_atlas = true;
            let shadows = (lists.shadows.rows.len() as u32, 1);
            let clip = spot_light_clip_from_view(light.outer_angle, light.shadow_map_near_z)
                * Mat4::from(spot_light_world_from_view(transform).inverse());
            let shadow = ShadowMapDraw::new(ShadowMapKind::Atlas, (tile, side));
            let cull_row = CullViewRow::light(&clip, transform.translation(), light.range);
            let shadow = (shadow, shadow_row(clip, soft_size), cull_row);
            add_shadow(lists, &lights.instances, shadow, layers);
            Some(shadows)
        });
        let (inner, outer) = (light.inner_angle.cos(), light.outer_angle.cos());
        let cone_scale = 1.0 / (inner - outer).max(1e-4);
        LightRow {
            position_or_direction: transform.translation().to_array(),
            bits: bits(SPOT, shadows) | contact_bit(light.contact_shadows_enabled),
            color: color(light.color, light.intensity / (4.0 * PI)),
            inverse_range_squared: 1.0 / (light.range * light.range),
            axis: (-direction_to_light).to_array(),
            cone_scale,
            cone_offset: -outer * cone_scale,
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2 * lit.width_at_unit_distance()
                / side as f32,
            radius: light.radius,
            ..NO_LIGHT
        }
    }

    /// Whether memory suffices for the draws of further shadow maps; warns if not.
    fn has_room(&self, lights: &LightParams, count: u32, subject: &str) -> bool {
        let max_maps = self.max_maps;
        let has_room = self.atlas_tiles + self.point_face_tiles + count <= max_maps;
        if !has_room {
            lights
                .warnings
                .warn(format_args!("the shadow of {subject}"), || {
                    format!("at this number of meshes, memory suffices for {max_maps} shadow maps")
                });
        }
        has_room
    }

    /// Allocates atlas tiles for cascades or a spot light.
    fn allocate_atlas_tiles(
        &mut self,
        lights: &LightParams,
        count: u32,
        subject: &str,
    ) -> Option<u32> {
        if !self.has_room(lights, count, subject) {
            return None;
        }
        let room = self.atlas_tiles + count <= MAX_ATLAS_TILES;
        if !room {
            let max_maps = MAX_ATLAS_TILES;
            lights
                .warnings
                .warn(format_args!("the shadow of {subject}"), || {
                    format!("all {max_maps} shadow maps for cascades and spot lights are in use")
                });
            return None;
        }
        self.atlas_tiles += count;
        Some(self.atlas_tiles - count)
    }

    /// Allocates the six faces of a point light.
    fn allocate_point_faces(&mut self, lights: &LightParams) -> Option<u32> {
        if !self.has_room(lights, 6, "a point light") {
            return None;
        }
        if self.point_face_tiles + 6 > MAX_POINT_FACES {
            let max_maps = MAX_POINT_FACES / 6;
            let subject = "the shadow of a point light";
            lights.warnings.warn(subject, || {
                format!("the shadow maps for {max_maps} point lights are all in use")
            });
            return None;
        }
        self.point_face_tiles += 6;
        Some(self.point_face_tiles - 6)
    }
}

/// Returns the direction to a light; `None`, with a warning, if its transform has none.
fn direction(lights: &LightParams, entity: Entity, transform: &GlobalTransform) -> Option<Vec3> {
    let direction_to_light = direction_to_light(transform);
    if direction_to_light.is_none() {
        let subject = format_args!("the light {}", entity_name(entity));
        lights.warnings.warn(subject, || {
            let transform = transform.affine().to_cols_array();
            format!("its transform {transform:?} has no valid direction")
        });
    }
    direction_to_light
}

/// Row of a rectangular light, which casts no shadows, as in bevy.
fn rect(light: &RectLight, transform: &GlobalTransform) -> LightRow {
    let axes = transform.affine().matrix3;
    let right = Vec3::from(axes.x_axis) * (light.width / 2.0);
    let up = Vec3::from(axes.y_axis) * (light.height / 2.0);
    let area = 4.0 * right.length() * up.length();
    LightRow {
        position_or_direction: transform.translation().to_array(),
        bits: bits(RECT, (0, 0)),
        // Lumen to radiance of a Lambertian emitter: divided by area and pi, in candela per square metre.
        color: color(light.color, light.intensity / (area * PI)),
        inverse_range_squared: 1.0 / (light.range * light.range).max(1e-4),
        axis: right.to_array(),
        up: up.to_array(),
        ..NO_LIGHT
    }
}

/// Adds a light texture. Returns its index in the list plus 1, or 0 for none.
fn add_light_texture(
    lists: &mut SceneLists,
    lights: &LightParams,
    textures: &mut TextureSource,
    entity: Entity,
) -> u32 {
    let light_texture = lights.light_texture_query.get(entity).ok();
    let Some(row) =
        light_texture.and_then(|light_texture| LightTextureRow::new(&light_texture, textures))
    else {
        return 0;
    };
    let matrix = row.light_from_world.as_flattened();
    if !is_finite(matrix) {
        let subject = format_args!("the light texture of the light {}", entity_name(entity));
        lights
            .warnings
            .warn(subject, || first_non_finite(&[("transform", matrix)]));
        return 0;
    }
    lists.lights.textures.push(row);
    lists.lights.textures.len() as u32
}

/// Adds a shadow map with its culled view.
fn add_shadow(
    lists: &mut SceneLists,
    instances: &InstanceStore,
    (mut shadow, row, cull_row): (ShadowMapDraw, ShadowViewRow, CullViewRow),
    layers: Option<&RenderLayers>,
) {
    lists.shadows.rows.push(row);
    if is_finite(&row.clip_from_world) {
        shadow.cull_row = Some(instances.add_view(&mut lists.cull, cull_row, layers));
    }
    lists.shadows.draws.push(shadow);
}

const NO_LIGHT: LightRow = LightRow {
    position_or_direction: [0.0; 3],
    bits: 0,
    color: [0.0; 3],
    inverse_range_squared: 0.0,
    axis: [0.0; 3],
    cone_scale: 0.0,
    cone_offset: 0.0,
    depth_bias: 0.0,
    normal_bias: 0.0,
    radius: 0.0,
    texture: 0,
    up: [0.0; 3],
};

impl LightRow {
    pub(crate) fn is_directional(&self) -> bool {
        self.kind() == DIRECTIONAL
    }

    pub(crate) fn is_rect(&self) -> bool {
        self.kind() == RECT
    }
}

fn bits(kind: u32, (first, count): (u32, u32)) -> u32 {
    kind | count << 2 | first << 8
}

fn contact_bit(is_enabled: bool) -> u32 {
    if is_enabled { CASTS_CONTACT_SHADOWS } else { 0 }
}

fn color(color: Color, intensity: f32) -> [f32; 3] {
    color
        .to_linear()
        .to_f32_array_no_alpha()
        .map(|channel| channel * intensity)
}

fn shadow_row(clip_from_world: Mat4, soft_size: Option<f32>) -> ShadowViewRow {
    ShadowViewRow {
        clip_from_world: clip_from_world.to_cols_array(),
        tile: [0.0; 4],
        far: 0.0,
        blend: 0.0,
        texel_size: 0.0,
        soft_size: soft_size.unwrap_or_default(),
    }
}

/// World to clip space of a point light's face, as in bevy's culling.
fn face_clip_from_world(light: &GlobalTransform, face: &CubeMapFace, near: f32) -> Mat4 {
    let clip_from_view = proj::perspective_infinite_reverse(PI / 2.0, 1.0, near);
    let turned = Transform::IDENTITY.looking_at(face.target, face.up);
    let world_from_view = Transform::from_translation(light.translation()) * turned;
    clip_from_view * Mat4::from(world_from_view.compute_affine().inverse())
}
