use super::{OBSERVATIONS, QueueChoices};
use crate::frame::{Frame, PassIndex};
use crate::resource::Sharing;
use crate::states::States;
use crate::text::{parse_frame, parse_topology};
use crate::topology::QueueIndex;

const FRAME: &str = "
buffer a 0 bytes 64
buffer b 1 bytes 64
pass shadows requires GRAPHICS
  StorageWriteFragment a
pass particles requires COMPUTE
  StorageWriteCompute b
pass draw requires GRAPHICS
  StorageReadFragment a
  StorageReadVertex b
";

/// A simulated app: `costs` are the times of its passes in order, multiplied by `slower` on other queues
/// than the main one; `took` returns the time of a frame.
struct App {
    frame: Frame,
    costs: Vec<u64>,
    choices: QueueChoices,
    topology: &'static str,
    is_shareable: bool,
}

impl App {
    fn new(text: &str, costs: &[u64]) -> Self {
        Self {
            frame: parse_frame(text).expect("a frame"),
            costs: costs.to_vec(),
            choices: QueueChoices::default(),
            topology: "gct:1,ct:1",
            is_shareable: false,
        }
    }

    /// Observes once; returns whether the next frame needs a new plan.
    fn observe(&mut self, took: Option<u64>) -> bool {
        for pass in &mut self.frame.passes {
            pass.queue.fixed = self.choices.queue(&pass.name);
        }
        for resource in &mut self.frame.resources {
            if self.choices.shares().any(|it| *it == resource.name) {
                resource.sharing = Sharing::Concurrent;
            }
        }
        let topology = parse_topology(self.topology).expect("a topology");
        let costs = &self.costs;
        let cost = |pass: PassIndex| costs.get(pass.0 as usize).copied();
        let open = (|_| true, |_| self.is_shareable);
        let states = States::default();
        let mut observation =
            (self.choices).observe(&self.frame, &topology, &states, open, cost, took);
        loop {
            if let Some(is_changed) = self.choices.step(&mut observation) {
                return is_changed;
            }
        }
    }

    fn moved(&self) -> Vec<String> {
        let all = self.choices.moves();
        all.map(|it| format!("{} {}", it.pass, it.queue.0))
            .collect()
    }
}

#[test]
fn a_pass_moves_when_looks_agree_and_stays_when_frames_are_shorter() {
    let mut app = App::new(FRAME, &[1000, 800, 500]);
    for _ in 1..OBSERVATIONS {
        app.observe(Some(2300));
        assert_eq!(app.moved().len(), 0, "observations have to agree");
    }
    assert!(app.observe(Some(2300)), "the next frame is another");
    assert_eq!(app.moved(), ["particles 1"], "shadows need graphics");
    for _ in 0..20 {
        app.observe(Some(1500));
    }
    assert_eq!(app.moved(), ["particles 1"], "it is kept");
    let moved = app.choices.moves().next().expect("a move");
    assert!(!moved.is_tried, "the trial is over");
    assert_eq!(
        (moved.queue, moved.cost_us),
        (QueueIndex(1), 800),
        "as measured"
    );
    assert!((700..=800).contains(&moved.saves_us), "{}", moved.saves_us);
    assert!(!app.choices.are_under_way(), "all is decided");
}

#[test]
fn a_pass_returns_if_the_frame_is_not_shorter() {
    let mut app = App::new(FRAME, &[1000, 800, 500]);
    let mut moves = 0;
    let mut before = false;
    for _ in 0..400 {
        app.observe(Some(2300));
        let now = !app.moved().is_empty();
        moves += u32::from(now && !before);
        before = now;
    }
    assert!(moves >= 2, "it is tried again: {moves}");
    assert!(
        moves <= 12,
        "and more and more seldom, not each {OBSERVATIONS} observations: {moves}"
    );
}

#[test]
fn a_pass_returns_when_it_saves_nothing_any_more() {
    let mut app = App::new(FRAME, &[1000, 800, 500]);
    for _ in 0..OBSERVATIONS {
        app.observe(None);
    }
    assert_eq!(
        app.moved(),
        ["particles 1"],
        "nothing is measured but passes"
    );
    // The passes that it overlapped are nearly free now.
    app.costs = vec![1, 800, 500];
    for _ in 0..4 * OBSERVATIONS {
        app.observe(None);
    }
    assert_eq!(app.moved().len(), 0, "{:?}", app.choices);
}

#[test]
fn pass_without_another_queue_is_not_observed() {
    // Shadows would save most.
    let mut app = App::new(FRAME, &[2000, 800, 500]);
    for _ in 0..OBSERVATIONS {
        app.observe(None);
    }
    assert_eq!(app.moved(), ["particles 1"], "each observation was of them");
}

