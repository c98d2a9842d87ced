//! Order-independent transparency: colors of pixels beside blending in double precision, memory, and cost.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use quadrille::prelude::Renderer;
use quadrille_3d::OrderIndependentTransparencySettings;
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig, golden, log};
use crate::prepass::spawn;

const SIDE: u32 = 64;
/// Width and height of the view in meters.
const METERS: f32 = 4.0;
/// Largest difference of a channel.
const STEP: f32 = 1.0 / 255.0;

/// A layer: color with alpha, not premultiplied, distance of its middle, and its slope towards the right.
type Layer = ([f32; 4], f32, f32);

const BACKGROUND: [f32; 3] = [0.2, 0.1, 0.4];

const LAYERS: [Layer; 3] = [
    ([1.0, 0.0, 0.1, 0.5], 0.0, 0.9),
    ([0.0, 1.0, 0.2, 0.25], 0.1, -0.7),
    ([0.1, 0.3, 1.0, 0.75], -0.2, 0.0),
];

fn unlit([red, green, blue, alpha]: [f32; 4], alpha_mode: AlphaMode) -> StandardMaterial {
    StandardMaterial {
        unlit: true,
        alpha_mode,
        cull_mode: None,
        ..StandardMaterial::from(Color::linear_rgba(red, green, blue, alpha))
    }
}

fn rig(camera: impl Bundle, layers: &[Layer], alpha_mode: AlphaMode) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let [red, green, blue] = BACKGROUND;
    world.insert_resource(ClearColor(Color::linear_rgb(red, green, blue)));
    for &(color, z, slope) in layers {
        let turned = Quat::from_rotation_y(-slope.atan());
        let place = Transform::from_xyz(0.0, 0.0, z).with_rotation(turned);
        let mesh = Rectangle::new(20.0, 20.0);
        spawn(world, mesh, unlit(color, alpha_mode), place);
    }
    let projection = OrthographicProjection {
        scaling_mode: ScalingMode::Fixed {
            width: METERS,
            height: METERS,
        },
        ..OrthographicProjection::default_3d()
    };
    world.spawn((
        Camera3d::default(),
        Projection::from(projection),
        Tonemapping::None,
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, 10.0),
        camera,
    ));
    rig
}

fn settings() -> OrderIndependentTransparencySettings {
    OrderIndependentTransparencySettings::default()
}

/// Color of a pixel by blending the layers in the order of their depths there; `None` where two are nearly equal.
fn blended(x: usize, layers: &[Layer]) -> Option<[f32; 3]> {
    let meters = (x as f32 + 0.5) / SIDE as f32 * METERS - METERS / 2.0;
    let mut sorted: Vec<_> = layers
        .iter()
        .map(|&(color, z, slope)| (z + slope * meters, color))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    if sorted.windows(2).any(|pair| pair[1].0 - pair[0].0 < 0.02) {
        return None;
    }
    Some(sorted.iter().fold(BACKGROUND, |below, (_, color)| {
        let alpha = color[3];
        std::array::from_fn(|at| color[at] * alpha + below[at] * (1.0 - alpha))
    }))
}

