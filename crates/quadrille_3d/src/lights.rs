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
    PointLightShadowMap, RectLight, SpotLight, spot_light_clip_from_view,
    spot_light_world_from_view,
};
use bevy_math::{Mat4, Vec3, proj};
use bevy_transform::components::{GlobalTransform, Transform};
use quadrille_content::{Complaints, first_odd, is_finite, named};

use crate::cull::CullRow;
use crate::instances::InstanceStore;
use crate::light_textures::{HasSlide, LightTextureRow, Slide};
use crate::odd_lights::back;
use crate::scene::{AtlasKind, LightRow, Scene3d, Shadow3d, ShadowRow};
use crate::shadow_maps::{MOST_FACES, MOST_FLAT};
use crate::textures::TextureSource;

const DIRECTIONAL: u32 = 0;
const POINT: u32 = 1;
const SPOT: u32 = 2;
const RECT: u32 = 3;

/// A directional light.
#[derive(QueryData)]
pub(crate) struct Directional {
    light: &'static DirectionalLight,
    transform: &'static GlobalTransform,
    config: &'static CascadeShadowConfig,
    cascades: &'static Cascades,
    layers: Option<&'static RenderLayers>,
}

/// All lights.
#[derive(SystemParam)]
pub(crate) struct Lights<'w, 's> {
    directional: Query<'w, 's, Directional>,
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
    slides: Query<'w, 's, Slide, HasSlide>,
    flat_size: Res<'w, DirectionalLightShadowMap>,
    face_size: Res<'w, PointLightShadowMap>,
    pub(crate) instances: Res<'w, InstanceStore>,
    pub(crate) complaints: Res<'w, Complaints>,
}

/// What is known of shadow maps while a frame is listed.
#[derive(Default)]
pub(crate) struct ShadowLister {
    /// The first row and the number of rows of lights that all views share.
    of_lights: EntityHashMap<(u32, u32)>,
    flat_tiles: u32,
    face_tiles: u32,
    /// Shadow maps that there is room for what they see.
    most: u32,
}

impl ShadowLister {
    /// Begins a frame in which there may be so many shadow maps.
    pub(crate) fn begin(&mut self, most: u32) {
        self.most = most;
        self.of_lights.clear();
        self.flat_tiles = 0;
        self.face_tiles = 0;
    }

    /// How many tiles the images of shadow maps need: of cascades and spot lights, of faces.
    pub(crate) fn tiles(&self) -> [u32; 2] {
        [self.flat_tiles, self.face_tiles]
    }

