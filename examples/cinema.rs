//! Videos in a room: each plays on the screen of a material, and in a corner of the window as a sprite.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_app::{App, AppExit, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_time::TimeUpdateStrategy;
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::ecs::QuadrillePlugin;
use quadrille::vulkan::instance::Settings;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::{Camera2d, ClearColorConfig, Sprite};
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::prelude::*;
use quadrille_video::{VideoPlayer, VideoPlugin, with_decode_queue};

/// Plays H.264, H.265 and AV1 files, decoded by the device where it can; H.264 elsewhere by the CPU.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// The file, .mp4, .h264 or .h265 [default: a clock in assets/video]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The number of screens, each with a player of its own
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=64))]
    screens: u8,
    /// Seconds of video a second
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    speed: f32,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  cinema
  cinema film.mp4 --screens 8
  cinema --headless --frames 90 --screenshot cinema.png
Keys:
  space: pause; left and right: one second back and ahead; up and down: speed";

const WINDOW: [u32; 2] = [640, 360];

const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/video/clock.mp4");

#[derive(Resource)]
struct Film {
    name: String,
    screens: u8,
    speed: f32,
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let file = args.file.as_deref().unwrap_or(Path::new(DEFAULT));
    let Some((folder, name)) = split(file) else {
        args::exit_with(format!("there is no file {}", file.display()));
    };
    let settings = Settings {
        app_name: "cinema".to_owned(),
        ..Settings::default()
    };
    let plugins = args.common.plugins("cinema", WINDOW).set(QuadrillePlugin {
        settings: with_decode_queue(settings),
        ..QuadrillePlugin::default()
    });
    let content = ContentPlugin {
        asset_folder: folder,
        ..ContentPlugin::default()
    };
    let mut app = App::new();
    if args.common.is_headless() {
        // Each frame is a step, so that pictures are the same each time.
        let step = Duration::from_secs_f64(1.0 / 60.0);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    }
    app.insert_resource(ClearColor(Color::srgb(0.02, 0.02, 0.03)))
        .insert_resource(Film {
            name,
            screens: args.screens,
            speed: args.speed,
        })
        .add_plugins((
            plugins,
            content,
            Quadrille3dPlugin::default(),
            Quadrille2dPlugin::default(),
            VideoPlugin::default(),
        ))
        .add_plugins(args.common)
        .add_systems(Startup, (spawn_screens, spawn_room))
        .add_systems(Update, control);
    app.run()
}

/// Folder and name of a file.
fn split(file: &Path) -> Option<(String, String)> {
    let file = file.canonicalize().ok().filter(|file| file.is_file())?;
    let folder = file.parent()?.to_str()?.to_owned();
    Some((folder, file.file_name()?.to_str()?.to_owned()))
}

fn spawn_screens(
    mut commands: Commands,
    (film, server): (Res<Film>, Res<AssetServer>),
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let screen = meshes.add(Rectangle::new(3.2, 1.92));
    let columns = f32::from(film.screens).sqrt().ceil();
    for index in 0..film.screens {
        let mut player = VideoPlayer::new(server.load(film.name.clone()), &mut images).looping();
        player.speed = film.speed;
        // Each screen is a third of a second later than the one before.
        player.seek(f64::from(index) / 3.0);
        let (row, column) = (
            (f32::from(index) / columns).floor(),
            f32::from(index) % columns,
        );
        let material = StandardMaterial {
            base_color_texture: Some(player.image.clone()),
            unlit: true,
            ..StandardMaterial::default()
        };
        if index == 0 {
            commands.spawn((
                Sprite {
                    image: player.image.clone(),
                    custom_size: Some(Vec2::new(160.0, 96.0)),
                    ..Sprite::default()
                },
                Transform::from_xyz(-230.0, -122.0, 0.0),
            ));
        }
        let x = (column - (columns - 1.0) / 2.0) * 3.6;
        commands.spawn((
            Mesh3d(screen.clone()),
            MeshMaterial3d(materials.add(material)),
            Transform::from_xyz(x, 1.4 + 2.2 * row, -0.6 * x.abs())
                .with_rotation(Quat::from_rotation_y(-0.16 * x)),
            player,
        ));
    }
}

fn spawn_room(
    mut commands: Commands,
    film: Res<Film>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(40.0, 40.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            perceptual_roughness: 0.6,
            ..StandardMaterial::from(Color::srgb(0.12, 0.11, 0.14))
        })),
    ));
    commands.spawn((PointLight::default(), Transform::from_xyz(0.0, 6.0, 4.0)));
    // Far enough for all screens, and a look below their middle, so that they are above the sprite.
    let columns = f32::from(film.screens).sqrt().ceil();
    let rows = (f32::from(film.screens) / columns).ceil();
    let middle = 1.4 + 1.1 * (rows - 1.0);
    let far = 3.0 + 2.6 * columns.max(rows);
    commands.spawn((
        Camera3d::default(),
        Transform::from_xyz(0.0, middle + 0.6, far)
            .looking_at(Vec3::new(0.0, middle - 0.7, 0.0), Vec3::Y),
    ));
    commands.spawn((
        Camera2d,
        Camera {
            order: 1,
            clear_color: ClearColorConfig::None,
            ..Camera::default()
        },
    ));
}

fn control(keys: Option<Res<ButtonInput<KeyCode>>>, mut players: Query<&mut VideoPlayer>) {
    let Some(keys) = keys else { return };
    for mut player in &mut players {
        if keys.just_pressed(KeyCode::Space) {
            player.is_playing = !player.is_playing;
        }
        for (key, seconds) in [(KeyCode::ArrowLeft, -1.0), (KeyCode::ArrowRight, 1.0)] {
            if keys.just_pressed(key) {
                let to = player.position() + seconds;
                player.seek(to);
            }
        }
        for (key, factor) in [(KeyCode::ArrowUp, 2.0), (KeyCode::ArrowDown, 0.5)] {
            if keys.just_pressed(key) {
                player.speed = (player.speed * factor).clamp(0.125, 16.0);
            }
        }
    }
}
