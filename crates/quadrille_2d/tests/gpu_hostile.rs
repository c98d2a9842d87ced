//! Invalid data in one entity does not end a frame. `cargo test -p quadrille_2d --test gpu_hostile -- --ignored`;
//! without a device these tests fail. `QUADRILLE_2D_SEED` sets the seed and `QUADRILLE_2D_ROUNDS` the number of rounds.
#![cfg(all(feature = "ui", feature = "gizmos"))]

#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "tests that share a module use different parts of it"
)]
mod common;
#[path = "hostile/dice.rs"]
mod dice;
#[path = "hostile/drawn.rs"]
mod drawn;
#[path = "hostile/grids.rs"]
mod grids;
#[path = "hostile/nodes.rs"]
mod nodes;
#[path = "hostile/sizes.rs"]
mod sizes;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_app::{PostUpdate, Startup, Update};
use bevy_camera::{ImageRenderTarget, SubCameraView};
use bevy_ecs::prelude::*;
use bevy_math::{UVec2, Vec2};
use common::{Picture, Rig, log};
use dice::Dice;
use drawn::Shelf;
use quadrille::prelude::{Render, RenderSystems};
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

/// Marks entities with hostile values, which are respawned in each round.
#[derive(Component)]
struct Bad;

/// The camera that sees the hostile entities.
#[derive(Component)]
struct BadCamera;

/// A second such camera, which draws to an image.
#[derive(Component)]
struct ImageCamera;

const WIDTH: u32 = 160;
const HEIGHT: u32 = 80;
/// Width of the viewport of the camera with valid entities, on the left of the window.
const GOOD_WIDTH: u32 = 80;
/// Text is laid out only after a camera that sees it was found.
const FRAMES: u32 = 3;

/// A valid sprite, mesh, text and nodes.
fn good(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let layer = RenderLayers::layer(1);
    let camera = Camera {
        order: isize::MAX,
        clear_color: Color::srgb(0.1, 0.2, 0.3).into(),
        viewport: Some(Viewport {
            physical_size: UVec2::new(GOOD_WIDTH, HEIGHT),
            ..Viewport::default()
        }),
        ..Camera::default()
    };
    let camera = commands.spawn((Camera2d, camera, layer.clone())).id();
    let sprite = Sprite::from_color(Color::srgb(1.0, 0.0, 0.0), Vec2::splat(20.0));
    commands.spawn((sprite, Transform::from_xyz(-20.0, 0.0, 0.0), layer.clone()));
    let mesh = Mesh2d(meshes.add(Circle::new(12.0)));
    let material = MeshMaterial2d(materials.add(Color::srgb(0.0, 1.0, 0.0)));
    commands.spawn((mesh, material, layer.clone()));
    let place = Transform::from_xyz(20.0, 0.0, 0.0);
    commands.spawn((
        Text2d::new("good"),
        TextFont::from_font_size(12.0),
        place,
        layer,
    ));
    let node = Node {
        position_type: PositionType::Absolute,
        width: Val::Px(30.0),
        height: Val::Px(10.0),
        border_radius: BorderRadius::all(Val::Px(4.0)),
        overflow: Overflow::clip(),
        ..Node::default()
    };
    let white = BackgroundColor(Color::WHITE);
    commands
        .spawn((node, white, UiTargetCamera(camera)))
        .with_child((Text::new("good"), TextColor(Color::BLACK)));
    commands.spawn((BadCamera, Camera2d));
    commands.spawn((ImageCamera, Camera2d, order(-9)));
}

fn order(order: isize) -> Camera {
    Camera {
        order,
        ..Camera::default()
    }
}

/// An image of small size with an odd scale factor.
fn bad_target(dice: &mut Dice, shelf: &mut Shelf) -> RenderTarget {
    let size = 4 + dice.0.u32(..9);
    let mut image = common::scenes::image(size, 7, vec![0; (size * 28) as usize]);
    image.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
    RenderTarget::Image(ImageRenderTarget {
        handle: shelf.images.add(image),
        // Larger sizes have a separate test, since their glyphs take long.
        scale_factor: dice.pick(&[f32::NAN, f32::NEG_INFINITY, 0.0, 0.5, 3.0]),
    })
}

/// Random generator of a round.
#[derive(Resource)]
struct Rolled {
    dice: Dice,
    /// Whether the round has not begun.
    is_new: bool,
}

