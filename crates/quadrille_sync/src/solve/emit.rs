//! The second half of the solver, which cannot fail: barriers, waits and transfers between passes
//! whose queues and order are decided.

mod own_signal;
mod passes;

use crate::frame::{Frame, PassIndex};
use crate::plan::Plan;
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::lookahead;
use crate::solve::barriers::record;
use crate::solve::barriers::waits::Waits;
use crate::solve::queues::host;
use crate::solve::queues::ownership;
use crate::solve::queues::swapchain;
use crate::solve::schedule::split::Split;
use crate::solve::state::{self, Consulted};
use crate::states::States;
use crate::topology::Topology;

pub(super) use own_signal::Needs;

/// A plan, with the properties of earlier accesses that it depends on.
pub(crate) struct Solved {
    pub(crate) plan: Plan,
    /// The properties of each access before the frame that the plan depends on, for the plan cache.
    /// Ordered by the frame's resources that have a past, then their runs, then [`HasAccesses::accesses`].
    /// The accesses of memory blocks follow in the same order.
    ///
    /// [`HasAccesses::accesses`]: crate::states::HasAccesses::accesses
    pub(crate) consulted: Vec<Consulted>,
}

impl AsRef<Plan> for Solved {
    fn as_ref(&self) -> &Plan {
        &self.plan
    }
}

/// Plans barriers, waits and transfers of submissions whose passes are decided.
pub(super) fn emit(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    split: &Split,
    needs: &Needs<'_>,
    kept: &[bool],
) -> Solved {
    let (mut ranges, past) = state::load(frame, states);
    let inputs = Inputs::new(frame, topology, &ranges.maps);
    let mut builder = Builder::new(inputs, states, past);
    let mut calls = Calls::new(topology.queues.len());
    let mut host = passes::passes(&mut builder, &mut calls, &mut ranges, split, needs);
    let maps = &mut ranges.maps;
    swapchain::present(&mut builder, maps);
    ownership::give(&mut builder, maps);
    ownership::predict(&mut builder, maps);
    lookahead::prepare(&mut builder, &mut calls, maps);
    ranges.blocks.close(frame, &ranges.maps);
    let Builder {
        waits: Waits {
            mut timeline, past, ..
        },
        records,
        last_uses,
        hosted,
        ..
    } = builder;
    let (submissions, numbers) = record::number(&mut timeline, records);
    host::number(&mut host, &timeline, &numbers);
    let culled = (0..kept.len()).filter(|pass| !kept[*pass]);
    let culled = culled.map(|pass| PassIndex(pass as u32)).collect();
    let uses = (&last_uses, &hosted[..]);
    let mut end = state::end_states(frame, ranges, &past.first, uses, &numbers);
    (end.learned, end.joined) = timeline.learned(&numbers);
    end.signals = vec![0; topology.queues.len()];
    for submission in &submissions {
        end.signals[usize::from(submission.queue.0)] += 1;
    }
    Solved {
        plan: Plan {
            submissions,
            host,
            culled,
            end,
        },
        consulted: past.consulted,
    }
}
