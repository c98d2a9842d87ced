//! Shows a glTF file: its scene under a sky and a sun, its first animation, and a camera that the
//! mouse turns.

use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_app::{App, AppExit, First, Startup, Update};
use bevy_asset::RenderAssetUsages;
use bevy_asset::io::AssetSourceBuilder;
use bevy_camera::primitives::Aabb;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::{MouseButton, MouseMotion, MouseScrollUnit, MouseWheel};
use bevy_time::{Time, TimeUpdateStrategy, Virtual};
use clap::Parser;
use examples::effects::EffectArgs;
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille::prelude::{Render, Renderer};
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::content::images::DeviceImages;
use quadrille_3d::prelude::*;
use quadrille_3d::{GltfLoaderSettings, Pass3dSystems, ScreenSpaceTransmission};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

/// A .gltf or .glb file with its materials, lights and animations.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// The file [default: the model of a sun and its planets in assets/models]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A picture of all directions by longitude and latitude, .hdr or .exr [default: a clear sky]
    #[arg(long, value_name = "FILE")]
    sky: Option<PathBuf>,
    /// How bright the sky is, in candela per square metre for each unit of its picture
    #[arg(long, value_name = "CD", default_value_t = 700.0)]
    sky_brightness: f32,
    /// The light of the sun in lux
    #[arg(long, value_name = "LUX", default_value_t = 4000.0)]
    sun: f32,
    #[command(flatten)]
    effects: EffectArgs,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  viewer
  viewer helmet.glb
  viewer helmet.glb --sky studio.hdr --sun 0
  viewer fox.glb --headless --screenshot fox.png
Keys:
  left button turns, wheel comes closer; space: animation on and off; N: the next one;
  1: sun, 2: shadows, 3: sky, 4: the sky's light, each on and off; P logs the frame's plan";

const WINDOW: [u32; 2] = [640, 360];

const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/models/orrery.glb");

/// Frames between the scene and its picture, so that all of it is on the device.
const SETTLING: u64 = 8;

/// The file, and how far it is.
#[derive(Resource)]
struct Shown {
    name: String,
    file: Handle<Gltf>,
    stage: Stage,
    sun: f32,
    sky: Handle<Image>,
    sky_brightness: f32,
    /// Index of the animation that plays.
    animation: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Loading,
    Spawned,
    /// In front of the camera for so many frames.
    Seen(u64),
}

/// Options of drawing.
#[derive(Resource, Clone, Copy)]
struct Shows {
    sun: bool,
    shadows: bool,
    sky: bool,
    sky_light: bool,
}

impl Default for Shows {
    fn default() -> Self {
        Self {
            sun: true,
            shadows: true,
            sky: true,
            sky_light: true,
        }
    }
}

/// Where the camera looks from.
#[derive(Component)]
struct Orbit {
    center: Vec3,
    distance: f32,
    yaw: f32,
    pitch: f32,
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let file = args.file.clone().unwrap_or_else(|| PathBuf::from(DEFAULT));
    let (folder, name) = split(&file, &[".gltf", ".glb"]);
    let sky = args.sky.as_deref().map(|sky| split(sky, &[".hdr", ".exr"]));
    if !args.sky_brightness.is_finite() || !args.sun.is_finite() {
        args::exit_with("the sun and the brightness of the sky are finite numbers");
    }
    let plugins = args.common.plugins(&format!("viewer: {name}"), WINDOW);
    let is_headless = args.common.is_headless();
    let mut app = App::new();
    let content = ContentPlugin {
        asset_folder: folder,
        ..ContentPlugin::default()
    };
    if let Some((folder, _)) = &sky {
        // The assets' folder is that of the scene; the sky has one of its own.
        let folder = AssetSourceBuilder::platform_default(folder, None);
        app.register_asset_source("sky", folder);
    }
    app.insert_resource(ClearColor(Color::srgb(0.16, 0.17, 0.2)))
        .insert_resource(GlobalAmbientLight::NONE)
        .init_resource::<Shows>()
        .insert_resource(Run::new(&args.common).until_finished())
        .add_plugins((
            plugins,
            Quadrille3dPlugin {
                content,
                ..Quadrille3dPlugin::default()
            },
        ))
        .add_plugins((args.common.clone(), args.effects.clone()));
    let shown = load(app.world().resource(), &args, name, sky);
    app.insert_resource(shown)
        .add_systems(Startup, |mut clock: ResMut<Time<Virtual>>| clock.pause())
        .configure_sets(
            Render,
            Pass3dSystems::Skybox.run_if(|shows: Res<Shows>| shows.sky),
        )
        .add_systems(
            Update,
            (
                show,
                come_into_view,
                switch,
                play,
                turn,
                count(&args.common),
            )
                .chain(),
        )
        .add_systems(First, tell_plan);
    if is_headless {
        // Each frame is a step, so that pictures are the same each time.
        let step = Duration::from_secs_f64(1.0 / 60.0);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
    }
    app.run()
}

