//! Light that is transmitted through thin surfaces, as exact values.

use std::f64::consts::PI;

use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::analytic_lighting::{TOLERANCE, assert_near, exposure};
use crate::common::{Rig, golden};
use crate::environment::{camera, environment, image, one, plane};

const LUX: f32 = 10_000.0;
const BASE: [f32; 3] = [0.5, 0.25, 1.0];

/// A leaf without specular reflection.
fn transmissive(fraction: f32) -> StandardMaterial {
    StandardMaterial {
        base_color: Color::linear_rgb(BASE[0], BASE[1], BASE[2]),
        reflectance: 0.0,
        diffuse_transmission: fraction,
        ..StandardMaterial::default()
    }
}

/// A leaf that faces +z and the camera, lit from a direction.
fn lit(material: StandardMaterial, to_light: Vec3) -> Rig {
    plane(material, |world| {
        world.spawn((
            DirectionalLight {
                illuminance: LUX,
                shadow_maps_enabled: true,
                ..DirectionalLight::default()
            },
            Transform::from_translation(to_light).looking_at(Vec3::ZERO, Vec3::Y),
        ));
    })
}

/// Asserts the fraction of the light that the leaf reflects or transmits, by channel.
fn expect(rig: &mut Rig, parts: [f64; 3], what: &str) {
    let found = rig.exactly(4, 4);
    for channel in 0..3 {
        let wanted = parts[channel] * f64::from(BASE[channel]) * f64::from(LUX) / PI * exposure();
        if wanted == 0.0 {
            assert!(found[channel].abs() < 1e-6, "{what}: {found:?}");
        } else {
            assert_near(found[channel], wanted, TOLERANCE, what);
        }
    }
}

/// Four curtains between a lamp and the camera, from opaque to thick amber, with a ball behind each, whose shadow falls
/// on the last two.
#[test]
#[ignore = "needs a device"]
fn diffuse_transmission_matches_golden() {
    let mut rig = Rig::scene(320, 120, curtains);
    golden::expect("curtains", &rig.picture());
}

fn curtains(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let cloth = meshes.add(Rectangle::new(1.6, 2.0));
    let ball = meshes.add(Sphere::new(0.4));
    let white = materials.add(Color::WHITE);
    for (at, (fraction, thickness)) in [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.5)]
        .into_iter()
        .enumerate()
    {
        let material = materials.add(StandardMaterial {
            base_color: Color::srgb(0.7, 0.8, 0.5),
            diffuse_transmission: fraction,
            thickness,
            attenuation_distance: 0.5,
            attenuation_color: Color::srgb(1.0, 0.6, 0.2),
            double_sided: true,
            cull_mode: None,
            ..StandardMaterial::default()
        });
        let x = 1.8 * at as f32 - 2.7;
        let place = Transform::from_xyz(x, 0.0, 0.0);
        let mut curtain = commands.spawn((Mesh3d(cloth.clone()), MeshMaterial3d(material), place));
        if at > 1 {
            curtain.insert(TransmittedShadowReceiver);
        }
        commands.spawn((
            Mesh3d(ball.clone()),
            MeshMaterial3d(white.clone()),
            Transform::from_xyz(x, 0.0, -1.2),
        ));
    }
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        Transform::from_xyz(0.5, 0.8, -3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, 0.0, 3.6).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

#[test]
#[ignore = "needs a device"]
fn diffuse_transmission_follows_cosine() {
    let slanted = Vec3::new(0.0, 0.6, -0.8);
    expect(
        &mut lit(transmissive(0.6), slanted),
        [0.6 * 0.8; 3],
        "from behind",
    );
    expect(
        &mut lit(transmissive(0.0), slanted),
        [0.0; 3],
        "through what lets nothing through",
    );
    expect(
        &mut lit(transmissive(0.6), Vec3::Z),
        [0.4; 3],
        "from the front",
    );
}

