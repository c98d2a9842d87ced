//! Pictures of 3D scenes on a device. `cargo test -p quadrille_3d --test gpu -- --ignored`;
//! without a device these tests fail.

#[path = "gpu/analytic_lighting.rs"]
mod analytic_lighting;
#[path = "gpu/atmosphere.rs"]
mod atmosphere;
#[path = "gpu/auto_exposure.rs"]
mod auto_exposure;
#[path = "gpu/bevy_programs.rs"]
mod bevy_programs;
#[path = "gpu/bevy_shaders.rs"]
mod bevy_shaders;
#[path = "gpu/bloom.rs"]
mod bloom;
#[path = "gpu/camera_effects.rs"]
mod camera_effects;
#[path = "gpu/camera_order.rs"]
mod camera_order;
#[path = "gpu/clustered_decals.rs"]
mod clustered_decals;
mod common;
#[path = "gpu/contact_shadows.rs"]
mod contact_shadows;
#[path = "gpu/covering_sky.rs"]
mod covering_sky;
#[path = "gpu/cull.rs"]
mod cull;
#[path = "gpu/custom_materials.rs"]
mod custom_materials;
#[path = "gpu/deferred.rs"]
mod deferred;
#[path = "gpu/deferred_materials.rs"]
mod deferred_materials;
#[path = "gpu/depth_of_field.rs"]
mod depth_of_field;
#[path = "gpu/device_loss.rs"]
mod device_loss;
#[path = "gpu/diffuse_transmission.rs"]
mod diffuse_transmission;
#[path = "gpu/display_referred.rs"]
mod display_referred;
#[path = "gpu/effect_history.rs"]
mod effect_history;
#[path = "gpu/effect_mip_chain.rs"]
mod effect_mip_chain;
#[path = "gpu/effect_stages.rs"]
mod effect_stages;
#[path = "gpu/environment.rs"]
mod environment;
#[path = "gpu/fallback_images.rs"]
mod fallback_images;
#[path = "gpu/film_grain.rs"]
mod film_grain;
#[path = "gpu/fog_volumes.rs"]
mod fog_volumes;
#[path = "gpu/forward_decal.rs"]
mod forward_decal;
#[path = "gpu/fullscreen_material.rs"]
mod fullscreen_material;
#[path = "gpu/fxaa.rs"]
mod fxaa;
#[cfg(feature = "gizmos")]
#[path = "gpu/gizmos.rs"]
mod gizmos;
#[cfg(feature = "gltf")]
#[path = "gpu/gltf.rs"]
mod gltf;
#[cfg(feature = "gltf")]
#[path = "gpu/gltf_checks.rs"]
mod gltf_checks;
#[cfg(feature = "gltf")]
#[path = "gpu/gltf_files.rs"]
mod gltf_files;
#[cfg(feature = "gltf")]
#[path = "gpu/gltf_primitives.rs"]
mod gltf_primitives;
#[path = "gpu/guide.rs"]
mod guide;
#[path = "gpu/invalid_content.rs"]
mod invalid_content;
#[cfg(feature = "gizmos")]
#[path = "gpu/invalid_values.rs"]
mod invalid_values;
#[path = "gpu/lens.rs"]
mod lens;
#[cfg(feature = "gizmos")]
#[path = "gpu/lifecycle.rs"]
mod lifecycle;
#[path = "gpu/light_textures.rs"]
mod light_textures;
#[path = "gpu/lightmaps.rs"]
mod lightmaps;
#[path = "gpu/many_lights.rs"]
mod many_lights;
#[path = "gpu/many_skins.rs"]
mod many_skins;
#[path = "gpu/material_features.rs"]
mod material_features;
#[path = "gpu/material_lighting.rs"]
mod material_lighting;
#[path = "gpu/material_resources.rs"]
mod material_resources;
#[path = "gpu/material_shaders.rs"]
mod material_shaders;
#[path = "gpu/material_storage.rs"]
mod material_storage;
#[path = "gpu/material_variants.rs"]
mod material_variants;
#[path = "gpu/materials.rs"]
mod materials;
#[path = "gpu/mesh_attributes.rs"]
mod mesh_attributes;
#[path = "gpu/mesh_tags.rs"]
mod mesh_tags;
#[path = "gpu/meshes.rs"]
mod meshes;
#[path = "gpu/motion_blur.rs"]
mod motion_blur;
#[path = "gpu/motion_vectors.rs"]
mod motion_vectors;
#[path = "gpu/occlusion.rs"]
mod occlusion;
#[path = "gpu/order_independent.rs"]
mod order_independent;
#[path = "gpu/own_target.rs"]
mod own_target;
#[path = "gpu/pipelines.rs"]
mod pipelines;
#[path = "gpu/plugins.rs"]
mod plugins;
#[path = "gpu/prepass.rs"]
mod prepass;
#[path = "gpu/prepass_materials.rs"]
mod prepass_materials;
#[path = "gpu/rect_lights.rs"]
mod rect_lights;
#[path = "gpu/reference.rs"]
mod reference;
#[path = "gpu/resolution_override.rs"]
mod resolution_override;
#[path = "gpu/samplers.rs"]
mod samplers;
#[path = "gpu/schedule.rs"]
mod schedule;
#[path = "gpu/shadow_cache.rs"]
mod shadow_cache;
#[path = "gpu/shadow_filters.rs"]
mod shadow_filters;
#[path = "gpu/shadow_sides.rs"]
mod shadow_sides;
#[path = "gpu/skins.rs"]
mod skins;
#[path = "gpu/smaa.rs"]
mod smaa;
#[path = "gpu/ssao.rs"]
mod ssao;
#[path = "gpu/ssr.rs"]
mod ssr;
#[path = "gpu/taa.rs"]
mod taa;
#[path = "gpu/temporal_effects.rs"]
mod temporal_effects;
#[path = "gpu/temporal_jitter.rs"]
mod temporal_jitter;
#[path = "gpu/texture_dimensions.rs"]
mod texture_dimensions;
#[path = "gpu/textures.rs"]
mod textures;
#[path = "gpu/tonemapping.rs"]
mod tonemapping;
#[path = "gpu/transmission.rs"]
mod transmission;
#[path = "gpu/transmission_materials.rs"]
mod transmission_materials;
#[path = "gpu/upscaling.rs"]
mod upscaling;
#[path = "gpu/visibility_ranges.rs"]
mod visibility_ranges;
#[path = "gpu/volumetric_fog.rs"]
mod volumetric_fog;
#[path = "gpu/wireframe.rs"]
mod wireframe;
#[path = "gpu/wrong_materials.rs"]
mod wrong_materials;

