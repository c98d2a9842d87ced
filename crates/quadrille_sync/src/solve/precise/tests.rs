use super::*;
use crate::flags::{AccessMask, Layout, Stages};
use crate::plan::{PassRef, Reason, Rung, Scope};
use crate::resource::ResourceIndex;
use crate::solve::track::Mark;
use crate::states::EndPass;
use crate::topology::QueueIndex;

fn plain(resource: u32, interval: std::ops::Range<u64>, src: Stages, dst: Stages) -> Plain {
    let scope = |stages| Scope {
        stages,
        access: AccessMask::empty(),
    };
    Plain {
        is_behind_wait: false,
        mark: Mark {
            queue: QueueIndex(0),
            value: 1,
            scope: scope(src),
            pass: EndPass::Presentation,
            step: 1,
        },
        shown: None,
        interval,
        src: scope(src),
        dst: scope(dst),
        layout: Layout::Undefined,
        reason: Reason {
            resource: ResourceIndex(resource),
            earlier: PassRef::Nobody,
            later: PassRef::Nobody,
            rung: Rung::Memory,
        },
    }
}

/// Resource, range and second stages of each part.
fn parts(plain: Vec<Plain>) -> Vec<(u32, std::ops::Range<u64>, Stages)> {
    let part = |it: Plain| (it.reason.resource.0, it.interval, it.dst.stages);
    cut(plain).into_iter().map(part).collect()
}

const SRC: Stages = Stages::COPY;
const ONE: Stages = Stages::COMPUTE_SHADER;
const TWO: Stages = Stages::FRAGMENT_SHADER;

#[test]
fn what_meets_is_said_once() {
    let meets = vec![plain(0, 0..8, SRC, ONE), plain(0, 4..12, SRC, TWO)];
    let expected = [(0, 0..4, ONE), (0, 4..8, ONE | TWO), (0, 8..12, TWO)];
    assert_eq!(parts(meets), expected);
    let same = vec![plain(0, 0..8, SRC, ONE), plain(0, 0..8, SRC, TWO)];
    assert_eq!(parts(same), [(0, 0..8, ONE | TWO)]);
}

#[test]
fn other_sources_and_other_resources_are_kept_apart() {
    let sources = vec![plain(0, 0..8, SRC, ONE), plain(0, 0..8, Stages::BLIT, ONE)];
    assert_eq!(parts(sources), [(0, 0..8, ONE), (0, 0..8, ONE)]);
    let resources = vec![plain(1, 0..8, SRC, ONE), plain(0, 0..8, SRC, TWO)];
    assert_eq!(parts(resources), [(0, 0..8, TWO), (1, 0..8, ONE)]);
}

#[test]
fn what_another_barrier_says_as_well_is_left_out() {
    let wide = plain(0, 0..8, SRC | Stages::BLIT, ONE);
    let narrow = plain(0, 4..8, SRC, ONE);
    let expected = [(0, 0..4, ONE), (0, 4..8, ONE)];
    assert_eq!(parts(vec![wide.clone(), narrow.clone()]), expected);
    let sources = cut(vec![narrow, wide]).into_iter().map(|it| it.src.stages);
    assert!(
        sources.eq([SRC | Stages::BLIT; 2]),
        "the wider source is left"
    );
}

#[test]
fn order_is_said_once_of_a_resource() {
    let said = |order| {
        let scopes = |it: Plain| (it.reason.resource.0, it.src.stages, it.dst.stages);
        gather(order).into_iter().map(scopes).collect::<Vec<_>>()
    };
    let wide = plain(0, 0..8, SRC | Stages::BLIT, ONE);
    let both = plain(0, 8..16, SRC, ONE | TWO);
    // The second says nothing new of its first stages.
    assert_eq!(
        said(vec![both.clone(), wide.clone()]),
        [(0, SRC, ONE | TWO), (0, Stages::BLIT, ONE)]
    );
    let within = plain(0, 16..24, SRC, ONE);
    assert_eq!(
        said(vec![within, wide.clone()]),
        [(0, SRC | Stages::BLIT, ONE)]
    );
    let joined = plain(0, 16..24, Stages::CLEAR, ONE);
    let all = SRC | Stages::BLIT | Stages::CLEAR;
    assert_eq!(said(vec![joined, wide.clone()]), [(0, all, ONE)]);
    // Neither says anything that the other does.
    let apart = plain(0, 16..24, Stages::CLEAR, TWO);
    assert_eq!(said(vec![apart, wide.clone()]).len(), 2);
    let other = plain(1, 0..8, SRC, ONE);
    assert_eq!(said(vec![other, wide]).len(), 2);
}
