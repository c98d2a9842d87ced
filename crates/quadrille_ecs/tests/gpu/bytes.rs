//! Parts of buffers that are bound.

use std::ops::Range;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc, PrimitiveTopology,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig, read, read_back};

/// Adds each number of a part to that of another.
const SUM: &str = "
    @group(0) @binding(0) var<storage, read> these: array<u32>;
    @group(0) @binding(1) var<storage, read_write> those: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) { those[id.x] = these[id.x] + 7u; }
";

#[derive(Resource, Deref)]
struct Parts(GpuBuffer);

/// The part that is written.
#[derive(Resource)]
struct Written(Range<u64>);

#[derive(Resource)]
struct Sum(ComputePipeline);

fn sum(
    mut recorder: Recorder,
    parts: StorageReadWrite<Parts>,
    written: Res<Written>,
    pipeline: Res<Sum>,
) {
    let mut compute = recorder.compute(&pipeline.0);
    compute
        .bind_bytes("these", &parts, 256..512)
        .bind_bytes("those", &parts, written.0.clone())
        .dispatch([1, 1, 1]);
}

fn rig(written: Range<u64>) -> Rig {
    let mut rig = Rig::new();
    let setup =
        |mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>| -> Result {
            let parts = gpu.create_buffer(&BufferDesc::storage("parts", 1024))?;
            let numbers: Vec<u8> = (0..256u32).flat_map(u32::to_le_bytes).collect();
            uploads.write_buffer(&parts, 0, &numbers);
            commands.insert_resource(Parts(parts));
            let shader = GpuShader::wgsl("sum", SUM)?;
            let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("sum", &shader))?;
            commands.insert_resource(Sum(pipeline));
            Ok(())
        };
    rig.app
        .insert_resource(Written(written))
        .add_systems(RenderStartup, setup)
        .add_systems(Render, sum);
    rig
}

#[test]
#[ignore = "needs a device"]
fn shader_reads_only_the_bound_range() {
    let mut rig = rig(768..1024);
    rig.update(4);
    let numbers = read(&mut rig, |world| world.resource::<Parts>().0.clone());
    rig.expect_no_errors();
    for (at, number) in (0u32..).zip(numbers) {
        let wanted = if at < 192 { at } else { at - 128 + 7 };
        assert_eq!(number, wanted, "{at}");
    }
}

#[test]
#[ignore = "needs a device"]
fn range_outside_the_buffer_is_an_error() {
    for (written, wanted) in [
        (768..1028, "range of 260 bytes from 768"),
        (512..512, "range of 0 bytes from 1024"),
        (100..356, "offset 100 of parts"),
    ] {
        let mut rig = rig(written);
        rig.update(2);
        let errors = &mut rig.app.world_mut().resource_mut::<Errors>().0;
        let first = errors.first().expect("there is an error");
        assert!(first.contains(wanted), "{first}");
        errors.clear();
    }
}

/// Draws one texel for each row of a uniform buffer, in its color.
const ROWS: &str = "
    struct Row { color: vec4f, left: f32 }
    @group(0) @binding(0) var<uniform> row: Row;
    @vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        let x = select(row.left, row.left + 0.5, (i & 1u) == 1u);
        return vec4f(x, select(-1.0, 1.0, i > 1u), 0.0, 1.0);
    }
    @fragment fn paint() -> @location(0) vec4f { return row.color; }
";

#[derive(Resource, Deref)]
struct Line(GpuImage);

#[derive(Resource)]
struct Paint(GraphicsPipeline);

fn paint(
    mut recorder: Recorder,
    line: ColorTarget<Line>,
    rows: Uniform<Parts>,
    paint: Res<Paint>,
    written: Res<Written>,
) {
    let mut rendering = recorder.render(line.clear([0.0; 4]));
    rendering.pipeline(&paint.0);
    for first in written.0.clone().step_by(256) {
        rendering
            .bind_bytes("row", &rows, first..first + 256)
            .draw(0..4, 0..1);
    }
}

/// Four rows, of which those from some byte on are drawn.
fn painting(written: Range<u64>) -> Rig {
    let mut rig = Rig::new();
    let setup =
        |mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>| -> Result {
            let desc = BufferDesc::storage("rows", 1024).with_usage(BufferUsage::UNIFORM);
            let rows = gpu.create_buffer(&desc)?;
            for row in 0..4u16 {
                let number = f32::from(row);
                let numbers = [(number + 1.0) / 255.0, 0.0, 0.0, 1.0, number * 0.5 - 1.0];
                let bytes: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
                uploads.write_buffer(&rows, u64::from(row) * 256, &bytes);
            }
            commands.insert_resource(Parts(rows));
            let line = ImageDesc::color_target("line", [4, 1], Format::R8G8B8A8_UNORM);
            let line = gpu.create_image(&line.with_usage(ImageUsage::TRANSFER_SRC))?;
            commands.insert_resource(Line(line));
            let shader = GpuShader::wgsl("rows", ROWS)?;
            let desc = GraphicsPipelineDesc {
                topology: PrimitiveTopology::TriangleStrip,
                ..GraphicsPipelineDesc::of("rows", &shader)
            };
            commands.insert_resource(Paint(gpu.graphics_pipeline(&desc)?));
            Ok(())
        };
    rig.app
        .insert_resource(Written(written))
        .add_systems(RenderStartup, setup)
        .add_systems(Render, paint);
    rig
}

#[test]
#[ignore = "needs a device"]
fn each_draw_sees_the_row_that_is_bound() {
    let mut rig = painting(256..1024);
    rig.update(2);
    let line = rig.app.world().resource::<Line>().0.clone();
    let texels = read_back(&mut rig, Readback::image(&line)).expect("an image is read back");
    rig.expect_no_errors();
    assert_eq!([0, 4, 8, 12].map(|at| texels[at]), [0, 2, 3, 4]);
}

#[test]
#[ignore = "needs a device"]
fn a_row_behind_the_last_one_is_an_error() {
    let mut rig = painting(768..1280);
    rig.update(2);
    let errors = &mut rig.app.world_mut().resource_mut::<Errors>().0;
    let first = errors.first().expect("there is an error");
    assert!(first.contains("256 bytes from 1024"), "{first}");
    errors.clear();
}
