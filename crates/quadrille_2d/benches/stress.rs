//! CPU time of the stages of a 2D frame, for the scenes of bevy's stress tests (`examples/stress_tests`) and their
//! resting counterparts.
//!
//! `cargo bench -p quadrille_2d --bench stress [-- SCENE...]`; without a device it fails. Nothing is drawn in the measured
//! frames: the pass is disabled, because a software driver would take the cores that the systems run on.
#![expect(
    clippy::print_stdout,
    reason = "the table is the output of this program"
)]

use std::time::{Duration, Instant};

use bevy_app::{App, Startup, Update};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use bevy_math::{Vec2, Vec3};
use quadrille::ecs::Pass;
use quadrille::prelude::*;
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, Prepare2dSystems};

/// Warm-up frames, and measured frames.
const FRAMES: [usize; 2] = [10, 60];

/// Ends of the stages of each frame.
#[derive(Resource, Default)]
struct Times {
    last: Option<Instant>,
    /// Main schedules, other work before queueing, queueing, upload.
    stages: [Vec<Duration>; 4],
}

fn note<const STAGE: usize>(mut times: ResMut<Times>) {
    let now = Instant::now();
    if let Some(last) = times.last.replace(now) {
        times.stages[STAGE].push(now - last);
    }
}

/// Evenly distributed positions in an order unrelated to that of the entities.
fn position(index: u32, side: f32) -> Vec3 {
    let part = |step: f64| ((f64::from(index) * step).fract() - 0.5) as f32;
    Vec3::new(
        part(0.754_877_666) * side,
        part(0.569_840_291) * side,
        part(0.618_033_989),
    )
}