use std::f32::consts::FRAC_PI_2;

use bevy_ecs::prelude::*;
use bevy_image::Image;
use common::{Rig, golden};
use quadrille_3d::Scene3d;
use quadrille_3d::prelude::*;

type Meshes<'w> = ResMut<'w, Assets<Mesh>>;
type Materials<'w> = ResMut<'w, Assets<StandardMaterial>>;

/// bevy's example `3d_scene`.
fn scene(mut commands: Commands, mut meshes: Meshes, mut materials: Materials) {
    commands.spawn((
        Mesh3d(meshes.add(Circle::new(4.0))),
        MeshMaterial3d(materials.add(Color::WHITE)),
        Transform::from_rotation(Quat::from_rotation_x(-FRAC_PI_2)),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Cuboid::new(1.0, 1.0, 1.0))),
        MeshMaterial3d(materials.add(Color::srgb_u8(124, 144, 255))),
        Transform::from_xyz(0.0, 0.5, 0.0),
    ));
    commands.spawn((
        PointLight {
            shadow_maps_enabled: true,
            ..PointLight::default()
        },
        Transform::from_xyz(4.0, 8.0, 4.0),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(-2.5, 4.5, 9.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

#[test]
#[ignore = "needs a device"]
fn scene_matches_golden() {
    let mut rig = Rig::scene(240, 135, scene);
    golden::expect("scene", &rig.picture());
    let scene = rig.app.world().resource::<Scene3d>();
    assert_eq!(scene.shadow_maps(), 6);
}

/// A floor, and a box over it whose shadow falls straight down.
fn box_over_floor(light: impl Bundle) -> Rig {
    let mut rig = Rig::scene(
        64,
        64,
        |mut commands: Commands, mut meshes: Meshes, mut materials: Materials| {
            commands.spawn((
                Mesh3d(meshes.add(Plane3d::default().mesh().size(20.0, 20.0))),
                MeshMaterial3d(materials.add(Color::WHITE)),
            ));
            commands.spawn((
                Mesh3d(meshes.add(Cuboid::from_length(1.0))),
                MeshMaterial3d(materials.add(Color::WHITE)),
                Transform::from_xyz(0.0, 2.0, 0.0),
            ));
            commands.spawn((
                Camera3d::default(),
                Tonemapping::None,
                Transform::from_xyz(0.0, 2.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
            ));
        },
    );
    rig.app.world_mut().spawn(light);
    rig
}

/// Points on the floor: directly under the box, and next to its shadow.
const UNDER: (u32, u32) = (32, 31);
const BESIDE: (u32, u32) = (58, 31);

fn assert_shadow<L: Component + Clone>(light: L, down: Transform, set: fn(&mut L, bool)) {
    let picture = |casts: bool| {
        let mut light = light.clone();
        set(&mut light, casts);
        box_over_floor((light, down)).picture()
    };
    let (lit, shadowed) = (picture(false), picture(true));
    let [under, beside] = [UNDER, BESIDE].map(|(x, y)| shadowed.at(x, y)[0]);
    let [lit_under, lit_beside] = [UNDER, BESIDE].map(|(x, y)| lit.at(x, y)[0]);
    assert!(
        under + 60 < lit_under,
        "{under} under the box, {lit_under} without shadow"
    );
    assert_eq!(beside, lit_beside, "beside the shadow");
}

#[test]
#[ignore = "needs a device"]
fn every_light_kind_casts_shadows() {
    let down = Transform::from_xyz(0.0, 6.0, 0.0).looking_at(Vec3::ZERO, Vec3::Z);
    let sun = DirectionalLight {
        illuminance: 1500.0,
        ..DirectionalLight::default()
    };
    assert_shadow(sun, down, |light, casts| {
        light.shadow_maps_enabled = casts;
    });
    let bright = 400_000.0;
    let point = PointLight {
        intensity: bright,
        ..PointLight::default()
    };
    assert_shadow(point, down, |light, casts| {
        light.shadow_maps_enabled = casts
    });
    let spot = SpotLight {
        intensity: bright,
        outer_angle: 0.9,
        inner_angle: 0.85,
        ..SpotLight::default()
    };
    assert_shadow(spot, down, |light, casts| light.shadow_maps_enabled = casts);
}

#[test]
#[ignore = "needs a device"]
fn shadow_caster_and_receiver_components_apply() {
    let down = Transform::from_xyz(0.0, 6.0, 0.0).looking_at(Vec3::ZERO, Vec3::Z);
    let sun = DirectionalLight {
        illuminance: 1500.0,
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    };
    let mut rig = box_over_floor((sun, down));
    let (x, y) = UNDER;
    let dark = rig.picture().at(x, y)[0];
    let meshes = |rig: &mut Rig| -> Vec<Entity> {
        let world = rig.app.world_mut();
        let mut query = world.query_filtered::<Entity, With<Mesh3d>>();
        query.iter(world).collect()
    };
    let [floor, cube] = meshes(&mut rig)[..] else {
        panic!("there are two meshes");
    };
    rig.app
        .world_mut()
        .entity_mut(floor)
        .insert(NotShadowReceiver);
    assert!(rig.picture().at(x, y)[0] > dark + 60);
    rig.app
        .world_mut()
        .entity_mut(floor)
        .remove::<NotShadowReceiver>();
    assert_eq!(rig.picture().at(x, y)[0], dark);
    rig.app.world_mut().entity_mut(cube).insert(NotShadowCaster);
    assert!(rig.picture().at(x, y)[0] > dark + 60);
}

/// Spheres of different roughness and metallic, glass in front of them, a directional, a point and a spot light, and
/// fog.
pub(crate) fn spheres(mut commands: Commands, mut meshes: Meshes, mut materials: Materials) {
    let sphere = meshes.add(Sphere::new(0.45));
    for (row, metallic) in [0.0, 1.0].into_iter().enumerate() {
        for column in 0..5u8 {
            commands.spawn((
                Mesh3d(sphere.clone()),
                MeshMaterial3d(materials.add(StandardMaterial {
                    base_color: Color::srgb(0.9, 0.6, 0.3),
                    metallic,
                    perceptual_roughness: f32::from(column) / 4.0,
                    ..StandardMaterial::default()
                })),
                Transform::from_xyz(f32::from(column) - 2.0, 0.45, row as f32 * -1.5),
            ));
        }
    }
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(40.0, 40.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.4, 0.5, 0.4))),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(1.4, 1.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            cull_mode: None,
            ..StandardMaterial::from(Color::srgba(0.2, 0.4, 1.0, 0.4))
        })),
        Transform::from_xyz(1.2, 0.5, 1.0).with_rotation(Quat::from_rotation_y(0.3)),
    ));
    commands.spawn((
        DirectionalLight {
            illuminance: 4000.0,
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        Transform::from_xyz(2.0, 3.0, 1.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        SpotLight {
            color: Color::srgb(1.0, 0.3, 0.2),
            outer_angle: 0.5,
            shadow_maps_enabled: true,
            ..SpotLight::default()
        },
        Transform::from_xyz(-4.0, 3.0, 3.0).looking_at(Vec3::new(-1.5, 0.0, 0.0), Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        DistanceFog {
            color: Color::srgb(0.5, 0.6, 0.7),
            falloff: FogFalloff::Linear {
                start: 6.0,
                end: 25.0,
            },
            ..DistanceFog::default()
        },
        Transform::from_xyz(0.0, 2.0, 5.0).looking_at(Vec3::new(0.0, 0.3, 0.0), Vec3::Y),
    ));
    commands.insert_resource(ClearColor(Color::srgb(0.5, 0.6, 0.7)));
}

#[test]
#[ignore = "needs a device"]
fn materials_match_golden() {
    let mut rig = Rig::scene(240, 135, spheres);
    golden::expect("spheres", &rig.picture());
}

#[test]
#[ignore = "needs a device"]
fn thousand_boxes_share_one_draw() {
    let mut rig = Rig::scene(
        64,
        64,
        |mut commands: Commands, mut meshes: Meshes, mut materials: Materials| {
            let mesh = meshes.add(Cuboid::from_length(0.5));
            for index in 0..1000u16 {
                let [x, y, z] = [index % 10, index / 10 % 10, index / 100].map(f32::from);
                commands.spawn((
                    Mesh3d(mesh.clone()),
                    MeshMaterial3d(materials.add(Color::srgb(x / 10.0, y / 10.0, z / 10.0))),
                    Transform::from_xyz(x - 4.5, y - 4.5, z - 20.0),
                ));
            }
            commands.spawn(Camera3d::default());
        },
    );
    rig.update(2);
    assert_eq!(rig.app.world().resource::<Scene3d>().draws(), 1);
}

#[test]
#[ignore = "needs a device"]
fn invalid_values_are_skipped() {
    let mut rig = Rig::scene(64, 36, scene);
    let wanted = rig.picture();
    let world = rig.app.world_mut();
    let bad = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial {
            metallic: f32::NAN,
            ..StandardMaterial::default()
        });
    let good = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::from_length(3.0));
    world.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(bad)));
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(good.clone()),
        Transform::from_xyz(f32::NAN, 0.0, 0.0),
    ));
    let broken = world.resource_mut::<Assets<Mesh>>().add(
        Mesh::new(
            bevy_mesh::PrimitiveTopology::TriangleList,
            bevy_asset::RenderAssetUsages::default(),
        )
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[f32::NAN; 3]; 3]),
    );
    world.spawn((Mesh3d(broken), MeshMaterial3d(good)));
    world.spawn((
        PointLight {
            intensity: f32::INFINITY,
            ..PointLight::default()
        },
        Transform::from_xyz(0.0, 5.0, 0.0),
    ));
    assert!(rig.picture() == wanted, "the rest is drawn as before");
}

