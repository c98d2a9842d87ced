use crate::frame::Frame;
use crate::planner::Planner;
use crate::resource::BlockId;
use crate::solve::plan;
use crate::states::States;
use crate::text::{parse_frame, parse_topology};
use crate::topology::Topology;

fn topology() -> Topology {
    parse_topology("gct:1").unwrap()
}

/// A frame that writes a resource in a block.
fn frame(block: u32) -> Frame {
    let text = format!(
        "buffer cells 0 bytes 64 transient block {block} bytes 0..64
pass fill
  CopyWrite cells
"
    );
    parse_frame(&text).unwrap()
}

/// The number of barriers of one more frame.
fn barriers(frame: &Frame, states: &mut States) -> u32 {
    let plan = plan(frame, &topology(), states).unwrap();
    states.commit(frame, &topology(), &plan);
    plan.counts().barriers
}

#[test]
fn a_block_remembers_until_it_is_removed() {
    let mut states = States::default();
    assert_eq!(barriers(&frame(2), &mut states), 0, "nobody was there");
    assert_eq!(barriers(&frame(2), &mut states), 1, "after the last frame");
    assert_eq!(barriers(&frame(1), &mut states), 0, "another block");
    states.remove_block(BlockId(2));
    states.remove_block(BlockId(7));
    assert_eq!(barriers(&frame(2), &mut states), 0, "another block again");
}

#[test]
fn a_resource_may_go_while_its_block_remembers() {
    let mut states = States::default();
    let frame = frame(0);
    barriers(&frame, &mut states);
    let id = frame.resources[0].id;
    assert_eq!(states.last_uses(id).count(), 1, "it can be retired");
    states.remove(id);
    assert_eq!(states.last_uses(id).count(), 0);
    assert_eq!(barriers(&frame, &mut states), 1, "the bytes are the same");
}

#[test]
fn frames_with_blocks_settle() {
    let (mut planner, mut states) = (Planner::default(), States::default());
    let frame = frame(0);
    for at in 0..6 {
        let planned = planner.plan(&frame, &topology(), &states).unwrap();
        assert_eq!(planned.reused, at >= 2, "frame {at}");
        assert_eq!(*planned.plan, plan(&frame, &topology(), &states).unwrap());
        states.commit(&frame, &topology(), &planned.plan);
    }
    assert!(planner.plan_again(&topology(), &states).unwrap().reused);
    states.remove_block(BlockId(0));
    let again = planner.plan_again(&topology(), &states);
    let first = plan(&frame, &topology(), &states).unwrap();
    assert_eq!(
        again.map(|it| it.plan.counts().barriers),
        Some(0),
        "{first:?}"
    );
}