/// Begins to load the file and its sky.
fn load(server: &AssetServer, args: &Args, name: String, sky: Option<(String, String)>) -> Shown {
    // The camera is ours.
    let file = server
        .load_builder()
        .with_settings(|it: &mut GltfLoaderSettings| it.load_cameras = false)
        .load(name.clone());
    let sky = match sky {
        Some((_, name)) => server.load(format!("sky://{name}")),
        None => server.add(clear_sky()),
    };
    Shown {
        name,
        file,
        stage: Stage::Loading,
        sun: args.sun,
        sky,
        sky_brightness: args.sky_brightness,
        animation: 0,
    }
}

/// The folder of a file, from the root of the file system on, and its name. Ends the program if
/// there is no such file, or its name ends in another way.
fn split(file: &Path, ends: &[&str; 2]) -> (String, String) {
    let path = match file.canonicalize() {
        Ok(path) if path.is_file() => path,
        Ok(_) => args::exit_with(format!("{} is no file", file.display())),
        Err(error) => args::exit_with(format!("{}: {error}", file.display())),
    };
    let text = |part: Option<&std::ffi::OsStr>| match part.and_then(|part| part.to_str()) {
        Some(text) => text.to_owned(),
        None => args::exit_with(format!("the path {} is not UTF-8", file.display())),
    };
    let name = text(path.file_name());
    if !ends.iter().any(|end| name.ends_with(end)) {
        let [first, second] = ends;
        args::exit_with(format!("{name} ends neither in {first} nor in {second}"));
    }
    (text(path.parent().map(Path::as_os_str)), name)
}

