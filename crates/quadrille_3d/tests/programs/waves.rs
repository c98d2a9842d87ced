use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::Pass3dSystems;
use quadrille_3d::resources::Instances3d;

#[derive(Resource)]
struct Waves(ComputePipeline);

/// Lifts all that lies around the middle.
const SHADER: &str = "
    import quadrille_3d::mesh_types::Instance;

    @group(0) @binding(0) var<storage, read_write> instances: array<Instance>;
    var<immediate> time: f32;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) {
        if id.x < arrayLength(&instances) {
            let place = vec2f(instances[id.x].world_from_local[0].w, instances[id.x].world_from_local[2].w);
            instances[id.x].world_from_local[1].w = 0.4 * sin(length(place) * 1.5 - time);
        }
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("waves.wgsl", SHADER)?;
    let desc = ComputePipelineDesc::of("waves", &shader);
    commands.insert_resource(Waves(gpu.compute_pipeline(&desc)?));
    Ok(())
}

fn waves(
    mut recorder: Recorder,
    instances: StorageReadWrite<Instances3d>,
    pipeline: Res<Waves>,
    mut frame: Local<u16>,
) {
    *frame += 1;
    let groups = (instances.bytes() / 64).div_ceil(64) as u32;
    recorder
        .compute(&pipeline.0)
        .bind("instances", &instances)
        .push(&(f32::from(*frame) * 0.1))
        .dispatch([groups, 1, 1]);
}

pub fn add(app: &mut App) {
    let place = waves.after(Pass3dSystems::Cull).before(Pass3dSystems::Shadow);
    app.add_systems(RenderStartup, make)
        .add_systems(Render, place.on_queue(QueuePreference::Async));
}
