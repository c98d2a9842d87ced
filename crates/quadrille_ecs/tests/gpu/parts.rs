//! Buffers that are declared as read and read in part.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::{BufferDesc, BufferUsage, GpuBuffer};

use crate::common::{Rig, read};

/// Written as a whole twice a frame.
#[derive(Resource, Deref)]
struct All(GpuBuffer);

/// The part that is read in between.
#[derive(Resource, Deref)]
struct Part(GpuBuffer);

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let usage = BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
    commands.insert_resource(All(gpu.create_buffer(&BufferDesc::new("all", 256, usage))?));
    commands.insert_resource(Part(
        gpu.create_buffer(&BufferDesc::new("part", 16, usage))?,
    ));
    Ok(())
}

fn fill_first(mut recorder: Recorder, all: TransferWrite<All>) {
    recorder.transfer().fill_buffer(&all, 0, 256, 1);
}

fn copy_part(mut recorder: Recorder, all: TransferRead<All>, part: TransferWrite<Part>) {
    recorder.transfer().copy_buffer(&all, 0, &part, 0, 16);
}

fn fill_again(mut recorder: Recorder, all: TransferWrite<All>) {
    recorder.transfer().fill_buffer(&all, 0, 256, 2);
}

/// The validation layer follows bytes: it objects where the second fill is ordered after the copy alone.
#[test]
#[ignore = "needs a device"]
fn what_is_read_in_part_is_written_again() {
    let mut rig = Rig::new();
    rig.app.add_systems(RenderStartup, setup);
    let passes = (fill_first, copy_part, fill_again).chain();
    rig.app.add_systems(Render, passes);
    rig.update(5);
    rig.expect_no_errors();
    let part = read(&mut rig, |world| world.resource::<Part>().0.clone());
    assert_eq!(part, [1; 4]);
    let all = read(&mut rig, |world| world.resource::<All>().0.clone());
    assert_eq!(all, [2; 64]);
    rig.expect_no_errors();
}
