//! Shadow maps of lights that cameras see from afar: smaller than their tiles.

use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLightShadowMap, GlobalAmbientLight, PointLightShadowMap};
use quadrille_3d::Scene3d;
use quadrille_3d::prelude::*;

use crate::common::{Picture, Rig};

/// Width of the picture, and its height.
const SIDE: u32 = 64;

/// Two boxes below two lights with shadows, on a floor, from a camera 80 units above.
///
/// The camera has 64 / 2 / tan(0.1) = 319 pixels for a unit at distance 1. The nearest lit point is at distance
/// 80 - 6 - 4, where it has 4.6. Maps (a spot light of 45 degrees to each side, a face of a point light) are 12 units wide at
/// the end of the range, 55 pixels, for which 256 texels are enough.
fn rig<L: Bundle>(light: impl Fn() -> L, setting: usize) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(DirectionalLightShadowMap { size: setting });
    world.insert_resource(PointLightShadowMap { size: setting });
    world.insert_resource(GlobalAmbientLight::NONE);
    let white = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::from(Color::WHITE));
    let mut meshes = world.resource_mut::<Assets<Mesh>>();
    let cube = meshes.add(Cuboid::new(1.0, 1.0, 1.0));
    let floor = meshes.add(Plane3d::default().mesh().size(40.0, 40.0));
    world.spawn((Mesh3d(floor), MeshMaterial3d(white.clone())));
    for z in [-3.0, 3.0] {
        let turned = Transform::from_xyz(0.3, 1.5, z + 0.2);
        let turned = turned.with_rotation(Quat::from_rotation_y(0.4));
        world.spawn((Mesh3d(cube.clone()), MeshMaterial3d(white.clone()), turned));
        let above = Transform::from_xyz(0.0, 4.0, z).looking_to(Vec3::NEG_Y, Vec3::X);
        world.spawn((light(), above));
    }
    let projection = PerspectiveProjection {
        fov: 0.2,
        ..PerspectiveProjection::default()
    };
    world.spawn((
        Camera3d::default(),
        Projection::Perspective(projection),
        Msaa::Off,
        Transform::from_xyz(0.0, 80.0, 0.0).looking_to(Vec3::NEG_Y, Vec3::X),
    ));
    rig
}

fn spot_light() -> SpotLight {
    SpotLight {
        intensity: 4_000_000.0,
        range: 6.0,
        shadow_maps_enabled: true,
        ..SpotLight::default()
    }
}

fn point_light() -> PointLight {
    PointLight {
        intensity: 4_000_000.0,
        range: 6.0,
        shadow_maps_enabled: true,
        ..PointLight::default()
    }
}

fn picture<L: Bundle>(light: impl Fn() -> L, setting: usize) -> Picture {
    let mut rig = rig(light, setting);
    rig.update(3);
    rig.picture()
}

/// Pixels that differ by more than rounding.
fn count_different(a: &Picture, b: &Picture) -> usize {
    let pixels = a.pixels.iter().zip(&b.pixels);
    let differs = |a: &[u8; 4], b: &[u8; 4]| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 2);
    pixels.filter(|(a, b)| differs(a, b)).count()
}

fn maps_have_as_many_texels_as_are_seen<L: Bundle>(light: impl Fn() -> L) {
    let exact = picture(&light, 256);
    for setting in [512, 2048] {
        let pictured = picture(&light, setting);
        assert_eq!(count_different(&pictured, &exact), 0, "{setting}");
    }
    // The pictures do depend on the number of texels.
    let coarse = picture(&light, 16);
    assert!(count_different(&coarse, &exact) > 20);
}

#[test]
#[ignore = "needs a device"]
fn maps_of_spot_lights_have_as_many_texels_as_are_seen() {
    maps_have_as_many_texels_as_are_seen(spot_light);
}

#[test]
#[ignore = "needs a device"]
fn maps_of_point_lights_have_as_many_texels_as_are_seen() {
    maps_have_as_many_texels_as_are_seen(point_light);
}

#[test]
#[ignore = "needs a device"]
fn maps_are_drawn_again_with_other_sides_when_a_camera_comes_nearer() {
    let mut rig = rig(spot_light, 512);
    rig.update(3);
    let move_camera = |rig: &mut Rig, height: f32| {
        let world = rig.app.world_mut();
        let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
        let mut transform = cameras.single_mut(world).expect("one camera");
        transform.translation.y = height;
        rig.update(1);
        rig.app.world().resource::<Scene3d>().drawn_shadow_maps()
    };
    let far = rig.picture();
    assert_eq!(move_camera(&mut rig, 79.0), 0, "the same side");
    assert_eq!(move_camera(&mut rig, 25.0), 2);
    assert_eq!(move_camera(&mut rig, 80.0), 2);
    assert_eq!(rig.picture(), far);
}

#[test]
#[ignore = "needs a device"]
fn maps_for_soft_shadows_have_the_side_of_the_setting() {
    let soft = || SpotLight {
        radius: 16.0,
        #[cfg(feature = "experimental_pbr_pcss")]
        soft_shadows_enabled: true,
        ..spot_light()
    };
    // Penumbras are a number of texels wide, so those of smaller maps are wider.
    let is_soft = cfg!(feature = "experimental_pbr_pcss");
    let [small, large] = [512, 2048].map(|setting| picture(soft, setting));
    assert_eq!(count_different(&small, &large) > 20, is_soft);
}
