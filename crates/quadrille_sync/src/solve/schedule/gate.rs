//! Phase `gate`: the order of host passes among device passes.
//!
//! A device pass that depends on a host pass is submitted after it has run. So each host pass that
//! device passes depend on is a *gate* between submissions. Device passes move before every gate
//! that they do not depend on, and otherwise keep their order. The caller submits all work before a
//! gate, runs the host pass, and goes on with the submissions after it.
//!
//! Host passes that no device pass depends on are no gates, and delay no submission.

use crate::frame::{Frame, PassKind};
use crate::solve::graph::Graph;
use crate::topology::QueueIndex;

/// All passes in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gates {
    /// Each gate comes after all passes it depends on and before all that depend on it. Other host
    /// passes come last.
    pub(crate) order: Vec<u32>,
    /// By pass: whether it is a gate. Empty if there are none.
    is_gate: Vec<bool>,
}

impl Gates {
    /// Whether there is any gate.
    pub(crate) fn any(&self) -> bool {
        !self.is_gate.is_empty()
    }

    /// Whether a pass is a gate.
    pub(crate) fn is_gate(&self, pass: u32) -> bool {
        self.is_gate.get(pass as usize).copied().unwrap_or(false)
    }
}

/// Orders passes around the gates. `graph` has all dependencies, including those by layout and owner,
/// and `order` agrees with it.
pub(crate) fn gate(
    frame: &Frame,
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
) -> Gates {
    let is_host = |pass: u32| frame.passes[pass as usize].kind == PassKind::Host;
    let mut order = order.to_vec();
    if !order.iter().any(|pass| is_host(*pass)) {
        let is_gate = Vec::new();
        return Gates { order, is_gate };
    }
    let is_gate = gates(graph, &order, queues, is_host);
    // By pass: the 1-based number of the last gate that it depends on, or of itself if it is one.
    let mut behind = vec![0_u32; order.len()];
    let mut count = 0;
    for pass in &order {
        let before = graph.before(*pass).iter();
        behind[*pass as usize] = before
            .map(|from| behind[*from as usize])
            .max()
            .unwrap_or_default();
        if is_gate[*pass as usize] {
            count += 1;
            behind[*pass as usize] = count;
        }
    }
    let place = |pass: &u32| {
        let (host, gate) = (is_host(*pass), is_gate[*pass as usize]);
        let late = host && !gate;
        (late, if late { 0 } else { behind[*pass as usize] }, !gate)
    };
    // Stable: among those between the same gates, the order stays.
    order.sort_by_key(place);
    let is_gate = if count > 0 { is_gate } else { Vec::new() };
    Gates { order, is_gate }
}

/// The host passes that device passes depend on. Culled passes do not count, but lead on to others.
fn gates(
    graph: &Graph,
    order: &[u32],
    queues: &[Option<QueueIndex>],
    is_host: impl Fn(u32) -> bool,
) -> Vec<bool> {
    let mut leads_to_device = vec![false; order.len()];
    for pass in order.iter().rev() {
        leads_to_device[*pass as usize] = graph
            .after(*pass)
            .iter()
            .any(|to| queues[*to as usize].is_some() || leads_to_device[*to as usize]);
    }
    (0..order.len() as u32)
        .map(|pass| is_host(pass) && leads_to_device[pass as usize])
        .collect()
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