#[test]
fn resource_read_by_two_families_is_shared_if_automatic() {
    let text = "
image palette 0 aspects COLOR mips 1 layers 1
buffer a 1 bytes 64
buffer b 2 bytes 64
pass paint requires GRAPHICS
  ColorAttachmentWrite palette discard
pass dragon requires COMPUTE
  SampledCompute palette
  StorageWriteCompute a
pass sky requires GRAPHICS
  SampledFragment palette
  StorageWriteFragment b
";
    for is_shareable in [true, false] {
        let mut app = App::new(text, &[10, 1000, 1000]);
        app.is_shareable = is_shareable;
        for _ in 0..8 * OBSERVATIONS {
            let has_moved = !app.moved().is_empty();
            app.observe(Some(if has_moved { 1010 } else { 2010 }));
        }
        let shares: Vec<&str> = app.choices.shares().map(|it| &**it).collect();
        let took = app.moved();
        if is_shareable {
            assert_eq!(
                (shares, took),
                (vec!["palette"], vec!["dragon 1".to_owned()])
            )
        } else {
            assert!(shares.is_empty(), "it stays exclusive: {took:?}")
        }
    }
}

#[test]
fn little_gain_moves_nothing() {
    let mut app = App::new(FRAME, &[1000, 10, 500]);
    for _ in 0..20 {
        app.observe(Some(1510));
    }
    assert_eq!(app.moved().len(), 0, "one part in a hundred and fifty");
}

/// Moving one of the two blurs saves too little of the frame; moving both saves enough.
const BLURS: &str = "
buffer a 0 bytes 64
buffer half 1 bytes 64
buffer glow 2 bytes 64
pass blur_x requires COMPUTE
  StorageWriteCompute half
pass blur_y requires COMPUTE
  StorageReadCompute half
  StorageWriteCompute glow
pass shadows requires GRAPHICS
  StorageWriteFragment a
pass draw requires GRAPHICS
  StorageReadFragment a
  StorageReadFragment glow
";

#[test]
fn passes_that_only_pay_together_move_together() {
    let mut app = App::new(BLURS, &[30, 30, 1000, 1000]);
    for _ in 0..OBSERVATIONS {
        assert_eq!(app.moved().len(), 0, "observations have to agree");
        app.observe(Some(2060));
    }
    assert_eq!(app.moved(), ["blur_x 1", "blur_y 1"], "60 of 2060");
    for _ in 0..20 {
        app.observe(Some(2000));
    }
    assert_eq!(app.moved(), ["blur_x 1", "blur_y 1"], "they are kept");
    assert!(!app.choices.are_under_way(), "all is decided");
    // Nothing is left to run beside them.
    app.costs = vec![30, 30, 1, 1000];
    for _ in 0..4 * OBSERVATIONS {
        app.observe(None);
    }
    assert_eq!(app.moved().len(), 0, "they return together");
}

#[test]
fn passes_that_moved_together_return_if_the_frame_is_not_shorter() {
    let mut app = App::new(BLURS, &[30, 30, 1000, 1000]);
    let mut counts = std::collections::BTreeSet::new();
    for _ in 0..200 {
        app.observe(Some(2060));
        counts.insert(app.moved().len());
    }
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [0, 2],
        "both or none"
    );
}

#[test]
fn resource_with_another_reader_ends_a_chain() {
    let frame = BLURS.replace(
        "  StorageReadFragment a\n",
        "  StorageReadFragment a\n  StorageReadFragment half\n",
    );
    let mut app = App::new(&frame, &[30, 30, 1000, 1000]);
    for _ in 0..20 {
        app.observe(Some(2060));
    }
    assert_eq!(app.moved().len(), 0, "a transfer for each of them");
}

#[test]
fn chains_stay_on_one_queue_and_one_queue_stays_as_it_is() {
    let chain = "
buffer a 0 bytes 64
buffer b 1 bytes 64
buffer c 2 bytes 64
pass one requires COMPUTE
  StorageWriteCompute a
pass two requires COMPUTE
  StorageReadCompute a
  StorageWriteCompute b
pass three requires COMPUTE
  StorageReadCompute b
  StorageWriteCompute c
";
    let mut app = App::new(chain, &[1000, 1000, 1000]);
    for _ in 0..20 {
        app.observe(None);
    }
    assert_eq!(app.moved().len(), 0, "nothing runs beside it");
    let mut app = App::new(FRAME, &[1000, 800, 500]);
    app.topology = "gct:1";
    for _ in 0..20 {
        app.observe(None);
    }
    assert_eq!(app.moved().len(), 0, "there is no other queue");
}

#[test]
fn costs_change_when_they_differ_by_much() {
    let mut app = App::new(FRAME, &[1000, 10, 500]);
    assert!(app.observe(None), "costs are known now");
    assert_eq!(app.choices.cost_us("shadows"), 1000, "as measured");
    app.costs = vec![1100, 12, 450];
    assert!(!app.observe(None), "times vary");
    assert_eq!(app.choices.cost_us("shadows"), 1000, "as before");
    app.costs = vec![2000, 12, 450];
    assert!(app.observe(None), "that is another cost");
    assert_eq!(app.choices.cost_us("shadows"), 2000, "as measured");
    assert_eq!(app.choices.cost_us("nobody"), 0, "no such pass");
    // A pass that is gone is forgotten.
    app.frame =
        parse_frame("buffer a 0 bytes 64\npass draw requires GRAPHICS\n  StorageWriteFragment a\n")
            .expect("a frame");
    app.observe(None);
    assert_eq!(app.choices.cost_us("shadows"), 0, "forgotten");
}