/// Replaces all hostile entities at the start of a round.
fn replace(
    mut commands: Commands,
    old: Query<Entity, With<Bad>>,
    cameras: (
        Single<Entity, With<BadCamera>>,
        Single<Entity, With<ImageCamera>>,
    ),
    mut rolled: ResMut<Rolled>,
    mut shelf: Shelf,
    mut configs: ResMut<GizmoConfigStore>,
) {
    if !std::mem::take(&mut rolled.is_new) {
        return;
    }
    let dice = &mut rolled.dice;
    for entity in &old {
        commands.entity(entity).try_despawn();
    }
    let (camera, to_image) = (*cameras.0, *cameras.1);
    for camera in [camera, camera, to_image] {
        drawn::spawn(&mut commands, dice, &mut shelf);
        nodes::spawn(&mut commands, dice, &mut shelf, camera);
    }
    configs.config_mut::<DefaultGizmoConfigGroup>().0.line = drawn::line_config(dice);
    // The target cannot be the image of another window: no other window exists.
    commands.entity(camera).insert(bad_camera(dice));
    let target = bad_target(dice, &mut shelf);
    commands.entity(to_image).insert(target);
}

fn bad_camera(dice: &mut Dice) -> impl Bundle {
    let (first, second) = (dice.float(), dice.float());
    let scaling_mode = dice.pick(&[
        ScalingMode::WindowSize,
        ScalingMode::Fixed {
            width: first,
            height: second,
        },
        ScalingMode::AutoMin {
            min_width: first,
            min_height: second,
        },
        ScalingMode::FixedVertical {
            viewport_height: first,
        },
    ]);
    let orthographic = OrthographicProjection {
        near: dice.float(),
        far: dice.float(),
        viewport_origin: dice.vec2(),
        scaling_mode,
        scale: dice.float(),
        area: dice.rect(),
    };
    let perspective = PerspectiveProjection {
        fov: dice.float(),
        aspect_ratio: dice.float(),
        near: dice.float(),
        far: dice.float(),
        ..PerspectiveProjection::default()
    };
    // Most rounds are seen as a whole.
    let projection = match dice.0.u8(..6) {
        0 => Projection::Orthographic(orthographic),
        1 => Projection::Perspective(perspective),
        _ => Projection::Orthographic(OrthographicProjection::default_2d()),
    };
    let camera = Camera {
        order: dice.pick(&[0, isize::MIN, -1]),
        clear_color: dice.color().into(),
        viewport: (dice.0.u8(..4) == 0).then(|| Viewport {
            physical_position: dice.uvec2(),
            physical_size: dice.uvec2(),
            depth: dice.float()..dice.float(),
        }),
        sub_camera_view: (dice.0.u8(..4) == 0).then(|| SubCameraView {
            full_size: dice.uvec2(),
            offset: dice.vec2(),
            size: dice.uvec2(),
        }),
        ..Camera::default()
    };
    let transform = match dice.0.u8(..4) {
        0 => dice.transform(),
        _ => Transform::IDENTITY,
    };
    (camera, projection, transform)
}

