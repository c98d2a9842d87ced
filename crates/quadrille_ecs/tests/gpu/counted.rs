//! Draws whose number and arguments the device writes.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::IndexType;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig, read_image};

/// A row of pixels, each of which a draw of its own draws.
#[derive(Resource, Deref)]
struct Row(GpuImage);

#[derive(Resource, Deref)]
struct Draws(GpuBuffer);

#[derive(Resource, Deref)]
struct Visible(GpuBuffer);

#[derive(Resource, Deref)]
struct Indices(GpuBuffer);

#[derive(Resource)]
struct Tools {
    cull: ComputePipeline,
    draw: GraphicsPipeline,
    indexed: bool,
}

/// Writes the arguments of a draw for each pixel whose number is odd, and how many there are. A draw
/// has its pixel as its first instance.
const CULL: &str = "
    override WORDS: u32;
    @group(0) @binding(0) var<storage, read_write> draws: array<u32>;
    @group(0) @binding(1) var<storage, read_write> visible: array<atomic<u32>>;
    @compute @workgroup_size(8)
    fn cull(@builtin(global_invocation_id) id: vec3u) {
        if (id.x & 1u) == 0u { return; }
        let at = 2u + atomicAdd(&visible[1], 1u) * WORDS;
        draws[at] = 3u;
        draws[at + 1u] = 1u;
        draws[at + 2u] = 0u;
        draws[at + 3u] = 0u;
        draws[at + WORDS - 1u] = id.x;
    }";

/// Draws a pixel of the row, with which draw it is as its color.
const DRAW: &str = "
    enable draw_index;
    struct Out { @builtin(position) at: vec4f, @location(0) @interpolate(flat) draw: u32 }
    @vertex fn corner(
        @builtin(vertex_index) corner: u32,
        @builtin(instance_index) pixel: u32,
        @builtin(draw_index) draw: u32,
    ) -> Out {
        let x = f32(corner & 1u) * 2.0 + f32(pixel);
        let y = f32(corner >> 1u) * 4.0 - 1.0;
        // The triangle begins at its pixel.
        return Out(vec4f(x / 4.0 - 1.0, y, 0.0, 1.0), draw);
    }
    @fragment fn paint(in: Out) -> @location(0) vec4u {
        return vec4u(in.draw + 1u, u32(in.at.x), 0u, 1u);
    }";

fn rig(indexed: bool) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let usage = BufferUsage::STORAGE | BufferUsage::INDIRECT | BufferUsage::TRANSFER_DST;
    let buffer = |name, bytes, usage| {
        let made = gpu.create_buffer(&BufferDesc::new(name, bytes, usage));
        made.expect("buffers can be made")
    };
    let row = ImageDesc::color_target("row", [8, 1], Format::R8G8B8A8_UINT);
    let row = row.with_usage(ImageUsage::TRANSFER_SRC);
    let shader =
        |name, source| GpuShader::wgsl(name, source).unwrap_or_else(|error| panic!("{error}"));
    let (cull, draw) = (shader("cull.wgsl", CULL), shader("draw.wgsl", DRAW));
    let words = if indexed { 5_u32 } else { 4 };
    let cull = ComputePipelineDesc::of("cull", &cull).constant("WORDS", words);
    let indices = BufferUsage::INDEX | BufferUsage::TRANSFER_DST;
    let tools = Tools {
        cull: gpu.compute_pipeline(&cull).expect("pipelines can be made"),
        draw: gpu
            .graphics_pipeline(&GraphicsPipelineDesc::of("draw", &draw))
            .expect("pipelines can be made"),
        indexed,
    };
    let indices = buffer("indices", 8, indices);
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(&indices, 0, &[0, 0, 1, 0, 2, 0, 0, 0]);
    rig.app
        .insert_resource(Row(gpu.create_image(&row).expect("images can be made")))
        .insert_resource(Draws(buffer("draws", 8 + 8 * 20, usage)))
        .insert_resource(Visible(buffer("visible", 8, usage)))
        .insert_resource(Indices(indices))
        .insert_resource(tools);
    rig
}

fn clear(mut recorder: Recorder, draws: TransferWrite<Draws>, visible: TransferWrite<Visible>) {
    let mut transfer = recorder.transfer();
    transfer.fill_buffer(&draws, 0, 8 + 8 * 20, 0);
    transfer.fill_buffer(&visible, 0, 8, 0);
}

