use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::text::parse_frame;

use super::Order;

/// The pairs of passes with inferred order, by name.
fn inferred(frame: &Frame) -> Vec<String> {
    let name = |pass: PassIndex| frame.pass(pass).name.clone();
    let pairs = Order::of(frame).inferred(frame);
    pairs
        .into_iter()
        .map(|(first, second)| format!("{} {}", name(first), name(second)))
        .collect()
}

#[test]
fn order_goes_on_through_others() {
    let frame = parse_frame("pass a\n  after b\npass b\n  after c\npass c\npass d\n").unwrap();
    let order = Order::of(&frame);
    let [a, b, c, d] = [0, 1, 2, 3].map(PassIndex);
    assert!(order.precedes(c, a) && order.precedes(c, b) && order.precedes(b, a));
    assert!(!order.precedes(a, c) && !order.ordered(a, d));
}

#[test]
fn a_cycle_comes_before_itself() {
    let frame = parse_frame("pass a\n  after b\npass b\n  after a\n").unwrap();
    assert!(Order::of(&frame).precedes(PassIndex(0), PassIndex(0)));
}

#[test]
fn a_single_writer_comes_before_its_readers() {
    let text = "buffer x 0 bytes 4\npass r\n  VertexRead x\npass w\n  CopyWrite x\n";
    assert_eq!(inferred(&parse_frame(text).unwrap()), ["w r"]);
    let other = format!("{text}pass v\n  CopyWrite x\n  after w\n");
    assert!(inferred(&parse_frame(&other).unwrap()).is_empty());
    let apart = other.replace("CopyWrite x\n  after", "CopyWrite x bytes 0..2\n  after");
    assert!(inferred(&parse_frame(&apart).unwrap()).is_empty());
    let history = text.replace("CopyWrite x\n", "CopyWrite x\n  after r\n");
    assert!(inferred(&parse_frame(&history).unwrap()).is_empty());
}

#[test]
fn prologue_passes_are_not_ordered_as_writers() {
    let text = "buffer x 0 bytes 4\npass r\n  VertexRead x\npass w\n  CopyWrite x\npass p prologue\n  CopyWrite x\n";
    let frame = parse_frame(text).unwrap();
    assert_eq!(inferred(&frame), ["w r"]);
    assert!(Order::of(&frame).precedes(PassIndex(2), PassIndex(0)));
}
