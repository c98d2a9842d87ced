//! The solver: from what passes declare to what queues do.
//!
//! [`solve`] is the contents page. A phase is a function from values to a value, in the folder of what it
//! is about; a folder knows those before it in this list, and none after it:
//!
//! - `graph`: uses that meet, hazards, the order that passes need;
//! - `validate`: misuse, with errors (it asks the graph who is ordered);
//! - `schedule`: the queue of each pass, submissions, and their order;
//! - `state`: what was done to each range and each byte, and what queues know of each other;
//! - `barriers`: the ladder from one use of a range to the next, barrier calls, look-ahead;
//! - `queues`: transfers of ownership, swapchains, the host;
//! - `emit`: the walk through the passes, in which a barrier, a wait and a transfer are decided together;
//! - `memory`: places of transient resources, which are looked for before a frame is planned.
//!
//! Some deviations from the order one might expect: `order` comes before `cull`, so that order
//! through a culled pass holds, and before `assign`, which follows chains of passes. It gives the
//! declared order, which decides who sees whose writes and what errors say. Which order passes
//! are submitted in is decided by `arrange`, once their queues and hazards are known; of the
//! declared order and that one, `choose` takes the plan that is better.

mod barriers;
mod emit;
mod graph;
mod memory;
mod queues;
mod schedule;
mod state;
mod validate;

use crate::error::{PlanError, PlanErrors};
use crate::frame::Frame;
use crate::plan::Plan;
use crate::states::States;
use crate::topology::Topology;

use emit::emit;
use graph::Graph;
use graph::alias::alias;
use graph::cull::cull;
use graph::depend::depend;
use graph::hazard::{hazards, links};
use graph::order::order;
use graph::touch::touch;
use schedule::arrange::arrange;
use schedule::assign::{assign, assign_unordered};
use schedule::choose::choose;
use schedule::split::{Split, split};
use validate::{race, validate};

pub(crate) use emit::Solved;
pub use memory::{BlockNeed, MemoryNeed, Places, place};
pub(crate) use state::Consulted;

/// Plans a frame.
///
/// A pure function: the same frame, topology and states give the same plan. The caller submits
/// the plan as a whole and then calls [`States::commit`].
///
/// ```
/// use quadrille_sync::*;
/// let topology = parse_topology("gct:1").unwrap();
/// let mut states = States::default();
/// let mut frame = Frame::default();
/// let cells = frame.add_resource(Resource::buffer(ResourceId(0), "cells", 1024));
/// let compute = QueueRequest { required: Capabilities::COMPUTE, ..Default::default() };
/// let graphics = QueueRequest { required: Capabilities::GRAPHICS, ..Default::default() };
/// frame.add_pass("fill", compute, &[Use::whole(cells, Access::StorageWriteCompute)], &[]);
/// frame.add_pass("draw", graphics, &[Use::whole(cells, Access::VertexRead)], &[]);
/// let plan = plan(&frame, &topology, &states).unwrap();
/// assert_eq!(plan.counts().barriers, 1);
/// states.commit(&frame, &topology, &plan);
/// assert_eq!(states.base(QueueIndex(0)), 1);
/// ```
///
/// # Errors
/// All misuse that the frame contains, in one go: see [`PlanError`](crate::PlanError).
pub fn plan(frame: &Frame, topology: &Topology, states: &States) -> Result<Plan, PlanErrors> {
    solve(frame, topology, states).map(|solved| solved.plan)
}

/// All phases in order.
pub(crate) fn solve(
    frame: &Frame,
    topology: &Topology,
    states: &States,
) -> Result<Solved, PlanErrors> {
    let mut errors = validate(frame, topology, states)?;
    let mut touches = touch(frame);
    let graph = depend(frame, &touches, &mut errors);
    let Some(order) = order(frame, &graph, &mut errors) else {
        return Err(unordered(frame, topology, &graph, errors));
    };
    touches.sort(&order);
    race(frame, &touches, &graph, &order, states, &mut errors);
    let kept = cull(frame, &touches);
    let queues = assign(frame, topology, &graph, &order, &kept, &mut errors);
    let mut hazards = hazards(frame, topology, &touches, &queues, Some(states));
    hazards.extend(alias(frame, &touches, &order, &queues, &mut errors));
    PlanErrors::check(errors)?;
    let declared = split(frame, topology, &links(&graph, &hazards), &order, &queues);
    let arranged = arrange(frame, topology, &hazards, &order, &queues, &declared);
    let emit = |split: &Split| emit(frame, topology, states, split, &kept);
    Ok(choose(frame, &declared, arranged, emit))
}

/// The errors of a frame that has no order. Without one only what needs none can be said.
fn unordered(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    mut errors: Vec<PlanError>,
) -> PlanErrors {
    assign_unordered(frame, topology, graph, &mut errors);
    match PlanErrors::check(errors) {
        Err(errors) => errors,
        Ok(()) => unreachable!("a missing order is an error"),
    }
}
