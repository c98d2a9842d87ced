//! A hundred thousand cubes that the device itself chooses to draw.
//!
//! `cull` finds out which cubes the camera and the light see and writes the arguments of two
//! indirect draws; `shadow` and `scene` draw them; `glow` and `show` finish the picture. The CPU
//! records six passes, however many cubes there are.

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_math::{Mat4, Vec3, proj};
use clap::Parser;
use examples::random::Random;
use examples::{CommonArgs, args};
use quadrille::prelude::*;

/// Draws many cubes, chosen by the device, with a shadow map and two passes after the scene.
#[derive(Parser, Resource, Clone)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    /// How many cubes there are
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    cubes: u32,
    /// Keep all passes on the main queue
    #[arg(long)]
    one_queue: bool,
    /// Beside the picture, move 65536 points, each pulled by so many others
    #[arg(long, value_name = "N", default_value_t = 0)]
    swarm: u32,
    /// Beside the picture, upload so many MiB each frame
    #[arg(long, value_name = "MIB", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=256))]
    stream: u32,
    #[command(flatten)]
    common: CommonArgs,
}

/// Position and size of every cube.
#[derive(Resource, Deref)]
struct Cubes(GpuBuffer);
/// The arguments of the camera's draw, and the cubes that it draws.
#[derive(Resource, Deref)]
struct CameraDraw(GpuBuffer);
#[derive(Resource, Deref)]
struct CameraVisible(GpuBuffer);
/// Those of the light's.
#[derive(Resource, Deref)]
struct LightDraw(GpuBuffer);
#[derive(Resource, Deref)]
struct LightVisible(GpuBuffer);
/// Points as they are, and as they will be: work that nothing in the frame waits for.
#[derive(Resource, Deref)]
struct Points(GpuBuffer);
#[derive(Resource, Deref)]
struct NextPoints(GpuBuffer);
/// What is streamed in, and the bytes that go there.
#[derive(Resource)]
struct Stream(GpuBuffer, Vec<u8>);
#[derive(Resource, Deref)]
struct Shadow(GpuImage);
#[derive(Resource, Deref)]
struct SceneColor(GpuImage);
#[derive(Resource, Deref)]
struct SceneDepth(GpuImage);
#[derive(Resource, Deref)]
struct Glow(GpuImage);

#[derive(Resource)]
struct Pipelines {
    cull: ComputePipeline,
    swarm: ComputePipeline,
    shadow: GraphicsPipeline,
    scene: GraphicsPipeline,
    glow: GraphicsPipeline,
    show: GraphicsPipeline,
    sampler: Sampler,
}

/// What camera and light see: the push constants of all passes with cubes.
#[derive(Resource, Clone, Copy, ShaderType)]
struct Views {
    camera: [f32; 16],
    light: [f32; 16],
}

/// Frames since the start; the camera moves by frames, so that pictures can be compared.
#[derive(Resource, Default)]
struct Clock(u32);

const SIZE: [u32; 2] = [1280, 720];
const SHADOW_SIDE: u32 = 2048;
/// Vertices of a cube: six faces of two triangles.
const VERTICES: u32 = 36;
/// Invocations of a workgroup in `cull.wgsl`.
const WORKGROUP: u32 = 64;
/// Points of the swarm.
const POINTS: u32 = 65536;
/// Cubes lie within this distance of the middle.
const REACH: f32 = 60.0;
/// How far each is moved from its place in a row.
const ASTRAY: f32 = 2.0;

fn main() -> AppExit {
    let args: Args = args::parse();
    let wish = if args.one_queue {
        QueueWish::Main
    } else {
        QueueWish::Auto
    };
    App::new()
        .add_plugins((args.common.plugins("Many cubes", SIZE), args.common.clone()))
        .insert_resource(args)
        .insert_resource(Views::at(0))
        .init_resource::<Clock>()
        .add_systems(RenderStartup, (make_cubes, make_images, make_pipelines))
        .add_systems(Update, (turn, stream.run_if(resource_exists::<Stream>)))
        .add_systems(
            Render,
            (
                reset.on_queue(wish),
                cull.after(reset).on_queue(wish),
                swarm.run_if(has_swarm).on_queue(wish),
                shadow,
                scene,
                glow,
                show,
            ),
        )
        .run()
}

impl Views {
    fn at(frame: u32) -> Self {
        let angle = frame as f32 * 0.004;
        let eye = Vec3::new(angle.cos() * 70.0, 28.0, angle.sin() * 70.0);
        let aspect = SIZE[0] as f32 / SIZE[1] as f32;
        let camera = proj::perspective(0.9, aspect, 0.5, 200.0) * look_at(eye, Vec3::ZERO, Vec3::Y);
        let sun = Vec3::new(0.48, 0.8, 0.36) * 150.0;
        let light = proj::orthographic(-80.0, 80.0, -80.0, 80.0, 1.0, 300.0)
            * look_at(sun, Vec3::ZERO, Vec3::Y);
        Self {
            camera: camera.to_cols_array(),
            light: light.to_cols_array(),
        }
    }
}

