use std::cell::Cell;

use super::*;
use crate::text::{parse_frame, parse_topology};

/// An observation that compares two frames makes eight plans, one per step, and then returns its finding.
#[test]
fn each_step_makes_one_plan() {
    let one = "buffer a 0 bytes 64\npass write requires COMPUTE\n  StorageWriteCompute a\n";
    let two = "pass read requires GRAPHICS\n  StorageReadFragment a\n";
    let frames = [one.to_owned(), format!("{one}{two}")];
    let frames = frames.map(|text| parse_frame(&text).unwrap());
    let topology = parse_topology("gct:1,ct:1").unwrap();
    let calls = Cell::new(0);
    let observe = |plans: &mut Plans| {
        calls.set(calls.get() + 1);
        let mut counts = Vec::new();
        for frame in &frames {
            counts.push(plans.steady(frame)?.map(|plan| plan.passes().count()));
        }
        Ok(counts)
    };
    let mut plans = Plans::new(&topology, &States::default());
    let mut steps = 0;
    let found = loop {
        steps += 1;
        if let Some(found) = plans.step(observe) {
            break found;
        }
    };
    assert_eq!(found, [Some(1), Some(2)]);
    assert_eq!(steps, 1 + 2 * REPEATED, "the first step only asks");
    assert_eq!(
        calls.get(),
        3,
        "at first, and after the plans of each frame"
    );
    let at_once = Plans::new(&topology, &States::default()).finish(observe);
    assert_eq!(at_once, found);
}

#[test]
fn a_frame_without_a_plan_is_an_answer() {
    let frame =
        parse_frame("buffer a 0 bytes 64\npass read requires COMPUTE\n  StorageReadCompute a");
    let frame = frame.unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let mut plans = Plans::new(&topology, &States::default());
    assert_eq!(plans.finish(|plans| plans.steady(&frame)), None);
}