    /// Adds the light of an entity, as a view sees it, to the list of lights.
    pub(crate) fn add_light(
        &mut self,
        scene: &mut Scene3d,
        lights: &Lights,
        textures: &mut TextureSource,
        (view, entity): (Entity, Entity),
    ) {
        let mut row = if let Ok(item) = lights.directional.get(entity) {
            let Some(back) = direction(lights, entity, item.transform) else {
                return;
            };
            self.directional(scene, lights, view, (&item, back))
        } else if let Ok(item) = lights.points.get(entity) {
            self.point(scene, lights, entity, item)
        } else if let Ok(item) = lights.spots.get(entity) {
            let Some(back) = direction(lights, entity, item.1) else {
                return;
            };
            self.spot(scene, lights, (entity, back), item)
        } else if let Ok((light, transform)) = lights.rects.get(entity) {
            rect(light, transform)
        } else {
            return;
        };
        let vectors = [row.place, row.color, row.axis, row.up];
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
            row.texture = add_texture(scene, lights, textures, entity);
            scene.lights.now.push(row);
            return;
        }
        lights
            .complaints
            .warn(format_args!("the light {}", named(entity)), || {
                first_odd(&[
                    ("place", &row.place),
                    ("colour times intensity", &row.color),
                    ("direction", &row.axis),
                    ("upper half", &row.up),
                    ("range, angles and radius", &rest),
                    ("shadow biases", &[row.depth_bias, row.normal_bias]),
                ])
            });
    }

    fn directional(
        &mut self,
        scene: &mut Scene3d,
        lights: &Lights,
        view: Entity,
        (item, back): (&DirectionalItem<'_, '_>, Vec3),
    ) -> LightRow {
        let light = item.light;
        let mut shadows = (0, 0);
        if light.shadow_maps_enabled
            && let Some(cascades) = item.cascades.cascades.get(&view)
        {
            let count = cascades.len().min(MOST_CASCADES) as u32;
            if let Some(first) = self.flat(lights, count, "a directional light") {
                shadows = (scene.shadow_rows.now.len() as u32, count);
                for (at, cascade) in cascades.iter().take(count as usize).enumerate() {
                    let far = item.config.bounds.get(at).copied().unwrap_or_default();
                    let shadow = Shadow3d {
                        atlas: AtlasKind::Flat,
                        tile: first + at as u32,
                        clamps_depth: true,
                        culled: None,
                    };
                    let row = ShadowRow {
                        clip_from_world: cascade.clip_from_world.to_cols_array(),
                        tile: [0.0; 4],
                        far,
                        blend: far * (1.0 - item.config.overlap_proportion),
                        texel: cascade.texel_size,
                        unused: 0.0,
                    };
                    let culled = CullRow::cascade(&cascade.clip_from_world);
                    let shadow = (shadow, row, culled);
                    add_shadow(scene, &lights.instances, shadow, item.layers);
                }
            }
        }
        LightRow {
            place: back.to_array(),
            bits: bits(DIRECTIONAL, shadows),
            color: color(light.color, light.illuminance),
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2,
            ..DARK
        }
    }

    fn point(
        &mut self,
        scene: &mut Scene3d,
        lights: &Lights,
        entity: Entity,
        (light, transform, layers): (&PointLight, &GlobalTransform, Option<&RenderLayers>),
    ) -> LightRow {
        let size = lights.face_size.size.max(1) as f32;
        let shadows = match self.of_lights.get(&entity) {
            Some(&shadows) => shadows,
            None if !light.shadow_maps_enabled => (0, 0),
            None => {
                let mut shadows = (0, 0);
                if let Some(first) = self.faces(lights) {
                    shadows = (scene.shadow_rows.now.len() as u32, 6);
                    for (at, face) in (0..).zip(&CUBE_MAP_FACES) {
                        let shadow = Shadow3d {
                            atlas: AtlasKind::Face,
                            tile: first + at,
                            clamps_depth: false,
                            culled: None,
                        };
                        let clip = face_clip_from_world(transform, face, light.shadow_map_near_z);
                        let culled = CullRow::light(&clip, transform.translation(), light.range);
                        let shadow = (shadow, shadow_row(clip), culled);
                        add_shadow(scene, &lights.instances, shadow, layers);
                    }
                }
                self.of_lights.insert(entity, shadows);
                shadows
            }
        };
        LightRow {
            place: transform.translation().to_array(),
            bits: bits(POINT, shadows),
            color: color(light.color, light.intensity / (4.0 * PI)),
            inverse_range_squared: 1.0 / (light.range * light.range),
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2 * 2.0 / size,
            radius: light.radius,
            ..DARK
        }
    }

    fn spot(
        &mut self,
        scene: &mut Scene3d,
        lights: &Lights,
        (entity, back): (Entity, Vec3),
        (light, transform, layers): (&SpotLight, &GlobalTransform, Option<&RenderLayers>),
    ) -> LightRow {
        let size = lights.flat_size.size.max(1) as f32;
        let shadows = match self.of_lights.get(&entity) {
            Some(&shadows) => shadows,
            None if !light.shadow_maps_enabled => (0, 0),
            None => {
                let mut shadows = (0, 0);
                if let Some(tile) = self.flat(lights, 1, "a spot light") {
                    shadows = (scene.shadow_rows.now.len() as u32, 1);
                    let clip =
                        spot_light_clip_from_view(light.outer_angle, light.shadow_map_near_z)
                            * Mat4::from(spot_light_world_from_view(transform).inverse());
                    let shadow = Shadow3d {
                        atlas: AtlasKind::Flat,
                        tile,
                        clamps_depth: false,
                        culled: None,
                    };
                    let culled = CullRow::light(&clip, transform.translation(), light.range);
                    let shadow = (shadow, shadow_row(clip), culled);
                    add_shadow(scene, &lights.instances, shadow, layers);
                }
                self.of_lights.insert(entity, shadows);
                shadows
            }
        };
        let (inner, outer) = (light.inner_angle.cos(), light.outer_angle.cos());
        let cone_scale = 1.0 / (inner - outer).max(1e-4);
        LightRow {
            place: transform.translation().to_array(),
            bits: bits(SPOT, shadows),
            color: color(light.color, light.intensity / (4.0 * PI)),
            inverse_range_squared: 1.0 / (light.range * light.range),
            axis: (-back).to_array(),
            cone_scale,
            cone_offset: -outer * cone_scale,
            depth_bias: light.shadow_depth_bias,
            normal_bias: light.shadow_normal_bias * SQRT_2 * 2.0 * light.outer_angle.tan() / size,
            radius: light.radius,
            ..DARK
        }
    }

    /// Whether there is memory for what further shadow maps see.
    fn has_room(&self, lights: &Lights, count: u32, who: &str) -> bool {
        let most = self.most;
        let has_room = self.flat_tiles + self.face_tiles + count <= most;
        if !has_room {
            lights
                .complaints
                .warn(format_args!("the shadow of {who}"), || {
                    format!("there is memory for what {most} shadow maps see of so many meshes")
                });
        }
        has_room
    }

    /// Room for shadow maps of cascades or of a spot light.
    fn flat(&mut self, lights: &Lights, count: u32, who: &str) -> Option<u32> {
        if !self.has_room(lights, count, who) {
            return None;
        }
        let room = self.flat_tiles + count <= MOST_FLAT;
        if !room {
            let most = MOST_FLAT;
            lights
                .complaints
                .warn(format_args!("the shadow of {who}"), || {
                    format!(
                        "there are {most} shadow maps for cascades and spot lights, which are taken"
                    )
                });
            return None;
        }
        self.flat_tiles += count;
        Some(self.flat_tiles - count)
    }

    /// Room for the six shadow maps of a point light.
    fn faces(&mut self, lights: &Lights) -> Option<u32> {
        if !self.has_room(lights, 6, "a point light") {
            return None;
        }
        if self.face_tiles + 6 > MOST_FACES {
            let most = MOST_FACES / 6;
            let who = "the shadow of a point light";
            lights.complaints.warn(who, || {
                format!("there are maps for {most} of them, which are taken")
            });
            return None;
        }
        self.face_tiles += 6;
        Some(self.face_tiles - 6)
    }
}

