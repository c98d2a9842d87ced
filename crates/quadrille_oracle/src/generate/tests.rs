use quadrille_sync::{PassKind, Sharing, parse_topology};

use super::exhaustive::{Alphabet, Space};
use super::{Shape, sequence};
use crate::random::Random;
use crate::sequence::Sequence;

fn sequences(count: u64) -> Vec<Sequence> {
    (0..count)
        .map(|seed| sequence(&mut Random::new(seed), &Shape::default()))
        .collect()
}

#[test]
fn equal_seeds_make_equal_sequences() {
    assert_eq!(sequences(20), sequences(20));
}

/// Whatever a solver can get wrong has to come up, or the random tests prove little.
#[test]
fn random_sequences_have_everything() {
    let all = sequences(300);
    let some = |name: &str, found: &dyn Fn(&Sequence) -> bool| {
        assert!(all.iter().any(found), "no sequence has {name}");
    };
    some("several frames", &|it| it.frames.len() > 1);
    some("an import", &|it| !it.imports.is_empty());
    some("a repeated frame", &|it| {
        it.frames.windows(2).any(|pair| pair[0] == pair[1])
    });
    some("a changed frame", &|it| {
        it.frames.windows(2).any(|pair| pair[0] != pair[1])
    });
    some("culling", &|it| it.frames.iter().any(|frame| frame.cull));
    let has_pass = |it: &Sequence, found: &dyn Fn(&quadrille_sync::PassDecl) -> bool| {
        it.frames.iter().flat_map(|frame| &frame.passes).any(found)
    };
    some("a host pass", &|it| {
        has_pass(it, &|pass| pass.kind == PassKind::Host)
    });
    some("a prologue", &|it| has_pass(it, &|pass| pass.prologue));
    some("a fixed queue", &|it| {
        has_pass(it, &|pass| pass.queue.fixed.is_some())
    });
    some("declared order", &|it| {
        it.frames.iter().any(|frame| !frame.after.is_empty())
    });
    some("inferred order", &|it| {
        let order = |frame| crate::order::Order::of(frame).inferred(frame);
        it.frames.iter().any(|frame| !order(frame).is_empty())
    });
    some("double buffering", &|it| {
        it.frames.windows(2).any(|pair| {
            let ids = |at: usize| -> Vec<_> { pair[at].resources.iter().map(|it| it.id).collect() };
            pair[0].uses == pair[1].uses && ids(0) != ids(1)
        })
    });
}

#[test]
fn a_space_has_all_small_frames() {
    let topology = parse_topology("gct:2").unwrap();
    let space = Space::new(&topology, 1, Sharing::Exclusive, Alphabet::Small);
    // Two queues, and for each of two resources nothing, a read or a write.
    assert_eq!(space.len(), 2 * 3 * 3);
    let made: Vec<Sequence> = (0..space.len())
        .filter_map(|at| space.sequence(at))
        .collect();
    assert_eq!(made.len(), 2 * (3 * 3 - 1));
    assert!(
        made.iter()
            .enumerate()
            .all(|(at, one)| !made[..at].contains(one))
    );
}
