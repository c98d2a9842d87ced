//! A plan that lacks something that it needs: the judge objects. One weakening for each thing that a
//! rung of the solver's ladder says, each on a frame in which nothing else does the same.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use quadrille_oracle::Judge;
use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::plan::{
    BarrierBatch, BufferBarrier, ImageBarrier, MemoryBarrier, Plan, Step, Submission, TransferHalf,
};
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::{parse_frame, parse_topology};
use quadrille_sync::topology::{FamilyIndex, QueueIndex};

/// How often a frame comes: what one plan lacks, the plans after it may run into.
const TIMES: usize = 4;

/// Asserts that the plans of a frame that repeats pass, and that no plan passes with this change.
#[track_caller]
fn check(topology: &str, frame: &str, weaken: impl Fn(&mut Plan)) {
    let (topology, frame) = (
        parse_topology(topology).unwrap(),
        parse_frame(frame).unwrap(),
    );
    let (mut states, mut judge) = (States::default(), Judge::new(&topology));
    let mut taken = Vec::new();
    for _ in 0..TIMES {
        let plan = plan(&frame, &topology, &states).unwrap();
        let before = judge.clone();
        assert_eq!(judge.frame(&frame, &plan), [], "the plan as it is");
        states.commit(&frame, &topology, &plan);
        taken.push((before, plan));
    }
    // The first frame has no past, and the last one no future.
    for at in 0..TIMES - 1 {
        let (mut judge, mut weak) = taken[at].clone();
        weaken(&mut weak);
        assert_ne!(weak, taken[at].1, "frame {at}: nothing was changed");
        let noticed = !judge.frame(&frame, &weak).is_empty();
        let mut later = taken[at + 1..].iter();
        let noticed = noticed || later.any(|(_, plan)| !judge.frame(&frame, plan).is_empty());
        let text = weak.display(&frame, &topology);
        assert!(noticed, "frame {at}: nobody objects to\n{text}");
    }
}

/// All barrier calls of a plan.
fn calls(plan: &mut Plan) -> impl Iterator<Item = &mut BarrierBatch> {
    let steps = plan.submissions.iter_mut().flat_map(|it| &mut it.steps);
    steps.filter_map(|step| match step {
        Step::Barriers(batch) => Some(&mut **batch),
        Step::Pass(_) => None,
    })
}

/// Changes all global memory barriers.
fn memory(plan: &mut Plan, change: impl Fn(&mut MemoryBarrier)) {
    calls(plan)
        .filter_map(|it| it.memory.as_mut())
        .for_each(change);
}

/// Changes all barriers of images that are no transfers.
fn images(plan: &mut Plan, change: impl Fn(&mut ImageBarrier)) {
    let images = calls(plan).flat_map(|it| &mut it.images);
    images.filter(|it| it.transfer.is_none()).for_each(change);
}

/// Changes one half of all transfers of buffers.
fn halves(plan: &mut Plan, half: TransferHalf, change: impl Fn(&mut BufferBarrier)) {
    let buffers = calls(plan).flat_map(|it| &mut it.buffers);
    let is_such = |it: &&mut BufferBarrier| it.transfer.is_some_and(|it| it.half == half);
    buffers.filter(is_such).for_each(change);
}

/// Leaves out one half of all transfers of buffers.
fn drop_halves(plan: &mut Plan, half: TransferHalf) {
    let is_other = |it: &BufferBarrier| it.transfer.is_none_or(|it| it.half != half);
    calls(plan).for_each(|it| it.buffers.retain(is_other));
}

/// A read in two stages, and then a write, which depends on the reads by execution alone.
const WRITE_AFTER_READS: &str = "
buffer cells 0 bytes 64
pass fill requires COMPUTE
  StorageWriteCompute cells discard
pass draw requires GRAPHICS
  StorageReadFragment cells
  after fill
pass look requires COMPUTE
  StorageReadCompute cells
  after fill
pass again requires TRANSFER
  CopyWrite cells discard
  after draw
  after look
";

