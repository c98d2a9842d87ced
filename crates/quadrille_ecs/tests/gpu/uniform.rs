//! Uniform buffers: filled by the host, or by an upload.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Numbers, Rig, read};

/// Fills the numbers with that of a uniform buffer.
const SPREAD: &str = "
    @group(0) @binding(0) var<uniform> number: vec4u;
    @group(0) @binding(1) var<storage, read_write> numbers: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] = number.y; }
";

#[derive(Resource, Deref)]
struct Number(GpuBuffer);
#[derive(Resource)]
struct Spread(ComputePipeline);

fn spread(
    mut recorder: Recorder,
    number: Uniform<Number>,
    numbers: StorageWrite<Numbers>,
    pipeline: Res<Spread>,
) {
    let mut compute = recorder.compute(&pipeline.0);
    compute.bind(0, &number).bind(1, &numbers);
    compute.dispatch([1, 1, 1]);
}

fn words(number: u32) -> Vec<u8> {
    [0, number, 0, 0]
        .map(u32::to_le_bytes)
        .as_flattened()
        .to_vec()
}

/// Returns the number that passes read from a uniform buffer filled by `fill`.
fn found(fill: fn(&GpuBuffer, &mut Uploads) -> Result) -> u32 {
    let mut rig = Rig::new();
    let setup = move |mut commands: Commands,
                      gpu: Res<GpuDevice>,
                      mut uploads: ResMut<Uploads>|
          -> Result {
        let number = gpu.create_buffer(&BufferDesc::uniform("number", 16))?;
        fill(&number, &mut uploads)?;
        commands.insert_resource(Number(number));
        let shader = GpuShader::wgsl("spread", SPREAD)?;
        let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("spread", &shader))?;
        commands.insert_resource(Spread(pipeline));
        Ok(())
    };
    rig.app.add_systems(RenderStartup, setup);
    rig.app.add_systems(Render, spread);
    rig.update(4);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    rig.expect_no_errors();
    numbers[63]
}

#[test]
#[ignore = "needs a device"]
fn the_host_fills_one() {
    assert_eq!(found(|number, _| Ok(number.write(0, &words(7))?)), 7);
}

#[test]
#[ignore = "needs a device"]
fn an_upload_fills_one() {
    let upload = |number: &GpuBuffer, uploads: &mut Uploads| {
        uploads.write_buffer(number, 0, &words(9));
        Ok(())
    };
    assert_eq!(found(upload), 9);
}
