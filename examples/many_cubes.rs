//! A hundred thousand cubes that the device itself chooses to draw.
//!
//! `cull` culls the cubes for the camera and the light, writes a draw for each group with a visible
//! cube, and counts these draws. `shadow` draws the light's into all shadow maps at
//! once (multiview), `scene` the camera's with materials from a table; `glow` and `show` finish the
//! picture. The CPU records six passes, however many cubes there are.

use std::ops::Deref;

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::{Mat4, Vec3, Vec4, proj};
use clap::Parser;
use examples::random::Random;
use examples::{CommonArgs, args, material};
use quadrille::ecs::Table;
use quadrille::prelude::*;
use quadrille::vulkan::commands::IndexType;
use quadrille::vulkan::pipeline::DepthState;
use quadrille::vulkan::resources::{ImageTable, ImageTableDesc};
use quadrille::vulkan::{Format, shader_constants};

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
/// The corners of a cube's triangles.
#[derive(Resource, Deref)]
struct Corners(GpuBuffer);
/// The [`Views`] of the frame.
#[derive(Resource, Deref)]
struct ViewsOfFrame(GpuBuffer);
/// How many draws the camera has and their arguments, and the cubes that they draw.
#[derive(Resource, Deref)]
struct CameraDraws(GpuBuffer);
#[derive(Resource, Deref)]
struct CameraVisible(GpuBuffer);
/// Draw count, arguments and cubes of the light.
#[derive(Resource, Deref)]
struct LightDraws(GpuBuffer);
#[derive(Resource, Deref)]
struct LightVisible(GpuBuffer);
/// Points as they are, and as they will be: work that nothing in the frame waits for.
#[derive(Resource, Deref)]
struct Points(GpuBuffer);
#[derive(Resource, Deref)]
struct NextPoints(GpuBuffer);
/// Buffer that data is streamed to, and the bytes.
#[derive(Resource)]
struct Stream(GpuBuffer, Vec<u8>);
/// Materials of the cubes.
#[derive(Resource, Deref)]
struct Materials(ImageTable);
/// A layer for each cascade.
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

/// Views of the camera and of each of the light's cascades: the nearest first, all cubes
/// last.
#[derive(ShaderType)]
struct Views {
    camera: Mat4,
    lights: [Mat4; CASCADES as usize],
    towards_light: Vec3,
}

/// Frames since the start; the camera moves by frames, so that pictures can be compared.
#[derive(Resource, Default)]
struct Clock(u32);

shader_constants! {
    /// The constants that shaders import.
    fn constants() -> "many_cubes::constants";

    /// How many shadow maps there are.
    const CASCADES: u32 = 2;
    /// Invocations of a workgroup, which are the cubes of a draw.
    const WORKGROUP: u32 = 64;
    /// Corners of a cube's triangles.
    const CORNERS: u32 = 36;
    /// Images in the table.
    const MATERIALS: u32 = 8;
}

const SIZE: [u32; 2] = [1280, 720];
/// Direction to the light.
const TOWARDS_LIGHT: Vec3 = Vec3::new(0.48, 0.8, 0.36);
/// How wide shadow maps are, in texels.
const SHADOW_SIDE: u32 = 1024;
/// Half the width of the nearest one in the world.
const NEAREST: f32 = 30.0;
/// Bytes of the arguments of an indexed draw.
const DRAW: u64 = 20;
/// How wide the images of materials are, in texels.
const MATERIAL_SIDE: u32 = 32;
/// Points of the swarm.
const POINTS: u32 = 65536;
/// Cubes lie within this distance of the middle.
const REACH: f32 = 60.0;
/// How far each is moved from its place in a row.
const ASTRAY: f32 = 2.0;