/// The view from a point towards the middle, y up.
fn look_at(eye: Vec3, center: Vec3, up: Vec3) -> Mat4 {
    let forward = (center - eye).normalize();
    let right = forward.cross(up).normalize();
    let up = right.cross(forward);
    Mat4::from_cols(
        Vec3::new(right.x, up.x, -forward.x).extend(0.0),
        Vec3::new(right.y, up.y, -forward.y).extend(0.0),
        Vec3::new(right.z, up.z, -forward.z).extend(0.0),
        Vec3::new(-right.dot(eye), -up.dot(eye), forward.dot(eye)).extend(1.0),
    )
}

fn turn(mut clock: ResMut<Clock>, mut views: ResMut<Views>) {
    clock.0 += 1;
    *views = Views::at(clock.0);
}

fn make_cubes(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    args: Res<Args>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    // A low-discrepancy sequence fills the volume evenly, the same each time. It is a lattice, so
    // each cube is moved a little: or one would look along its planes, as between rows of trees.
    let part = |at: u32, step: f64| (f64::from(at) * step).fract() as f32;
    let cube = |at: u32| {
        let mut random = Random::new(at.into());
        let spread = [0.819_172_5, 0.671_043_6, 0.549_700_5].map(|step| part(at, step) - 0.5);
        let [x, y, z] = spread.map(|part| part * 2.0 * REACH + random.within(-ASTRAY, ASTRAY));
        [x, y * 0.4, z, 0.25 + 0.5 * part(at, 0.381_966)]
    };
    let cubes: Vec<[f32; 4]> = (0..args.cubes).map(cube).collect();
    let bytes = bytemuck::cast_slice::<_, u8>(&cubes);
    let buffer = gpu.create_buffer(&BufferDesc::storage("cubes", bytes.len() as u64))?;
    uploads.write_buffer(&buffer, 0, bytes);
    commands.insert_resource(Cubes(buffer));

    let draw = |name| {
        let desc = BufferDesc::storage(name, 16).with_usage(BufferUsage::INDIRECT);
        gpu.create_buffer(&desc)
    };
    let [camera, light] = [draw("camera draw")?, draw("light draw")?];
    for buffer in [&camera, &light] {
        let arguments = [VERTICES, 0, 0, 0];
        uploads.write_buffer(buffer, 0, bytemuck::cast_slice(&arguments));
    }
    let numbers = |name| gpu.create_buffer(&BufferDesc::storage(name, 4 * u64::from(args.cubes)));
    commands.insert_resource(CameraDraw(camera));
    commands.insert_resource(LightDraw(light));
    commands.insert_resource(CameraVisible(numbers("camera visible")?));
    commands.insert_resource(LightVisible(numbers("light visible")?));

    let points: Vec<[f32; 4]> = (0..POINTS).map(cube).collect();
    let bytes = bytemuck::cast_slice::<_, u8>(&points);
    let buffer = |name| gpu.create_buffer(&BufferDesc::storage(name, bytes.len() as u64));
    let [now, next] = [buffer("points")?, buffer("next points")?];
    uploads.write_buffer(&now, 0, bytes);
    commands.insert_resource(Points(now));
    commands.insert_resource(NextPoints(next));
    if args.stream > 0 {
        let bytes = vec![0x5a; args.stream as usize * 1024 * 1024];
        let buffer = gpu.create_buffer(&BufferDesc::storage("stream", bytes.len() as u64))?;
        commands.insert_resource(Stream(buffer, bytes));
    }
    Ok(())
}

fn make_images(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    // None of them outlives its frame: the glow lies where shadow or depth were, which nobody needs
    // any more by then.
    let [width, height] = SIZE;
    let (color, depth) = (Format::R16G16B16A16_SFLOAT, Format::D32_SFLOAT);
    let shadow = ImageDesc::depth("shadow", [SHADOW_SIDE, SHADOW_SIDE], depth).transient();
    commands.insert_resource(Shadow(gpu.create_image(&shadow)?));
    let scene = ImageDesc::color_target("scene color", [width, height], color).transient();
    commands.insert_resource(SceneColor(gpu.create_image(&scene)?));
    let scene = ImageDesc::depth("scene depth", [width, height], depth).transient();
    commands.insert_resource(SceneDepth(gpu.create_image(&scene)?));
    let glow = ImageDesc::color_target("glow", [width / 2, height / 2], color).transient();
    commands.insert_resource(Glow(gpu.create_image(&glow)?));
    Ok(())
}