#[test]
#[ignore = "needs a device"]
fn two_cameras_share_window() {
    let mut rig = Rig::scene(64, 32, |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::srgb_u8(9, 9, 9)));
        let half = |x, order, color| {
            let camera = Camera {
                order,
                clear_color: ClearColorConfig::Custom(color),
                viewport: Some(Viewport {
                    physical_position: UVec2::new(x, 0),
                    physical_size: UVec2::new(30, 32),
                    ..Viewport::default()
                }),
                ..Camera::default()
            };
            (Camera3d::default(), camera)
        };
        commands.spawn(half(0, 0, Color::srgb_u8(200, 0, 0)));
        commands.spawn(half(34, 1, Color::srgb_u8(0, 0, 200)));
    });
    let picture = rig.picture();
    let row = [10, 32, 50].map(|x| picture.at(x, 16));
    assert_eq!(row, [[200, 0, 0, 255], [9, 9, 9, 255], [0, 0, 200, 255]]);
}

#[test]
#[ignore = "needs a device"]
fn ui_nodes_draw_over_3d_camera() {
    use bevy_ui::prelude::*;
    let mut rig = Rig::new(64, 36);
    rig.app
        .add_plugins(quadrille_2d::Quadrille2dPlugin::default())
        .add_systems(bevy_app::Startup, scene)
        .add_systems(bevy_app::Startup, |mut commands: Commands| {
            commands.spawn((
                Node {
                    width: Val::Px(10.0),
                    height: Val::Px(10.0),
                    ..Node::default()
                },
                BackgroundColor(Color::srgb_u8(10, 200, 30)),
            ));
        });
    rig.start();
    rig.update(2);
    let with_node = rig.picture();
    assert_eq!(with_node.at(5, 5), [10, 200, 30, 255]);
    let without = Rig::scene(64, 36, scene).picture();
    assert_eq!(with_node.at(32, 18), without.at(32, 18));
    assert_ne!(without.at(5, 5), [10, 200, 30, 255]);
}