#[test]
fn rung_1_visibility_is_per_stage_and_access() {
    // Both readers are in the second scope of one barrier: each needs its own stage there.
    let frame = "
buffer cells 0 bytes 64
pass fill requires COMPUTE
  StorageWriteCompute cells discard
pass draw requires GRAPHICS
  StorageReadVertex cells
  after fill
pass look requires COMPUTE
  UniformReadCompute cells
  after fill
";
    for stage in [Stages::VERTEX_SHADER, Stages::COMPUTE_SHADER] {
        check("gct:1", frame, |plan| {
            memory(plan, |it| it.dst.stages.remove(stage));
        });
    }
    for access in [AccessMask::SHADER_STORAGE_READ, AccessMask::UNIFORM_READ] {
        check("gct:1", frame, |plan| {
            memory(plan, |it| it.dst.access.remove(access));
        });
    }
}

#[test]
fn rung_2_a_write_comes_after_all_reads() {
    for stage in [Stages::FRAGMENT_SHADER, Stages::COMPUTE_SHADER] {
        check("gct:1", WRITE_AFTER_READS, |plan| {
            memory(plan, |it| {
                // The one before the second write.
                if it.dst.stages.contains(Stages::COPY) {
                    it.src.stages.remove(stage);
                }
            });
        });
    }
    check("gct:1", WRITE_AFTER_READS, |plan| {
        memory(plan, |it| it.dst.stages.remove(Stages::COPY));
    });
}

/// A read after a write on one queue.
const READ_AFTER_WRITE: &str = "
buffer cells 0 bytes 64
pass fill requires TRANSFER
  CopyWrite cells discard
pass look requires COMPUTE
  StorageReadCompute cells
";

#[test]
fn rung_3_memory_is_made_available_and_visible() {
    check("gct:1", READ_AFTER_WRITE, |plan| {
        calls(plan).for_each(|it| it.memory = None);
    });
    check("gct:1", READ_AFTER_WRITE, |plan| {
        memory(plan, |it| it.src.access.remove(AccessMask::TRANSFER_WRITE));
    });
    check("gct:1", READ_AFTER_WRITE, |plan| {
        memory(plan, |it| it.src.stages.remove(Stages::COPY));
    });
    check("gct:1", READ_AFTER_WRITE, |plan| {
        memory(plan, |it| {
            it.dst.access.remove(AccessMask::SHADER_STORAGE_READ)
        });
    });
    // A barrier for a part alone.
    check("gct:1 precise", READ_AFTER_WRITE, |plan| {
        calls(plan).for_each(|it| it.buffers.iter_mut().for_each(|it| it.size -= 1));
    });
}

/// An image that is drawn to and then sampled.
const LAYOUT_CHANGE: &str = "
image map 0 aspects COLOR mips 1 layers 1
pass draw requires GRAPHICS
  ColorAttachmentWrite map discard
pass look requires COMPUTE
  SampledCompute map
";

#[test]
fn rung_4_a_transition_is_a_write_between_two_layouts() {
    let is_for_reader = |it: &ImageBarrier| it.new_layout == Layout::ShaderReadOnlyOptimal;
    let changes: [fn(&mut ImageBarrier); 6] = [
        |it| it.new_layout = Layout::General,
        |it| it.old_layout = Layout::General,
        // Contents are lost.
        |it| it.old_layout = Layout::Undefined,
        |it| it.src.stages.remove(Stages::COLOR_ATTACHMENT_OUTPUT),
        |it| it.src.access.remove(AccessMask::COLOR_ATTACHMENT_WRITE),
        |it| it.dst.access.remove(AccessMask::SHADER_SAMPLED_READ),
    ];
    for change in changes {
        check("gct:1", LAYOUT_CHANGE, |plan| {
            images(plan, |it| {
                if is_for_reader(it) {
                    change(it);
                }
            });
        });
    }
    check("gct:1", LAYOUT_CHANGE, |plan| {
        calls(plan).for_each(|it| it.images.retain(|it| !is_for_reader(it)));
    });
    let levels = LAYOUT_CHANGE.replace("mips 1", "mips 2");
    check("gct:1", &levels, |plan| {
        images(plan, |it| it.range.mip_count = 1);
    });
}

