use super::*;
use crate::text::{parse_frame, parse_topology};

/// By resource name: transfers, submissions and time of the frame, exclusive and concurrent, and whether
/// concurrent is cheaper.
fn advice(topology: &str, frame: &str) -> Vec<(String, [[u64; 3]; 2], bool)> {
    let topology = parse_topology(topology).unwrap();
    let frame = parse_frame(frame).unwrap();
    let cost = |pass| u64::from(frame.pass(pass).cost_us);
    let all = advise_sharing(&frame, &topology, &States::default(), cost);
    let row = |it: &FrameCost| {
        let counts = it.counts;
        let counts = [counts.ownership_transfers, counts.submissions].map(u64::from);
        [counts[0], counts[1], it.length_us]
    };
    all.iter()
        .map(|it| {
            let name = frame.resource(it.resource).name.to_string();
            (
                name,
                [row(&it.exclusive), row(&it.concurrent)],
                it.is_cheaper(),
            )
        })
        .collect()
}

/// ```text
/// simulate (compute, 8) -> draw (graphics, 5): cells go there and back, the table stays
/// ```
const LIFE: &str = "buffer cells 0 bytes 64\nbuffer table 1 bytes 64\n\
    pass simulate requires COMPUTE async cost 8\n  StorageWriteCompute cells\n  StorageWriteCompute table\n\
    pass draw requires GRAPHICS cost 5\n  VertexRead cells";

#[test]
fn only_resources_that_change_family_are_judged() {
    let found = advice("gct:1,ct:1", LIFE);
    let both = [[2, 2, 13], [0, 2, 13]];
    assert_eq!(found, [("cells".to_owned(), both, true)]);
}

#[test]
fn one_family_has_nothing_to_share() {
    assert!(advice("gct:1", LIFE).is_empty());
    assert!(advice("gct:2", LIFE).is_empty());
}

#[test]
fn concurrent_resource_is_not_judged() {
    let shared = LIFE.replace("cells 0 bytes 64", "cells 0 bytes 64 concurrent");
    assert!(advice("gct:1,ct:1", &shared).is_empty());
}

/// A chain over two families. With `x` concurrent, all its transfers are saved. With `y` concurrent, `c`
/// waits in one stage only, so the acquire by `a` in the next frame needs a wait of its own: fewer
/// transfers, but no advice.
///
/// ```text
/// graphics: a (4) -- x --\            /-- y --> c (4)
/// compute:                \--> b (9) --/
/// ```
#[test]
fn each_resource_is_shared_alone() {
    let frame = "buffer x 0 bytes 64\nbuffer y 1 bytes 64\n\
        pass a requires GRAPHICS cost 4\n  StorageWriteFragment x\n\
        pass b requires COMPUTE async cost 9\n  StorageReadCompute x\n  StorageWriteCompute y\n\
        pass c requires GRAPHICS cost 4\n  StorageReadFragment y";
    let found = advice("gct:1,ct:1", frame);
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
    for (name, [exclusive, concurrent], cheaper) in &found {
        let transfers = (exclusive[0], concurrent[0]);
        assert_eq!(transfers, (4, 2), "transfers with {name} shared");
        let length = (exclusive[2], concurrent[2]);
        assert_eq!(length, (17, 17), "length with {name} shared");
        assert_eq!(*cheaper, name == "x", "{name}");
    }
}

/// Both families read an image that one has drawn. If it is exclusive, the readers run one after the
/// other. If it is concurrent, they overlap, at the price of a submission and a wait for the transition
/// that both need.
#[test]
fn time_is_worth_waits() {
    let frame = "image scene 0 aspects COLOR mips 1 layers 1\nbuffer a 1 bytes 64\nbuffer b 2 bytes 64\n\
        pass draw requires GRAPHICS cost 10\n  ColorAttachmentWrite scene discard\n\
        pass work requires COMPUTE async cost 500\n  SampledCompute scene\n  StorageWriteCompute a\n\
        pass show requires GRAPHICS cost 500\n  SampledFragment scene\n  StorageWriteFragment b";
    let found = advice("gct:1,ct:1", frame);
    let (name, [exclusive, concurrent], cheaper) = &found[0];
    assert_eq!((name.as_str(), *cheaper), ("scene", true));
    assert_eq!((exclusive[2], concurrent[2]), (1010, 510));
}

#[test]
fn images_of_swapchains_are_left_alone() {
    let frame = "image screen 0 aspects COLOR mips 1 layers 1 swapchain\n\
        pass paint requires COMPUTE async\n  StorageWriteCompute screen discard";
    assert!(advice("gctn:1,ct:1", frame).is_empty());
}

/// Submissions and passes are compared in microseconds: sharing that saves less time than its additional
/// submissions cost is not advised.
#[test]
fn submissions_count_in_microseconds() {
    let advice = |saves: u64| {
        let cost = |counts: Counts, length_us| FrameCost { counts, length_us };
        let counts = |submissions| Counts {
            submissions,
            ..Default::default()
        };
        SharingAdvice {
            resource: ResourceIndex(0),
            exclusive: cost(counts(2), 1000),
            concurrent: cost(counts(3), 1000 - saves),
        }
    };
    let one = time_us(&[0], 1);
    assert!(one > 1, "{one}");
    assert!(!advice(one - 1).is_cheaper());
    assert!(advice(one + 1).is_cheaper());
}