/// An image of four texels with nearest filtering.
fn checker() -> Image {
    let texels = [
        [255, 0, 0, 255],
        [0, 255, 0, 255],
        [0, 0, 255, 255],
        [9, 9, 9, 255],
    ];
    let size = wgpu_types::Extent3d {
        width: 2,
        height: 2,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new(
        size,
        wgpu_types::TextureDimension::D2,
        texels.as_flattened().to_vec(),
        wgpu_types::TextureFormat::Rgba8UnormSrgb,
        bevy_asset::RenderAssetUsages::default(),
    );
    image.sampler = bevy_image::ImageSampler::nearest();
    image
}

#[test]
#[ignore = "needs a device"]
fn material_textures_are_sampled() {
    let mut rig = Rig::scene(
        32,
        32,
        |mut commands: Commands,
         mut meshes: Meshes,
         mut materials: Materials,
         mut images: ResMut<Assets<Image>>| {
            let mut projection = OrthographicProjection::default_3d();
            projection.scale = 1.0 / 32.0;
            commands.spawn((
                Mesh3d(meshes.add(Rectangle::new(1.0, 1.0))),
                MeshMaterial3d(materials.add(StandardMaterial {
                    unlit: true,
                    ..StandardMaterial::from(images.add(checker()))
                })),
            ));
            commands.spawn((
                Camera3d::default(),
                Projection::from(projection),
                Tonemapping::None,
                Transform::from_xyz(0.0, 0.0, 3.0),
            ));
        },
    );
    let corners = |rig: &mut Rig| {
        let picture = rig.picture();
        [(8, 8), (24, 8), (8, 24), (24, 24)].map(|(x, y)| picture.at(x, y))
    };
    let [red, green, blue, grey] = [
        [255, 0, 0, 255],
        [0, 255, 0, 255],
        [0, 0, 255, 255],
        [9, 9, 9, 255],
    ];
    assert_eq!(corners(&mut rig), [red, green, blue, grey]);
    // Mirrored by the UV transform of the material.
    let world = rig.app.world_mut();
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    for (_, material) in materials.iter_mut() {
        material.uv_transform = bevy_math::Affine2::from_scale_angle_translation(
            Vec2::new(-1.0, 1.0),
            0.0,
            Vec2::new(1.0, 0.0),
        );
    }
    assert_eq!(corners(&mut rig), [green, red, grey, blue]);
    // A changed image is drawn with its new contents. Without the image, the material is untextured.
    let world = rig.app.world_mut();
    let mut images = world.resource_mut::<Assets<Image>>();
    let ids: Vec<_> = images.ids().collect();
    for &id in &ids {
        if let Some(mut image) = images.get_mut(id)
            && let Some(data) = &mut image.data
            && data.len() == 16
        {
            data[..4].copy_from_slice(&[255, 255, 0, 255]);
        }
    }
    assert_eq!(corners(&mut rig)[1], [255, 255, 0, 255]);
    let world = rig.app.world_mut();
    let mut images = world.resource_mut::<Assets<Image>>();
    for id in ids {
        images.remove(id);
    }
    assert_eq!(corners(&mut rig), [[255; 4]; 4]);
}