/// A write on one queue, a read on the other in two stages, and a second write behind which the read
/// may be.
const TWO_QUEUES: &str = "
buffer cells 0 bytes 64
buffer found 1 bytes 64
pass fill requires COMPUTE
  StorageWriteCompute cells discard
pass look requires COMPUTE async
  IndirectRead cells
  StorageWriteCompute found discard
  after fill
pass again requires COMPUTE
  StorageReadWriteCompute cells
  after fill
  after look
";

#[test]
fn rung_5_another_queue_waits_for_the_value_in_its_stages() {
    check("gct:2", TWO_QUEUES, |plan| {
        plan.submissions.iter_mut().for_each(|it| it.waits.clear());
    });
    check("gct:2", TWO_QUEUES, |plan| {
        let waits = plan.submissions.iter_mut().flat_map(|it| &mut it.waits);
        waits.for_each(|it| it.point.offset -= 1);
    });
    check("gct:2", TWO_QUEUES, |plan| {
        let waits = plan.submissions.iter_mut().flat_map(|it| &mut it.waits);
        waits.for_each(|it| it.stages = Stages::COPY);
    });
    // A transition behind a wait chains from the stages of the wait.
    let image = LAYOUT_CHANGE.replace("requires COMPUTE", "requires COMPUTE async");
    check("gct:2", &image, |plan| {
        images(plan, |it| {
            if it.new_layout == Layout::ShaderReadOnlyOptimal {
                it.src.stages = Stages::empty();
            }
        });
    });
}

/// A buffer that goes to another family and comes back.
const TWO_FAMILIES: &str = "
buffer cells 0 bytes 64
pass fill requires GRAPHICS
  StorageReadWriteFragment cells discard
pass look requires COMPUTE async
  StorageReadWriteCompute cells
  after fill
pass again requires GRAPHICS
  StorageReadFragment cells
  after look
";

#[test]
fn rung_6_both_halves_of_a_transfer_say_the_same() {
    use TransferHalf::{Acquire, Release};
    let topology = "gct:1,ct:1";
    for half in [Acquire, Release] {
        check(topology, TWO_FAMILIES, |plan| drop_halves(plan, half));
        check(topology, TWO_FAMILIES, |plan| {
            halves(plan, half, |it| it.size -= 1);
        });
        let families: [fn(&mut quadrille_sync::plan::Transfer); 2] = [
            |it| it.from = FamilyIndex(it.from.0 ^ 1),
            |it| it.to = FamilyIndex(it.to.0 ^ 1),
        ];
        for family in families {
            check(topology, TWO_FAMILIES, |plan| {
                halves(plan, half, |it| family(it.transfer.as_mut().unwrap()));
            });
        }
    }
    check(topology, TWO_FAMILIES, |plan| {
        plan.submissions.iter_mut().for_each(|it| it.waits.clear());
    });
    check(topology, TWO_FAMILIES, |plan| {
        halves(plan, Release, |it| it.src.access = AccessMask::empty());
    });
    check(topology, TWO_FAMILIES, |plan| {
        halves(plan, Acquire, |it| it.dst.access = AccessMask::empty());
    });
    // Without maintenance8, a narrower wait leaves a gap between the halves.
    check(topology, TWO_FAMILIES, |plan| {
        let waits = plan.submissions.iter_mut().flat_map(|it| &mut it.waits);
        waits.for_each(|it| it.stages = Stages::COMPUTE_SHADER | Stages::FRAGMENT_SHADER);
    });
    let image = LAYOUT_CHANGE.replace("requires COMPUTE", "requires COMPUTE async");
    for half in [Acquire, Release] {
        check(topology, &image, |plan| {
            let images = calls(plan).flat_map(|it| &mut it.images);
            for image in images.filter(|it| it.transfer.is_some_and(|it| it.half == half)) {
                image.new_layout = Layout::General;
            }
        });
    }
}

