//! When members of tables need not be declared any more.

use super::{NonTableUse, TableMembers, TableReaders};
use crate::access::Access;
use crate::flags::Layout;
use crate::frame::{Frame, QueueRequest, Use};
use crate::range::SubRange;
use crate::resource::{Resource, ResourceId};
use crate::states::States;
use crate::text::parse_topology;

/// How many members the passes of a table declare in each frame of five, of which the first writes the only
/// member by `write`, if it is written by a frame.
fn listed(access: Access, member: &Resource, write: Option<SubRange>) -> Vec<usize> {
    let topology = parse_topology("gct:1").expect("it is a topology");
    let (mut states, mut table) = (States::default(), TableMembers::new(access));
    table.add_entry(member.id);
    let mut counts = Vec::new();
    for at in 0..5 {
        let mut frame = Frame::default();
        let index = frame.add_resource(member.clone());
        if let Some(range) = write.filter(|_| at == 0) {
            let write = Use {
                range,
                ..Use::whole(index, Access::TransferWrite)
            };
            frame.add_pass("write", QueueRequest::default(), &[write], &[]);
        }
        table.open(NonTableUse::of(&frame), &topology, &mut states);
        let uses: Vec<Use> = table.listed().map(|_| Use::whole(index, access)).collect();
        counts.push(uses.len());
        let pass = frame.add_pass("read", QueueRequest::default(), &uses, &[]);
        let plan = crate::solve::plan(&frame, &topology, &states).expect("it can be planned");
        let readers = TableReaders::of(&[pass], &frame, &plan);
        assert!(table.covers(&readers, &topology, &mut states));
        table.note_reads(&readers, &topology, &states);
        states.commit(&frame, &topology, &plan);
        table.settle(&topology, &states);
        if at == 1 && write.is_none() {
            states.import(member.id, Layout::Undefined, None);
            table.imported(member.id);
            assert!(!table.is_unchanged(), "the next frame is another");
        }
    }
    counts
}

#[test]
fn an_image_is_settled_in_the_frame_after_its_write() {
    let image = Resource::image(ResourceId(0), "image");
    let counts = listed(Access::SampledAny, &image, Some(SubRange::Whole));
    assert_eq!(counts, [1, 1, 0, 0, 0]);
}

#[test]
fn so_is_a_buffer() {
    let buffer = Resource::buffer(ResourceId(0), "buffer", 256);
    let counts = listed(Access::StorageReadAny, &buffer, Some(SubRange::Whole));
    assert_eq!(counts, [1, 1, 0, 0, 0]);
}

#[test]
fn part_of_a_buffer_is_enough() {
    let buffer = Resource::buffer(ResourceId(0), "buffer", 256);
    let (offset, size) = (64, 64);
    let part = SubRange::Bytes { offset, size };
    let counts = listed(Access::StorageReadAny, &buffer, Some(part));
    assert_eq!(counts, [1, 1, 0, 0, 0]);
}

#[test]
fn host_written_buffer_is_declared_once() {
    let buffer = Resource::buffer(ResourceId(0), "buffer", 256);
    let counts = listed(Access::StorageReadAny, &buffer, None);
    assert_eq!(counts, [0, 0, 1, 0, 0], "declared once");
}
