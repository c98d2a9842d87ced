//! The errors that the text form of a frame cannot express; the others are cases.

use crate::access::Access;
use crate::flags::Layout;
use crate::frame::{Frame, QueueRequest, Use};
use crate::resource::{Resource, ResourceId};
use crate::solve::plan;
use crate::states::States;
use crate::text::{parse_frame, parse_topology};
use crate::topology::{FamilyIndex, Topology};

#[track_caller]
fn check(frame: &Frame, topology: &Topology, states: &States, expected: &str) {
    let errors = plan(frame, topology, states).unwrap_err();
    assert_eq!(errors.to_string(), expected);
}

fn topology(text: &str) -> Topology {
    parse_topology(text).unwrap()
}

/// Two passes that fill and read a buffer.
fn frame() -> Frame {
    let mut frame = Frame::default();
    let cells = frame.add_resource(Resource::buffer(ResourceId(0), "cells", 64));
    let request = QueueRequest::default();
    let fill = Use::whole(cells, Access::CopyWrite);
    let read = Use::whole(cells, Access::CopyRead);
    let first = frame.add_pass("fill", request, &[fill], &[]);
    frame.add_pass("read", request, &[read], &[first]);
    frame
}

#[test]
fn passes_of_one_name_without_order() {
    let mut frame = frame();
    let fill = Use::whole(crate::resource::ResourceIndex(0), Access::CopyWrite);
    frame.add_pass("fill", QueueRequest::default(), &[fill], &[]);
    frame.passes[1].uses = 1..1;
    frame.uses.remove(1);
    frame.passes[2].uses = 1..2;
    let expected = "`fill` (CopyWrite) and `fill` (CopyWrite) both write all of `cells` and have \
                    no order. Both are called so: order them where they are added, such as \
                    `(fill, fill).chain()`.";
    check(&frame, &topology("gct:1"), &States::default(), expected);
}

#[test]
fn too_many_queues() {
    let mut many = topology("gct:32");
    many.queues.push(many.queues[0].clone());
    let expected = "The topology has 33 queues, and a plan can use at most 32.";
    check(&frame(), &many, &States::default(), expected);
}

#[test]
fn no_queue_at_all() {
    let expected = "The topology has no queue.";
    check(&frame(), &Topology::default(), &States::default(), expected);
}

#[test]
fn queues_outside_of_the_device() {
    let mut outside = topology("gct:2");
    outside.queues[1].family = FamilyIndex::EXTERNAL;
    let expected = "Queue 1 of the topology is of family EXTERNAL, which stands for somebody outside \
                    of the device. Queues are of the families that the device counts from 0.";
    check(&frame(), &outside, &States::default(), expected);
}

#[test]
fn states_of_another_topology() {
    let (one, two) = (topology("gct:1"), topology("gct:2"));
    let mut states = States::default();
    let planned = plan(&frame(), &two, &states).unwrap();
    states.commit(&frame(), &two, &planned);
    let expected = "The states are of 2 queues, and the topology has 1. States belong to one \
                    topology.";
    check(&frame(), &one, &states, expected);
}

#[test]
fn owners_of_another_topology() {
    let mut states = States::default();
    states.import(ResourceId(0), Layout::Undefined, Some(FamilyIndex(7)));
    let expected = "Resource `cells` is owned by queue family 7, of which the topology \
                    `gct:1,ct:1` has no queue. States belong to one topology.";
    check(&frame(), &topology("gct:1,ct:1"), &states, expected);
}

#[test]
fn indices_that_point_nowhere() {
    let mut broken = frame();
    broken.uses[1].resource.0 = 9;
    broken.after[0].0 = 8;
    let expected = "Pass `read` names resource 9, which the frame does not have.\n\
                    Pass `read` names pass 8, which the frame does not have.";
    check(&broken, &topology("gct:1"), &States::default(), expected);
}

#[test]
fn slices_that_do_not_follow_each_other() {
    let mut broken = frame();
    broken.passes[1].uses = 0..2;
    let expected = "Pass `read` has uses 0..2, and the passes before it end at 1. Passes divide the \
                    frame's arrays between them, one after the other and without a gap.";
    check(&broken, &topology("gct:1"), &States::default(), expected);
    let mut broken = frame();
    let last = broken.uses[1];
    broken.uses.push(last);
    let expected = "The frame has 3 uses, and its passes have 2 of them.";
    check(&broken, &topology("gct:1"), &States::default(), expected);
}

/// Errors of uses, order and queues are reported together.
#[test]
fn everything_is_said_at_once() {
    let text = "
buffer cells 0 bytes 64
image map 1 aspects COLOR mips 1 layers 1
pass one
  CopyWrite cells
pass two
  CopyWrite cells bytes 32..64
pass far
  CopyRead cells bytes 60..68
  after one
  after two
pass three requires VIDEO_ENCODE
  SampledFragment map
";
    let broken = parse_frame(text).unwrap();
    let errors = plan(&broken, &topology("gct:1"), &States::default()).unwrap_err();
    let said = errors.to_string();
    for part in [
        "`far` (CopyRead) uses bytes 60..68 of `cells`, which has bytes 0..64.",
        "have no order. Write `two.after(one)` or `one.after(two)`.",
        "`three` (SampledFragment) reads all of `map`, which no earlier pass",
        "Pass `three` requires VIDEO_ENCODE, and no queue of the topology `gct:1` has that.",
    ] {
        assert!(said.contains(part), "{part}\n\nis not in\n\n{said}");
    }
    assert_eq!(errors.iter().len(), 4, "{said}");
}
