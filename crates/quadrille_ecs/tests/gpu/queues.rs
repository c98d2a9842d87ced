//! Passes that wish for no queue: they move where measured times say that frames get shorter, and
//! what they compute stays the same.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Rig, read};

/// Enough frames for several looks, and for what follows from them.
const TIMEOUT: u32 = 600;

/// Each pass runs through its numbers as often as it takes to be measured.
const HEAVY: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) {
        var it = numbers[id.x];
        for (var round = 0u; round < 20000u; round++) {
            it = it * 1664525u + 1013904223u;
        }
        numbers[id.x] = it;
    }";

#[derive(Resource, Deref)]
struct One(GpuBuffer);

#[derive(Resource, Deref)]
struct Two(GpuBuffer);

#[derive(Resource, Deref)]
struct Heavy(ComputePipeline);

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    for name in ["one", "two"] {
        let buffer = gpu.create_buffer(&BufferDesc::storage(name, 1024))?;
        uploads.write_buffer(&buffer, 0, &[0; 1024]);
        match name {
            "one" => commands.insert_resource(One(buffer)),
            _ => commands.insert_resource(Two(buffer)),
        }
    }
    let shader = GpuShader::wgsl("heavy", HEAVY)?;
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("heavy", &shader))?;
    commands.insert_resource(Heavy(pipeline));
    Ok(())
}

fn one(mut recorder: Recorder, numbers: StorageReadWrite<One>, heavy: Res<Heavy>) {
    recorder
        .compute(&heavy)
        .bind(0, &numbers)
        .dispatch([4, 1, 1]);
}

fn two(mut recorder: Recorder, numbers: StorageReadWrite<Two>, heavy: Res<Heavy>) {
    recorder
        .compute(&heavy)
        .bind(0, &numbers)
        .dispatch([4, 1, 1]);
}

fn rig_of(auto_queues: bool) -> Rig {
    let mut rig = Rig::with(|plugins| plugins.settings.auto_queues = auto_queues);
    rig.app.add_systems(RenderStartup, setup);
    rig
}

/// How many queues could run the passes.
fn able(rig: &Rig) -> usize {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let queues = gpu.topology().queues.iter();
    let can = |queue: &&_| -> bool {
        let queue: &quadrille_sync::topology::Queue = queue;
        queue.capabilities.contains(Capabilities::COMPUTE)
    };
    queues.filter(can).count()
}

/// The queues of the passes that were moved, by name.
fn moved(rig: &Rig) -> Vec<(String, u64)> {
    let report = rig.app.world().resource::<Renderer>().report();
    let moved = report["moved"].as_object().expect("an object");
    let queue = |value: &serde_json::Value| value["queue"].as_u64().expect("a queue");
    moved
        .iter()
        .map(|(name, value)| (name.clone(), queue(value)))
        .collect()
}

/// Returns the result of so many frames that begin with 0.
fn expected(frames: u32) -> u32 {
    (0..frames * 20_000).fold(0_u32, |it, _| {
        it.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    })
}

#[test]
#[ignore = "needs a device"]
fn one_of_two_heavy_passes_moves_where_there_is_another_queue() {
    let mut rig = rig_of(true);
    rig.app.add_systems(Render, (one, two));
    let several = able(&rig) > 1;
    let mut frames = 0;
    while frames < TIMEOUT && moved(&rig).is_empty() {
        rig.update(1);
        frames += 1;
    }
    let now = moved(&rig);
    assert_eq!(
        now.len(),
        usize::from(several),
        "{now:?} after {frames} frames"
    );
    rig.app
        .world_mut()
        .resource_mut::<Renderer>()
        .keep_frames(true);
    rig.update(2);
    frames += 2;
    if let Some((name, queue)) = now.first() {
        assert_ne!(*queue, 0, "it has left the main queue");
        let plan = rig.app.world().resource::<Renderer>().plan_text();
        let plan = plan.expect("the frame is kept");
        let submissions: Vec<&str> = plan.split("submit ").collect();
        let of_queue = submissions
            .iter()
            .filter(|it| it.starts_with(&queue.to_string()));
        let runs_it = of_queue
            .into_iter()
            .any(|it| it.contains(&format!("pass {name}")));
        assert!(runs_it, "{plan}");
    }
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<One>().0.clone());
    let others = read(&mut rig, |world| world.resource::<Two>().0.clone());
    let found = (frames..frames + 20).find(|frames| expected(*frames) == numbers[0]);
    assert!(
        found.is_some(),
        "{} is not of {frames} frames or some more",
        numbers[0]
    );
    assert!(others.iter().all(|it| *it == others[0]), "all are alike");
}

#[test]
#[ignore = "needs a device"]
fn passes_with_wishes_stay_and_so_do_all_with_the_setting_off() {
    let mut rig = rig_of(true);
    rig.app.add_systems(
        Render,
        (
            one.on_queue(QueuePreference::Main),
            two.on_queue(QueuePreference::Main),
        ),
    );
    rig.update(TIMEOUT / 3);
    assert_eq!(moved(&rig), [], "they wish for the main queue");
    rig.expect_no_errors();
    let mut rig = rig_of(false);
    rig.app.add_systems(Render, (one, two));
    rig.update(TIMEOUT / 3);
    assert_eq!(moved(&rig), [], "the setting is off");
    rig.expect_no_errors();
}
