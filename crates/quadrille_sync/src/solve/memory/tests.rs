use super::{MemoryNeed, MemoryPlan, plan_memory};
use crate::resource::{Lifetime, ResourceIndex};
use crate::text::{parse_frame, parse_topology};

/// Plans memory with a need of 64 bytes for each transient resource.
fn places(topology: &str, frame: &str) -> MemoryPlan {
    let frame = parse_frame(frame).unwrap();
    let resources = frame.resources.iter().enumerate();
    let transient = resources.filter(|(_, it)| it.lifetime == Lifetime::Transient);
    let needs: Vec<MemoryNeed> = transient.map(|(at, _)| need(at as u32, 64)).collect();
    plan_memory(&frame, &parse_topology(topology).unwrap(), &needs).unwrap()
}

fn need(resource: u32, bytes: u64) -> MemoryNeed {
    MemoryNeed {
        resource: ResourceIndex(resource),
        bytes,
        alignment: 16,
        class: 0,
        now: None,
    }
}

/// Two chains, each through a transient buffer, with or without order between them.
fn two_chains(second: &str, order: &str) -> String {
    format!(
        "buffer a 0 bytes 64 transient
buffer b 1 bytes 64 transient
pass write
  StorageWriteCompute a
pass read
  StorageReadCompute a
pass rewrite {second}
  StorageWriteCompute b
{order}
pass reread {second}
  StorageReadCompute b
"
    )
}

#[test]
fn without_order_nothing_is_shared() {
    let places = places("gct:1", &two_chains("", ""));
    assert_eq!(places.offsets, [Some(0), Some(64)]);
}

#[test]
fn declared_order_is_enough_on_one_queue() {
    let places = places("gct:1", &two_chains("", "  after read"));
    assert_eq!(places.offsets, [Some(0), Some(0)]);
}

#[test]
fn declared_order_is_not_enough_on_two_queues() {
    let frame = two_chains("requires COMPUTE async", "  after read");
    assert_eq!(places("gct:1,ct:1", &frame).bytes(), 128);
    assert_eq!(places("gct:1", &frame).bytes(), 64);
}

#[test]
fn hazards_are_enough_where_the_queues_are_the_same() {
    let frame = "buffer a 0 bytes 64 transient
buffer kept 1 bytes 64
buffer b 2 bytes 64 transient
pass one requires GRAPHICS
  StorageWriteFragment a
pass two requires COMPUTE async
  StorageReadCompute a
  StorageWriteCompute kept
pass three requires GRAPHICS
  StorageReadFragment kept
  StorageWriteFragment b
pass four requires COMPUTE async
  StorageReadCompute b
";
    assert_eq!(places("gct:1,ct:1", frame).bytes(), 64);
}

#[test]
fn resource_used_by_the_host_keeps_its_own_memory() {
    let frame = "buffer a 0 bytes 64 transient
buffer kept 1 bytes 64
pass write
  CopyWrite a
pass look host
  HostRead a
";
    assert_eq!(places("gct:1", frame).offsets, [None]);
    let frame = parse_frame(frame).unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let places = plan_memory(&frame, &topology, &[need(1, 64), need(7, 64)]).unwrap();
    assert_eq!(places.offsets, [None, None], "persistent, or not there");
}

#[test]
fn alignments_and_classes_are_kept() {
    let frame = parse_frame(&two_chains("", "")).unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let wide = MemoryNeed {
        alignment: 256,
        ..need(1, 64)
    };
    let places = plan_memory(&frame, &topology, &[need(0, 65), wide]).unwrap();
    assert_eq!(places.offsets, [Some(0), Some(256)]);
    assert_eq!(
        (places.blocks[0].bytes, places.blocks[0].alignment),
        (320, 256)
    );
    let other = MemoryNeed { class: 1, ..wide };
    let places = plan_memory(&frame, &topology, &[need(0, 65), other]).unwrap();
    assert_eq!(places.offsets, [Some(0), Some(0)]);
    assert_eq!(places.blocks.len(), 2);
}

#[test]
fn a_cycle_is_an_error() {
    let frame = "pass a\n  after b\npass b\n  after a\n";
    let topology = parse_topology("gct:1").unwrap();
    assert!(plan_memory(&parse_frame(frame).unwrap(), &topology, &[]).is_err());
}

#[test]
fn placed_resource_keeps_its_offset_if_possible() {
    let topology = parse_topology("gct:1").unwrap();
    let frame = parse_frame(&two_chains("", "")).unwrap();
    let at = |resource, offset| MemoryNeed {
        now: Some(offset),
        ..need(resource, 64)
    };
    let offsets = |needs: &[MemoryNeed]| plan_memory(&frame, &topology, needs).unwrap().offsets;
    assert_eq!(offsets(&[at(0, 64), at(1, 0)]), [Some(64), Some(0)]);
    assert_eq!(offsets(&[need(0, 64), at(1, 0)]), [Some(64), Some(0)]);
    assert_eq!(
        offsets(&[at(0, 32), at(1, 0)]),
        [Some(32), Some(96)],
        "moved"
    );
    assert_eq!(
        offsets(&[at(0, 8), at(1, 64)]),
        [Some(0), Some(64)],
        "aligned"
    );
}