fn main() -> AppExit {
    let args: Args = args::parse();
    let wish = if args.one_queue {
        QueuePreference::Main
    } else {
        QueuePreference::Auto
    };
    App::new()
        .add_plugins((args.common.plugins("Many cubes", SIZE), args.common.clone()))
        .insert_resource(args)
        .init_resource::<Clock>()
        .add_systems(
            RenderStartup,
            (
                make_cubes,
                make_draws,
                make_points,
                make_materials,
                make_images,
                make_pipelines,
            ),
        )
        .add_systems(
            Update,
            (
                turn.run_if(resource_exists::<ViewsOfFrame>),
                stream.run_if(resource_exists::<Stream>),
            ),
        )
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

impl Args {
    /// How many groups of cubes there are, of a draw each.
    fn groups(&self) -> u32 {
        self.cubes.div_ceil(WORKGROUP)
    }
}

impl Views {
    fn at(frame: u32) -> Self {
        let angle = frame as f32 * 0.004;
        let eye = Vec3::new(angle.cos() * 70.0, 28.0, angle.sin() * 70.0);
        let aspect = SIZE[0] as f32 / SIZE[1] as f32;
        let camera = proj::perspective(0.9, aspect, 0.5, 200.0) * look_at(eye, Vec3::ZERO, Vec3::Y);
        let sun = TOWARDS_LIGHT * 150.0;
        let to_light = look_at(sun, Vec3::ZERO, Vec3::Y);
        // The region in front of the camera. It moves by whole texels, or shadows' edges would crawl.
        let middle = to_light.transform_point3(eye - eye.normalize() * NEAREST);
        let texel = 2.0 * NEAREST / SHADOW_SIDE as f32;
        let [x, y] = [middle.x, middle.y].map(|at| (at / texel).round() * texel);
        let seen = [
            [x - NEAREST, x + NEAREST, y - NEAREST, y + NEAREST],
            [-80.0, 80.0, -80.0, 80.0],
        ];
        Self {
            camera,
            lights: seen.map(|[left, right, bottom, top]| {
                proj::orthographic(left, right, bottom, top, 1.0, 300.0) * to_light
            }),
            towards_light: TOWARDS_LIGHT,
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

fn turn(mut clock: ResMut<Clock>, views: Res<ViewsOfFrame>, mut uploads: ResMut<Uploads>) {
    clock.0 += 1;
    uploads.write(&views, 0, &Views::at(clock.0));
}

/// Position and size of a cube.
fn cube(at: u32) -> Vec4 {
    // A low-discrepancy sequence fills the volume evenly, the same each time. It is a lattice, so
    // each cube is moved a little: or one would look along its planes, as between rows of trees.
    let part = |step: f64| (f64::from(at) * step).fract() as f32;
    let mut random = Random::new(at.into());
    let spread = [0.819_172_5, 0.671_043_6, 0.549_700_5].map(|step| part(step) - 0.5);
    let [x, y, z] = spread.map(|part| part * 2.0 * REACH + random.within(-ASTRAY, ASTRAY));
    Vec4::new(x, y * 0.4, z, 0.25 + 0.5 * part(0.381_966))
}

fn make_cubes(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    args: Res<Args>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let mut cubes: Vec<Vec4> = (0..args.cubes).map(cube).collect();
    // A draw is for cubes that lie together: or all of them would see some of every draw's.
    let cell = |cube: &Vec4| [cube.x, cube.z].map(|at| (at / 8.0).floor() as i32);
    cubes.sort_by_key(cell);
    let bytes = bytemuck::cast_slice::<_, u8>(&cubes);
    let buffer = gpu.create_buffer(&BufferDesc::storage("cubes", bytes.len() as u64))?;
    uploads.write_buffer(&buffer, 0, bytes);
    commands.insert_resource(Cubes(buffer));

    // Four corners for each of six faces.
    let face = |face: u16| [0, 1, 2, 0, 2, 3].map(|corner| 4 * face + corner);
    let corners: Vec<u16> = (0..CORNERS as u16 / 6).flat_map(face).collect();
    let bytes = bytemuck::cast_slice::<_, u8>(&corners);
    let buffer = gpu.create_buffer(&BufferDesc::index("corners", bytes.len() as u64))?;
    uploads.write_buffer(&buffer, 0, bytes);
    commands.insert_resource(Corners(buffer));
    Ok(())
}

fn make_draws(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    (args, clock): (Res<Args>, Res<Clock>),
    mut uploads: ResMut<Uploads>,
) -> Result {
    let draws = |name| {
        let bytes = 4 + DRAW * u64::from(args.groups());
        let desc = BufferDesc::storage(name, bytes).with_usage(BufferUsage::INDIRECT);
        gpu.create_buffer(&desc)
    };
    let numbers = |name| {
        let count = args.groups() * WORKGROUP;
        gpu.create_buffer(&BufferDesc::storage(name, 4 * u64::from(count)))
    };
    commands.insert_resource(CameraDraws(draws("camera draws")?));
    commands.insert_resource(LightDraws(draws("light draws")?));
    commands.insert_resource(CameraVisible(numbers("camera visible")?));
    commands.insert_resource(LightVisible(numbers("light visible")?));

    let views = Views::at(clock.0);
    let buffer = gpu.create_buffer(&BufferDesc::uniform("views", views.size().get()))?;
    uploads.write(&buffer, 0, &views);
    commands.insert_resource(ViewsOfFrame(buffer));
    Ok(())
}

fn make_points(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    args: Res<Args>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let points: Vec<Vec4> = (0..POINTS).map(cube).collect();
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

fn make_materials(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let sampler = gpu.create_sampler(&SamplerDesc::linear())?;
    let desc = ImageTableDesc::d2("materials", MATERIALS).with_sampler(&sampler);
    let mut table = gpu.image_table(&desc)?;
    let side = MATERIAL_SIDE;
    for number in 0..MATERIALS {
        let texels = material::texels(number, side);
        let name = format!("material {number}");
        let desc = ImageDesc::sampled(name, [side, side], Format::R8_UNORM);
        let image = gpu.create_image(&desc.with_mips(side.ilog2() + 1))?;
        uploads.write_image(&image, &texels);
        uploads.generate_mips(&image);
        table.insert(&image)?;
    }
    commands.insert_resource(Materials(table));
    Ok(())
}

fn make_images(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    // None of them outlives its frame: the glow lies where shadow or depth were, which nobody needs
    // any more by then.
    let [width, height] = SIZE;
    let (color, depth) = (Format::R16G16B16A16_SFLOAT, Format::D32_SFLOAT);
    let shadow = ImageDesc::depth("shadow", [SHADOW_SIDE, SHADOW_SIDE], depth);
    let shadow = shadow.with_layers(CASCADES).transient();
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
    constants().publish()?;
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
        .bind("now", &now)
        .bind("next", &next)
        .push(&args.swarm)
        .dispatch_invocations([POINTS, 1, 1]);
}

/// There is no draw before `cull` has looked.
fn reset(
    mut recorder: Recorder,
    camera: TransferWrite<CameraDraws>,
    light: TransferWrite<LightDraws>,
) {
    recorder
        .transfer()
        .fill_buffer(&camera, 0, 4, 0)
        .fill_buffer(&light, 0, 4, 0);
}

/// Resources of `cull.wgsl`.
#[derive(SystemParam, PassBindings)]
struct Culling<'w> {
    #[bind]
    views: Uniform<'w, ViewsOfFrame>,
    #[bind]
    cubes: StorageRead<'w, Cubes>,
    #[bind]
    camera_draws: StorageReadWrite<'w, CameraDraws>,
    #[bind]
    camera_visible: StorageWrite<'w, CameraVisible>,
    #[bind]
    light_draws: StorageReadWrite<'w, LightDraws>,
    #[bind]
    light_visible: StorageWrite<'w, LightVisible>,
}

fn cull(mut recorder: Recorder, culling: Culling, pipelines: Res<Pipelines>, args: Res<Args>) {
    recorder
        .compute(&pipelines.cull)
        .bind_all(&culling)
        .dispatch([args.groups(), 1, 1]);
}

/// Resources of the vertex shaders of `cubes.wgsl`.
#[derive(SystemParam, PassBindings)]
struct Vertices<'w, V: Resource + Deref<Target = GpuBuffer>> {
    #[bind]
    views: Uniform<'w, ViewsOfFrame>,
    #[bind]
    cubes: StorageRead<'w, Cubes>,
    #[bind]
    visible: StorageRead<'w, V>,
}

fn shadow(
    mut recorder: Recorder,
    vertices: Vertices<LightVisible>,
    (corners, draws): (IndexRead<Corners>, IndirectRead<LightDraws>),
    shadow: DepthTarget<Shadow>,
    pipelines: Res<Pipelines>,
    args: Res<Args>,
) {
    recorder
        .render(shadow.clear_depth(1.0).view_mask((1 << CASCADES) - 1))
        .pipeline(&pipelines.shadow)
        .bind_all(&vertices)
        .indices(&corners, 0, IndexType::U16)
        .draw_indexed_indirect_count((&draws, 4), (&draws, 0), args.groups());
}

fn scene(
    mut recorder: Recorder,
    vertices: Vertices<CameraVisible>,
    (corners, draws): (IndexRead<Corners>, IndirectRead<CameraDraws>),
    (shadow, materials): (Sampled<Shadow>, Table<Materials>),
    (color, depth): (ColorTarget<SceneColor>, DepthTarget<SceneDepth>),
    pipelines: Res<Pipelines>,
    args: Res<Args>,
) {
    recorder
        .render((color.clear([0.02, 0.03, 0.05, 1.0]), depth.clear_depth(1.0)))
        .pipeline(&pipelines.scene)
        .bind_all(&vertices)
        .bind("shadow", &shadow)
        .table("materials", &materials)
        .indices(&corners, 0, IndexType::U16)
        .draw_indexed_indirect_count((&draws, 4), (&draws, 0), args.groups());
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
        .bind("scene", &scene)
        .sampler("scene_sampler", &pipelines.sampler)
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
        .bind("scene", &scene)
        .sampler("scene_sampler", &pipelines.sampler)
        .bind("glow", &glow)
        .draw(0..3, 0..1);
}