/// Gizmos of one frame.
fn draw_gizmos(mut gizmos: Gizmos, mut rolled: ResMut<Rolled>) {
    let dice = &mut rolled.dice;
    gizmos.line_2d(dice.vec2(), dice.vec2(), dice.color());
    gizmos.circle_2d(dice.vec2(), dice.0.f32() * 30.0, dice.color());
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Picture of the camera with valid entities.
fn good_part(picture: &Picture) -> Picture {
    let pixels = (0..HEIGHT).flat_map(|y| (0..GOOD_WIDTH).map(move |x| (x, y)));
    Picture {
        width: GOOD_WIDTH,
        height: HEIGHT,
        pixels: pixels.map(|(x, y)| picture.at(x, y)).collect(),
    }
}

/// Steps of 8 bits between a camera that draws to its target, where samples and their mean are rounded, and one
/// that draws over another camera's picture, which is blended from half floats.
const ROUNDING: u8 = 2;

/// Largest difference of two pictures in any channel, in steps of 8 bits.
fn distance(one: &Picture, other: &Picture) -> u8 {
    let channels = one.pixels.as_flattened().iter();
    let channels = channels.zip(other.pixels.as_flattened());
    channels.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

fn rig() -> Rig {
    let mut rig = Rig::with(WIDTH, HEIGHT, (Quadrille2dPlugin::default(), GizmoPlugin));
    rig.app.add_systems(Startup, good);
    rig.start();
    rig.update(FRAMES);
    rig
}

#[test]
#[ignore = "needs a device"]
fn valid_content_is_drawn_beside_invalid() {
    let seed = setting("QUADRILLE_2D_SEED", 1);
    let rounds = setting("QUADRILLE_2D_ROUNDS", 60);
    let mut rig = rig();
    let wanted = good_part(&rig.picture());
    let colors: std::collections::HashSet<_> = wanted.pixels.iter().collect();
    assert!(colors.len() > 4, "there is nothing to be seen: {colors:?}");
    rig.app.add_systems(
        Update,
        (replace, draw_gizmos)
            .chain()
            .run_if(resource_exists::<Rolled>),
    );
    log::collect();
    let start = std::time::Instant::now();
    let mut lines = Vec::new();
    let mut pictures = std::collections::HashSet::new();
    for round in 0..rounds {
        let name = format!("seed {seed}, round {round}");
        let dice = Dice(fastrand::Rng::with_seed(seed << 32 | round));
        rig.app.insert_resource(Rolled { dice, is_new: true });
        let frames = AssertUnwindSafe(|| {
            rig.update(FRAMES);
            rig.picture()
        });
        let picture = catch_unwind(frames).unwrap_or_else(|panic| {
            println!("{name}");
            resume_unwind(panic)
        });
        let off = distance(&good_part(&picture), &wanted);
        assert!(off <= ROUNDING, "good entities are {off} off in {name}");
        pictures.insert(picture.pixels);
        lines.extend(log::take());
    }
    // Rounds may be empty: their camera is unusable, or an entity covers everything.
    let shown = pictures.len() as u64;
    assert!(
        shown > rounds / 4,
        "little is drawn of what is bad: {shown} pictures"
    );
    // Quadrille's warnings are limited to one a second, and name the cause.
    let is_ours = |line: &&String| line.starts_with("quadrille_content::warnings ");
    let ours: Vec<_> = lines.iter().filter(is_ours).collect();
    let most = start.elapsed().as_secs() + 2;
    assert!(!ours.is_empty() && ours.len() as u64 <= most, "{ours:#?}");
}

#[test]
#[ignore = "needs a device"]
fn panics_in_systems_fail_the_test() {
    fn broken() {
        panic!("on purpose");
    }
    let is_seen = |mut rig: Rig| {
        let frame = AssertUnwindSafe(|| rig.update(1));
        catch_unwind(frame).is_err()
    };
    assert!(!is_seen(rig()), "there is none yet");
    let mut in_update = rig();
    in_update.app.add_systems(PostUpdate, broken);
    assert!(is_seen(in_update));
    let mut in_render = rig();
    in_render
        .app
        .add_systems(Render, broken.in_set(RenderSystems::Declare));
    assert!(is_seen(in_render));
}

/// bevy multiplies the lengths of all nodes by these, and panics if a result is not a number.
#[test]
#[ignore = "needs a device"]
fn odd_scales_end_no_frame() {
    let mut rig = rig();
    let wanted = good_part(&rig.picture());
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, 1e30, -1.0];
    for number in odd {
        rig.app.insert_resource(UiScale(number));
        rig.update(FRAMES);
        rig.app.insert_resource(UiScale(1.0));
        rig.app.insert_resource(RemSize(number));
        rig.update(FRAMES);
    }
    rig.app.insert_resource(RemSize::default());
    rig.update(FRAMES);
    assert!(distance(&good_part(&rig.picture()), &wanted) <= ROUNDING);
}

/// bevy rasterizes glyphs in physical pixels: without a limit on the size, two glyphs took a minute.
#[test]
#[ignore = "needs a device"]
fn large_scales_of_targets_end_no_frame() {
    let mut rig = rig();
    let wanted = good_part(&rig.picture());
    let mut image = common::scenes::image(8, 8, vec![0; 256]);
    image.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
    let world = rig.app.world_mut();
    let handle = world.resource_mut::<Assets<Image>>().add(image);
    let camera = world.spawn((Camera2d, order(-8))).id();
    world.spawn(Text2d::new("a"));
    world.spawn((Text::new("b"), UiTargetCamera(camera)));
    for scale_factor in [1e30, f32::INFINITY, 3.0] {
        let target = RenderTarget::Image(ImageRenderTarget {
            handle: handle.clone(),
            scale_factor,
        });
        rig.app.world_mut().entity_mut(camera).insert(target);
        rig.update(FRAMES);
        assert!(distance(&good_part(&rig.picture()), &wanted) <= ROUNDING);
    }
}
