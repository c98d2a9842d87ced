//! Components that are added to and removed from entities, cameras and groups of entities.

use bevy_camera::visibility::{NoFrustumCulling, VisibilityRange};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_mesh::MeshTag;
use bevy_mesh::morph::MeshMorphWeights;
use bevy_mesh::skinning::SkinnedMesh;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::{
    NoWireframe, Wireframe, WireframeColor, WireframeLineWidth, WireframeTopology, WireframeXray,
};

use super::assets::{cube, plain, volume};
use crate::common::lifecycle::{Fixed, Library, Made, Part, Random, part, remove, reset, touch};

/// Entities that others are children of, or follow as joints.
pub(super) const GROUPS: usize = 3;

/// A light, sometimes with a texture, which requires the light: they come and go together.
macro_rules! lamp {
    ($name:literal, ($light:ty, $texture:ty), |$world:ident, $random:ident| $value:expr) => {
        Part {
            name: $name,
            insert: |$world, entity, $random| {
                let (light, texture) = $value;
                let has_texture = $random.one_in(2);
                let mut entity = $world.entity_mut(entity);
                entity.insert(light);
                if has_texture {
                    entity.insert(texture);
                } else {
                    entity.remove::<$texture>();
                }
            },
            remove: remove::<($light, $texture)>,
            is_related: false,
        }
    };
}

pub(super) const ENTITY_PARTS: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| transform(
        random
    )),
    part!("mesh", remove::<Mesh3d>, |world, random| Mesh3d(
        Library::pick(world, random)
    )),
    part!(
        "material",
        remove::<MeshMaterial3d<StandardMaterial>>,
        |world, random| { MeshMaterial3d::<StandardMaterial>(Library::pick(world, random)) }
    ),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("no caster", remove::<NotShadowCaster>, |world, _random| {
        NotShadowCaster
    }),
    part!(
        "no receiver",
        remove::<NotShadowReceiver>,
        |world, _random| NotShadowReceiver
    ),
    part!(
        "receiver behind",
        remove::<TransmittedShadowReceiver>,
        |world, _random| { TransmittedShadowReceiver }
    ),
    part!("no culling", refresh_bounds, |world, _random| {
        NoFrustumCulling
    }),
    part!("range", remove::<VisibilityRange>, |world, random| {
        let start = random.between(0.0, 6.0);
        VisibilityRange {
            start_margin: start..start + random.between(0.0, 3.0),
            end_margin: start + 4.0..start + 6.0,
            use_aabb: false,
        }
    }),
    part!("lightmap", remove::<Lightmap>, |world, random| Lightmap {
        image: plain(world, random),
        bicubic_sampling: random.one_in(2),
        ..Lightmap::default()
    }),
    part!("tag", remove::<MeshTag>, |world, random| MeshTag::new(
        random.next() as u32
    )),
    Part {
        is_related: true,
        ..part!("group", leave_group, |world, random| ChildOf(group(
            world, random
        )))
    },
    part!("skin", remove::<SkinnedMesh>, |world, random| SkinnedMesh {
        inverse_bindposes: Library::pick(world, random),
        joints: (0..2).map(|_| group(world, random)).collect(),
    }),
    part!(
        "morph weights",
        remove::<MeshMorphWeights>,
        |world, random| {
            let weights = vec![random.unit(), random.unit()];
            MeshMorphWeights::Value { weights }
        }
    ),
    part!("wireframe", remove::<Wireframe>, |world, _random| Wireframe),
    part!("no wireframe", remove::<NoWireframe>, |world, _random| {
        NoWireframe
    }),
    part!("wire color", remove::<WireframeColor>, |world, random| {
        WireframeColor {
            color: color(random),
        }
    }),
    part!(
        "wire width",
        remove::<WireframeLineWidth>,
        |world, random| WireframeLineWidth {
            width: random.between(0.5, 4.0),
        }
    ),
    part!(
        "wire topology",
        remove::<WireframeTopology>,
        |world, random| { random.pick(&[WireframeTopology::Triangles, WireframeTopology::Quads]) }
    ),
    part!("wire xray", remove::<WireframeXray>, |world, random| {
        WireframeXray(random.one_in(2))
    }),
    lamp!(
        "directional light",
        (DirectionalLight, DirectionalLightTexture),
        |world, random| (
            DirectionalLight {
                color: color(random),
                illuminance: random.between(500.0, 8000.0),
                shadow_maps_enabled: random.one_in(2),
                ..DirectionalLight::default()
            },
            DirectionalLightTexture {
                image: plain(world, random),
                tiled: random.one_in(2),
            }
        )
    ),
    part!("point light", remove::<PointLight>, |world, random| {
        PointLight {
            color: color(random),
            intensity: random.between(1e4, 1e6),
            shadow_maps_enabled: random.one_in(2),
            ..PointLight::default()
        }
    }),
    lamp!(
        "spot light",
        (SpotLight, SpotLightTexture),
        |world, random| (
            SpotLight {
                color: color(random),
                intensity: random.between(1e4, 1e6),
                shadow_maps_enabled: random.one_in(2),
                outer_angle: random.between(0.3, 1.2),
                ..SpotLight::default()
            },
            SpotLightTexture {
                image: plain(world, random),
            }
        )
    ),
    part!(
        "rectangle of light",
        remove::<RectLight>,
        |world, random| RectLight {
            color: color(random),
            intensity: random.between(1e4, 1e6),
            width: random.between(0.1, 2.0),
            ..RectLight::default()
        }
    ),
    part!(
        "reflection probe",
        |world, entity| leave_probe::<EnvironmentMapLight, IrradianceVolume>(world, entity),
        |world, random| { (LightProbe::default(), environment_map(world, random)) }
    ),
    part!(
        "irradiance volume",
        |world, entity| leave_probe::<IrradianceVolume, EnvironmentMapLight>(world, entity),
        |world, random| {
            let volume = IrradianceVolume {
                voxels: volume(world),
                intensity: random.between(200.0, 2000.0),
                ..IrradianceVolume::default()
            };
            (LightProbe::default(), volume)
        }
    ),
    part!("gizmo", remove::<Gizmo>, |world, random| Gizmo {
        handle: Library::pick(world, random),
        depth_bias: random.pick(&[0.0, -1.0, 0.1]),
        ..Gizmo::default()
    }),
    // Last: what bevy's systems leave alone while an entity is disabled is looked at again.
    part!("disabled", enable, |world, _random| Disabled),
];

