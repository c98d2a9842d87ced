//! Deferred shading beside forward shading of the same scenes.

use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{OpaqueRendererMethod, ScreenSpaceAmbientOcclusion};

use crate::camera_effects::set_viewport;
use crate::common::{Rig, log};
use crate::environment::{environment, image};
use crate::prepass::{camera, crowd, spawn};

const SIDE: u32 = 48;

type Rows = Vec<Vec<[f32; 4]>>;

/// Lights of all kinds, an unlit and an emissive surface, and one that is drawn forward.
fn lit_crowd(world: &mut World, method: OpaqueRendererMethod) {
    crowd(world);
    let at = Transform::from_xyz;
    world.spawn((
        PointLight {
            intensity: 400_000.0,
            shadow_maps_enabled: true,
            ..PointLight::default()
        },
        at(-1.5, 1.0, 1.5),
    ));
    world.spawn((
        SpotLight {
            intensity: 900_000.0,
            shadow_maps_enabled: true,
            ..SpotLight::default()
        },
        at(1.5, 1.5, 2.0).looking_at(Vec3::new(0.0, -0.5, -2.0), Vec3::Y),
    ));
    let base = StandardMaterial {
        metallic: 0.7,
        reflectance: 0.8,
        opaque_render_method: method,
        ..StandardMaterial::from(Color::linear_rgb(0.6, 0.4, 0.2))
    };
    let glowing = StandardMaterial {
        emissive: LinearRgba::rgb(90.0, 500.0, 30.0),
        ..base.clone()
    };
    let unlit = StandardMaterial {
        unlit: true,
        ..base.clone()
    };
    let coated = StandardMaterial {
        clearcoat: 1.0,
        ..base
    };
    for (x, material) in [(-1.6, glowing), (-0.2, unlit), (1.0, coated)] {
        spawn(world, Sphere::new(0.3), material, at(x, 1.7, -0.6));
    }
}

/// The picture of [`lit_crowd`] with a default method, a method of some materials, and components of the camera.
fn picture(
    default: &DefaultOpaqueRendererMethod,
    method: OpaqueRendererMethod,
    more: impl Bundle,
) -> Rows {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(default.clone());
    lit_crowd(world, method);
    let sky = environment(
        world,
        image([4, 4, 6], |[_, _, face]| [0.1 * face as f32, 0.3, 0.2]),
        900.0,
    );
    let fog = DistanceFog {
        color: Color::linear_rgb(0.1, 0.2, 0.3),
        falloff: FogFalloff::Linear {
            start: 3.0,
            end: 30.0,
        },
        ..DistanceFog::default()
    };
    world.spawn((camera(5.0, Msaa::Off), sky, fog, more));
    rig.exact_rows()
}

fn deferred() -> DefaultOpaqueRendererMethod {
    DefaultOpaqueRendererMethod::deferred()
}

fn forward() -> DefaultOpaqueRendererMethod {
    DefaultOpaqueRendererMethod::forward()
}

/// Display value of a linear one, from 0 to 255.
fn encoded(linear: f32) -> f32 {
    255.0 * linear.clamp(0.0, 1.0).powf(1.0 / 2.2)
}

/// Parts of pixels that differ at all, and by more than 2 of 255.
fn differences(found: &Rows, expected: &Rows) -> [f32; 2] {
    let pairs = || found.iter().flatten().zip(expected.iter().flatten());
    let total = pairs().count() as f32;
    let differs = pairs().filter(|(found, expected)| found != expected);
    let far = pairs().filter(|(found, expected)| {
        let mut channels = found.iter().zip(expected.iter());
        channels.any(|(found, expected)| (encoded(*found) - encoded(*expected)).abs() > 2.0)
    });
    [differs.count() as f32 / total, far.count() as f32 / total]
}

/// Asserts that a picture is shaded from the G-buffer, and looks as one that is not.
fn assert_deferred(name: &str, found: &Rows, expected: &Rows) {
    let [differs, far] = differences(found, expected);
    assert!(
        differs > 0.3,
        "{name}: {differs} of the pixels are deferred"
    );
    assert!(far < 0.03, "{name}: {far} of the pixels differ");
}

