//! Histories on a device.

use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage, ImageDesc, ImageUsage};
use quadrille_vulkan::shader::GpuShader;

use super::common::{Rig, read};

/// 64 numbers that grow by 1 in each frame.
enum Count {}

impl History for Count {
    type Handle = GpuBuffer;
}

/// A small picture that is copied from frame to frame.
enum Picture {}

impl History for Picture {
    type Handle = GpuImage;
}

#[derive(Resource)]
struct Grow(ComputePipeline);

const GROW: &str = "
    @group(0) @binding(0) var<storage, read> old: array<u32>;
    @group(0) @binding(1) var<storage, read_write> now: array<u32>;

    @compute @workgroup_size(64)
    fn grow(@builtin(global_invocation_id) id: vec3u) {
        now[id.x] = old[id.x] + 1;
    }";

fn rig() -> Rig {
    let mut rig = Rig::new();
    rig.update(1);
    let world = rig.app.world_mut();
    let gpu = world.resource::<GpuDevice>().clone();
    let desc = BufferDesc::storage("count", 256);
    let count = NewHistory::<Count>::buffer(&gpu, &desc).expect("buffers can be made");
    world.commands().queue(count);
    let shader = GpuShader::wgsl("grow", GROW).expect("the shader is right");
    let grow = gpu.compute_pipeline(&ComputePipelineDesc::of("grow", &shader));
    world.insert_resource(Grow(grow.expect("the pipeline can be made")));
    world.flush();
    rig
}

fn grow(
    mut recorder: Recorder,
    old: StorageRead<Previous<Count>>,
    new: StorageWrite<Current<Count>>,
    pass: Res<Grow>,
) {
    recorder
        .compute(&pass.0)
        .bind(0, &old)
        .bind(1, &new)
        .dispatch([1, 1, 1]);
}

#[test]
#[ignore = "needs a device"]
fn pass_reads_its_output_of_the_last_frame() {
    let mut rig = rig();
    rig.app
        .add_systems(Render, grow.on_queue(QueuePreference::Async));
    rig.update(5);
    rig.expect_no_errors();
    // The fifth frame's output is the past now, and the frame that reads it back comes later.
    let past = rig.app.world().resource::<Previous<Count>>();
    let past = GpuBuffer::clone(past);
    let numbers = read(&mut rig, |_| past);
    assert!(numbers.iter().all(|number| *number == 5), "{numbers:?}");
}

#[test]
#[ignore = "needs a device"]
fn frames_that_change_places_reuse_their_plans() {
    let mut rig = rig();
    rig.app.add_systems(Render, grow);
    rig.update(30);
    rig.expect_no_errors();
    let report = rig.app.world().resource::<Renderer>().report();
    let reused = report["plans_reused"].as_u64().expect("it is a number");
    // Two frames take turns, each planned until it has seen the other's states.
    assert!(reused >= 24, "{reused} of 31 plans are reused");
}

#[test]
#[ignore = "needs a device"]
fn a_frame_that_does_not_touch_a_history_leaves_it_alone() {
    #[derive(Resource)]
    struct On(bool);
    let mut rig = rig();
    rig.app.insert_resource(On(true));
    rig.app.add_systems(Render, grow.run_if(|on: Res<On>| on.0));
    rig.update(2);
    let before = rig.app.world().resource::<Previous<Count>>().id();
    rig.app.world_mut().resource_mut::<On>().0 = false;
    rig.update(3);
    rig.expect_no_errors();
    let past = rig.app.world().resource::<Previous<Count>>();
    assert_eq!(past.id(), before);
    let past = GpuBuffer::clone(past);
    let numbers = read(&mut rig, |_| past);
    assert!(numbers.iter().all(|number| *number == 2), "{numbers:?}");
}

#[test]
#[ignore = "needs a device"]
fn images_have_a_history_that_begins_with_zeros() {
    fn paint(mut recorder: Recorder, new: TransferWrite<Current<Picture>>) {
        recorder.transfer().clear_image(&new, [1.0, 0.0, 0.0, 1.0]);
    }
    #[derive(Resource, bevy_derive::Deref)]
    struct Copy(GpuImage);
    fn copy(mut recorder: Recorder, old: TransferRead<Previous<Picture>>, to: TransferWrite<Copy>) {
        recorder.transfer().copy_image(&old, &to);
    }
    fn picture(rig: &mut Rig) -> Vec<u32> {
        #[derive(Resource, Default)]
        struct Bytes(Option<Vec<u8>>);
        let world = rig.app.world_mut();
        world.insert_resource(Bytes(None));
        let copy = world.resource::<Copy>().0.clone();
        world.spawn(Readback::image(&copy)).observe(
            |done: On<ReadbackComplete>, mut bytes: ResMut<Bytes>| {
                bytes.0 = Some(done.bytes.clone());
            },
        );
        // The copy is that of the first of these frames.
        for _ in 0..10 {
            rig.update(1);
            if let Some(bytes) = rig.app.world_mut().resource_mut::<Bytes>().0.take() {
                let word = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes);
                return bytes
                    .chunks_exact(4)
                    .map(|b| word(b).expect("4 bytes"))
                    .collect();
            }
        }
        panic!("nothing is read back");
    }
    let mut rig = rig();
    let world = rig.app.world_mut();
    let gpu = world.resource::<GpuDevice>().clone();
    let usage = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let desc = ImageDesc::sampled("picture", [8, 8], Format::R8G8B8A8_UNORM).with_usage(usage);
    let history = NewHistory::<Picture>::image(&gpu, &desc).expect("images can be made");
    world.commands().queue(history);
    world.flush();
    let copied = gpu.create_image(&desc).expect("images can be made");
    world.insert_resource(Copy(copied));
    rig.app.add_systems(Render, (paint, copy));
    assert!(picture(&mut rig).iter().all(|texel| *texel == 0));
    assert!(picture(&mut rig).iter().all(|texel| *texel == 0xff00_00ff));
    rig.expect_no_errors();
}
