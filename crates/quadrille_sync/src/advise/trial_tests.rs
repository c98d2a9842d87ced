use super::*;
use crate::rounds::rounds;
use crate::text::{parse_frame, parse_topology};

/// ```text
/// simulate (compute) -> draw (graphics): cells and picture go there and back
/// ```
fn frame(cells: &str, picture: &str) -> Frame {
    parse_frame(&format!(
        "buffer cells 0 bytes 64 {cells}\n\
         image picture 1 aspects COLOR mips 1 layers 1 {picture}\n\
         pass simulate requires COMPUTE async\n\
         \x20 StorageWriteCompute cells\n  StorageWriteCompute picture discard\n\
         pass draw requires GRAPHICS\n  VertexRead cells\n  SampledFragment picture"
    ))
    .unwrap()
}

/// Successive observations of a frame that follows the decisions.
struct Run {
    trials: SharingTrials,
    sharing: [Sharing; 2],
}

const CELLS: usize = 0;
const PICTURE: usize = 1;

impl Run {
    fn new() -> Self {
        Self {
            trials: SharingTrials::default(),
            sharing: [Sharing::Exclusive; 2],
        }
    }

    /// Observes a frame with a measured time; only the resources in `open` may change.
    fn observe(&mut self, open: &[usize], took: Option<u64>) {
        let mut frame = frame("", "");
        for (resource, &sharing) in frame.resources.iter_mut().zip(&self.sharing) {
            resource.sharing = sharing;
        }
        self.look_at(&frame, open, took);
    }

    fn look_at(&mut self, frame: &Frame, open: &[usize], took: Option<u64>) {
        let topology = parse_topology("gct:1,ct:1").unwrap();
        let is_open = |it: ResourceIndex| open.contains(&(it.0 as usize));
        let states = States::default();
        let mut observation = self
            .trials
            .observe(frame, &topology, &states, is_open, took);
        while !self.trials.step(&mut observation) {}
        let changes = self.trials.changes(frame, is_open);
        for SharingChange { resource, sharing } in changes {
            self.sharing[resource.0 as usize] = sharing;
        }
    }
}

#[test]
fn a_buffer_is_shared_once_four_looks_agree() {
    let mut run = Run::new();
    for observation in 1..=4 {
        run.observe(&[CELLS], None);
        let is_shared = run.sharing[CELLS] == Sharing::Concurrent;
        assert_eq!(
            is_shared,
            observation == 4,
            "after observation {observation}"
        );
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Exclusive, "nobody asked");
    assert!(!run.trials.are_under_way());
}

#[test]
fn looks_that_do_not_agree_begin_the_count_again() {
    let mut run = Run::new();
    let alone = parse_frame(
        "buffer cells 0 bytes 64\npass draw requires GRAPHICS\n  StorageWriteFragment cells",
    )
    .unwrap();
    for _ in 0..5 {
        for _ in 0..3 {
            run.observe(&[CELLS], None);
            assert!(run.trials.are_under_way());
        }
        run.look_at(&alone, &[CELLS], None);
    }
    assert_eq!(run.sharing[CELLS], Sharing::Exclusive);
    assert!(!run.trials.are_under_way());
}

