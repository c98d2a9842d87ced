//! The solver: from what passes declare to what queues do.
//!
//! [`solve`] is the contents page. Each phase is a file and a function; those of `emit`
//! share a [`Walk`](walk::Walk) through the frame, because a barrier, a wait and a transfer of
//! ownership are decided together.
//!
//! Some deviations from the order one might expect: `order` comes before `cull`, so that order
//! through a culled pass holds, and before `assign`, which follows chains of passes. It gives the
//! declared order, which decides who sees whose writes and what errors say. Which order passes
//! are submitted in is decided by `arrange`, once their queues and hazards are known; of the
//! declared order and that one, `choose` takes the plan that is better.

mod after;
mod alias;
mod arrange;
mod assign;
mod barrier;
mod check;
mod choose;
mod cull;
mod custom;
mod depend;
mod early;
mod edge;
mod emit;
mod gate;
mod graph;
mod hazard;
mod host;
mod levels;
mod meet;
mod merge;
mod occupy;
mod order;
mod ownership;
mod passes;
mod place;
mod predecessors;
mod prepare;
mod race;
mod record;
mod schedule;
mod scope;
mod seen;
mod slices;
mod split;
mod timeline;
mod touch;
mod track;
mod walk;

use crate::error::PlanErrors;
use crate::frame::Frame;
use crate::plan::Plan;
use crate::states::States;
use crate::topology::Topology;

use emit::emit;
use split::Split;

pub(crate) use emit::Solved;
pub use place::{BlockNeed, MemoryNeed, Places, place};
pub(crate) use track::Consulted;

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
    check::check_shape(frame, topology, states)?;
    let mut errors = Vec::new();
    check::check_uses(frame, states, &mut errors);
    edge::check(frame, topology, &mut errors);
    ownership::check(frame, topology, states, &mut errors);
    let mut touches = touch::touch(frame);
    let graph = depend::depend(frame, &touches, &mut errors);
    let Some(order) = order::order(frame, &graph, &mut errors) else {
        // Without an order only what needs none can be said.
        assign::assign_unordered(frame, topology, &graph, &mut errors);
        PlanErrors::check(errors)?;
        unreachable!("a missing order is an error");
    };
    if !order.is_sorted() {
        touches.sort(&order);
    }
    race::race(frame, &touches, &graph, &order, states, &mut errors);
    let kept = cull::cull(frame, &touches);
    let queues = assign::assign(frame, topology, &graph, &order, &kept, &mut errors);
    let mut hazards = hazard::hazards(frame, topology, &touches, &queues, Some(states));
    hazards.extend(alias::alias(frame, &touches, &order, &queues, &mut errors));
    PlanErrors::check(errors)?;
    let mut links = Vec::with_capacity(hazards.len() + graph.edges.len());
    links.extend(hazards.iter().map(|hazard| (hazard.from, hazard.to)));
    let needs = links.len();
    links.extend(graph.edges.iter().map(|edge| (edge.from, edge.to)));
    let split = split::split(frame, topology, &links, &order, &queues);
    let arranged = arrange::arrange(frame, topology, &links[..needs], &order, &queues, &split);
    let emit = |split: &Split| emit(frame, topology, states, split, &kept);
    let best = match arranged {
        Some(arranged) if arranged.is_better => emit(&arranged.split),
        Some(arranged) => {
            let (declared, arranged) = (emit(&split), emit(&arranged.split));
            match choose::is_better(frame, &declared.plan, &arranged.plan) {
                true => arranged,
                false => declared,
            }
        }
        None => emit(&split),
    };
    Ok(best.finish(frame, topology))
}
