use super::{Bind, Command, CommandList, Draw};

#[test]
fn commands_are_small() {
    // Four of them in two cache lines: lists are written and read in the hot path.
    assert!(size_of::<Command>() <= 32, "{} bytes", size_of::<Command>());
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
    let Command::Draw(Draw::Plain {
        vertices,
        instances,
    }) = list.commands[0]
    else {
        panic!("no draw")
    };
    assert_eq!((vertices, instances), ([5, 0], [0, 1]));
}

#[test]
fn too_many_push_constants_are_kept_as_too_many() {
    let mut list = CommandList::default();
    list.push_constants(&[0; 4096]);
    let Command::Bind(Bind::Constants { bytes, .. }) = list.commands[0] else {
        panic!("no constants")
    };
    assert_eq!(usize::from(bytes), CommandList::MAX_PUSH_CONSTANTS + 1);
}

#[test]
fn lists_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<CommandList>();
}
