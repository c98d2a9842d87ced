//! Buffers and images that materials of meshes, sprites and nodes bind by themselves, by exact numbers.

#[path = "../../../quadrille_content/tests/common/counting.rs"]
mod counting;

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille::ecs::RenderStartup;
use quadrille::prelude::*;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::common::{Rig, log};
use counting::{COUNTING, Counting, add_counter, assert_left_half, count, storage_trace, trace};

/// Paints a color from a buffer of the program, times one of a buffer asset.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Reading {
    #[storage(0, read_only, buffer)]
    color: GpuBuffer,
    #[uniform(1)]
    scale: f32,
    #[storage(2, read_only)]
    factors: Handle<ShaderBuffer>,
}

const READING: &str = "
@group(MATERIAL) @binding(0) var<storage, read> color: array<vec4f, 4>;
@group(MATERIAL) @binding(1) var<uniform> scale: f32;
@group(MATERIAL) @binding(2) var<storage, read> factors: array<vec4f>;

@fragment
fn fragment() -> @location(0) vec4f { return scale * color[3] * factors[1]; }
";

/// A layer of an array, and a texture that it may lack.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Layered {
    #[texture(0, dimension = "2d_array")]
    layers: Handle<Image>,
    #[texture(1, dimension = "3d")]
    #[sampler(2)]
    volume: Option<Handle<Image>>,
}

const LAYERED: &str = "
@group(MATERIAL) @binding(0) var layers: texture_2d_array<f32>;
@group(MATERIAL) @binding(1) var volume: texture_3d<f32>;
@group(MATERIAL) @binding(2) var volume_sampler: sampler;

@fragment
fn fragment() -> @location(0) vec4f {
    return textureLoad(layers, vec2u(0), 1, 0) * textureSampleLevel(volume, volume_sampler, vec3f(0.5), 0.0);
}
";

/// Writes the color that materials read.
const PAINT: &str = "
@group(0) @binding(0) var<storage, read_write> color: array<vec4f, 4>;

@compute @workgroup_size(1)
fn main() { color[3] = vec4f(0.0, 1.0, 0.0, 1.0); }
";

fn handle(number: u128) -> Handle<Shader> {
    Handle::Uuid(
        bevy_asset::uuid::Uuid::from_u128(0x2d_0000 + number),
        std::marker::PhantomData,
    )
}

impl Material2d for Counting {
    fn fragment_shader() -> ShaderRef {
        handle(1).into()
    }
}

impl Material2d for Reading {
    fn fragment_shader() -> ShaderRef {
        handle(2).into()
    }
}

impl Material2d for Layered {
    fn fragment_shader() -> ShaderRef {
        handle(4).into()
    }
}

/// The same on a sprite.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct ReadingSprite {
    #[storage(0, read_only, buffer)]
    color: GpuBuffer,
    #[uniform(1)]
    scale: f32,
    #[storage(2, read_only)]
    factors: Handle<ShaderBuffer>,
}

impl MaterialExtension2d for ReadingSprite {
    fn fragment_shader() -> Option<ShaderRef> {
        Some(handle(2).into())
    }
}

/// The same on a node.
#[cfg(feature = "ui")]
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct ReadingNode {
    #[storage(0, read_only, buffer)]
    color: GpuBuffer,
    #[uniform(1)]
    scale: f32,
    #[storage(2, read_only)]
    factors: Handle<ShaderBuffer>,
}

#[cfg(feature = "ui")]
impl UiMaterial for ReadingNode {
    fn fragment_shader() -> ShaderRef {
        handle(3).into()
    }
}

/// The color, and the pipeline that writes it.
#[derive(Resource, bevy_derive::Deref)]
struct PaintColor(GpuBuffer);

#[derive(Resource)]
struct PaintPipeline(ComputePipeline);

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let color = BufferDesc::storage("color", 256).with_usage(BufferUsage::TRANSFER_DST);
    commands.insert_resource(PaintColor(gpu.create_buffer(&color)?));
    let shader = GpuShader::wgsl("paint.wgsl", PAINT)?;
    let desc = ComputePipelineDesc::of("paint", &shader);
    commands.insert_resource(PaintPipeline(gpu.compute_pipeline(&desc)?));
    Ok(())
}

fn clear(mut recorder: Recorder, color: TransferWrite<PaintColor>) {
    recorder.transfer().fill_buffer(&color, 0, 64, 0);
}

