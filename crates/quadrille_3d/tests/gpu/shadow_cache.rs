//! Shadow maps that are not drawn again while neither their view nor a caster changes.

use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::{
    DirectionalLightShadowMap, GlobalAmbientLight, NotShadowCaster, PointLightShadowMap,
};
use quadrille::ecs::{RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{ShadowAtlas, Vertices3d};
use quadrille_3d::{Pass3dSystems, Scene3d};

use crate::common::{Picture, Rig};
use crate::material_shaders::{self, Moved, Plain, square};

/// Cascades, faces of the point light and map of the spot light.
const MAPS: usize = 4 + 6 + 1;

/// The box below the spot light, out of the range of the point light.
#[derive(Component)]
struct Spotted;

fn spawn_scene(mut commands: Commands, mut meshes: Meshes, mut materials: Materials) {
    let material = materials.add(StandardMaterial::from(Color::WHITE));
    let cube = meshes.add(Cuboid::new(1.0, 1.0, 1.0));
    let floor = meshes.add(Plane3d::default().mesh().size(40.0, 40.0));
    commands.spawn((
        Mesh3d(floor),
        MeshMaterial3d(material.clone()),
        NotShadowCaster,
    ));
    let at = |x: f32| {
        let parts = (Mesh3d(cube.clone()), MeshMaterial3d(material.clone()));
        (parts, Transform::from_xyz(x, 1.0, 0.0))
    };
    commands.spawn((at(-5.0), Spotted));
    commands.spawn(at(5.0));
    commands.spawn((
        SpotLight {
            shadow_maps_enabled: true,
            range: 6.0,
            ..SpotLight::default()
        },
        Transform::from_xyz(-5.0, 5.0, 0.0).looking_to(Vec3::NEG_Y, Vec3::X),
    ));
    commands.spawn((
        PointLight {
            shadow_maps_enabled: true,
            range: 6.0,
            ..PointLight::default()
        },
        Transform::from_xyz(5.0, 4.0, 1.0),
    ));
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            illuminance: 2000.0,
            ..DirectionalLight::default()
        },
        Transform::default().looking_to(Vec3::new(0.3, -1.0, -0.4), Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 12.0, 14.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

type Meshes<'w> = ResMut<'w, Assets<Mesh>>;
type Materials<'w> = ResMut<'w, Assets<StandardMaterial>>;

fn rig(change: impl FnOnce(&mut Rig)) -> Rig {
    let mut rig = Rig::new(96, 64);
    let world = rig.app.world_mut();
    world.insert_resource(DirectionalLightShadowMap { size: 128 });
    world.insert_resource(PointLightShadowMap { size: 64 });
    world.insert_resource(GlobalAmbientLight::NONE);
    rig.app.add_systems(bevy_app::Startup, spawn_scene);
    change(&mut rig);
    rig.start();
    rig.update(4);
    rig
}

/// Maps drawn in one more frame.
fn drawn(rig: &mut Rig) -> usize {
    rig.update(1);
    let scene = rig.app.world().resource::<Scene3d>();
    assert_eq!(scene.shadow_maps(), MAPS);
    scene.drawn_shadow_maps()
}

/// Changes the first component of the kind.
fn change<T: Component<Mutability = bevy_ecs::component::Mutable>>(
    rig: &mut Rig,
    change: impl FnOnce(&mut T),
) {
    let world = rig.app.world_mut();
    let mut query = world.query::<&mut T>();
    change(&mut query.iter_mut(world).next().expect("it was spawned"));
}

fn move_spotted(rig: &mut Rig, x: f32) {
    let world = rig.app.world_mut();
    let mut query = world.query_filtered::<&mut Transform, With<Spotted>>();
    for mut transform in query.iter_mut(world) {
        transform.translation.x = x;
    }
}

/// The picture of an app in which all maps are drawn for the first time.
fn fresh_picture(with: impl Fn(&mut Rig)) -> Picture {
    let mut fresh = rig(|_| {});
    with(&mut fresh);
    let world = fresh.app.world_mut();
    // Other images: nothing of earlier frames is left.
    world.insert_resource(PointLightShadowMap { size: 32 });
    world.insert_resource(DirectionalLightShadowMap { size: 64 });
    fresh.update(2);
    let world = fresh.app.world_mut();
    world.insert_resource(PointLightShadowMap { size: 64 });
    world.insert_resource(DirectionalLightShadowMap { size: 128 });
    fresh.picture()
}

#[test]
#[ignore = "needs a device"]
fn shadow_maps_of_a_world_at_rest_are_not_drawn_again() {
    let mut rig = rig(|_| {});
    assert_eq!(drawn(&mut rig), 0);
    let at_rest = rig.picture();
    assert_eq!(drawn(&mut rig), 0);
    assert_eq!(at_rest, fresh_picture(|_| {}));
    // Neither casters nor lights.
    let world = rig.app.world_mut();
    let mut floors =
        world.query_filtered::<&mut Transform, (With<Mesh3d>, With<NotShadowCaster>)>();
    for mut transform in floors.iter_mut(world) {
        transform.translation.y = -0.1;
    }
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let ids: Vec<_> = assets.ids().collect();
    for id in ids {
        let mut material = assets.get_mut(id).expect("it is there");
        material.base_color = Color::srgb(1.0, 0.5, 0.5);
    }
    assert_eq!(drawn(&mut rig), 0, "colors do not change opaque casters");
}

#[test]
#[ignore = "needs a device"]
fn a_moved_caster_is_drawn_to_its_maps_alone() {
    let mut rig = rig(|_| {});
    assert_eq!(drawn(&mut rig), 0);
    move_spotted(&mut rig, -4.0);
    let moved = drawn(&mut rig);
    // The spot light's map and cascades, without the faces of the point light.
    assert!((2..=5).contains(&moved), "{moved}");
    assert_eq!(drawn(&mut rig), 0);
    let expected = fresh_picture(|rig| move_spotted(rig, -4.0));
    assert_eq!(rig.picture(), expected);
    // The caster leaves the map of the spot light, which has to lose it.
    move_spotted(&mut rig, 0.0);
    assert!(drawn(&mut rig) >= 2);
    let expected = fresh_picture(|rig| move_spotted(rig, 0.0));
    assert_eq!(rig.picture(), expected);
}

#[test]
#[ignore = "needs a device"]
fn a_changed_light_draws_its_maps() {
    let mut rig = rig(|_| {});
    change::<SpotLight>(&mut rig, |light| light.outer_angle = 0.5);
    assert_eq!(drawn(&mut rig), 1);
    let world = rig.app.world_mut();
    let mut lights = world.query_filtered::<&mut Transform, With<PointLight>>();
    for mut transform in lights.iter_mut(world) {
        transform.translation.y = 5.0;
    }
    assert_eq!(drawn(&mut rig), 6);
    change::<PointLight>(&mut rig, |light| light.intensity *= 2.0);
    assert_eq!(drawn(&mut rig), 0, "maps do not depend on the intensity");
    let world = rig.app.world_mut();
    world.insert_resource(DirectionalLightShadowMap { size: 64 });
    assert_eq!(drawn(&mut rig), 5, "the atlas is another image");
}

#[test]
#[ignore = "needs a device"]
fn a_changed_mesh_or_alpha_mask_draws_all_maps() {
    let mut rig = rig(|_| {});
    let world = rig.app.world_mut();
    let mut meshes = world.resource_mut::<Assets<Mesh>>();
    let ids: Vec<_> = meshes.ids().collect();
    for id in ids {
        // Equal contents: only that it was written counts.
        let mesh = meshes.get(id).expect("it is there").clone();
        meshes.insert(id, mesh).expect("it is there");
    }
    assert_eq!(drawn(&mut rig), MAPS);
    assert_eq!(drawn(&mut rig), 0);
    let world = rig.app.world_mut();
    let image = Image::default();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let ids: Vec<_> = assets.ids().collect();
    for &id in &ids {
        let mut material = assets.get_mut(id).expect("it is there");
        material.alpha_mode = AlphaMode::Mask(0.5);
        material.base_color_texture = Some(image.clone());
    }
    rig.update(4);
    assert_eq!(drawn(&mut rig), 0, "masks at rest");
    let world = rig.app.world_mut();
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    for &id in &ids {
        let mut material = assets.get_mut(id).expect("it is there");
        material.base_color.set_alpha(0.4);
    }
    assert_eq!(drawn(&mut rig), MAPS);
    rig.update(1);
    let world = rig.app.world_mut();
    let mut images = world.resource_mut::<Assets<Image>>();
    images.get_mut(&image).expect("it is there").data = Some(vec![128; 4]);
    let changed: Vec<usize> = (0..3).map(|_| drawn(&mut rig)).collect();
    assert!(changed.contains(&MAPS), "the image of a mask: {changed:?}");
    assert_eq!(drawn(&mut rig), 0);
}

#[test]
#[ignore = "needs a device"]
fn only_shadow_shaders_of_materials_draw_all_maps_in_each_frame() {
    let mut rig = rig(|rig| material_shaders::add_types(&mut rig.app));
    let at = Vec3::new(0.0, 1.0, 0.0);
    square(&mut rig, at, 1.0, Plain::from(Vec4::ONE));
    rig.update(4);
    assert_eq!(drawn(&mut rig), 0, "a fragment shader alone");
    let moved = square(&mut rig, at, 1.0, Moved::from(Vec4::Y));
    rig.update(4);
    assert_eq!(drawn(&mut rig), MAPS, "a vertex shader, which may move it");
    rig.app.world_mut().despawn(moved);
    rig.update(2);
    assert_eq!(drawn(&mut rig), 0);
}

/// A pass that may write vertices.
fn write_vertices(_: Recorder, _: TransferWrite<Vertices3d>) {}

#[test]
#[ignore = "needs a device"]
fn passes_that_write_vertices_keep_all_maps_drawn() {
    let mut rig = rig(|rig| {
        let pass = write_vertices.before(Pass3dSystems::Shadow);
        rig.app.add_systems(Render, pass.after(Pass3dSystems::Skin));
    });
    assert_eq!(drawn(&mut rig), MAPS);
    assert_eq!(drawn(&mut rig), MAPS);
}

/// Whether a pass records an error.
#[derive(Resource)]
struct Fails(bool);

fn fail(mut recorder: Recorder, fails: Res<Fails>, vertices: VertexRead<Vertices3d>) {
    if fails.0 {
        // Vertices are no indices.
        recorder.transfer().fill_buffer(&vertices, 0, 4, 0);
    }
}

#[test]
#[ignore = "needs a device"]
fn maps_of_a_failed_frame_are_drawn_in_the_next() {
    let mut rig = rig(|rig| {
        rig.app.insert_resource(Fails(false));
        rig.app.add_systems(Render, fail);
    });
    assert_eq!(drawn(&mut rig), 0);
    rig.app.insert_resource(Fails(true));
    rig.app
        .insert_resource(RenderErrorHandler(|_, _| RenderErrorPolicy::Ignore));
    move_spotted(&mut rig, -4.0);
    rig.update(1);
    rig.app.insert_resource(Fails(false));
    assert_eq!(drawn(&mut rig), MAPS, "the failed frame drew nothing");
    assert_eq!(drawn(&mut rig), 0);
    assert_eq!(rig.picture(), fresh_picture(|rig| move_spotted(rig, -4.0)));
}

#[test]
#[ignore = "needs a device"]
fn cascades_alone_have_16_bits_until_a_spot_light_has_a_map() {
    let mut rig = rig(|_| {});
    let atlas = |rig: &mut Rig| {
        rig.update(1);
        rig.app.world().resource::<ShadowAtlas>().desc().format
    };
    assert_eq!(atlas(&mut rig), Format::D32_SFLOAT, "a spot light");
    let with_floats = {
        change::<SpotLight>(&mut rig, |light| light.shadow_maps_enabled = false);
        assert_eq!(atlas(&mut rig), Format::D32_SFLOAT, "it stays precise");
        rig.picture()
    };
    // Another tile size is another image.
    rig.app
        .world_mut()
        .insert_resource(DirectionalLightShadowMap { size: 64 });
    assert_eq!(atlas(&mut rig), Format::D16_UNORM);
    rig.app
        .world_mut()
        .insert_resource(DirectionalLightShadowMap { size: 128 });
    assert_eq!(atlas(&mut rig), Format::D16_UNORM);
    assert_eq!(rig.picture().pixels, with_floats.pixels);
    change::<DirectionalLight>(&mut rig, |light| light.shadow_depth_bias = 0.0);
    assert_eq!(atlas(&mut rig), Format::D32_SFLOAT, "no bias");
}