fn make_pipelines(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let cull = GpuShader::wgsl("cull.wgsl", include_str!("../shaders/many_cubes/cull.wgsl"))?;
    let cubes = GpuShader::wgsl(
        "cubes.wgsl",
        include_str!("../shaders/many_cubes/cubes.wgsl"),
    )?;
    let swarm = GpuShader::wgsl(
        "swarm.wgsl",
        include_str!("../shaders/many_cubes/swarm.wgsl"),
    )?;
    let post = GpuShader::wgsl("post.wgsl", include_str!("../shaders/many_cubes/post.wgsl"))?;
    let solid = |name, vertex, fragment| GraphicsPipelineDesc {
        vertex: (&cubes, vertex),
        fragment,
        depth: Some(DepthState::LESS),
        ..GraphicsPipelineDesc::of(name, &cubes)
    };
    let finish = |name, entry| {
        gpu.graphics_pipeline(&GraphicsPipelineDesc::new(
            name,
            (&post, ""),
            (&post, entry),
        ))
    };
    let scene = solid("scene", "vertex_main", Some((&cubes, "fragment_main")));
    commands.insert_resource(Pipelines {
        cull: gpu.compute_pipeline(&ComputePipelineDesc::of("cull", &cull))?,
        swarm: gpu.compute_pipeline(&ComputePipelineDesc::of("swarm", &swarm))?,
        shadow: gpu.graphics_pipeline(&solid("shadow", "shadow_main", None))?,
        scene: gpu.graphics_pipeline(&scene)?,
        glow: finish("glow", "glow_main")?,
        show: finish("show", "window_main")?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    Ok(())
}

/// Streams data in, as a world that is walked through does.
fn stream(stream: Res<Stream>, mut uploads: ResMut<Uploads>) {
    uploads.write_buffer(&stream.0, 0, &stream.1);
}

fn has_swarm(args: Res<Args>) -> bool {
    args.swarm > 0
}

fn swarm(
    mut recorder: Recorder,
    now: StorageRead<Points>,
    next: StorageWrite<NextPoints>,
    pipelines: Res<Pipelines>,
    args: Res<Args>,
) {
    recorder
        .compute(&pipelines.swarm)
        .bind(0, &now)
        .bind(1, &next)
        .push(&args.swarm)
        .dispatch([POINTS.div_ceil(WORKGROUP), 1, 1]);
}

/// Nothing is visible before `cull` has looked.
fn reset(
    mut recorder: Recorder,
    camera: TransferWrite<CameraDraw>,
    light: TransferWrite<LightDraw>,
) {
    recorder
        .transfer()
        .fill_buffer(&camera, 4, 4, 0)
        .fill_buffer(&light, 4, 4, 0);
}

fn cull(
    mut recorder: Recorder,
    cubes: StorageRead<Cubes>,
    camera: (StorageReadWrite<CameraDraw>, StorageWrite<CameraVisible>),
    light: (StorageReadWrite<LightDraw>, StorageWrite<LightVisible>),
    pipelines: Res<Pipelines>,
    views: Res<Views>,
    args: Res<Args>,
) {
    recorder
        .compute(&pipelines.cull)
        .bind(0, &cubes)
        .bind(1, &camera.0)
        .bind(2, &camera.1)
        .bind(3, &light.0)
        .bind(4, &light.1)
        .push(&*views)
        .dispatch([args.cubes.div_ceil(WORKGROUP), 1, 1]);
}

fn shadow(
    mut recorder: Recorder,
    cubes: StorageRead<Cubes>,
    visible: StorageRead<LightVisible>,
    draw: IndirectRead<LightDraw>,
    shadow: DepthTarget<Shadow>,
    pipelines: Res<Pipelines>,
    views: Res<Views>,
) {
    recorder
        .render(shadow.clear_depth(1.0))
        .pipeline(&pipelines.shadow)
        .bind(0, &cubes)
        .bind(1, &visible)
        .push(&*views)
        .draw_indirect(&draw, 0, 1);
}

fn scene(
    mut recorder: Recorder,
    (cubes, visible): (StorageRead<Cubes>, StorageRead<CameraVisible>),
    draw: IndirectRead<CameraDraw>,
    shadow: Sampled<Shadow>,
    (color, depth): (ColorTarget<SceneColor>, DepthTarget<SceneDepth>),
    pipelines: Res<Pipelines>,
    views: Res<Views>,
) {
    recorder
        .render((color.clear([0.02, 0.03, 0.05, 1.0]), depth.clear_depth(1.0)))
        .pipeline(&pipelines.scene)
        .bind(0, &cubes)
        .bind(1, &visible)
        .bind(2, &shadow)
        .push(&*views)
        .draw_indirect(&draw, 0, 1);
}

fn glow(
    mut recorder: Recorder,
    scene: Sampled<SceneColor>,
    glow: ColorTarget<Glow>,
    pipelines: Res<Pipelines>,
) {
    recorder
        .render(glow.discard())
        .pipeline(&pipelines.glow)
        .bind(0, &scene)
        .sampler(1, &pipelines.sampler)
        .draw(0..3, 0..1);
}

fn show(
    mut recorder: Recorder,
    scene: Sampled<SceneColor>,
    glow: Sampled<Glow>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    recorder
        .render(window.discard())
        .pipeline(&pipelines.show)
        .bind(0, &scene)
        .sampler(1, &pipelines.sampler)
        .bind(2, &glow)
        .draw(0..3, 0..1);
}