fn paint(
    mut recorder: Recorder,
    color: StorageReadWrite<PaintColor>,
    pipeline: Res<PaintPipeline>,
) {
    let mut compute = recorder.compute(&pipeline.0);
    compute.bind("color", &color).dispatch([1, 1, 1]);
}

/// Nothing but the names of the resources connects these passes with the draws of materials.
fn add_passes(app: &mut App) {
    let draw = quadrille_2d::systems::draw_2d;
    add_counter(app, draw, draw);
    app.add_systems(RenderStartup, make).add_systems(
        Render,
        (
            clear.before(paint),
            paint.before(draw).on_queue(QueuePreference::Async),
        ),
    );
}

fn rig() -> Rig {
    let plugins = (
        Quadrille2dPlugin::default(),
        Material2dPlugin::<Counting>::default(),
        Material2dPlugin::<Reading>::default(),
        Material2dPlugin::<Layered>::default(),
        SpriteMaterialPlugin::<ReadingSprite>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    #[cfg(feature = "ui")]
    rig.app
        .add_plugins(UiMaterialPlugin::<ReadingNode>::default());
    rig.app.insert_resource(ClearColor(Color::BLACK));
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    for (number, source, group) in [
        (1, COUNTING, "2"),
        (2, READING, "2"),
        (3, READING, "1"),
        (4, LAYERED, "2"),
    ] {
        let source = source.replace("MATERIAL", group);
        let shader = Shader::from_wgsl(source, format!("{number}.wgsl"));
        shaders
            .insert(handle(number).id(), shader)
            .expect("the handle is free");
    }
    add_passes(&mut rig.app);
    rig.start();
    // `RenderStartup` runs in the first frame.
    rig.update(1);
    rig.app.world_mut().spawn((Camera2d, Msaa::Off));
    rig
}

fn square<M: Material2d>(rig: &mut Rig, [left, right]: [f32; 2], material: M) -> Entity {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(right - left, 32.0));
    let material = world.resource_mut::<Assets<M>>().add(material);
    let center = (left + right) / 2.0 - 16.0;
    let place = Transform::from_xyz(center, 0.0, 0.0);
    let bundle = (Mesh2d(mesh), MeshMaterial2d(material), place);
    world.spawn(bundle).id()
}

/// Spawns the left half of the picture, which counts its fragments.
fn counting_square(rig: &mut Rig, trace: Handle<Image>) -> Entity {
    let count = count(rig);
    square(rig, [0.0, 16.0], Counting { count, trace })
}

fn factors(rig: &mut Rig) -> Handle<ShaderBuffer> {
    let factors = ShaderBuffer::from(vec![[0.0_f32; 4], [1.0, 0.25, 1.0, 2.0]]);
    let buffers = rig.app.world_mut().resource_mut::<Assets<ShaderBuffer>>();
    buffers.into_inner().add(factors)
}

fn paint_color(rig: &Rig) -> GpuBuffer {
    rig.app.world().resource::<PaintColor>().0.clone()
}

/// A quarter of green, in the encoding of the window.
const DARK_GREEN: [u8; 4] = [0, 137, 0, 255];

#[test]
#[ignore = "needs a device"]
fn fragments_write_buffers_and_storage_textures() {
    log::collect();
    let mut rig = rig();
    let trace = storage_trace(&mut rig);
    counting_square(&mut rig, trace.clone());
    assert_left_half(&mut rig, &trace);
    assert!(log::take().is_empty());
}