#[test]
fn barriers_of_one_call_do_not_chain() {
    // Each pass comes after the one before it, so their barriers are in two calls.
    let frame = "
buffer a 0 bytes 64
buffer b 1 bytes 64
pass first requires TRANSFER
  CopyWrite a discard
pass second requires COMPUTE
  StorageReadCompute a
  StorageWriteCompute b discard
pass third requires TRANSFER
  CopyRead b
";
    check("gct:1", frame, |plan| {
        for submission in &mut plan.submissions {
            let is_call = |step: &Step| matches!(step, Step::Barriers(_));
            let last = submission.steps.iter().rposition(is_call).unwrap();
            let first = submission.steps.iter().position(is_call).unwrap();
            assert!(first < last, "two calls");
            let call = submission.steps.remove(last);
            submission.steps.insert(first, call);
        }
    });
}

#[test]
fn the_edges_of_a_frame_are_ordered_too() {
    let window = "
image screen 0 aspects COLOR mips 1 layers 1 swapchain
pass draw requires GRAPHICS
  ColorAttachmentWrite screen discard
";
    check("gct:1", window, |plan| plan.submissions[0].acquires.clear());
    check("gct:1", window, |plan| plan.submissions[0].presents.clear());
    check("gct:1", window, |plan| {
        plan.submissions[0].acquires[0].stages = Stages::COPY;
    });
    check("gct:1", window, |plan| {
        images(plan, |it| {
            if it.new_layout == Layout::PresentSrc {
                it.new_layout = Layout::General;
            }
        });
    });
    let host = "
buffer pixels 0 bytes 64
pass draw requires COMPUTE
  StorageWriteCompute pixels
pass look host
  HostRead pixels
";
    check("gct:1", host, |plan| plan.host[0].waits.clear());
    check("gct:1", host, |plan| {
        memory(plan, |it| it.dst.access.remove(AccessMask::HOST_READ));
    });
}

#[test]
fn readers_on_sibling_queues_do_not_wait_for_each_other() {
    let frame = "
buffer scene 0 bytes 64
buffer a 1 bytes 64
buffer b 2 bytes 64
pass upload requires TRANSFER
  CopyWrite scene
pass one requires COMPUTE fixed 1
  StorageReadCompute scene
  StorageWriteCompute a
pass two requires COMPUTE fixed 2
  StorageReadCompute scene
  StorageWriteCompute b
";
    check("gct:1,ct:2", frame, |plan| {
        let has_passes = |it: &Submission| it.steps.iter().any(|it| matches!(it, Step::Pass(_)));
        let waiting = plan.submissions.iter_mut().filter(|it| has_passes(it));
        let waits = waiting.flat_map(|it| &mut it.waits);
        // The acquire is the first submission of queue 1, and the other reader the second.
        let of_acquire = waits.filter(|it| it.point.queue == QueueIndex(1) && it.point.offset == 1);
        of_acquire.for_each(|it| it.point.offset = 2);
    });
}

/// Two images in the same memory, each overwritten without being read.
const ALIASED: &str = "
image first 0 aspects COLOR mips 1 layers 1 transient block 0 bytes 0..64
image second 1 aspects COLOR mips 1 layers 1 transient block 0 bytes 0..64
pass one
  ColorAttachmentWrite first discard
pass two
  StorageWriteCompute second discard
  after one
";

#[test]
fn aliasing_needs_a_global_memory_barrier() {
    check("gct:1", ALIASED, |plan| {
        calls(plan).for_each(|it| it.memory = None);
    });
    check("gct:1", ALIASED, |plan| {
        memory(plan, |it| it.src.access = AccessMask::empty());
    });
    check("gct:1", ALIASED, |plan| {
        images(plan, |it| it.src.access = AccessMask::empty());
    });
    check("gct:1", ALIASED, |plan| {
        images(plan, |it| it.src.stages = Stages::empty());
    });
}
