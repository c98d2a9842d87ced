//! Ambient occlusion of corners, beside integrals over the hemisphere in double precision.

use bevy_ecs::prelude::*;
use bevy_math::DVec3;
use quadrille_3d::prelude::*;
use quadrille_3d::{ScreenSpaceAmbientOcclusion, ScreenSpaceAmbientOcclusionQualityLevel};

use crate::camera_effects::{extents, set_viewport};
use crate::common::{EXACT, Rig, log};
use crate::prepass::spawn;

const SIDE: u32 = 64;

/// Half the height of the view in tangents of the angle.
const SLOPE: f32 = 0.5;

/// Distance up to which occluders are found, as in bevy.
const RADIUS: f64 = 0.5 * 1.457;

const EYE: Vec3 = Vec3::new(1.2, 1.0, 1.1);
const CENTER: Vec3 = Vec3::new(0.2, 0.15, 0.2);

fn material(albedo: f32) -> StandardMaterial {
    StandardMaterial {
        perceptual_roughness: 1.0,
        ..StandardMaterial::from(Color::linear_rgb(albedo, albedo, albedo))
    }
}

/// Planes through the origin, whose normals are the first `count` of y, x and z.
fn planes(world: &mut World, count: usize, albedo: f32) {
    let turns = [
        Quat::IDENTITY,
        Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2),
        Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
    ];
    for turn in turns.into_iter().take(count) {
        let mesh = Plane3d::default().mesh().size(40.0, 40.0);
        spawn(
            world,
            mesh,
            material(albedo),
            Transform::from_rotation(turn),
        );
    }
}

fn camera(world: &mut World, effects: impl Bundle) -> Entity {
    let camera = (
        Camera3d::default(),
        Projection::from(PerspectiveProjection {
            fov: 2.0 * SLOPE.atan(),
            ..PerspectiveProjection::default()
        }),
        (Tonemapping::None, DebandDither::Disabled, Msaa::Off),
        RenderTarget::TextureView(EXACT),
        Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y),
    );
    world.spawn((camera, effects)).id()
}

/// A rig with light from all sides alone.
fn ambient_rig(setup: impl FnOnce(&mut World)) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight {
        brightness: 5000.0,
        ..GlobalAmbientLight::default()
    });
    setup(world);
    rig
}

/// Many samples, and objects through which no light passes.
fn exact_occlusion() -> ScreenSpaceAmbientOcclusion {
    ScreenSpaceAmbientOcclusion {
        quality_level: ScreenSpaceAmbientOcclusionQualityLevel::Custom {
            slice_count: 8,
            samples_per_slice_side: 24,
        },
        constant_object_thickness: 1000.0,
        ..ScreenSpaceAmbientOcclusion::default()
    }
}

fn rows(count: usize, albedo: f32, effects: impl Bundle) -> Vec<Vec<[f32; 4]>> {
    ambient_rig(|world| {
        planes(world, count, albedo);
        camera(world, effects);
    })
    .exact_rows()
}

/// Factors of occlusion of each pixel, of planes of this albedo.
fn factors(count: usize, albedo: f32, effect: ScreenSpaceAmbientOcclusion) -> Vec<Vec<f64>> {
    let (plain, occluded) = (rows(count, albedo, ()), rows(count, albedo, effect));
    let pairs = plain.iter().zip(&occluded);
    let divided = pairs.map(|(plain, occluded)| {
        let pairs = plain.iter().zip(occluded);
        pairs.map(|(plain, occluded)| f64::from(occluded[1]) / f64::from(plain[1]))
    });
    divided.map(Iterator::collect).collect()
}

/// Axes of the view: right, up, forward.
fn axes() -> [DVec3; 3] {
    let view = Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y);
    [view.right(), view.up(), view.forward()].map(|axis| axis.as_vec3().as_dvec3())
}

