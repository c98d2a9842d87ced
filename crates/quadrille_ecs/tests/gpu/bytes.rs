//! Parts of buffers that are bound.

use std::ops::Range;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;

use crate::common::{Errors, Rig, read};

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
fn a_shader_sees_what_is_bound_of_a_buffer() {
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
fn what_is_not_in_the_buffer_is_an_error() {
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