fn image(images: &mut Assets<Image>) -> Handle<Image> {
    use wgpu_types::{Extent3d, TextureDimension, TextureFormat};
    let size = Extent3d {
        width: 32,
        height: 32,
        depth_or_array_layers: 1,
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    images.add(Image::new_fill(
        size,
        TextureDimension::D2,
        &[200, 150, 100, 255],
        format,
        Default::default(),
    ))
}

const MOVERS: u32 = 100_000;

fn sprites(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let image = image(&mut images);
    commands.spawn(Camera2d);
    commands.spawn_batch((0..MOVERS).map(move |index| {
        let mut sprite = Sprite::from_image(image.clone());
        sprite.color = Color::hsl((index % 360) as f32, 0.9, 0.8);
        (
            sprite,
            Transform::from_translation(position(index, 1000.0)).with_scale(Vec3::splat(0.15)),
        )
    }));
}

fn meshes(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let image = image(&mut images);
    let mesh = meshes.add(Rectangle::from_size(Vec2::splat(32.0)));
    let materials: Vec<_> = (0..100)
        .map(|index| {
            let color = Color::hsl(index as f32, 0.9, 0.8);
            materials.add(ColorMaterial {
                color,
                texture: Some(image.clone()),
                ..Default::default()
            })
        })
        .collect();
    commands.spawn(Camera2d);
    commands.spawn_batch((0..MOVERS).map(move |index| {
        let material = materials[index as usize / 1000].clone();
        (
            Mesh2d(mesh.clone()),
            MeshMaterial2d(material),
            Transform::from_translation(position(index, 1000.0)).with_scale(Vec3::splat(0.15)),
        )
    }));
}

fn move_all(mut transforms: Query<&mut Transform, Without<Camera>>) {
    for mut transform in &mut transforms {
        transform.translation.x += 0.001;
    }
}

fn glyphs(mut commands: Commands) {
    let text = "0123456789".repeat(10_000);
    let font = TextFont {
        font_size: FontSize::Px(4.0),
        ..Default::default()
    };
    let layout = TextLayout {
        justify: Justify::Left,
        linebreak: LineBreak::AnyCharacter,
    };
    commands.spawn(Camera2d);
    commands
        .spawn(Node {
            width: percent(100),
            align_items: AlignItems::Center,
            justify_content: JustifyContent::Center,
            ..Default::default()
        })
        .with_children(|commands| {
            let node = Node {
                width: px(1000),
                ..Default::default()
            };
            let child = (Text(text.clone()), font.clone(), layout);
            commands.spawn(node).with_child(child);
        });
    commands.spawn((
        Text2d::new(text),
        font,
        TextColor(Color::srgb(1.0, 0.0, 0.0)),
        Anchor::CENTER,
        TextBounds::new_horizontal(1000.0),
        layout,
    ));
}

fn texts(mut commands: Commands) {
    commands.spawn(Camera2d);
    let side = 160;
    for index in 0..side * side {
        let at = Vec2::new((index % side) as f32, (index / side) as f32) - side as f32 / 2.0;
        let transform = Transform::from_translation((at * 64.0).extend(index as f32 * 1e-4))
            .with_rotation(bevy_math::Quat::from_rotation_z(index as f32));
        let font = TextFont {
            font_size: FontSize::Px(60.0),
            ..Default::default()
        };
        let color = TextColor(Color::hsl((index % 360) as f32, 0.8, 0.8));
        commands.spawn((Text2d::new("Bevy"), font, color, transform));
    }
}

fn turn_camera(mut cameras: Query<&mut Transform, With<Camera>>) {
    for mut transform in &mut cameras {
        transform.rotate_z(0.01);
    }
}

fn buttons(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let images = [image(&mut images), image(&mut images)];
    let side = 110;
    commands.spawn(Camera2d);
    let root = Node {
        flex_direction: FlexDirection::Column,
        justify_content: JustifyContent::Center,
        align_items: AlignItems::Center,
        width: percent(100),
        height: percent(100),
        ..Default::default()
    };
    commands.spawn(root).with_children(|commands| {
        for column in 0..side {
            commands.spawn(Node::default()).with_children(|commands| {
                for row in 0..side {
                    let (width, height) = (vw(90.0 / side as f32), vh(90.0 / side as f32));
                    let node = Node {
                        width,
                        height,
                        margin: UiRect::axes(width * 0.05, height * 0.05),
                        align_items: AlignItems::Center,
                        justify_content: JustifyContent::Center,
                        border: UiRect::all(vmin(0.05 * 90.0 / side as f32)),
                        ..Default::default()
                    };
                    let color = Color::hsl(row as f32 / side as f32 * 360.0, 0.9, 0.8);
                    let border = BorderColor::from(Color::WHITE.with_alpha(0.5));
                    let image = images[(column + row) / 4 % 2].clone();
                    let background = BackgroundColor(color);
                    let font = TextFont {
                        font_size: FontSize::Px(10.0),
                        ..Default::default()
                    };
                    let text = (
                        Text(format!("{column}, {row}")),
                        font,
                        TextColor(Color::WHITE),
                    );
                    commands
                        .spawn((node, background, border, ImageNode::new(image)))
                        .with_child(text);
                }
            });
        }
    });
}

fn mark_text_colors(mut colors: Query<&mut TextColor>) {
    for mut color in &mut colors {
        color.set_changed();
    }
}

fn camera_only(mut commands: Commands) {
    commands.spawn(Camera2d);
}

fn lines(mut gizmos: Gizmos) {
    for _ in 0..50_000 {
        gizmos.line(Vec3::NEG_Y, Vec3::Y, Color::BLACK);
    }
}

/// A scene by name.
fn add_scene(app: &mut App, name: &str) {
    match name {
        "sprites" => app
            .add_systems(Startup, sprites)
            .add_systems(Update, move_all),
        "sprites_at_rest" => app.add_systems(Startup, sprites),
        "meshes" => app
            .add_systems(Startup, meshes)
            .add_systems(Update, move_all),
        "meshes_at_rest" => app.add_systems(Startup, meshes),
        "glyphs" => app.add_systems(Startup, glyphs),
        "texts" => app
            .add_systems(Startup, texts)
            .add_systems(Update, turn_camera),
        "buttons" => app
            .add_systems(Startup, buttons)
            .add_systems(Update, mark_text_colors),
        "gizmos" => app
            .add_plugins(GizmoPlugin)
            .add_systems(Startup, camera_only)
            .add_systems(Update, lines),
        _ => panic!("no scene `{name}`; use one of {SCENES:?}"),
    };
}

const SCENES: &[&str] = &[
    "sprites",
    "sprites_at_rest",
    "meshes",
    "meshes_at_rest",
    "glyphs",
    "texts",
    "buttons",
    "gizmos",
];

fn app(name: &str) -> App {
    let mut app = App::new();
    let plugins = QuadrillePlugins::headless(1920, 1080).disable::<LogPlugin>();
    app.add_plugins((plugins, Quadrille2dPlugin::default()))
        .init_resource::<Times>();
    add_scene(&mut app, name);
    let declare = RenderSystems::Declare;
    app.add_systems(
        Render,
        (
            note::<0>
                .before(Prepare2dSystems::Assets)
                .before(quadrille_content::ContentSystems::Images)
                .before(quadrille_content::ContentSystems::Views),
            note::<1>
                .after(Prepare2dSystems::Assets)
                .before(Prepare2dSystems::Queue),
            note::<2>
                .after(Prepare2dSystems::Queue)
                .before(Prepare2dSystems::Prepare),
            note::<3>.after(Prepare2dSystems::Prepare),
        )
            .in_set(declare),
    );
    app.finish();
    app.cleanup();
    assert!(
        app.world().contains_resource::<GpuDevice>(),
        "this program needs a device"
    );
    app
}

fn disable_drawing(app: &mut App) {
    let world = app.world_mut();
    let mut passes = world.query_filtered::<(Entity, &Name), With<Pass>>();
    let found = passes
        .iter(world)
        .find(|(_, name)| name.as_str() == "draw_2d");
    let draw = found.map(|(entity, _)| entity);
    draw.into_iter().for_each(|entity| {
        world.entity_mut(entity).insert(Disabled);
    });
}

/// Least and median time in milliseconds.
fn summary(mut times: Vec<Duration>) -> [f64; 2] {
    times.sort_unstable();
    [0, times.len() / 2].map(|at| times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3))
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let scenes = SCENES
        .iter()
        .filter(|name| wanted.is_empty() || wanted.iter().any(|it| it == *name));
    println!("ms, least / median of {} frames", FRAMES[1]);
    println!(
        "scene            instances        main          assets           queue          upload           frame"
    );
    for name in scenes {
        let mut app = app(name);
        let mut frames = Vec::new();
        for frame in 0..FRAMES[0] + FRAMES[1] {
            let start = Instant::now();
            app.world_mut().resource_mut::<Times>().last = Some(start);
            app.update();
            frames.push(start.elapsed());
            if frame < FRAMES[0] {
                // The first frame registers the pass.
                disable_drawing(&mut app);
                *app.world_mut().resource_mut::<Times>() = Times::default();
                frames.clear();
            }
        }
        let instances = app.world().resource::<Phase2d>().instances();
        let times = std::mem::take(&mut *app.world_mut().resource_mut::<Times>());
        print!("{name:<16} {instances:>9}");
        for times in times.stages.into_iter().chain([frames]) {
            let [least, median] = summary(times);
            print!("  {least:>6.2}/{median:>6.2}");
        }
        println!();
    }
}
