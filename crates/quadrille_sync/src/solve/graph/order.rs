//! Phase `order`: one order for all passes.
//!
//! Declaration order, as far as the graph allows. Passes of different queues may alternate in it
//! at no cost: only submissions cost time, and `split` opens one only where joining an older one
//! would delay a pass. So reordering here would gain nothing, and plans keep the order in which
//! passes were declared.
//!
//! Only host passes come after all passes that do not depend on them. If a host pass came earlier
//! and needed an image in another layout than device passes do, these would depend on the layout
//! transition and wait until the host has run.

use crate::error::PlanError;
use crate::frame::{Frame, PassKind};
use crate::solve::graph::Graph;
use crate::solve::graph::depend::cycle_error;

/// Returns the order. If there is a cycle, returns `None` and adds an error.
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