#[test]
fn an_image_is_not_shared_without_times() {
    let mut run = Run::new();
    for _ in 0..rounds(20) {
        run.observe(&[PICTURE], None);
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    let stages: Vec<_> = run.trials.stages().collect();
    assert_eq!(stages, [("picture", SharingStage::Open)], "times may come");
}

#[test]
fn an_image_is_tried_and_kept_if_frames_take_no_longer() {
    let mut run = Run::new();
    for cost in [130, 100, 120, 110] {
        run.observe(&[PICTURE], Some(cost));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Concurrent);
    let stages: Vec<_> = run.trials.stages().collect();
    assert_eq!(stages, [("picture", SharingStage::Tried)]);
    for cost in [300, 101, 300, 300] {
        run.observe(&[PICTURE], Some(cost));
    }
    let stages: Vec<_> = run.trials.stages().collect();
    let settled = SharingStage::Settled(Sharing::Concurrent);
    assert_eq!(stages, [("picture", settled)], "the least of both counts");
}

#[test]
fn an_image_that_becomes_dearer_is_exclusive_again_for_good() {
    let mut run = Run::new();
    for _ in 0..4 {
        run.observe(&[PICTURE], Some(100));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Concurrent);
    for _ in 0..4 {
        run.observe(&[PICTURE], Some(106));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    for _ in 0..rounds(20) {
        run.observe(&[PICTURE], Some(100));
        assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    }
}

fn shared(run: &Run) -> [bool; 2] {
    run.sharing.map(|it| it == Sharing::Concurrent)
}

#[test]
fn resources_better_together_are_shared_together() {
    let mut run = Run::new();
    for _ in 0..4 {
        assert_eq!(shared(&run), [false; 2]);
        run.observe(&[CELLS, PICTURE], Some(100));
    }
    assert_eq!(shared(&run), [true; 2]);
}

/// Two images are slower together. Tried one by one, only one of them is slower.
#[test]
fn resources_that_failed_together_are_tried_alone() {
    let image = "image cells 0 aspects COLOR mips 1 layers 1 ";
    let mut run = Run::new();
    let mut both = 0;
    for _ in 0..rounds(60) {
        let sharing = run.sharing.map(|it| {
            if it == Sharing::Concurrent {
                "concurrent"
            } else {
                ""
            }
        });
        let text = format!(
            "{image}{}\nimage picture 1 aspects COLOR mips 1 layers 1 {}\n\
             pass simulate requires COMPUTE async\n\
             \x20 StorageWriteCompute cells discard\n  StorageWriteCompute picture discard\n\
             pass draw requires GRAPHICS\n  SampledFragment cells\n  SampledFragment picture",
            sharing[0], sharing[1]
        );
        both += u32::from(shared(&run) == [true; 2]);
        // The cells lose their compression.
        let took = if shared(&run)[CELLS] { 130 } else { 100 };
        run.look_at(&parse_frame(&text).unwrap(), &[CELLS, PICTURE], Some(took));
    }
    if cfg!(miri) {
        return;
    }
    assert!(both >= 4, "both were tried: {both}");
    assert_eq!(shared(&run), [false, true]);
    let settled = [
        ("cells", SharingStage::Settled(Sharing::Exclusive)),
        ("picture", SharingStage::Settled(Sharing::Concurrent)),
    ];
    assert_eq!(run.trials.stages().collect::<Vec<_>>(), settled);
}

#[test]
fn resource_is_exclusive_again_once_no_pass_needs_sharing() {
    let mut run = Run::new();
    let name: Arc<str> = "cells".into();
    run.trials.share_only([&name].into_iter());
    let frame = frame("", "");
    let changes = |run: &Run| {
        let changes = run.trials.changes(&frame, |_| true);
        changes
            .iter()
            .map(|it| it.resource.0 as usize)
            .collect::<Vec<_>>()
    };
    assert_eq!(changes(&run), [CELLS]);
    run.trials.share_only([].into_iter());
    assert_eq!(changes(&run).len(), 0, "it is exclusive, and stays so");
    // A resource whose sharing is fixed does not change for passes either.
    run.trials.keep(frame.resource(ResourceIndex(0)));
    run.trials.share_only([&name].into_iter());
    assert_eq!(changes(&run).len(), 0);
    assert!(!run.trials.may_share("cells") && run.trials.may_share("picture"));
}

/// Observations of an unchanged frame make fewer and fewer plans.
#[test]
fn resource_without_advice_is_left_alone() {
    let text = "buffer x 0 bytes 64\nbuffer y 1 bytes 64\n\
        pass a requires GRAPHICS cost 400\n  StorageWriteFragment x\n\
        pass b requires COMPUTE async cost 900\n  StorageReadCompute x\n  StorageWriteCompute y\n\
        pass c requires GRAPHICS cost 400\n  StorageReadFragment y";
    let frame = parse_frame(text).unwrap();
    let topology = parse_topology("gct:1,ct:1").unwrap();
    let mut trials = SharingTrials::default();
    let mut steps = Vec::new();
    for _ in 0..rounds(60) {
        let is_open = |it: ResourceIndex| it.0 == 1;
        let mut observation = trials.observe(&frame, &topology, &States::default(), is_open, None);
        let mut count = 0;
        while !trials.step(&mut observation) {
            count += 1;
        }
        steps.push(count);
    }
    assert_eq!(steps[0], 8, "two frames, four plans each");
    let last = &steps[steps.len() / 2..];
    let busy = last.iter().filter(|&&it| it > 0).count();
    assert!(busy * 6 <= last.len() || cfg!(miri), "{steps:?}");
    assert!(!trials.are_under_way());
}

#[test]
fn replacement_resource_follows_the_verdict() {
    let mut run = Run::new();
    for _ in 0..4 {
        run.observe(&[CELLS], None);
    }
    // Another buffer of this name.
    run.sharing[CELLS] = Sharing::Exclusive;
    run.observe(&[CELLS], None);
    assert_eq!(run.sharing[CELLS], Sharing::Concurrent);
}

#[test]
fn resource_with_fixed_sharing_is_left_alone() {
    let mut run = Run::new();
    run.observe(&[CELLS], None);
    run.trials.keep(frame("", "").resource(ResourceIndex(0)));
    for _ in 0..rounds(20) {
        run.observe(&[CELLS], None);
    }
    assert_eq!(run.sharing[CELLS], Sharing::Exclusive);
    assert!(!run.trials.are_under_way());
}

#[test]
fn removed_resource_is_forgotten() {
    let mut run = Run::new();
    run.observe(&[CELLS], None);
    assert_eq!(run.trials.stages().count(), 1);
    let other =
        "buffer other 0 bytes 64\npass draw requires GRAPHICS\n  StorageWriteFragment other";
    run.look_at(&parse_frame(other).unwrap(), &[CELLS], None);
    assert_eq!(run.trials.stages().count(), 0);
}