/// A compute pass clears and writes the buffer in each frame, before a mesh, a sprite and a node read it.
#[test]
#[ignore = "needs a device"]
fn draws_read_what_a_compute_pass_wrote_in_the_same_frame() {
    log::collect();
    let mut rig = rig();
    let factors = factors(&mut rig);
    let reading = Reading {
        color: paint_color(&rig),
        scale: 1.0,
        factors: factors.clone(),
    };
    square(&mut rig, [0.0, 8.0], reading.clone());
    let other = Reading {
        scale: 0.0,
        ..reading.clone()
    };
    square(&mut rig, [24.0, 32.0], other);
    let world = rig.app.world_mut();
    let sprites = world.resource_mut::<Assets<ReadingSprite>>();
    let sprite = sprites.into_inner().add(ReadingSprite {
        color: reading.color.clone(),
        scale: 1.0,
        factors: factors.clone(),
    });
    world.spawn((
        Sprite::from_color(Color::WHITE, Vec2::new(8.0, 32.0)),
        SpriteMaterial(sprite),
        Transform::from_xyz(-4.0, 0.0, 0.0),
    ));
    #[cfg(feature = "ui")]
    {
        let nodes = world.resource_mut::<Assets<ReadingNode>>();
        let node = nodes.into_inner().add(ReadingNode {
            color: reading.color,
            scale: 1.0,
            factors,
        });
        let place = Node {
            position_type: PositionType::Absolute,
            left: Val::Px(16.0),
            width: Val::Px(8.0),
            height: Val::Px(32.0),
            ..Node::default()
        };
        world.spawn((place, MaterialNode(node)));
    }
    let picture = rig.picture();
    for x in [2, 5, 10, 13] {
        assert_eq!(picture.at(x, 16), DARK_GREEN, "column {x}");
    }
    #[cfg(feature = "ui")]
    assert_eq!(picture.at(20, 16), DARK_GREEN, "the node");
    assert_eq!(picture.at(28, 16), [0; 4], "the uniform is 0");
    assert!(log::take().is_empty());
}

/// A pass has one access to a buffer that one material writes and another reads.
#[test]
#[ignore = "needs a device"]
fn materials_share_a_written_buffer() {
    log::collect();
    let mut rig = rig();
    let trace = storage_trace(&mut rig);
    let counting = Counting {
        count: paint_color(&rig),
        trace,
    };
    square(&mut rig, [0.0, 16.0], counting);
    let factors = factors(&mut rig);
    let reading = Reading {
        color: paint_color(&rig),
        scale: 1.0,
        factors,
    };
    square(&mut rig, [16.0, 32.0], reading);
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 0, 0, 255]);
    assert_eq!(picture.at(24, 16), DARK_GREEN);
    assert!(log::take().is_empty());
}

/// The second layer of an array, times the white volume of a material without one.
#[test]
#[ignore = "needs a device"]
fn materials_read_arrays_and_fallbacks() {
    log::collect();
    let mut rig = rig();
    let texels = [[255, 0, 0, 255], [0, 0, 255, 255]].concat();
    let size = Extent3d {
        width: 1,
        height: 1,
        depth_or_array_layers: 2,
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    let usages = RenderAssetUsages::default();
    let layers = Image::new(size, TextureDimension::D2, texels, format, usages);
    let images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    let layered = Layered {
        layers: images.into_inner().add(layers),
        volume: None,
    };
    square(&mut rig, [0.0, 16.0], layered);
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [0, 0, 255, 255]);
    assert!(log::take().is_empty());
}

/// An image without the usage is one warning, and magenta; a right one draws the mesh.
#[test]
#[ignore = "needs a device"]
fn image_that_is_no_storage_texture_is_reported() {
    log::collect();
    let mut rig = rig();
    let wrong = trace(&mut rig, TextureFormat::Rgba8Unorm, TextureUsages::COPY_SRC);
    let square = counting_square(&mut rig, wrong);
    assert_eq!(rig.picture().at(8, 16), [255, 0, 255, 255]);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in [
        "`Counting`",
        "binding 1 (`trace`)",
        "lacks the usage `TextureUsages::STORAGE_BINDING`",
    ] {
        assert!(lines[0].contains(part), "{part} is not in {}", lines[0]);
    }
    let trace = storage_trace(&mut rig);
    let world = rig.app.world_mut();
    let material = world.get::<MeshMaterial2d<Counting>>(square);
    let id = material.expect("it has one").0.id();
    let mut materials = world.resource_mut::<Assets<Counting>>();
    materials.get_mut(id).expect("it is there").trace = trace;
    assert_eq!(rig.picture().at(8, 16), [255, 0, 0, 255]);
}

/// A sprite of the same camera that samples the storage texture: the material is not drawn, and the frame does not fail.
#[test]
#[ignore = "needs a device"]
fn storage_texture_that_the_camera_samples_is_reported() {
    log::collect();
    let mut rig = rig();
    let trace = storage_trace(&mut rig);
    counting_square(&mut rig, trace.clone());
    assert_eq!(rig.picture().at(8, 16), [255, 0, 0, 255]);
    let world = rig.app.world_mut();
    world.spawn((
        Sprite::from_image(trace),
        Transform::from_xyz(16.0, 0.0, 1.0),
    ));
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [0, 0, 0, 255]);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let is_named = lines[0].contains("has the image") && lines[0].contains("as a storage texture");
    assert!(is_named, "{lines:#?}");
}
