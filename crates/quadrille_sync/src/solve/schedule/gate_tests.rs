//! Order around host passes.

use super::gate;
use crate::frame::{Frame, PassIndex, PassKind, QueueRequest};
use crate::solve::graph::Graph;
use crate::topology::QueueIndex;

/// Compares the order of passes with `expected`, where gates are in upper case. Passes whose name
/// begins with `h` run on the host; those with `c` are culled.
fn check(names: &[&str], edges: &[(u32, u32)], expected: &str) {
    let mut frame = Frame::default();
    let mut queues = Vec::new();
    for name in names {
        let PassIndex(at) = frame.add_pass(*name, QueueRequest::default(), &[], &[]);
        if name.starts_with('h') {
            frame.passes[at as usize].kind = PassKind::Host;
        }
        queues.push((!name.starts_with(['h', 'c'])).then_some(QueueIndex(0)));
    }
    let graph = Graph::of(names.len(), edges.iter().copied());
    let order = graph.sort();
    let gates = gate(&frame, &graph, &order, &queues);
    let name = |pass: &u32| match (names[*pass as usize], gates.is_gate(*pass)) {
        (name, true) => name.to_uppercase(),
        (name, false) => name.to_owned(),
    };
    let names: Vec<String> = gates.order.iter().map(name).collect();
    assert_eq!(names.join(" "), expected);
}

#[test]
fn without_host_passes_nothing_moves() {
    check(&["a", "b"], &[], "a b");
}

// a -> h -> b     d
#[test]
fn independent_passes_come_before_the_gate() {
    check(&["a", "h", "b", "d"], &[(0, 1), (1, 2)], "a d H b");
}

// a -> h     b
#[test]
fn a_host_pass_that_nobody_follows_comes_last() {
    check(&["a", "h", "b"], &[(0, 1)], "a b h");
}

// h1 -> a     h2 -> b     h3
#[test]
fn each_gate_holds_back_only_its_dependents() {
    let names = ["h1", "h2", "h3", "b", "a"];
    check(&names, &[(0, 4), (1, 3)], "H1 a H2 b h3");
}

// h1 -> h2 -> a
#[test]
fn a_host_pass_before_a_gate_is_one_too() {
    check(&["h1", "h2", "a"], &[(0, 1), (1, 2)], "H1 H2 a");
}

// h -> c (culled)     h2 -> c (culled) -> a
#[test]
fn culled_passes_need_no_gate_but_lead_on() {
    check(&["h", "c"], &[(0, 1)], "c h");
    check(&["h", "c", "a"], &[(0, 1), (1, 2)], "H c a");
}