fn assert_near(found: [f32; 4], wanted: [f32; 3], what: &str) {
    for channel in 0..3 {
        let off = (found[channel] - wanted[channel]).abs();
        assert!(off <= STEP, "{what}: {found:?}, not {wanted:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn crossing_layers_blend_in_order_of_depth() {
    for is_hdr in [false, true] {
        let mut rig = rig((Msaa::Off, settings()), &LAYERS, AlphaMode::Blend);
        if is_hdr {
            let world = rig.app.world_mut();
            let camera = world
                .query_filtered::<Entity, With<Camera3d>>()
                .single(world);
            world.entity_mut(camera.expect("one camera")).insert(Hdr);
        }
        let row = rig.exact_row(SIDE / 2);
        let mut orders = Vec::new();
        let mut checked = 0;
        for (x, found) in row.iter().enumerate() {
            let Some(wanted) = blended(x, &LAYERS) else {
                continue;
            };
            assert_near(*found, wanted, &format!("{is_hdr} {x}"));
            checked += 1;
            if orders.last() != Some(&wanted) {
                orders.push(wanted);
            }
        }
        assert!(checked > 50 && orders.len() >= 3, "{checked} {orders:?}");
    }
    let mut rig = rig(Msaa::Off, &LAYERS, AlphaMode::Blend);
    let row = rig.exact_row(SIDE / 2);
    let wrong = row.iter().enumerate().filter(|(x, found)| {
        blended(*x, &LAYERS).is_some_and(|wanted| (found[0] - wanted[0]).abs() > STEP)
    });
    assert!(wrong.count() > 10, "sorted by mesh they are wrong");
}

#[test]
#[ignore = "needs a device"]
fn sixteen_sorted_fragments_blend_in_order_of_depth() {
    // Six pairs of planes cross in the middle of the picture.
    let layers: Vec<Layer> = (0..12_u8)
        .map(|at| {
            let part = f32::from(at) / 12.0;
            let slope = if at % 2 == 0 { 0.3 } else { -0.3 };
            let z = f32::from(at / 2) * 1.5 - 4.0;
            ([part, 1.0 - part, 0.5, 0.15], z, slope)
        })
        .collect();
    let many = OrderIndependentTransparencySettings {
        sorted_fragment_max_count: 16,
        fragments_per_pixel_average: 12.0,
        ..settings()
    };
    let mut rig = rig((Msaa::Off, many), &layers, AlphaMode::Blend);
    let mut checked = 0;
    for (x, found) in rig.exact_row(SIDE / 2).iter().enumerate() {
        if let Some(wanted) = blended(x, &layers) {
            assert_near(*found, wanted, &format!("pixel {x}"));
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// Layers that do not cross.
const ORDERED: [Layer; 3] = [
    ([1.0, 0.0, 0.1, 0.5], 0.0, 0.0),
    ([0.0, 1.0, 0.2, 0.25], 1.0, 0.0),
    ([0.1, 0.3, 1.0, 0.75], -1.0, 0.0),
];

#[test]
#[ignore = "needs a device"]
fn ordered_layers_equal_sorted_blending_in_all_alpha_modes() {
    for mode in [
        AlphaMode::Blend,
        AlphaMode::Premultiplied,
        AlphaMode::Add,
        AlphaMode::Multiply,
    ] {
        let with = rig((Msaa::Off, settings()), &ORDERED, mode).exactly(9, 9);
        let without = rig(Msaa::Off, &ORDERED, mode).exactly(9, 9);
        let [red, green, blue, _] = without;
        assert_near(with, [red, green, blue], &format!("{mode:?}"));
        assert!(
            (with[3] - without[3]).abs() <= STEP,
            "{mode:?}: {with:?} {without:?}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn few_sorted_fragments_keep_the_nearest() {
    let few = OrderIndependentTransparencySettings {
        sorted_fragment_max_count: 1,
        ..settings()
    };
    let found = rig((Msaa::Off, few), &ORDERED, AlphaMode::Blend).exactly(9, 9);
    let wanted = blended(9, &ORDERED).expect("they are apart");
    assert_near(found, wanted, "in the order of meshes");
}

#[test]
#[ignore = "needs a device"]
fn opaque_meshes_hide_layers() {
    for prepass in [false, true] {
        let mut rig = rig((Msaa::Off, settings()), &ORDERED, AlphaMode::Blend);
        let world = rig.app.world_mut();
        let wall = unlit([0.6, 0.5, 0.4, 1.0], AlphaMode::Opaque);
        let place = Transform::from_xyz(0.0, 0.0, 0.5);
        spawn(world, Rectangle::new(20.0, 20.0), wall, place);
        if prepass {
            let camera = world
                .query_filtered::<Entity, With<Camera3d>>()
                .single(world);
            let mut camera = world.entity_mut(camera.expect("one camera"));
            camera.insert(DepthPrepass);
        }
        // Only the green layer is in front of the wall.
        let wanted = [0.6 * 0.75, 0.25 + 0.5 * 0.75, 0.05 + 0.4 * 0.75];
        assert_near(rig.exactly(9, 9), wanted, "a wall");
    }
}

#[test]
#[ignore = "needs a device"]
fn fragments_without_memory_are_left_out() {
    let with = |fragments_per_pixel_average: f32| {
        let settings = OrderIndependentTransparencySettings {
            fragments_per_pixel_average,
            ..settings()
        };
        rig((Msaa::Off, settings), &ORDERED, AlphaMode::Blend).exact_rows()
    };
    let all = blended(9, &ORDERED).expect("they are apart");
    let count = |rows: &[Vec<[f32; 4]>], color: [f32; 3]| {
        let is_it = |found: &&[f32; 4]| (0..3).all(|at| (found[at] - color[at]).abs() <= STEP);
        rows.iter().flatten().filter(is_it).count()
    };
    let pixels = (SIDE * SIDE) as usize;
    assert_eq!(count(&with(3.0), all), pixels, "memory for all");
    assert_eq!(count(&with(0.0), BACKGROUND), pixels, "memory for none");
    let some = with(1.5);
    let whole = count(&some, all);
    assert!(whole < pixels, "half of the fragments are left out");
    assert!(
        some.iter()
            .flatten()
            .flatten()
            .all(|it| (0.0..=1.0).contains(it))
    );
    let empty = count(&some, BACKGROUND);
    assert!(empty < pixels, "half of the fragments are there");
}

#[test]
#[ignore = "needs a device"]
fn fragments_below_threshold_are_left_out() {
    let threshold = OrderIndependentTransparencySettings {
        alpha_threshold: 0.3,
        ..settings()
    };
    // Premultiplied, all channels of the green layer are below it.
    let found = rig((Msaa::Off, threshold), &ORDERED, AlphaMode::Blend).exactly(9, 9);
    let others = [ORDERED[0], ORDERED[2]];
    let wanted = blended(9, &others).expect("they are apart");
    assert_near(found, wanted, "without the green layer");
}

#[test]
#[ignore = "needs a device"]
fn several_samples_are_sorted_by_mesh_with_one_warning() {
    log::collect();
    let found = rig((Msaa::Sample4, settings()), &ORDERED, AlphaMode::Blend).exactly(9, 9);
    let lines = log::take();
    let about = lines
        .iter()
        .filter(|it| it.contains("OrderIndependentTransparencySettings"));
    assert_eq!(about.count(), 1, "{lines:?}");
    assert!(lines.iter().any(|it| it.contains("Msaa::Off")), "{lines:?}");
    let wanted = blended(9, &ORDERED).expect("they are apart");
    assert_near(found, wanted, "sorted");
}

#[test]
#[ignore = "needs a device"]
fn views_without_layers_cost_nothing() {
    let plan = |rig: &mut Rig| {
        let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
        renderer.keep_frames(true);
        rig.update(3);
        let renderer = rig.app.world().resource::<Renderer>();
        renderer.plan_text().expect("frames are kept")
    };
    let without = plan(&mut rig((Msaa::Off, settings()), &[], AlphaMode::Blend));
    assert!(
        !without.contains("oit") && !without.contains("fragment lists"),
        "{without}"
    );
    let with = plan(&mut rig(
        (Msaa::Off, settings()),
        &ORDERED,
        AlphaMode::Blend,
    ));
    for pass in [
        "empty fragment lists",
        "order_independent_3d",
        "oit_resolve",
    ] {
        assert!(with.contains(pass), "{pass}: {with}");
    }
    assert!(!with.contains("transparent_3d"), "{with}");
}

/// Three crossing panes, a ball that hides parts of them, and one that glows.
#[test]
#[ignore = "needs a device"]
fn crossing_panes_match_golden() {
    let mut rig = Rig::scene(240, 160, crossing_panes);
    golden::expect("crossing_panes", &rig.picture());
}

fn crossing_panes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let pane = meshes.add(Rectangle::new(2.4, 1.6));
    for (at, color) in (0..).zip([
        Color::srgba(0.9, 0.2, 0.1, 0.6),
        Color::srgba(0.1, 0.8, 0.2, 0.6),
        Color::srgba(0.2, 0.3, 1.0, 0.6),
    ]) {
        let material = StandardMaterial {
            cull_mode: None,
            double_sided: true,
            ..StandardMaterial::from(color)
        };
        let turn = at as f32 * std::f32::consts::FRAC_PI_3 + 0.2;
        commands.spawn((
            Mesh3d(pane.clone()),
            MeshMaterial3d(materials.add(material)),
            Transform::from_rotation(Quat::from_rotation_y(turn)),
        ));
    }
    let ball = meshes.add(Sphere::new(0.4));
    for (x, material) in [
        (-0.7, StandardMaterial::from(Color::srgb(0.9, 0.8, 0.6))),
        (0.7, unlit([0.5, 0.4, 0.1, 0.5], AlphaMode::Add)),
    ] {
        commands.spawn((
            Mesh3d(ball.clone()),
            MeshMaterial3d(materials.add(material)),
            Transform::from_xyz(x, 0.0, 0.3),
        ));
    }
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        (Msaa::Off, settings()),
        Transform::from_xyz(0.0, 1.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}