#[test]
#[ignore = "needs a device"]
fn transmitted_light_is_attenuated() {
    let thick = StandardMaterial {
        thickness: 3.0,
        attenuation_distance: 2.0,
        attenuation_color: Color::linear_rgb(0.25, 0.5, 1.0),
        ..transmissive(1.0)
    };
    let mut rig = lit(thick, Vec3::NEG_Z);
    let left = [0.25f64.powf(1.5), 0.5f64.powf(1.5), 1.0];
    expect(&mut rig, left, "three units");
    let world = rig.app.world_mut();
    let mesh = world.query_filtered::<Entity, With<Mesh3d>>().single(world);
    let flat = Transform::from_scale(Vec3::new(1.0, 1.0, 2.0 / 3.0));
    let mesh = mesh.expect("there is one plane");
    world.entity_mut(mesh).insert(flat);
    expect(&mut rig, [0.25, 0.5, 1.0], "two units of the world");
}

#[test]
#[ignore = "needs a device"]
fn transmitted_shadow_receiver_gets_shadows() {
    let mut rig = lit(transmissive(1.0), Vec3::NEG_Z);
    let world = rig.app.world_mut();
    let transmissive = world.query_filtered::<Entity, With<Mesh3d>>().single(world);
    let transmissive = transmissive.expect("there is one plane");
    let shade = world
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::from_length(1.0));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(Color::WHITE);
    world.spawn((
        Mesh3d(shade),
        MeshMaterial3d(material),
        Transform::from_xyz(0.0, 0.0, -3.0),
    ));
    expect(&mut rig, [1.0; 3], "without shadows");
    rig.app
        .world_mut()
        .entity_mut(transmissive)
        .insert(TransmittedShadowReceiver);
    expect(&mut rig, [0.0; 3], "in the shadow");
    rig.app
        .world_mut()
        .entity_mut(transmissive)
        .insert(NotShadowReceiver);
    expect(&mut rig, [1.0; 3], "where none fall");
    let mut world = rig.app.world_mut().entity_mut(transmissive);
    world.remove::<(NotShadowReceiver, TransmittedShadowReceiver)>();
    expect(&mut rig, [1.0; 3], "again without shadows");
}

#[test]
#[ignore = "needs a device"]
fn rect_light_is_transmitted() {
    let shown = |fraction, z| {
        let mut rig = plane(transmissive(fraction), |world| {
            let light = RectLight {
                width: 2.0,
                height: 3.0,
                ..RectLight::default()
            };
            let place = Transform::from_xyz(1.0, 2.0, z).looking_at(Vec3::ZERO, Vec3::Y);
            world.spawn((light, place));
        });
        rig.exactly(4, 4)
    };
    let (through, back) = (shown(1.0, -4.0), shown(0.0, 4.0));
    assert!(back[0] > 0.01, "{back:?}");
    for channel in 0..3 {
        let wanted = f64::from(back[channel]);
        assert_near(through[channel], wanted, TOLERANCE, "a rectangle");
    }
}

#[test]
#[ignore = "needs a device"]
fn environment_light_is_transmitted() {
    // White only towards -z.
    let sky = || image([1, 1, 6], |[_, _, face]| [f32::from(face == 4); 3]);
    let shown = |fraction, turned: Quat| {
        let mut rig = plane(transmissive(fraction), |world| {
            let mut light = environment(world, sky(), one());
            light.rotation = turned;
            camera(world).insert(light);
        });
        rig.exactly(4, 4)
    };
    let half = Quat::from_rotation_y(std::f32::consts::PI);
    let sides = [Quat::IDENTITY, half];
    let [one, other] = sides.map(|turned| shown(1.0, turned)[0]);
    let [plain_one, plain_other] = sides.map(|turned| shown(0.0, turned)[0]);
    assert_near(one, f64::from(plain_other), 0.01, "one side");
    assert_near(other, f64::from(plain_one), 0.01, "the other side");
    assert!((one - other).abs() > 0.1, "{one} {other}");
}
