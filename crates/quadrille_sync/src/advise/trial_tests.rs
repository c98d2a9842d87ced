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

/// A run of looks at a frame that follows what is decided.
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

    /// A look with this cost of each pass; only the resources in `open` may change.
    fn look(&mut self, open: &[usize], cost: Option<u64>) {
        let mut frame = frame("", "");
        for (resource, &sharing) in frame.resources.iter_mut().zip(&self.sharing) {
            resource.sharing = sharing;
        }
        self.look_at(&frame, open, cost);
    }

    fn look_at(&mut self, frame: &Frame, open: &[usize], cost: Option<u64>) {
        let topology = parse_topology("gct:1,ct:1").unwrap();
        let is_open = |it: ResourceIndex| open.contains(&(it.0 as usize));
        let states = States::default();
        let changes = self
            .trials
            .look(frame, &topology, &states, is_open, |_| cost);
        for SharingChange { resource, sharing } in changes {
            self.sharing[resource.0 as usize] = sharing;
        }
    }
}

#[test]
fn a_buffer_is_shared_once_four_looks_agree() {
    let mut run = Run::new();
    for look in 1..=4 {
        run.look(&[CELLS], None);
        let is_shared = run.sharing[CELLS] == Sharing::Concurrent;
        assert_eq!(is_shared, look == 4, "after look {look}");
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
            run.look(&[CELLS], None);
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
        run.look(&[PICTURE], None);
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    let stages: Vec<_> = run.trials.stages().collect();
    assert_eq!(stages, [("picture", SharingStage::Open)], "times may come");
}

#[test]
fn an_image_is_tried_and_kept_if_its_passes_take_no_longer() {
    let mut run = Run::new();
    for cost in [130, 100, 120, 110] {
        run.look(&[PICTURE], Some(cost));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Concurrent);
    let stages: Vec<_> = run.trials.stages().collect();
    assert_eq!(stages, [("picture", SharingStage::Tried)]);
    for cost in [300, 105, 300, 300] {
        run.look(&[PICTURE], Some(cost));
    }
    let stages: Vec<_> = run.trials.stages().collect();
    let settled = SharingStage::Settled(Sharing::Concurrent);
    assert_eq!(stages, [("picture", settled)], "the least of both counts");
}

#[test]
fn an_image_that_becomes_dearer_is_exclusive_again_for_good() {
    let mut run = Run::new();
    for _ in 0..4 {
        run.look(&[PICTURE], Some(100));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Concurrent);
    for _ in 0..4 {
        run.look(&[PICTURE], Some(106));
    }
    assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    for _ in 0..rounds(20) {
        run.look(&[PICTURE], Some(100));
        assert_eq!(run.sharing[PICTURE], Sharing::Exclusive);
    }
}

#[test]
fn one_name_is_decided_at_a_look() {
    let mut run = Run::new();
    for _ in 0..4 {
        run.look(&[CELLS, PICTURE], Some(100));
    }
    let shared = |run: &Run| {
        let shared = run.sharing.iter().filter(|&&it| it == Sharing::Concurrent);
        shared.count()
    };
    assert_eq!(shared(&run), 1);
    for _ in 0..4 {
        run.look(&[CELLS, PICTURE], Some(100));
    }
    assert_eq!(shared(&run), 2);
}

#[test]
fn what_comes_in_the_place_of_another_follows_its_verdict() {
    let mut run = Run::new();
    for _ in 0..4 {
        run.look(&[CELLS], None);
    }
    // Another buffer of this name.
    run.sharing[CELLS] = Sharing::Exclusive;
    run.look(&[CELLS], None);
    assert_eq!(run.sharing[CELLS], Sharing::Concurrent);
}

#[test]
fn what_cannot_change_is_left_alone() {
    let mut run = Run::new();
    run.look(&[CELLS], None);
    run.trials.keep(frame("", "").resource(ResourceIndex(0)));
    for _ in 0..rounds(20) {
        run.look(&[CELLS], None);
    }
    assert_eq!(run.sharing[CELLS], Sharing::Exclusive);
    assert!(!run.trials.are_under_way());
}

#[test]
fn what_is_gone_is_forgotten() {
    let mut run = Run::new();
    run.look(&[CELLS], None);
    run.look(&[], None);
    assert_eq!(run.trials.stages().count(), 0);
}
