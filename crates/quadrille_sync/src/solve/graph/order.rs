//! Phase `order`: one order for all passes.
//!
//! Declaration order, as far as the graph allows. Passes of different queues may alternate in
//! it without harm: what costs is a submission, and `split` opens one only where
//! joining an older one would delay somebody. So there is nothing to gain from moving passes
//! about, and a frame reads in its plan as it was written.
//!
//! Only host passes come behind all that need not come after them. If the host looked at an image
//! before device passes that read it in another layout, or are the next to read it in the host's,
//! they would come after the change of layout, and so be held back until the host has run.

use crate::error::PlanError;
use crate::frame::{Frame, PassKind};
use crate::solve::graph::Graph;
use crate::solve::graph::depend::cycle_error;

/// The order, or nothing (and an error) if there is a cycle.
pub(in crate::solve) fn order(
    frame: &Frame,
    graph: &Graph,
    errors: &mut Vec<PlanError>,
) -> Option<Vec<u32>> {
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
