use quadrille_sync::frame::PassKind;
use quadrille_sync::resource::Sharing;
use quadrille_sync::text::parse_topology;

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

/// Random sequences must cover each feature; otherwise the random tests prove little.
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
    let has_pass = |it: &Sequence, found: &dyn Fn(&quadrille_sync::frame::PassDecl) -> bool| {
        it.frames.iter().flat_map(|frame| &frame.passes).any(found)
    };
    some("a host pass", &|it| {
        has_pass(it, &|pass| pass.kind == PassKind::Host)
    });
    some("a host pass that writes an image", &|it| {
        it.frames.iter().any(|frame| {
            let host = |pass| frame.pass(pass).kind == PassKind::Host;
            let mut hosts = frame.pass_indices().filter(|pass| host(*pass));
            hosts.any(|pass| {
                let mut uses = frame.uses_of(pass).iter();
                uses.any(|it| it.access.is_write() && frame.resource(it.resource).is_image())
            })
        })
    });
    let in_blocks = |it: &Sequence, frame: usize| -> Vec<_> {
        let resources = it.frames[frame].resources.iter();
        resources
            .filter_map(|it| Some((it.id, it.memory?)))
            .collect()
    };
    some("resources that share memory", &|it| {
        let mut frames = 0..it.frames.len();
        frames.any(|at| {
            let placed = in_blocks(it, at);
            let pairs = || {
                placed
                    .iter()
                    .flat_map(|a| placed.iter().map(move |b| (a, b)))
            };
            let mut others = pairs().filter(|(a, b)| a.0 != b.0);
            others.any(|(a, b)| a.1.overlaps(&b.1))
        })
    });
    some("memory that is divided again", &|it| {
        let mut pairs = (1..it.frames.len()).map(|at| (in_blocks(it, at - 1), in_blocks(it, at)));
        pairs.any(|(one, other)| {
            let moved = |a: &(_, quadrille_sync::resource::Placement)| {
                other.iter().any(|b| a.0 == b.0 && a.1 != b.1)
            };
            one.iter().any(moved)
        })
    });
    some("an import from outside", &|it| {
        let mut owners = it.imports.iter().filter_map(|import| import.owner);
        owners.any(|owner| owner.is_outside())
    });
    some("a resource that leaves the device", &|it| {
        it.frames.iter().any(|frame| !frame.gives.is_empty())
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
