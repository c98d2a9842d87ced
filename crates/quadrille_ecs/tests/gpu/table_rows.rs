//! Pass that reads a table, shared by the tests of tables: it leaves a row of what it saw per frame.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
use quadrille_vulkan::shader::GpuShader;

use crate::common::Rig;

/// Number of entries that the shader reads.
pub(crate) const ENTRIES: u32 = 8;

/// How many frames leave a row of what they saw.
pub(crate) const ROWS: u32 = 64;

/// A number for each entry per frame, as read by a pass on the main queue ...
#[derive(Resource, Deref)]
pub(crate) struct Seen(pub(crate) GpuBuffer);

/// ... and by one on another.
#[derive(Resource, Deref)]
pub(crate) struct SeenBeside(pub(crate) GpuBuffer);

#[derive(Resource)]
pub(crate) struct Look {
    pub(crate) pipeline: ComputePipeline,
    pub(crate) frame: u32,
}

/// Inserts the pipeline of a shader, and the buffers that it writes.
pub(crate) fn insert_look(rig: &mut Rig, source: &str, spirv: bool) {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let shader = GpuShader::wgsl("look", source).expect("it is WGSL");
    let shader = if spirv {
        GpuShader::spirv("look", shader.words()).expect("it is SPIR-V")
    } else {
        shader
    };
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc::of("look", &shader))
        .expect("it is a pipeline");
    let bytes = u64::from(ROWS * ENTRIES * 4);
    let [seen, beside] = ["seen", "seen beside"].map(|name| {
        let desc = BufferDesc::storage(name, bytes);
        gpu.create_buffer(&desc).expect("buffers can be made")
    });
    let world = rig.app.world_mut();
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_buffer(&seen, 0, &vec![0; bytes as usize]);
    uploads.write_buffer(&beside, 0, &vec![0; bytes as usize]);
    world.insert_resource(Seen(seen));
    world.insert_resource(SeenBeside(beside));
    world.insert_resource(Look { pipeline, frame: 0 });
    rig.app
        .add_systems(bevy_app::Last, |mut look: ResMut<Look>| look.frame += 1);
}

/// Copies what it sees of a table to `T`.
pub(crate) fn look<N: NamedTable, T: Named<Handle = GpuBuffer>>(
    mut recorder: Recorder,
    table: Table<N>,
    seen: StorageReadWrite<T>,
    look: Res<Look>,
) {
    recorder
        .compute(&look.pipeline)
        .bind("seen", &seen)
        .table(1, &table)
        .push(&look.frame)
        .dispatch([1, 1, 1]);
}

/// Returns the row of a frame.
pub(crate) fn row(seen: &[u32], frame: u32) -> &[u32] {
    &seen[(frame * ENTRIES) as usize..][..ENTRIES as usize]
}
