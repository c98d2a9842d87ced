use quadrille_sync::resource::ResourceId;

use super::binds::Offset;
use super::{Bind, Command, CommandList, Draw, IndexType};
use crate::resources::view::View;

#[test]
fn commands_are_small() {
    // Four commands per cache line of 64 bytes: lists are written and read in the hot path.
    assert!(size_of::<Command>() <= 16, "{} bytes", size_of::<Command>());
}

/// Commands of which each differs from the previous one in one field.
fn all_kinds() -> Vec<Command> {
    let (one, two) = (ResourceId(1), ResourceId(2));
    let buffer = |binding, buffer, range| Bind::Buffer {
        binding,
        buffer,
        range,
    };
    let image = |storage, image| Bind::Image {
        binding: 0,
        storage,
        image,
        view: View::WHOLE,
    };
    let indices = |offset: u64| Bind::Indices {
        buffer: one,
        offset: offset.into(),
        kind: IndexType::U16,
    };
    let binds = [
        Bind::Compute { pipeline: 0 },
        Bind::Compute { pipeline: 1 },
        Bind::Graphics { pipeline: 1 },
        buffer(0, one, 0),
        buffer(1, one, 0),
        buffer(1, two, 0),
        buffer(1, two, Bind::WHOLE),
        image(false, two),
        image(true, two),
        image(true, one),
        indices(0),
        indices(1 << 32),
    ];
    let mut all: Vec<Command> = binds.into_iter().map(Command::Bind).collect();
    all.extend([
        Command::Dispatch { groups: [1, 1, 1] },
        Command::Dispatch { groups: [1, 1, 2] },
        Command::Draw { draw: 1 },
        Command::Copy { copy: 1 },
        Command::EndRendering,
        Command::EndLabel,
    ]);
    all
}

#[test]
fn the_quick_comparison_is_that_of_all_fields() {
    let all = all_kinds();
    for (a, old) in all.iter().enumerate() {
        for (b, new) in all.iter().enumerate() {
            assert_eq!(old.is_same(new), a == b, "{old:?} and {new:?}");
            assert_eq!(old == new, a == b, "{old:?} and {new:?}");
        }
    }
}

#[test]
fn offsets_keep_all_bits() {
    for offset in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX] {
        assert_eq!(u64::from(Offset::from(offset)), offset);
    }
}

#[test]
fn parts_of_buffers_and_areas_are_compared_too() {
    let mut list = CommandList::default();
    let mut write = |area: [u32; 4], viewport: f32| {
        list.clear();
        list.scissor(area);
        list.viewport([0.0, 0.0, viewport, 1.0]);
        list.draw(0..3, 0..area[2]);
        list.repeated().is_some()
    };
    assert!(!write([0, 0, 4, 4], 1.0), "new");
    assert!(write([0, 0, 4, 4], 1.0));
    assert!(!write([0, 0, 4, 4], 2.0), "another viewport");
    assert!(!write([0, 0, 5, 4], 2.0), "another scissor and draw");
    assert!(write([0, 0, 5, 4], 2.0));
}

#[test]
fn clearing_keeps_memory() {
    let mut list = CommandList::default();
    for _ in 0..100 {
        list.push_constants(&[1; 16]);
        list.dispatch([1, 2, 3]);
    }
    let (commands, bytes) = (list.commands.capacity(), list.side().bytes.capacity());
    list.clear();
    assert!(list.is_empty());
    assert_eq!(
        (list.commands.capacity(), list.side().bytes.capacity()),
        (commands, bytes)
    );
}

#[test]
fn reversed_ranges_draw_nothing() {
    let mut list = CommandList::default();
    let (first, last) = (5, 3);
    list.draw(first..last, 0..1);
    let Draw::Plain {
        vertices,
        instances,
    } = list.side().draws[0]
    else {
        panic!("no draw")
    };
    assert_eq!((vertices, instances), ([5, 0], [0, 1]));
}

#[test]
fn too_many_push_constants_are_kept_as_too_many() {
    for (pushed, kept) in [(4096, 4096), (1 << 17, u16::MAX)] {
        let mut list = CommandList::default();
        list.push_constants(&vec![0; pushed]);
        let Command::Bind(Bind::Constants { bytes, .. }) = list.commands[0] else {
            panic!("no constants")
        };
        assert_eq!(bytes, kept);
    }
}

#[test]
fn lists_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<CommandList>();
}
