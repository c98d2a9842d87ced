//! Phase `order`: one order for all passes.
//!
//! Declaration order, as far as the graph allows. Passes of different queues may alternate in it
//! without harm: only a submission costs, and `split` opens one only where joining an older one
//! would delay a pass. So moving passes here gains nothing, and a frame reads in its plan as it
//! was declared.
//!
//! Only host passes are placed after all passes that do not depend on them. Suppose that a host
//! pass used an image before device passes that read it in another layout, or that read it next in
//! the host's layout. These would depend on the layout transition, and so wait until the host has
//! run.

use crate::error::PlanError;
use crate::frame::{Frame, PassKind};
use crate::solve::graph::Graph;
use crate::solve::graph::depend::cycle_error;

/// The order, or nothing (and an error) if there is a cycle.
pub(crate) fn order(frame: &Frame, graph: &Graph, errors: &mut Vec<PlanError>) -> Option<Vec<u32>> {
    let is_host = |pass: u32| frame.passes[pass as usize].kind == PassKind::Host;
    let order = graph.sort_late(is_host);
    if order.len() == frame.passes.len() {
        return Some(order);
    }
    let error = cycle_error(frame, graph, &order);
    if !errors.contains(&error) {
        errors.push(error);
    }
    None
}
