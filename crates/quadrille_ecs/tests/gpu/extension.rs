//! Vulkan commands of a program's own, of an extension that it asks for.

#![expect(unsafe_code, reason = "Vulkan's own commands are unsafe")]

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::ash::ext;
use quadrille_vulkan::commands::RawCommand;
use quadrille_vulkan::instance::Extension;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc, VertexLayout,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage,
};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, vk};

use crate::common::{Numbers, Rig, Squares, add, read, read_image, square};

/// A row of eight pixels.
#[derive(Resource, Deref)]
struct Row(GpuImage);

#[derive(Resource, Deref)]
struct Corners(GpuBuffer);

#[derive(Resource)]
struct Tools {
    place: ComputePipeline,
    paint: GraphicsPipeline,
    multi_draw: ext::multi_draw::Device,
}

/// Writes a triangle over each pixel.
const PLACE: &str = "
    @group(0) @binding(0) var<storage, read_write> corners: array<vec2f>;
    @compute @workgroup_size(8)
    fn place(@builtin(global_invocation_id) id: vec3u) {
        let left = f32(id.x) / 4.0 - 1.0;
        corners[id.x * 3u] = vec2f(left, -1.0);
        corners[id.x * 3u + 1u] = vec2f(left + 0.25, -1.0);
        corners[id.x * 3u + 2u] = vec2f(left + 0.125, 3.0);
    }";

const PAINT: &str = "
    var<immediate> color: u32;
    @vertex fn corner(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
    @fragment fn paint() -> @location(0) vec4u { return vec4u(color, 0u, 0u, 1u); }";

fn place(mut recorder: Recorder, corners: StorageWrite<Corners>, tools: Res<Tools>) {
    let mut compute = recorder.compute(&tools.place);
    compute.bind(0, &corners).dispatch([1, 1, 1]);
}

/// Draws the pixels 1, 2 and 5 with one command of the extension, and 7 with another after it.
fn paint(
    mut recorder: Recorder,
    row: ColorTarget<Row>,
    corners: VertexRead<Corners>,
    tools: Res<Tools>,
) {
    let multi_draw = tools.multi_draw.fp().cmd_draw_multi_ext;
    let draws = [1, 2, 5].map(|pixel| vk::MultiDrawInfoEXT {
        first_vertex: pixel * 3,
        vertex_count: 3,
    });
    let commands: RawCommand = Box::new(move |_, buffer| {
        let stride = size_of::<vk::MultiDrawInfoEXT>() as u32;
        // SAFETY: the extension is enabled, and the vertices are in the buffer that is bound.
        unsafe { multi_draw(buffer, draws.len() as u32, draws.as_ptr(), 1, 0, stride) };
    });
    let mut rendering = recorder.render(row.clear([0.0; 4]));
    rendering
        .pipeline(&tools.paint)
        .vertices(0, &corners, 0)
        .push(&7_u32);
    // SAFETY: the commands draw with what is bound, and change no state.
    unsafe { rendering.draw_raw(commands) };
    rendering.draw(21..24, 0..1);
}

fn rig() -> Rig {
    let features = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
    let multi_draw = Extension::required().device(ext::multi_draw::NAME);
    let multi_draw = multi_draw.features(features);
    let missing = Extension::optional().device(c"VK_QUADRILLE_none");
    let mut rig = Rig::with(|plugins| plugins.settings.extensions = vec![multi_draw, missing]);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    assert!(gpu.is_enabled(ext::multi_draw::NAME) && gpu.has_features(&features));
    assert!(!gpu.is_enabled(c"VK_QUADRILLE_none"));
    let row = ImageDesc::color_target("row", [8, 1], Format::R8G8B8A8_UINT);
    let row = row.with_usage(ImageUsage::TRANSFER_SRC);
    let usage = BufferUsage::STORAGE | BufferUsage::VERTEX;
    let corners = BufferDesc::new("corners", 8 * 3 * 8, usage);
    let shader = |name, source| GpuShader::wgsl(name, source).expect("it is right");
    let (place, paint) = (shader("place.wgsl", PLACE), shader("paint.wgsl", PAINT));
    let paint = GraphicsPipelineDesc {
        vertex_buffers: vec![VertexLayout::packed(0, &[Format::R32G32_SFLOAT])],
        ..GraphicsPipelineDesc::of("paint", &paint)
    };
    let tools = Tools {
        place: gpu
            .compute_pipeline(&ComputePipelineDesc::of("place", &place))
            .expect("it is right"),
        paint: gpu.graphics_pipeline(&paint).expect("it is right"),
        multi_draw: ext::multi_draw::Device::new(gpu.instance(), gpu.device()),
    };
    rig.app
        .insert_resource(Row(gpu.create_image(&row).expect("images can be made")))
        .insert_resource(Corners(
            gpu.create_buffer(&corners).expect("buffers can be made"),
        ))
        .insert_resource(tools);
    rig
}

#[test]
#[ignore = "needs a device"]
fn extension_draws_output_of_another_queue() {
    let mut rig = rig();
    rig.app
        .add_systems(Render, (place.on_queue(QueuePreference::Async), paint));
    rig.update(3);
    rig.expect_no_errors();
    let row = GpuImage::clone(rig.app.world().resource::<Row>());
    let reds: Vec<_> = read_image(&mut rig, &row)
        .chunks(4)
        .map(|it| it[0])
        .collect();
    assert_eq!(reds, [0, 7, 7, 0, 0, 7, 0, 7]);
}

/// Between a pass that writes and one that reads, neither of which knows what stands between them.
#[test]
#[ignore = "needs a device"]
fn commands_of_ones_own_stand_between_passes() {
    /// Copies the first half of the numbers over the second half of their squares.
    fn copy(mut recorder: Recorder, from: TransferRead<Numbers>, to: TransferWrite<Squares>) {
        let (from, to) = (from.raw(), to.raw());
        let commands: RawCommand = Box::new(move |device, buffer| {
            let half = vk::BufferCopy2::default().size(512).dst_offset(512);
            let half = [half];
            let copy = vk::CopyBufferInfo2::default()
                .src_buffer(from)
                .dst_buffer(to)
                .regions(&half);
            // SAFETY: the pass declares both, and they are as large.
            unsafe { device.cmd_copy_buffer2(buffer, &copy) };
        });
        // SAFETY: as above.
        unsafe { recorder.raw(Capabilities::TRANSFER, commands) };
    }
    let mut rig = Rig::new();
    let passes = (add, square, copy.on_queue(QueuePreference::Async)).chain();
    rig.app.add_systems(Render, passes);
    rig.update(3);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    // Numbers grew by 1 in each of 4 frames.
    assert_eq!(squares[..3], [16, 25, 36]);
    assert_eq!(squares[128..131], [4, 5, 6]);
}
