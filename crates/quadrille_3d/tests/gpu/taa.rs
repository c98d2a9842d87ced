//! Temporal antialiasing against supersampled pictures, after cuts, and of moving meshes.

use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use quadrille_3d::prelude::*;
use quadrille_3d::{CameraCut, MipBias, TemporalAntiAliasing, TemporalJitter};

use crate::camera_effects::pixel_camera;
use crate::common::{Rig, log};
use crate::fxaa::{SIDE, coverage_error, half_plane};
use crate::prepass::spawn;
use crate::temporal_effects::{Ends, add_ends, gray, stripes};
use crate::textures::{levels, red};

/// Frames after which pictures have converged.
const FRAMES: u32 = 80;

type Rows = Vec<Vec<[f32; 4]>>;

/// Mean and largest difference of the first channel.
fn difference(one: &Rows, other: &Rows) -> (f32, f32) {
    let pairs = one.iter().flatten().zip(other.iter().flatten());
    let all: Vec<_> = pairs
        .map(|(one, other)| (one[0] - other[0]).abs())
        .collect();
    let mean = all.iter().sum::<f32>() / all.len() as f32;
    (mean, all.into_iter().fold(0.0, f32::max))
}

/// A ball and turned squares before a wall, lit by a lamp, in perspective.
fn scene(effects: impl Bundle) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let wall = Transform::from_xyz(0.0, 0.0, -3.0);
    spawn(world, Rectangle::new(40.0, 40.0), gray(0.1), wall);
    spawn(
        world,
        Sphere::new(0.8),
        gray(0.9),
        Transform::from_xyz(-0.7, 0.4, 0.0),
    );
    for at in 0..3_u8 {
        let at = f32::from(at);
        let place = Transform::from_xyz(0.4 + 0.3 * at, -0.8 + 0.5 * at, -at)
            .with_rotation(Quat::from_rotation_z(0.3 + at));
        spawn(world, Rectangle::new(1.0, 0.4), gray(0.3 + 0.2 * at), place);
    }
    let camera = world.spawn(pixel_camera(SIDE)).id();
    let projection = Projection::from(PerspectiveProjection::default());
    world.entity_mut(camera).insert((projection, effects));
    rig
}

/// The mean of 8 x 8 pictures with jittered sample positions.
fn supersampled() -> Rows {
    const GRID: usize = 8;
    let mut rig = scene(TemporalJitter::default());
    let mut mean = vec![vec![[0.0; 4]; SIDE as usize]; SIDE as usize];
    for at in 0..GRID * GRID {
        let offset = [at % GRID, at / GRID].map(|at| (at as f32 + 0.5) / GRID as f32 - 0.5);
        let world = rig.app.world_mut();
        let mut cameras = world.query::<&mut TemporalJitter>();
        cameras.single_mut(world).expect("one camera").offset = Vec2::from(offset);
        let rows = rig.exact_rows();
        for (sum, texel) in mean.iter_mut().flatten().zip(rows.iter().flatten()) {
            sum[0] += texel[0] / (GRID * GRID) as f32;
        }
    }
    mean
}

