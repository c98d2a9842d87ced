//! Buffers and textures that materials bind by themselves, by exact numbers.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use quadrille::ecs::RenderStartup;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Rig, log};
use crate::custom_materials::unit_camera;

/// Colors in a buffer asset, and the index of one.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Listed {
    #[storage(0, read_only)]
    colors: Handle<ShaderBuffer>,
    #[uniform(1)]
    index: u32,
}

const LISTED: &str = "
@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<storage, read> colors: array<vec4f, 3>;
@group(constants::MATERIAL_BIND_GROUP) @binding(1) var<uniform> index: u32;

@fragment
fn fragment() -> @location(0) vec4f { return colors[index]; }
";

/// A buffer that a pass of the program writes in each frame.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Simulated {
    #[storage(0, read_only, buffer)]
    cells: GpuBuffer,
}

const SIMULATED: &str = "
@group(3) @binding(0) var<storage> cells: array<vec4f>;

@fragment
fn fragment() -> @location(0) vec4f { return cells[0]; }
";

/// Textures of several kinds.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Layered {
    #[texture(0, dimension = "2d_array")]
    #[sampler(1)]
    layers: Option<Handle<Image>>,
    #[texture(2, dimension = "cube")]
    #[sampler(3)]
    sky: Option<Handle<Image>>,
    #[texture(4)]
    pattern: Handle<Image>,
}

const LAYERED: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

@group(3) @binding(0) var layers: texture_2d_array<f32>;
@group(3) @binding(1) var layers_sampler: sampler;
@group(3) @binding(2) var sky: texture_cube<f32>;
@group(3) @binding(3) var sky_sampler: sampler;
@group(3) @binding(4) var pattern: texture_2d<f32>;

fn first(image: texture_2d<f32>) -> vec4f { return textureLoad(image, vec2u(0u, 0u), 0); }

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    if mesh.uv.y > 0.75 { return first(pattern); }
    if mesh.uv.y > 0.5 { return textureSampleLevel(sky, sky_sampler, vec3f(1.0, 0.0, 0.0), 0.0); }
    let layer = u32(mesh.uv.x > 0.5);
    return textureSampleLevel(layers, layers_sampler, vec2f(0.5), layer, 0.0);
}
";

macro_rules! fragment {
    ($name:ident, $number:literal) => {
        impl Material for $name {
            fn fragment_shader() -> ShaderRef {
                handle($number).into()
            }
        }
    };
}

fragment!(Listed, 1);
fragment!(Simulated, 2);
fragment!(Layered, 3);

fn handle(number: u128) -> Handle<Shader> {
    Handle::Uuid(
        bevy_asset::uuid::Uuid::from_u128(0x52_0000 + number),
        std::marker::PhantomData,
    )
}

fn rig_with(add: impl FnOnce(&mut App)) -> Rig {
    let plugins = (
        Quadrille3dPlugin::default(),
        MaterialPlugin::<Listed>::default(),
        MaterialPlugin::<Simulated>::default(),
        MaterialPlugin::<Layered>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    rig.app.insert_resource(ClearColor(Color::BLACK));
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    for (number, source) in [(1, LISTED), (2, SIMULATED), (3, LAYERED)] {
        let shader = Shader::from_wgsl(source, format!("{number}.wgsl"));
        shaders
            .insert(handle(number).id(), shader)
            .expect("the handle is free");
    }
    add(&mut rig.app);
    rig.start();
    rig.app.world_mut().spawn(unit_camera());
    rig
}

fn rig() -> Rig {
    rig_with(|_| ())
}

fn square<M: Material>(rig: &mut Rig, x: f32, side: f32, material: M) -> Handle<M> {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(side, 1.0));
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_xyz(x, 0.0, 0.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material.clone()), place));
    material
}

fn buffer(rig: &mut Rig, colors: Vec<[f32; 4]>) -> Handle<ShaderBuffer> {
    let buffer = ShaderBuffer::new(colors, RenderAssetUsages::default());
    let buffers = rig.app.world_mut().resource_mut::<Assets<ShaderBuffer>>();
    buffers.into_inner().add(buffer)
}

const COLORS: [[f32; 4]; 3] = [
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
];

