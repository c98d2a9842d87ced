//! The second half of the solver, which cannot fail: what goes between the passes, once these have
//! their queues and their order.

mod own_signal;
mod passes;

use crate::frame::{Frame, PassIndex};
use crate::plan::Plan;
use crate::solve::barriers::lookahead;
use crate::solve::barriers::record;
use crate::solve::barriers::walk::Walk;
use crate::solve::queues::host;
use crate::solve::queues::ownership;
use crate::solve::queues::swapchain;
use crate::solve::schedule::split::Split;
use crate::solve::state::{self, Consulted};
use crate::states::States;
use crate::topology::Topology;

pub(super) use own_signal::Needs;

/// A plan, and what it depends on.
pub(crate) struct Solved {
    pub(crate) plan: Plan,
    /// The properties of each access before the frame that the plan depends on. They are in the
    /// order of the frame's resources that have a past, their runs, and [`Marked::marks`]; then
    /// the same of the blocks.
    ///
    /// [`Marked::marks`]: crate::states::Marked::marks
    pub(crate) consulted: Vec<Consulted>,
}

impl AsRef<Plan> for Solved {
    fn as_ref(&self) -> &Plan {
        &self.plan
    }
}

/// The second half, which cannot fail: what goes between the passes.
pub(super) fn emit(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    split: &Split,
    needs: &Needs<'_>,
    kept: &[bool],
) -> Solved {
    let (mut walk, mut maps) = Walk::new(frame, topology, states);
    let mut host = passes::passes(&mut walk, &mut maps, split, needs);
    swapchain::present(&mut walk, &mut maps);
    ownership::give(&mut walk, &mut maps);
    ownership::predict(&mut walk, &mut maps);
    lookahead::prepare(&mut walk, &mut maps);
    walk.blocks.close(frame, &maps);
    let Walk {
        timeline,
        records,
        past,
        blocks,
        last_uses,
        hosted,
        ..
    } = walk;
    let (submissions, numbers) = record::number(&timeline, records);
    host::number(&mut host, &timeline, &numbers);
    let culled = (0..kept.len()).filter(|pass| !kept[*pass]);
    let culled = culled.map(|pass| PassIndex(pass as u32)).collect();
    let uses = (&last_uses, &hosted[..]);
    let mut end = state::end_states(frame, maps, &blocks, &past.first, uses, &numbers);
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