/// The direction that a light comes from. A light without one is left out, which is told.
fn direction(lights: &Lights, entity: Entity, transform: &GlobalTransform) -> Option<Vec3> {
    let back = back(transform);
    if back.is_none() {
        let who = format_args!("the light {entity}");
        lights.complaints.warn(who, || {
            let transform = transform.affine().to_cols_array();
            format!("its transform {transform:?} points into no direction")
        });
    }
    back
}

/// A rectangle, which casts no shadows, as in bevy.
fn rect(light: &RectLight, transform: &GlobalTransform) -> LightRow {
    let axes = transform.affine().matrix3;
    let right = Vec3::from(axes.x_axis) * (light.width / 2.0);
    let up = Vec3::from(axes.y_axis) * (light.height / 2.0);
    let area = 4.0 * right.length() * up.length();
    LightRow {
        place: transform.translation().to_array(),
        bits: bits(RECT, (0, 0)),
        // Lumen over the area and all directions of the hemisphere, by the cosine: candela per square metre.
        color: color(light.color, light.intensity / (area * PI)),
        inverse_range_squared: 1.0 / (light.range * light.range).max(1e-4),
        axis: right.to_array(),
        up: up.to_array(),
        ..DARK
    }
}

/// Adds the image that a light shines through. Tells which of the list it is: 0 for none, 1 for the first.
fn add_texture(
    scene: &mut Scene3d,
    lights: &Lights,
    textures: &mut TextureSource,
    entity: Entity,
) -> u32 {
    let slide = lights.slides.get(entity).ok();
    let Some(row) = slide.and_then(|slide| LightTextureRow::new(&slide, textures)) else {
        return 0;
    };
    let place = row.light_from_world.as_flattened();
    if !is_finite(place) {
        let who = format_args!("the image of the light {}", named(entity));
        lights
            .complaints
            .warn(who, || first_odd(&[("place in it", place)]));
        return 0;
    }
    scene.light_textures.now.push(row);
    scene.light_textures.now.len() as u32
}

/// Adds a shadow map, and what culls for it.
fn add_shadow(
    scene: &mut Scene3d,
    instances: &InstanceStore,
    (mut shadow, row, culled): (Shadow3d, ShadowRow, CullRow),
    layers: Option<&RenderLayers>,
) {
    scene.shadow_rows.now.push(row);
    if is_finite(&row.clip_from_world) {
        shadow.culled = Some(instances.add_view(scene, culled, layers));
    }
    scene.shadows.push(shadow);
}

/// More cascades do not fit into a light's bits.
const MOST_CASCADES: usize = 15;

const DARK: LightRow = LightRow {
    place: [0.0; 3],
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
        self.bits & 3 == DIRECTIONAL
    }
}

fn bits(kind: u32, (first, count): (u32, u32)) -> u32 {
    kind | count << 2 | first << 8
}

fn color(color: Color, intensity: f32) -> [f32; 3] {
    color
        .to_linear()
        .to_f32_array_no_alpha()
        .map(|channel| channel * intensity)
}

fn shadow_row(clip_from_world: Mat4) -> ShadowRow {
    ShadowRow {
        clip_from_world: clip_from_world.to_cols_array(),
        tile: [0.0; 4],
        far: 0.0,
        blend: 0.0,
        texel: 0.0,
        unused: 0.0,
    }
}

/// From the world to the clip space of one face of a point light, as bevy culls it.
fn face_clip_from_world(light: &GlobalTransform, face: &CubeMapFace, near: f32) -> Mat4 {
    let clip_from_view = proj::perspective_infinite_reverse(PI / 2.0, 1.0, near);
    let turned = Transform::IDENTITY.looking_at(face.target, face.up);
    let world_from_view = Transform::from_translation(light.translation()) * turned;
    clip_from_view * Mat4::from(world_from_view.compute_affine().inverse())
}