#[test]
#[ignore = "needs a device"]
fn materials_read_buffer_assets() {
    log::collect();
    let mut rig = rig();
    let colors = buffer(&mut rig, COLORS.to_vec());
    let others = buffer(&mut rig, vec![[1.0; 4]; 3]);
    for (x, colors, index) in [
        (-0.375, &colors, 1),
        (-0.125, &colors, 2),
        (0.25, &others, 0),
    ] {
        let colors = colors.clone();
        square(&mut rig, x, 0.25, Listed { colors, index });
    }
    let picture = rig.picture();
    assert_eq!(picture.at(4, 16), [0, 255, 0, 255]);
    assert_eq!(picture.at(12, 16), [0, 0, 255, 255]);
    assert_eq!(picture.at(24, 16), [255; 4]);
    // A changed asset is uploaded.
    let mut buffers = rig.app.world_mut().resource_mut::<Assets<ShaderBuffer>>();
    buffers
        .get_mut(&colors)
        .expect("it is there")
        .set_data([Vec4::new(1.0, 0.0, 0.0, 1.0); 3]);
    assert_eq!(rig.picture().at(4, 16), [255, 0, 0, 255]);
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn too_small_buffer_is_reported_and_drawn_in_magenta() {
    log::collect();
    let mut rig = rig();
    let colors = buffer(&mut rig, vec![[1.0; 4]; 2]);
    square(&mut rig, 0.0, 1.0, Listed { colors, index: 0 });
    assert_eq!(rig.picture().at(16, 16), [255, 0, 255, 255]);
    let lines = log::take();
    let [line] = &lines[..] else {
        panic!("there is one message: {lines:#?}");
    };
    for part in ["`Listed`", "binding 0 (`colors`) has 32 bytes", "reads 48"] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

/// Cells of the simulation, and its pipeline.
#[derive(Resource, bevy_derive::Deref)]
struct Cells(GpuBuffer);

#[derive(Resource)]
struct Step(ComputePipeline);

const STEP: &str = "
    @group(0) @binding(0) var<storage, read_write> cells: array<vec4f>;
    var<immediate> frame: u32;

    @compute @workgroup_size(1)
    fn main() { cells[0] = vec4f(f32(frame) / 8.0, 1.0, 0.0, 1.0); }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("step.wgsl", STEP)?;
    commands.insert_resource(Step(
        gpu.compute_pipeline(&ComputePipelineDesc::of("step", &shader))?,
    ));
    commands.insert_resource(Cells(
        gpu.create_buffer(&BufferDesc::storage("cells", 256))?,
    ));
    Ok(())
}

/// The number that the next frame writes.
#[derive(Resource, Default)]
struct Frame(u32);

fn step(mut recorder: Recorder, cells: StorageWrite<Cells>, step: Res<Step>, frame: Res<Frame>) {
    recorder
        .compute(&step.0)
        .bind("cells", &cells)
        .push(&frame.0)
        .dispatch([1, 1, 1]);
}

/// The material names the buffer, and nothing else orders both passes.
#[test]
#[ignore = "needs a device"]
fn material_reads_what_a_pass_wrote_in_the_same_frame() {
    let mut rig = rig_with(|app| {
        let before = step.before(quadrille_3d::Pass3dSystems::Shadow);
        app.init_resource::<Frame>()
            .add_systems(RenderStartup, make)
            .add_systems(Render, before.on_queue(QueuePreference::Async));
    });
    // `RenderStartup` runs in the first frame.
    rig.update(1);
    let cells = rig.app.world().resource::<Cells>().0.clone();
    square(&mut rig, 0.0, 1.0, Simulated { cells });
    rig.picture();
    for frame in [2, 5, 8] {
        rig.app.world_mut().resource_mut::<Frame>().0 = frame;
        let linear = frame as f32 / 8.0;
        let wanted = Color::linear_rgb(linear, 0.0, 0.0).to_srgba().red * 255.0;
        let found = rig.picture().at(16, 16);
        assert!(
            (f32::from(found[0]) - wanted).abs() <= 1.0,
            "{found:?} for {wanted}"
        );
        assert_eq!(found[1], 255);
    }
}

fn image(layers: u32, texels: Vec<u8>) -> Image {
    let size = Extent3d {
        width: 1,
        height: 1,
        depth_or_array_layers: layers,
    };
    let usages = RenderAssetUsages::default();
    let format = TextureFormat::Rgba8Unorm;
    Image::new(size, TextureDimension::D2, texels, format, usages)
}

#[test]
#[ignore = "needs a device"]
fn textures_of_other_kinds_are_bound_by_themselves() {
    log::collect();
    let mut rig = rig();
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    let layers = images.add(image(2, vec![255, 0, 0, 255, 0, 255, 0, 255]));
    let pattern = images.add(image(1, vec![0, 0, 255, 255]));
    let material = Layered {
        layers: Some(layers),
        sky: None,
        pattern: pattern.clone(),
    };
    square(&mut rig, -0.25, 0.5, material);
    let fallback = Layered {
        layers: None,
        sky: None,
        pattern,
    };
    square(&mut rig, 0.25, 0.5, fallback);
    let picture = rig.picture();
    for (x, y, wanted, what) in [
        (4, 8, [255, 0, 0, 255], "the first layer"),
        (12, 8, [0, 255, 0, 255], "the second layer"),
        (8, 20, [255; 4], "a white cube without an image"),
        (8, 28, [0, 0, 255, 255], "an image that a function takes"),
        (24, 8, [255; 4], "white layers without an image"),
    ] {
        assert_eq!(picture.at(x, y), wanted, "{what}");
    }
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn image_of_another_kind_is_reported_and_drawn_in_magenta() {
    log::collect();
    let mut rig = rig();
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    let flat = images.add(image(1, vec![255; 4]));
    let material = Layered {
        layers: None,
        sky: Some(flat.clone()),
        pattern: flat,
    };
    square(&mut rig, 0.0, 1.0, material);
    assert_eq!(rig.picture().at(16, 16), [255, 0, 255, 255]);
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in ["`Layered`", "binding 2 (`sky`)", "1 layers", "`Cube`"] {
        assert!(lines[0].contains(part), "{part} is not in {}", lines[0]);
    }
}