pub(super) const GROUP_PARTS: &[Part] = &[
    part!("transform", reset::<Transform>, |world, random| {
        Transform::from_xyz(random.between(-0.7, 0.7), random.between(-0.7, 0.7), 0.0)
            .with_rotation(Quat::from_rotation_y(random.between(-1.0, 1.0)))
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
];

pub(super) const CAMERA_PARTS: &[Part] = &[
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("fog", remove::<DistanceFog>, |world, random| DistanceFog {
        color: color(random),
        falloff: random.pick(&[
            FogFalloff::Linear {
                start: 4.0,
                end: 12.0
            },
            FogFalloff::Exponential { density: 0.1 },
            FogFalloff::ExponentialSquared { density: 0.1 },
        ]),
        ..DistanceFog::default()
    }),
    part!("tone mapping", reset::<Tonemapping>, |world, random| random
        .pick(&[
            Tonemapping::None,
            Tonemapping::Reinhard,
            Tonemapping::AcesFitted,
            Tonemapping::TonyMcMapface,
        ])),
    part!("grading", reset::<ColorGrading>, |world, random| {
        ColorGrading {
            global: ColorGradingGlobal {
                exposure: random.between(-1.0, 1.0),
                hue: random.between(-1.0, 1.0),
                ..ColorGradingGlobal::default()
            },
            ..ColorGrading::default()
        }
    }),
    part!("dither", reset_dither, |world, random| {
        random.pick(&[DebandDither::Enabled, DebandDither::Disabled])
    }),
    part!("exposure", reset::<Exposure>, |world, random| Exposure {
        ev100: random.between(7.0, 11.0),
    }),
    part!("ambient light", remove::<AmbientLight>, |world, random| {
        AmbientLight {
            color: color(random),
            brightness: random.between(0.0, 3000.0),
            ..AmbientLight::default()
        }
    }),
    part!("msaa", reset::<Msaa>, |world, random| random
        .pick(&[Msaa::Off, Msaa::Sample4])),
    part!(
        "occlusion culling",
        remove::<OcclusionCulling>,
        |world, _random| OcclusionCulling
    ),
    part!(
        "occlusion culling again",
        remove::<OcclusionCulling>,
        |world, _random| OcclusionCulling
    ),
    part!("hdr", remove::<bevy_camera::Hdr>, |world, _random| {
        bevy_camera::Hdr
    }),
    part!("skybox", remove::<Skybox>, |world, random| Skybox {
        image: Some(cube(world, random)),
        brightness: random.between(100.0, 2000.0),
        ..Skybox::default()
    }),
    part!(
        "surroundings",
        remove::<EnvironmentMapLight>,
        |world, random| { environment_map(world, random) }
    ),
    part!(
        "shadow filter",
        reset::<bevy_light::ShadowFilteringMethod>,
        |world, random| {
            random.pick(&[
                bevy_light::ShadowFilteringMethod::Hardware2x2,
                bevy_light::ShadowFilteringMethod::Gaussian,
            ])
        }
    ),
];

fn transform(random: &mut Random) -> Transform {
    let place = Vec3::from_array([1.0; 3].map(|most| random.between(-1.8 * most, 1.8)));
    let scale = [1.0, 1.0, 0.5, -1.0];
    Transform::from_translation(place)
        .with_rotation(Quat::from_euler(
            EulerRot::YXZ,
            random.between(-3.0, 3.0),
            random.between(-1.5, 1.5),
            random.unit(),
        ))
        .with_scale(Vec3::new(random.pick(&scale), random.pick(&scale), 1.0))
}

fn visibility(random: &mut Random) -> Visibility {
    random.pick(&[
        Visibility::Inherited,
        Visibility::Hidden,
        Visibility::Visible,
    ])
}

fn layers(random: &mut Random) -> RenderLayers {
    match random.below(4) {
        0 => RenderLayers::layer(1),
        1 => RenderLayers::none(),
        2 => RenderLayers::layer(0),
        _ => RenderLayers::from_layers(&[0, 1, 70]),
    }
}

fn color(random: &mut Random) -> Color {
    Color::srgb(random.unit(), random.unit(), random.unit())
}

fn group(world: &World, random: &mut Random) -> Entity {
    world.resource::<Fixed>().0[1 + random.below(GROUPS)]
}

fn environment_map(world: &World, random: &mut Random) -> EnvironmentMapLight {
    EnvironmentMapLight {
        diffuse_map: cube(world, random),
        specular_map: cube(world, random),
        intensity: random.between(200.0, 2000.0),
        ..EnvironmentMapLight::default()
    }
}

/// 3D cameras have it, which is not the default.
fn reset_dither(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(DebandDither::Enabled);
}

/// An entity may be a probe of both kinds.
fn leave_probe<C: Component, Other: Component>(world: &mut World, entity: Entity) {
    remove::<C>(world, entity);
    if world.get::<Other>(entity).is_none() {
        remove::<LightProbe>(world, entity);
    }
}

/// One of thousands: some have a mesh, a material or an image of their own.
pub(super) fn insert_one_of_many(world: &mut World, entity: Entity, random: &mut Random) {
    let mesh = if random.one_in(8) {
        let size = random.between(0.02, 0.2);
        world
            .resource_mut::<Assets<Mesh>>()
            .add(Cuboid::from_length(size))
    } else {
        Library::pick(world, random)
    };
    let material = if random.one_in(8) {
        let base_color_texture = random.one_in(4).then(|| {
            let image = Image::made(world, 0, random);
            world.resource_mut::<Assets<Image>>().add(image)
        });
        let material = StandardMaterial {
            base_color_texture,
            ..StandardMaterial::from(color(random))
        };
        world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(material)
    } else {
        Library::pick(world, random)
    };
    let place = transform(random).with_scale(Vec3::splat(0.1));
    world
        .entity_mut(entity)
        .insert((Mesh3d(mesh), MeshMaterial3d(material), place));
}

/// bevy does not compute bounds again that were left alone meanwhile.
fn refresh_bounds(world: &mut World, entity: Entity) {
    remove::<NoFrustumCulling>(world, entity);
    touch::<Mesh3d>(world, entity);
}

/// bevy computes neither visibility nor place again where a child becomes none.
fn leave_group(world: &mut World, entity: Entity) {
    remove::<ChildOf>(world, entity);
    touch::<Transform>(world, entity);
    touch::<Visibility>(world, entity);
}

fn enable(world: &mut World, entity: Entity) {
    remove::<Disabled>(world, entity);
    touch::<Transform>(world, entity);
    touch::<Visibility>(world, entity);
    touch::<Mesh3d>(world, entity);
}