#[test]
#[ignore = "needs a device"]
fn still_scene_converges_to_supersampled_picture() {
    for slope in [0.21, -0.13] {
        let aliased = coverage_error(&half_plane(slope, ()).exact_rows(), slope);
        let mut rig = half_plane(slope, TemporalAntiAliasing::default());
        rig.update(FRAMES);
        let smoothed = coverage_error(&rig.exact_rows(), slope);
        println!("slope {slope}: {smoothed} with TAA, {aliased} without");
        assert!(
            smoothed < 0.2 * aliased,
            "{slope}: {smoothed} with TAA, {aliased} without"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn still_scene_in_perspective_converges_to_supersampled_picture() {
    let expected = supersampled();
    let (aliased, _) = difference(&scene(()).exact_rows(), &expected);
    let mut rig = scene(TemporalAntiAliasing::default());
    rig.update(FRAMES);
    let (mean, largest) = difference(&rig.exact_rows(), &expected);
    println!("scene: {mean} (largest {largest}) with TAA, {aliased} without");
    assert!(
        mean < 0.2 * aliased && largest < 0.2,
        "{mean} (largest {largest}) with TAA, {aliased} without"
    );
}

#[test]
#[ignore = "needs a device"]
fn nothing_is_left_of_frames_before_a_cut() {
    let effects = (TemporalAntiAliasing::default(), CameraCut::default());
    let mut rig = half_plane(0.21, effects);
    add_ends(&mut rig, |it: &mut TemporalAntiAliasing| it.reset = true);
    // Half of white and black: pixels that are mixed from several frames.
    let mixed = |rig: &mut Rig| {
        let rows = rig.exact_rows();
        let all = rows.iter().flatten();
        all.filter(|texel| texel[0] > 0.02 && texel[0] < 0.48)
            .count()
    };
    rig.update(FRAMES);
    let accumulated = mixed(&mut rig);
    assert!(accumulated > 16, "{accumulated}");
    for ends in [Ends::Cut, Ends::Reset] {
        rig.app.insert_resource(ends);
        assert_eq!(mixed(&mut rig), 0);
        rig.app.insert_resource(Ends::None);
        rig.update(FRAMES);
        assert!(mixed(&mut rig) > 16);
    }
    let world = rig.app.world_mut();
    let mut effects = world.query::<&TemporalAntiAliasing>();
    assert!(!effects.single(world).expect("one camera").reset);
}

#[test]
#[ignore = "needs a device"]
fn moving_meshes_leave_no_trail() {
    let stripes = |speed| stripes(speed, AlphaMode::Opaque, TemporalAntiAliasing::default());
    let mut rest = stripes(None);
    rest.update(FRAMES);
    let rest = rest.exact_rows();
    for speed in [1.0, 2.5] {
        let mut rig = stripes(Some(speed));
        rig.update(FRAMES);
        let rows = rig.exact_rows();
        let middle = &rows[SIDE as usize / 2];
        let bright: Vec<_> = (0..SIDE as usize).filter(|x| middle[*x][0] > 0.8).collect();
        assert!(bright.len() >= 4, "{speed}: {middle:?}");
        let (first, last) = (bright[0], bright[bright.len() - 1]);
        let mut worst = 0.0_f32;
        for (x, texel) in middle.iter().enumerate() {
            if x + 2 < first || x > last + 2 {
                worst = worst.max((texel[0] - rest[SIDE as usize / 2][x][0]).abs());
            }
        }
        println!("speed {speed}: {worst} of 0.9 behind the square");
        // The stripes that were hidden are not smooth yet: they differ by at most their contrast.
        assert!(worst < 0.15, "{speed}: {worst} in {middle:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn several_samples_are_one_warning() {
    log::collect();
    log::take();
    let with_samples = |mut rig: Rig| {
        let world = rig.app.world_mut();
        let mut cameras = world.query_filtered::<Entity, With<Camera3d>>();
        let camera = cameras.single(world).expect("one camera");
        world.entity_mut(camera).insert(Msaa::Sample4);
        (rig, camera)
    };
    let plain = with_samples(half_plane(0.21, ())).0.exact_rows();
    let (mut rig, camera) = with_samples(half_plane(0.21, TemporalAntiAliasing::default()));
    rig.update(FRAMES);
    let rows = rig.exact_rows();
    let (_, largest) = difference(&rows, &plain);
    assert!(largest < 1e-3, "{largest}");
    let lines = log::take();
    let [line] = &lines[..] else {
        panic!("{lines:#?}");
    };
    assert!(
        line.contains("no temporal antialiasing") && line.contains("4 samples"),
        "{line}"
    );
    // Without the effect its jitter ends.
    rig.app.world_mut().entity_mut(camera).insert(Msaa::Off);
    rig.update(2);
    let mut effects = rig.app.world_mut().entity_mut(camera);
    effects.remove::<TemporalAntiAliasing>();
    rig.update(1);
    let world = rig.app.world_mut();
    let mut jitters = world.query::<&TemporalJitter>();
    assert_eq!(jitters.single(world).expect("one").offset, Vec2::ZERO);
}

#[test]
#[ignore = "needs a device"]
fn mip_bias_selects_finer_levels() {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let mut image = levels(8);
    image.sampler = ImageSampler::nearest();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let material = StandardMaterial {
        unlit: true,
        base_color_texture: Some(image),
        ..StandardMaterial::default()
    };
    // Eight texels on two pixels: level 2.
    spawn(
        world,
        Rectangle::new(2.0, 2.0),
        material,
        Transform::default(),
    );
    let camera = world.spawn(pixel_camera(SIDE)).id();
    for (bias, level) in [
        (None, 2),
        (Some(-1.0), 1),
        (Some(-2.0), 0),
        (Some(f32::NAN), 2),
    ] {
        let mut camera = rig.app.world_mut().entity_mut(camera);
        if let Some(bias) = bias {
            camera.insert(MipBias(bias));
        }
        let [found, ..] = rig.exactly(SIDE / 2, SIDE / 2);
        let expected = Color::srgb_u8(red(level), 0, 0).to_linear().red;
        let is_linear = (found - f32::from(red(level)) / 255.0).abs() < 1e-3;
        assert!(
            is_linear || (found - expected).abs() < 1e-3,
            "{bias:?}: {found}"
        );
    }
}
