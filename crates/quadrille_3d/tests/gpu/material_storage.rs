//! Buffers and images that shaders of materials write, by exact numbers.

#[path = "../../../quadrille_content/tests/common/counting.rs"]
mod counting;

use quadrille::prelude::*;
use quadrille_3d::Pass3dSystems;
use quadrille_3d::prelude::*;
use wgpu_types::{TextureFormat, TextureUsages};

use crate::common::{Rig, log};
use crate::custom_materials::unit_camera;
use counting::{COUNTING, Counting, add_counter, assert_left_half, count, storage_trace, trace};

/// Reads the counter of fragments.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Reading {
    #[storage(0, read_only, buffer)]
    count: GpuBuffer,
}

const READING: &str = "
@group(3) @binding(0) var<storage, read> count: u32;

@fragment
fn fragment() -> @location(0) vec4f { return vec4f(f32(count) / 1024.0, 0.0, 0.0, 1.0); }
";

/// Samples an image.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Sampling {
    #[texture(0)]
    #[sampler(1)]
    trace: Handle<Image>,
}

const SAMPLING: &str = "
@group(3) @binding(0) var trace: texture_2d<f32>;
@group(3) @binding(1) var trace_sampler: sampler;

@fragment
fn fragment() -> @location(0) vec4f { return textureSampleLevel(trace, trace_sampler, vec2f(0.5), 0.0); }
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

fragment!(Counting, 1);
fragment!(Reading, 2);
fragment!(Sampling, 3);

fn handle(number: u128) -> Handle<Shader> {
    Handle::Uuid(
        bevy_asset::uuid::Uuid::from_u128(0x53_0000 + number),
        std::marker::PhantomData,
    )
}

fn rig() -> Rig {
    let plugins = (
        Quadrille3dPlugin::default(),
        MaterialPlugin::<Counting>::default(),
        MaterialPlugin::<Reading>::default(),
        MaterialPlugin::<Sampling>::default(),
    );
    let mut rig = Rig::with(32, 32, plugins);
    rig.app.insert_resource(ClearColor(Color::BLACK));
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    let counting = COUNTING.replace("MATERIAL", "3");
    for (number, source) in [(1, &*counting), (2, READING), (3, SAMPLING)] {
        let shader = Shader::from_wgsl(source.to_owned(), format!("{number}.wgsl"));
        shaders
            .insert(handle(number).id(), shader)
            .expect("the handle is free");
    }
    let (first, last) = (Pass3dSystems::Shadow, Pass3dSystems::Transparent);
    add_counter(&mut rig.app, first, last);
    rig.start();
    // `RenderStartup` runs in the first frame.
    rig.update(1);
    rig.app.world_mut().spawn(unit_camera());
    rig
}

fn square<M: Material>(rig: &mut Rig, x: f32, side: f32, material: M) {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(side, 1.0));
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_xyz(x, 0.0, 0.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
}

/// Spawns the left half of the picture, which counts its fragments.
fn counting_square(rig: &mut Rig, trace: Handle<Image>) {
    let material = Counting {
        count: count(rig),
        trace,
    };
    square(rig, -0.25, 0.5, material);
}

#[test]
#[ignore = "needs a device"]
fn fragments_write_buffers_and_storage_textures() {
    log::collect();
    let mut rig = rig();
    let image = storage_trace(&mut rig);
    counting_square(&mut rig, image.clone());
    assert_left_half(&mut rig, &image);
    assert!(log::take().is_empty());
}

/// A pass has one access to a buffer that one material writes and another reads.
#[test]
#[ignore = "needs a device"]
fn materials_share_a_written_buffer() {
    log::collect();
    let mut rig = rig();
    let image = storage_trace(&mut rig);
    let count = count(&rig);
    let writer = Counting {
        count: count.clone(),
        trace: image,
    };
    square(&mut rig, -0.25, 0.5, writer);
    square(&mut rig, 0.25, 0.5, Reading { count });
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 0, 0, 255]);
    // Draws of one pass are in no order: any count of this frame.
    assert_eq!(picture.at(24, 16)[1..], [0, 0, 255]);
    assert!(log::take().is_empty());
}

/// Three images that cannot be bound: without the usage, of another format, and sampled by another material.
#[test]
#[ignore = "needs a device"]
fn images_that_are_no_storage_textures_are_reported() {
    for (format, usage, part) in [
        (
            TextureFormat::Rgba8Unorm,
            TextureUsages::COPY_SRC,
            "lacks the usage `TextureUsages::STORAGE_BINDING`",
        ),
        (
            TextureFormat::Rgba8Snorm,
            TextureUsages::STORAGE_BINDING,
            "has the format R8G8B8A8_SNORM, and the shader declares R8G8B8A8_UNORM",
        ),
        (
            TextureFormat::Rgba8Unorm,
            TextureUsages::STORAGE_BINDING,
            "is a texture of another material as well",
        ),
    ] {
        log::collect();
        let mut rig = rig();
        let image = trace(&mut rig, format, usage);
        if part.contains("another material") {
            let trace = image.clone();
            square(&mut rig, 0.25, 0.5, Sampling { trace });
            rig.picture();
        }
        counting_square(&mut rig, image);
        assert_eq!(rig.picture().at(8, 16), [255, 0, 255, 255], "{part}");
        let lines = log::take();
        assert_eq!(lines.len(), 1, "{lines:#?}");
        for part in ["`Counting`", "binding 1 (`trace`)", part] {
            assert!(lines[0].contains(part), "{part} is not in {}", lines[0]);
        }
    }
}

/// A standard material that samples the image later: a pass has one access to each image, and no frame fails.
#[test]
#[ignore = "needs a device"]
fn storage_texture_that_is_sampled_later_is_reported() {
    log::collect();
    let mut rig = rig();
    let image = storage_trace(&mut rig);
    counting_square(&mut rig, image.clone());
    assert_eq!(rig.picture().at(8, 16), [255, 0, 0, 255]);
    let sampling = StandardMaterial {
        base_color_texture: Some(image),
        unlit: true,
        ..StandardMaterial::default()
    };
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(0.5, 1.0));
    let material = world.resource_mut::<Assets<StandardMaterial>>();
    let material = material.into_inner().add(sampling);
    let place = Transform::from_xyz(0.25, 0.0, 0.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 0, 0, 255]);
    assert_eq!(picture.at(24, 16), [255; 4], "without its texture");
    let lines = log::take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let is_named = lines[0].contains("has it as a storage texture");
    assert!(is_named, "{lines:#?}");
}
