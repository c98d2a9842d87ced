//! The solver: plans queue submissions from the declarations of passes.
//!
//! `solve` calls all phases in order. A phase is a pure function. Each folder imports only
//! folders before it in this list:
//!
//! - `graph`: overlapping uses, hazards, the order that passes need;
//! - `validate`: misuse, with errors (the graph says which passes are ordered);
//! - `schedule`: the queue of each pass, submissions, and their order;
//! - `state`: the last accesses to each range and each byte, and the vector clocks of the queues;
//! - `barriers`: the ladder from one use of a range to the next, barrier calls, look-ahead;
//! - `queues`: transfers of ownership, swapchains, the host;
//! - `emit`: the walk through the passes, which decides barriers, waits and transfers together;
//! - `memory`: offsets of transient resources in memory, found before a frame is planned.
//!
//! The phase `order` runs before `cull`, so that dependencies through a culled pass still hold. It
//! runs before `assign`, because `assign` keeps a chain of dependent passes on one queue. `order`
//! returns the declared order. That order decides which write a read observes, and errors refer to
//! it. Once queues and hazards are known, `arrange` looks for a better order of submission, and
//! `choose` takes the better of the two plans.

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

use emit::{Needs, emit};
use graph::Graph;
use graph::alias::alias;
use graph::cull::cull;
use graph::depend::depend;
use graph::hazard::{hazards, links};
use graph::order::order;
use graph::range_uses::range_uses;
use schedule::arrange::arrange;
use schedule::assign::{assign, assign_unordered};
use schedule::choose::choose;
use schedule::cut::cut;
use schedule::split::{Split, split};
use validate::{race, validate};

pub(crate) use emit::Solved;
pub use memory::{BlockNeed, MemoryNeed, MemoryPlan, plan_memory};
pub(crate) use schedule::objective::time_us;
pub(crate) use state::Consulted;

/// Plans a frame.
///
/// A pure function: the same frame, topology and states give the same plan. The caller submits
/// the plan as a whole and then calls [`States::commit`].
///
/// ```
/// use quadrille_sync::access::Access;
/// use quadrille_sync::frame::{Frame, QueueRequest, Use};
/// use quadrille_sync::resource::{Resource, ResourceId};
/// use quadrille_sync::solve::plan;
/// use quadrille_sync::states::States;
/// use quadrille_sync::text::parse_topology;
/// use quadrille_sync::topology::{Capabilities, QueueIndex};
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
/// Lists all misuse in the frame, not just the first: see [`PlanError`].
pub fn plan(frame: &Frame, topology: &Topology, states: &States) -> Result<Plan, PlanErrors> {
    solve(frame, topology, states).map(|solved| solved.plan)
}

/// Runs all phases in order.
pub(crate) fn solve(
    frame: &Frame,
    topology: &Topology,
    states: &States,
) -> Result<Solved, PlanErrors> {
    let mut errors = validate(frame, topology, states)?;
    let mut uses = range_uses(frame);
    let graph = depend(frame, &uses, &mut errors);
    let Some(order) = order(frame, &graph, &mut errors) else {
        return Err(unordered(frame, topology, &graph, errors));
    };
    uses.sort(&order);
    race(frame, &uses, &graph, &order, states, &mut errors);
    let kept = cull(frame, &uses);
    let queues = assign(frame, topology, &graph, &order, &kept, &mut errors);
    let mut hazards = hazards(frame, topology, &uses, &queues, Some(states));
    hazards.extend(alias(frame, &uses, &order, &queues, &mut errors));
    PlanErrors::check(errors)?;
    let declared = split(frame, topology, &links(&graph, &hazards), &order, &queues);
    let declared = cut(frame, declared);
    let arranged = arrange(frame, topology, &hazards, &order, &queues, &declared);
    let needs = Needs::new(&hazards, frame.passes.len());
    let emit = |split: &Split| emit(frame, topology, states, split, &needs, &kept);
    Ok(choose(frame, &declared, arranged, emit))
}

/// Errors of a frame whose dependencies form a cycle. Phases that need an order do not run.
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