#[test]
#[ignore = "needs a device"]
fn deferred_shading_matches_forward() {
    let auto = OpaqueRendererMethod::Auto;
    let expected = picture(&forward(), auto, ());
    let found = picture(&deferred(), auto, DeferredPrepass);
    assert_deferred("depth", &found, &expected);
    let found = picture(&deferred(), auto, (DeferredPrepass, NormalPrepass));
    assert_deferred("normal", &found, &expected);
    let found = picture(&deferred(), auto, (DeferredPrepass, MotionVectorPrepass));
    assert_deferred("motion", &found, &expected);
    let all = (
        (DeferredPrepass, NormalPrepass, MotionVectorPrepass),
        OcclusionCulling,
    );
    assert_deferred("all", &picture(&deferred(), auto, all), &expected);
}

#[test]
#[ignore = "needs a device"]
fn deferred_shading_has_ambient_occlusion() {
    let auto = OpaqueRendererMethod::Auto;
    let occlusion = ScreenSpaceAmbientOcclusion::default;
    let expected = picture(&forward(), auto, occlusion());
    let found = picture(&deferred(), auto, (DeferredPrepass, occlusion()));
    assert_deferred("occlusion", &found, &expected);
}

#[test]
#[ignore = "needs a device"]
fn materials_and_default_choose_the_method() {
    let expected = picture(&forward(), OpaqueRendererMethod::Auto, ());
    let found = picture(&forward(), OpaqueRendererMethod::Auto, DeferredPrepass);
    assert_eq!(differences(&found, &expected), [0.0; 2]);
    let found = picture(&deferred(), OpaqueRendererMethod::Auto, ());
    assert_eq!(differences(&found, &expected), [0.0; 2]);
    // Two spheres of some pixels are deferred by their materials.
    let found = picture(&forward(), OpaqueRendererMethod::Deferred, DeferredPrepass);
    let [differs, far] = differences(&found, &expected);
    assert!(
        differs > 0.005 && differs < 0.2 && far < 0.01,
        "{differs} {far}"
    );
}

#[test]
#[ignore = "needs a device"]
fn multisampled_cameras_have_one_warning_and_forward_shading() {
    let rows = |more: &dyn Fn(&mut EntityWorldMut<'_>)| {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        let world = rig.app.world_mut();
        world.insert_resource(deferred());
        lit_crowd(world, OpaqueRendererMethod::Auto);
        more(&mut world.spawn(camera(5.0, Msaa::Sample4)));
        rig.exact_rows()
    };
    log::collect();
    let found = rows(&|camera| {
        camera.insert(DeferredPrepass);
    });
    let lines = log::take();
    let about = lines.iter().filter(|it| it.contains("is shaded forward"));
    assert_eq!(about.count(), 1, "{lines:?}");
    let expected = rows(&|_| ());
    assert_eq!(differences(&found, &expected), [0.0; 2]);
}

#[test]
#[ignore = "needs a device"]
fn cameras_choose_deferred_shading_apart() {
    let rows = |is_deferred: bool| {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        let world = rig.app.world_mut();
        world.insert_resource(deferred());
        lit_crowd(world, OpaqueRendererMethod::Auto);
        let left = world.spawn(camera(5.0, Msaa::Off)).id();
        let right = world.spawn(camera(5.0, Msaa::Off)).id();
        if is_deferred {
            world.entity_mut(left).insert(DeferredPrepass);
        }
        let mut camera = world.get_mut::<Camera>(right).expect("a camera");
        camera.order = 1;
        set_viewport(&mut rig, left, [0, 0, SIDE / 2, SIDE]);
        set_viewport(&mut rig, right, [SIDE / 2, 0, SIDE / 2, SIDE]);
        rig.exact_rows()
    };
    let half = |rows: &Rows, is_left: bool| -> Rows {
        let middle = SIDE as usize / 2;
        let part = |row: &Vec<[f32; 4]>| match is_left {
            true => row[..middle].to_vec(),
            false => row[middle..].to_vec(),
        };
        rows.iter().map(part).collect()
    };
    let (found, expected) = (rows(true), rows(false));
    assert_deferred("left", &half(&found, true), &half(&expected, true));
    let right = differences(&half(&found, false), &half(&expected, false));
    assert_eq!(right, [0.0; 2]);
}