/// A clear sky over grey ground, brighter towards the horizon, by longitude and latitude.
fn clear_sky() -> Image {
    const SIZE: [u32; 2] = [64, 32];
    let row = |y: u32| {
        let height = ((y as f32 + 0.5) / SIZE[1] as f32 * PI).cos();
        let zenith = Vec3::new(0.25, 0.45, 1.0);
        let horizon = Vec3::new(0.95, 1.0, 1.1);
        let ground = Vec3::new(0.3, 0.28, 0.25);
        let air = zenith.lerp(horizon, (1.0 - height.max(0.0)).powi(4));
        let color = ground.lerp(air, (height * 8.0 + 0.5).clamp(0.0, 1.0));
        [color.x, color.y, color.z, 1.0].map(f32::to_le_bytes)
    };
    let rows = (0..SIZE[1]).flat_map(|y| std::iter::repeat_n(row(y), SIZE[0] as usize));
    Image::new(
        Extent3d {
            width: SIZE[0],
            height: SIZE[1],
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        rows.flatten().flatten().collect(),
        TextureFormat::Rgba32Float,
        RenderAssetUsages::default(),
    )
}

/// Puts the scene into the world once it is loaded, and ends the program if it cannot be.
fn show(
    mut commands: Commands,
    mut shown: ResMut<Shown>,
    server: Res<AssetServer>,
    files: Res<Assets<Gltf>>,
    mut exit: MessageWriter<AppExit>,
) {
    if shown.stage != Stage::Loading {
        return;
    }
    if server.load_state(&shown.file).is_failed() || server.load_state(&shown.sky).is_failed() {
        // The asset server has logged the reason.
        bevy_log::error!("{} cannot be shown", shown.name);
        exit.write(AppExit::error());
        return;
    }
    if server.load_state(&shown.sky).is_loading() {
        return;
    }
    let Some(file) = files.get(&shown.file) else {
        return;
    };
    // An image that cannot be loaded is no reason to show nothing.
    if server
        .recursive_dependency_load_state(&shown.file)
        .is_loading()
    {
        return;
    }
    let Some(scene) = file.default_scene.clone().or(file.scenes.first().cloned()) else {
        bevy_log::error!("{} has no scene", shown.name);
        exit.write(AppExit::error());
        return;
    };
    commands.spawn(WorldAssetRoot(scene));
    shown.stage = Stage::Spawned;
}

/// Places sun and camera by the size of the scene, once it is in the world.
fn come_into_view(
    mut commands: Commands,
    mut shown: ResMut<Shown>,
    meshes: Query<(&Aabb, &GlobalTransform)>,
    mut clock: ResMut<Time<Virtual>>,
) {
    if shown.stage != Stage::Spawned || meshes.is_empty() {
        return;
    }
    let (mut least, mut most) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (bounds, transform) in &meshes {
        for corner in 0..8u8 {
            let sign = |bit: u8| if corner & bit == 0 { -1.0 } else { 1.0 };
            let side = Vec3::new(sign(1), sign(2), sign(4)) * Vec3::from(bounds.half_extents);
            let place = transform.transform_point(Vec3::from(bounds.center) + side);
            least = least.min(place);
            most = most.max(place);
        }
    }
    let radius = ((most - least).length() / 2.0).max(1e-3);
    let center = (least + most) / 2.0;
    commands.spawn((
        DirectionalLight {
            illuminance: shown.sun,
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        CascadeShadowConfigBuilder {
            num_cascades: 2,
            minimum_distance: radius * 0.1,
            first_cascade_far_bound: radius * 3.0,
            maximum_distance: radius * 8.0,
            ..CascadeShadowConfigBuilder::default()
        }
        .build(),
        Transform::from_xyz(0.5, 1.0, 0.7).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        Camera3d::default(),
        ScreenSpaceTransmission::default(),
        Projection::from(PerspectiveProjection {
            near: radius * 0.01,
            far: radius * 100.0,
            ..PerspectiveProjection::default()
        }),
        Skybox {
            image: Some(shown.sky.clone()),
            brightness: shown.sky_brightness,
            ..Skybox::default()
        },
        GeneratedEnvironmentMapLight {
            environment_map: shown.sky.clone(),
            intensity: shown.sky_brightness,
            ..GeneratedEnvironmentMapLight::default()
        },
        Transform::default(),
        Orbit {
            center,
            distance: radius * 1.9,
            yaw: 0.6,
            pitch: 0.35,
        },
    ));
    clock.unpause();
    shown.stage = Stage::Seen(0);
}

/// Switches on and off what the number keys say.
fn switch(
    mut shows: ResMut<Shows>,
    shown: Res<Shown>,
    keys: Res<ButtonInput<KeyCode>>,
    mut suns: Query<&mut DirectionalLight>,
    mut skies: Query<&mut GeneratedEnvironmentMapLight>,
) {
    let mut toggle = |key, part: fn(&mut Shows) -> &mut bool| {
        if keys.just_pressed(key) {
            let part = part(&mut shows);
            *part = !*part;
        }
    };
    toggle(KeyCode::Digit1, |shows| &mut shows.sun);
    toggle(KeyCode::Digit2, |shows| &mut shows.shadows);
    toggle(KeyCode::Digit3, |shows| &mut shows.sky);
    toggle(KeyCode::Digit4, |shows| &mut shows.sky_light);
    if !shows.is_changed() {
        return;
    }
    for mut sun in &mut suns {
        sun.illuminance = if shows.sun { shown.sun } else { 0.0 };
        sun.shadow_maps_enabled = shows.sun && shows.shadows;
    }
    for mut sky in &mut skies {
        let is_on = shows.sky_light;
        sky.intensity = if is_on { shown.sky_brightness } else { 0.0 };
    }
}

/// Logs the plan of a frame after P was pressed.
fn tell_plan(
    renderer: Option<ResMut<Renderer>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut is_kept: Local<bool>,
) {
    let Some(mut renderer) = renderer else { return };
    if std::mem::take(&mut *is_kept)
        && let Some(plan) = renderer.plan_text()
    {
        bevy_log::info!("the plan of a frame:\n{plan}");
    }
    if keys.just_pressed(KeyCode::KeyP) {
        renderer.keep_frames(true);
        *is_kept = true;
    }
}

/// Plays an animation of the file on what it moves; N asks for the next one, space holds it.
fn play(
    mut commands: Commands,
    mut shown: ResMut<Shown>,
    files: Res<Assets<Gltf>>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
    mut players: Query<(Entity, &mut AnimationPlayer, Has<AnimationGraphHandle>)>,
    keys: Res<ButtonInput<KeyCode>>,
    mut clock: ResMut<Time<Virtual>>,
) {
    let Some(file) = files.get(&shown.file) else {
        return;
    };
    if keys.just_pressed(KeyCode::Space) {
        if clock.is_paused() {
            clock.unpause();
        } else {
            clock.pause();
        }
    }
    let wants_next = keys.just_pressed(KeyCode::KeyN);
    if wants_next {
        shown.animation += 1;
    }
    let count = file.animations.len().max(1);
    let Some(clip) = file.animations.get(shown.animation % count) else {
        return;
    };
    for (entity, mut player, has_graph) in &mut players {
        if wants_next || !has_graph {
            let (graph, node) = AnimationGraph::from_clip(clip.clone());
            let graph = AnimationGraphHandle(graphs.add(graph));
            commands.entity(entity).insert(graph);
            player.stop_all().play(node).repeat();
        }
    }
}

/// The mouse turns the camera, the wheel moves it.
fn turn(
    mut moved: MessageReader<MouseMotion>,
    mut rolled: MessageReader<MouseWheel>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut cameras: Query<(&mut Orbit, &mut Transform)>,
) {
    let turned: Vec2 = moved.read().map(|motion| motion.delta).sum();
    let notches: f32 = rolled
        .read()
        .map(|wheel| match wheel.unit {
            MouseScrollUnit::Line => wheel.y,
            MouseScrollUnit::Pixel => wheel.y / 40.0,
        })
        .sum();
    for (mut orbit, mut transform) in &mut cameras {
        if buttons.pressed(MouseButton::Left) {
            orbit.yaw = (orbit.yaw - turned.x * 0.01) % TAU;
            let most = FRAC_PI_2 - 0.01;
            orbit.pitch = (orbit.pitch + turned.y * 0.01).clamp(-most, most);
        }
        orbit.distance *= 0.9f32.powf(notches);
        let turned = Quat::from_euler(EulerRot::YXZ, orbit.yaw, -orbit.pitch, 0.0);
        let eye = orbit.center + turned * Vec3::Z * orbit.distance;
        *transform = Transform::from_translation(eye).looking_at(orbit.center, Vec3::Y);
    }
}

/// Ends the run so many frames after the scene came, which the command line says.
fn count(args: &CommonArgs) -> impl FnMut(ResMut<Shown>, ResMut<Run>, Res<DeviceImages>) + use<> {
    let limit = args.frame_limit();
    move |mut shown, mut run, images| {
        if let Stage::Seen(frames) = shown.stage {
            shown.stage = Stage::Seen(frames + 1);
            let is_enough = limit.is_some_and(|limit| frames >= limit.max(SETTLING));
            if is_enough && images.pending() == 0 {
                run.finish();
            }
        }
    }
}