fn cull(
    mut recorder: Recorder,
    draws: StorageReadWrite<Draws>,
    visible: StorageReadWrite<Visible>,
    tools: Res<Tools>,
) {
    let mut compute = recorder.compute(&tools.cull);
    compute
        .bind(0, &draws)
        .bind(1, &visible)
        .dispatch([1, 1, 1]);
}

/// Draws at most three of the four that are visible.
fn draw(
    mut recorder: Recorder,
    row: ColorTarget<Row>,
    (draws, visible): (IndirectRead<Draws>, IndirectRead<Visible>),
    indices: IndexRead<Indices>,
    tools: Res<Tools>,
) {
    let mut rendering = recorder.render(row.clear([0.0; 4]));
    rendering.pipeline(&tools.draw);
    for most in [1, 3] {
        let (draws, count) = ((&draws, 8), (&visible, 4));
        if tools.indexed {
            rendering
                .indices(&indices, 0, IndexType::U16)
                .draw_indexed_indirect_count(draws, count, most)
        } else {
            rendering.draw_indirect_count(draws, count, most)
        };
    }
}

#[test]
#[ignore = "needs a device"]
fn the_device_says_how_often_is_drawn() {
    for indexed in [false, true] {
        let mut rig = rig(indexed);
        rig.app.add_systems(Render, (clear, cull, draw).chain());
        rig.update(4);
        let reported = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
        if let Some(error) = reported.first() {
            // A device without the feature, which the error names.
            assert!(
                error.contains("takes the feature drawIndirectCount, which the device"),
                "{error}"
            );
            assert!(std::env::var("QUADRILLE_LAYER_HIDE").is_ok(), "{error}");
            continue;
        }
        let row = rig.app.world().resource::<Row>().0.clone();
        let texels = read_image(&mut rig, &row);
        rig.expect_no_errors();
        let drawn: Vec<_> = texels.chunks(4).map(|it| (it[0], it[3])).collect();
        // The order of the invocations is open; of the four odd pixels three are drawn, each from
        // its own on, and each pixel has the number of some draw.
        let numbers: std::collections::BTreeSet<u8> = drawn.iter().map(|it| it.0).collect();
        assert!(numbers.iter().all(|&number| number <= 3), "{drawn:?}");
        assert!(numbers.contains(&3), "the last one is on top: {drawn:?}");
        assert!(drawn.iter().any(|it| it.1 == 1), "{drawn:?}");
        assert_eq!(
            drawn[0],
            (0, 0),
            "no draw begins at an even pixel: {drawn:?}"
        );
    }
}

/// Returns the error that refuses a draw.
fn refusal<M>(pass: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) -> String {
    let mut rig = rig(false);
    rig.app.add_systems(Render, (clear, pass).chain());
    rig.update(1);
    rig.app.world().resource::<Errors>().0.join("; ")
}

#[test]
#[ignore = "needs a device"]
fn ranges_outside_buffers_are_refused() {
    macro_rules! refused {
        ($arguments:expr, $count:expr, $most:expr) => {{
            fn wrong(
                mut recorder: Recorder,
                row: ColorTarget<Row>,
                (draws, visible): (IndirectRead<Draws>, IndirectRead<Visible>),
                tools: Res<Tools>,
            ) {
                let mut rendering = recorder.render(row.clear([0.0; 4]));
                rendering.pipeline(&tools.draw);
                rendering.draw_indirect_count((&draws, $arguments), (&visible, $count), $most);
            }
            refusal(wrong)
        }};
    }
    if std::env::var("QUADRILLE_LAYER_HIDE").is_ok() {
        return;
    }
    let message = refused!(8, 8, 1);
    assert!(
        message.contains("the range of 4 bytes from 8 lies outside `visible`, which has 8 bytes"),
        "{message}"
    );
    let message = refused!(8, 2, 1);
    assert!(
        message.contains("the offset of the number of draws, 2, "),
        "{message}"
    );
    let message = refused!(0, 0, 11);
    assert!(
        message.contains("the range of 176 bytes from 0 lies outside `draws`, which has 168"),
        "{message}"
    );
    let message = refused!(2, 0, 1);
    assert!(
        message.contains("the offset of indirect draws, 2, "),
        "{message}"
    );
    let message = refused!(u64::MAX, 0, 1);
    assert!(message.contains("draws"), "{message}");
}
