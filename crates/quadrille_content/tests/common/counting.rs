//! Material that counts its fragments and traces them in an image, for tests of 2D and 3D in a picture of 32 by 32 pixels.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_asset::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::IntoSystemSet;
use bevy_image::Image;
use bevy_reflect::TypePath;
use quadrille::ecs::RenderStartup;
use quadrille::material::AsBindGroup;
use quadrille::prelude::*;
use quadrille_content::images::DeviceImages;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::common::Rig;

/// Counts its fragments, and paints the pixel that each covers.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Counting {
    #[storage(0, buffer)]
    pub(crate) count: GpuBuffer,
    #[storage_texture(1, image_format = Rgba8Unorm, access = WriteOnly)]
    pub(crate) trace: Handle<Image>,
}

/// Source of its shader, with the bind group `MATERIAL`.
pub(crate) const COUNTING: &str = "
@group(MATERIAL) @binding(0) var<storage, read_write> count: atomic<u32>;
@group(MATERIAL) @binding(1) var trace: texture_storage_2d<rgba8unorm, write>;

@fragment
fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    atomicAdd(&count, 1u);
    textureStore(trace, vec2u(at.xy), vec4f(0.0, 1.0, 0.0, 1.0));
    return vec4f(1.0, 0.0, 0.0, 1.0);
}
";

/// The counter.
#[derive(Resource, bevy_derive::Deref)]
struct Count(GpuBuffer);

/// Copy of the counter after all draws.
#[derive(Resource, bevy_derive::Deref)]
struct Copied(GpuBuffer);

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let count = BufferDesc::storage("count", 256).with_usage(BufferUsage::TRANSFER_DST);
    commands.insert_resource(Count(gpu.create_buffer(&count)?));
    let copied = BufferDesc::storage("copied", 256).with_usage(BufferUsage::TRANSFER_DST);
    commands.insert_resource(Copied(gpu.create_buffer(&copied)?));
    Ok(())
}

fn reset(mut recorder: Recorder, count: TransferWrite<Count>) {
    recorder.transfer().fill_buffer(&count, 0, 4, 0);
}

fn copy(mut recorder: Recorder, count: TransferRead<Count>, copied: TransferWrite<Copied>) {
    recorder.transfer().copy_buffer(&count, 0, &copied, 0, 4);
}

/// Adds the counter and its passes around the draws from `first` to `last`. Nothing but the names of the resources connects
/// them with the draws of materials.
pub(crate) fn add_counter<M, N>(
    app: &mut App,
    first: impl IntoSystemSet<M>,
    last: impl IntoSystemSet<N>,
) {
    let copy = copy.after(last).on_queue(QueuePreference::Async);
    app.add_systems(RenderStartup, make)
        .add_systems(Render, (reset.before(first), copy));
}

pub(crate) fn count(rig: &Rig) -> GpuBuffer {
    rig.app.world().resource::<Count>().0.clone()
}

/// An image of the picture's size.
pub(crate) fn trace(rig: &mut Rig, format: TextureFormat, usage: TextureUsages) -> Handle<Image> {
    let size = Extent3d {
        width: 32,
        height: 32,
        depth_or_array_layers: 1,
    };
    let texels = vec![0; 32 * 32 * 4];
    let usages = RenderAssetUsages::default();
    let mut image = Image::new(size, TextureDimension::D2, texels, format, usages);
    image.texture_descriptor.usage |= usage;
    let images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    images.into_inner().add(image)
}

/// A storage texture for traces.
pub(crate) fn storage_trace(rig: &mut Rig) -> Handle<Image> {
    let usage = TextureUsages::STORAGE_BINDING;
    trace(rig, TextureFormat::Rgba8Unorm, usage)
}

/// Asserts that the material covers the left half of the picture: 512 of 1024 pixels.
pub(crate) fn assert_left_half(rig: &mut Rig, trace: &Handle<Image>) {
    let picture = rig.picture();
    assert_eq!(picture.at(8, 16), [255, 0, 0, 255]);
    assert_eq!(picture.at(24, 16), [0, 0, 0, 255]);
    let copied = rig.app.world().resource::<Copied>().0.clone();
    let counted = rig.read_back(Readback::buffer(&copied)).values::<u32>();
    assert_eq!(counted[0], 512, "fragments of one frame");
    let images = rig.app.world().resource::<DeviceImages>();
    let shown = images.resident(trace).expect("it is uploaded");
    let shown = shown.image.clone();
    let traced = rig.read(Readback::image(&shown));
    assert_eq!(traced.at(8, 16), [0, 255, 0, 255]);
    assert_eq!(traced.at(24, 16), [0; 4]);
}