/// Nearest of the first `count` planes along a ray: its axis and the distance.
fn hit(count: usize, from: DVec3, direction: DVec3) -> Option<(usize, f64)> {
    let hits = [1, 0, 2].into_iter().take(count).filter_map(|axis| {
        let distance = -from[axis] / direction[axis];
        (from[axis] > 1e-9 && distance > 1e-9).then_some((axis, distance))
    });
    hits.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Position of a point in pixels.
fn project(point: DVec3) -> [f64; 2] {
    let [right, up, forward] = axes();
    let view = point - EYE.as_dvec3();
    let depth = view.dot(forward) * f64::from(SLOPE);
    let half = f64::from(SIDE) / 2.0;
    [
        (1.0 + view.dot(right) / depth) * half,
        (1.0 - view.dot(up) / depth) * half,
    ]
}

/// Part of the cosine-weighted hemisphere over the surface at a pixel that no plane hides within the radius.
fn visibility(count: usize, x: usize, y: usize) -> f64 {
    let [right, up, forward] = axes();
    let half = f64::from(SIDE) / 2.0;
    let [at_x, at_y] = [x, y].map(|pixel| (pixel as f64 + 0.5) / half - 1.0);
    let slope = f64::from(SLOPE);
    let ray = forward + right * at_x * slope - up * at_y * slope;
    let eye = EYE.as_dvec3();
    let (axis, distance) = hit(count, eye, ray).expect("planes fill the view");
    let mut point = eye + ray * distance;
    point[axis] = 0.0;
    let depth = (point - eye).dot(forward);
    let most = half * RADIUS / slope / depth;
    let from = project(point);
    let mut visible = 0;
    const STEPS: usize = 48;
    for step in 0..STEPS * STEPS {
        let radius = (((step / STEPS) as f64 + 0.5) / STEPS as f64).sqrt();
        let angle = ((step % STEPS) as f64 + 0.5) / STEPS as f64 * std::f64::consts::TAU;
        let mut direction = DVec3::ZERO;
        direction[axis] = (1.0 - radius * radius).sqrt();
        direction[(axis + 1) % 3] = radius * angle.cos();
        direction[(axis + 2) % 3] = radius * angle.sin();
        let is_hidden = hit(count, point, direction).is_some_and(|(_, distance)| {
            let to = project(point + direction * distance);
            let is_inside = to.iter().all(|it| (0.0..f64::from(SIDE)).contains(it));
            is_inside && (to[0] - from[0]).hypot(to[1] - from[1]) <= most
        });
        visible += usize::from(!is_hidden);
    }
    visible as f64 / (STEPS * STEPS) as f64
}

/// Whether a pixel is at least two pixels from edges between planes.
fn is_on_one_plane(count: usize, x: usize, y: usize) -> bool {
    let plane = |x: f64, y: f64| {
        let [right, up, forward] = axes();
        let half = f64::from(SIDE) / 2.0;
        let ray = forward + (right * (x / half - 1.0) - up * (y / half - 1.0)) * f64::from(SLOPE);
        hit(count, EYE.as_dvec3(), ray).map(|(axis, _)| axis)
    };
    let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
    let around = [(-2.0, -2.0), (2.0, -2.0), (-2.0, 2.0), (2.0, 2.0)];
    around
        .into_iter()
        .all(|(right, down)| plane(x + right, y + down) == plane(x, y))
}

#[test]
#[ignore = "needs a device"]
fn corners_are_as_dark_as_integrals_over_the_hemisphere() {
    for count in [2, 3] {
        let found = factors(count, 0.0, exact_occlusion());
        let (mut most, mut sum, mut pixels, mut darkest) = (0.0_f64, 0.0, 0.0, 1.0_f64);
        for y in (4..SIDE as usize - 4).step_by(2) {
            for x in (4..SIDE as usize - 4).step_by(2) {
                if !is_on_one_plane(count, x, y) {
                    continue;
                }
                let expected = visibility(count, x, y);
                let off = found[y][x] - expected;
                if off.abs() > most.abs() {
                    most = off;
                }
                sum += off.abs();
                pixels += 1.0;
                darkest = darkest.min(expected);
            }
        }
        assert!(
            pixels > 500.0 && darkest < 0.65,
            "{pixels} pixels, {darkest}"
        );
        assert!(sum / pixels < 0.016, "{} off in the mean", sum / pixels);
        assert!(most.abs() < 0.1, "{most} off at most");
    }
}

#[test]
#[ignore = "needs a device"]
fn flat_planes_are_not_occluded() {
    for quality_level in [
        ScreenSpaceAmbientOcclusionQualityLevel::Low,
        ScreenSpaceAmbientOcclusionQualityLevel::Medium,
        ScreenSpaceAmbientOcclusionQualityLevel::High,
        ScreenSpaceAmbientOcclusionQualityLevel::Ultra,
    ] {
        let effect = ScreenSpaceAmbientOcclusion {
            quality_level,
            ..ScreenSpaceAmbientOcclusion::default()
        };
        assert!(
            rows(1, 0.5, effect) == rows(1, 0.5, ()),
            "{quality_level:?}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn light_surfaces_are_lit_by_several_bounces() {
    let black = factors(2, 0.0, exact_occlusion());
    for albedo in [0.5, 1.0] {
        let found = factors(2, albedo as f32, exact_occlusion());
        let polynomial = |x: f64| {
            let cubic = 2.0404 * albedo - 0.3324;
            let square = -4.7951 * albedo + 0.6417;
            let linear = 2.7552 * albedo + 0.6903;
            (((x * cubic + square) * x + linear) * x).max(x).min(1.0)
        };
        for (row, expected) in found.iter().zip(&black) {
            for (found, &visibility) in row.iter().zip(expected) {
                let expected = polynomial(visibility);
                assert!((found - expected).abs() < 2e-3, "{found}, not {expected}");
            }
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn direct_light_and_disabled_maps_stay_as_they_are() {
    let lit = |effects: fn(&mut World) -> Entity| {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        let world = rig.app.world_mut();
        world.insert_resource(GlobalAmbientLight {
            brightness: 0.0,
            ..GlobalAmbientLight::default()
        });
        planes(world, 3, 0.7);
        let sun = DirectionalLight {
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        };
        let above = Transform::from_xyz(1.0, 2.0, 1.5).looking_at(Vec3::ZERO, Vec3::Y);
        world.spawn((sun, above));
        world.spawn((PointLight::default(), Transform::from_xyz(0.6, 0.7, 0.5)));
        effects(world);
        rig.exact_rows()
    };
    let plain = lit(|world| camera(world, (DepthPrepass, NormalPrepass)));
    assert!(plain[32][32][0] > 0.01, "no light");
    let occluded = lit(|world| camera(world, ScreenSpaceAmbientOcclusion::default()));
    assert!(occluded == plain, "direct light is occluded");
}

#[test]
#[ignore = "needs a device"]
fn each_view_has_a_map_of_its_own_and_removal_frees_it() {
    let mut eyes = [Entity::PLACEHOLDER; 2];
    let mut rig = ambient_rig(|world| {
        planes(world, 3, 0.0);
        eyes[0] = camera(world, ScreenSpaceAmbientOcclusion::default());
        eyes[1] = camera(world, ());
    });
    set_viewport(&mut rig, eyes[0], [0, 0, 32, 32]);
    set_viewport(&mut rig, eyes[1], [32, 0, 32, 32]);
    for (order, eye) in eyes.into_iter().enumerate() {
        let mut camera = rig
            .app
            .world_mut()
            .get_mut::<Camera>(eye)
            .expect("a camera");
        camera.order = order as isize;
        camera.clear_color = ClearColorConfig::None;
    }
    let rows = rig.exact_rows();
    let mut darkest = 1.0_f32;
    for row in &rows[..32] {
        for (occluded, plain) in row[..32].iter().zip(&row[32..]) {
            darkest = darkest.min(occluded[1] / plain[1]);
        }
    }
    assert!(darkest < 0.6, "{darkest}");
    let plain = &rows[4][36..40];
    let even = plain
        .iter()
        .all(|it| (it[1] / plain[0][1] - 1.0).abs() < 0.05);
    assert!(even, "occlusion of another view: {plain:?}");
    assert_eq!(extents::<ScreenSpaceAmbientOcclusion>(&rig).len(), 2);
    // Views smaller than the levels of distances.
    for size in [1, 2, 5] {
        set_viewport(&mut rig, eyes[0], [0, 0, size, 1]);
        rig.update(2);
    }
    let mut eye = rig.app.world_mut().entity_mut(eyes[0]);
    eye.remove::<ScreenSpaceAmbientOcclusion>();
    rig.update(2);
    assert!(extents::<ScreenSpaceAmbientOcclusion>(&rig).is_empty());
}

#[test]
#[ignore = "needs a device"]
fn thin_objects_let_light_pass_behind_them() {
    let darkest = |thickness: f32| {
        let effect = ScreenSpaceAmbientOcclusion {
            constant_object_thickness: thickness,
            ..exact_occlusion()
        };
        let found = factors(2, 0.0, effect);
        found.into_iter().flatten().fold(1.0, f64::min)
    };
    let [thin, thick] = [0.01, 1000.0].map(darkest);
    assert!(thin > thick + 0.1, "{thin} beside {thick}");
}

/// Corners of two planes: pixels that are farther from the edge than the radius have all of their light.
#[test]
#[ignore = "needs a device"]
fn occluders_beyond_the_radius_are_left_out() {
    let darkened = |radius: f32| {
        let effect = ScreenSpaceAmbientOcclusion {
            radius,
            ..exact_occlusion()
        };
        let found = factors(2, 0.0, effect);
        found.into_iter().flatten().filter(|it| *it < 0.99).count()
    };
    let [none, narrow, default, wide] = [f32::NAN, 0.2, 0.7285, 1.5].map(darkened);
    assert_eq!(none, 0);
    assert!(
        0 < narrow && 2 * narrow < default && default < wide,
        "{narrow} {default} {wide}"
    );
}

#[test]
#[ignore = "needs a device"]
fn multisampled_cameras_have_one_warning_and_no_occlusion() {
    log::collect();
    let mut rig = ambient_rig(|world| {
        planes(world, 2, 0.5);
        let eye = camera(world, ScreenSpaceAmbientOcclusion::default());
        world.entity_mut(eye).insert(Msaa::Sample4);
    });
    let found = rig.exact_rows();
    let lines = log::take();
    let about = lines.iter().filter(|it| it.contains("ambient occlusion"));
    assert_eq!(about.count(), 1, "{lines:?}");
    assert!(lines.iter().any(|it| it.contains("Msaa::Off")), "{lines:?}");
    let mut plain = ambient_rig(|world| {
        planes(world, 2, 0.5);
        let eye = camera(world, (DepthPrepass, NormalPrepass));
        world.entity_mut(eye).insert(Msaa::Sample4);
    });
    assert!(found == plain.exact_rows());
}
