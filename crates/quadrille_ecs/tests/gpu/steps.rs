//! Passes of several systems that take turns.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::schedule::common_conditions::run_once;
use bevy_ecs::system::ScheduleSystem;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Numbers, Rig, read};

/// Appends the push constant to each number as a decimal digit: the order of passes can be read.
#[derive(Resource)]
struct Append(ComputePipeline);

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    var<immediate> digit: u32;

    @compute @workgroup_size(64)
    fn append(@builtin(global_invocation_id) id: vec3u) {
        numbers[id.x] = numbers[id.x] * 10u + digit;
    }";

/// A system that appends its digit once for each step, or once without a step.
fn appends(digit: u32, steps: &'static [u32]) -> ScheduleConfigs<ScheduleSystem> {
    let system =
        move |mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pipeline: Res<Append>| {
            let uses = [numbers.reads_and_writes()];
            let append = |mut pass: PassRecorder<'_>| {
                pass.compute(&pipeline.0)
                    .bind(0, &numbers)
                    .push(&digit)
                    .dispatch([4, 1, 1]);
            };
            for &step in steps {
                append(recorder.pass_in_step(step, "append", &uses));
            }
            if steps.is_empty() {
                append(recorder.pass("append", &uses));
            }
        };
    system.run_if(run_once)
}

/// The digits that the systems append, in this order.
fn order(systems: ScheduleConfigs<ScheduleSystem>) -> u32 {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>();
    let shader = GpuShader::wgsl("append.wgsl", SHADER).expect("it is a shader");
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("append", &shader));
    rig.app
        .insert_resource(Append(pipeline.expect("it can be made")))
        .add_systems(Render, systems);
    rig.update(1);
    rig.expect_no_errors();
    read(&mut rig, |world| world.resource::<Numbers>().0.clone())[0]
}

#[test]
#[ignore = "needs a device"]
fn steps_come_before_the_order_of_systems() {
    let digits = order((appends(1, &[0, 1]), appends(2, &[1]), appends(3, &[0, 1])).chain());
    assert_eq!(digits, 13_123);
}

#[test]
#[ignore = "needs a device"]
fn steps_that_no_two_systems_share_are_ordered() {
    let digits = order((appends(1, &[1]), appends(2, &[5]), appends(3, &[0])).chain());
    assert_eq!(digits, 312);
    let digits = order((appends(1, &[0, 5]), appends(2, &[0]), appends(9, &[])).chain());
    assert_eq!(digits, 1_219, "a pass without a step comes after all steps");
}

#[test]
#[ignore = "needs a device"]
fn a_pass_without_a_step_keeps_systems_apart() {
    let digits = order(
        (
            appends(1, &[0, 1]),
            appends(2, &[1]),
            appends(9, &[]),
            appends(3, &[0, 1]),
            appends(4, &[0]),
        )
            .chain(),
    );
    assert_eq!(digits, 1_129_343);
}

#[test]
#[ignore = "needs a device"]
fn steps_of_one_system_never_fall() {
    let digits = order((appends(1, &[2, 0]), appends(2, &[1, 2])).chain());
    assert_eq!(digits, 2_112);
}
