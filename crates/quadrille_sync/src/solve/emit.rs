//! The second half of the solver, which cannot fail: what goes between the passes, once these have their
//! queues and their order.

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
use crate::solve::state::blocks::Blocks;
use crate::solve::state::clocks::{Numbers, Timeline};
use crate::solve::state::{self, Consulted, Hosted, LastUses, Maps};
use crate::states::{EndStates, States};
use crate::topology::{QueueIndex, Topology};

/// A plan, and what it hangs on.
pub(crate) struct Solved {
    pub(crate) plan: Plan,
    /// What was looked at of each access before the frame, in the order of the frame's resources
    /// that have a past, their runs, and [`Marked::marks`]; then the same of the blocks.
    ///
    /// [`Marked::marks`]: crate::states::Marked::marks
    pub(crate) consulted: Vec<Consulted>,
}

/// A plan but for its end states, and what these are made of.
pub(super) struct Emitted {
    plan: Plan,
    maps: Maps,
    blocks: Blocks,
    /// See [`Past`](state::Past).
    first: Vec<u32>,
    consulted: Vec<Consulted>,
    last_uses: LastUses,
    hosted: Vec<Option<Hosted>>,
    timeline: Timeline,
    numbers: Numbers,
}

/// The second half, which cannot fail: what goes between the passes.
pub(super) fn emit(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    split: &Split,
    kept: &[bool],
) -> Emitted {
    let (mut walk, mut maps) = Walk::new(frame, topology, states);
    let mut host = passes::passes(&mut walk, &mut maps, split);
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
    Emitted {
        plan: Plan {
            submissions,
            host,
            culled,
            end: EndStates::default(),
        },
        maps,
        blocks,
        first: past.first,
        consulted: past.consulted,
        last_uses,
        hosted,
        timeline,
        numbers,
    }
}

impl AsRef<Plan> for Emitted {
    fn as_ref(&self) -> &Plan {
        &self.plan
    }
}

impl Emitted {
    /// Adds the end states.
    pub(super) fn finish(self, frame: &Frame, topology: &Topology) -> Solved {
        let Self {
            mut plan,
            maps,
            blocks,
            first,
            consulted,
            last_uses,
            hosted,
            timeline,
            numbers,
        } = self;
        plan.end = state::end_states(frame, maps, &blocks, &first, &last_uses, &hosted, &numbers);
        (plan.end.learned, plan.end.joined) = timeline.learned(&numbers);
        let submissions = plan.submissions.iter();
        plan.end.signals = signals(topology, submissions.map(|submission| submission.queue));
        Solved { plan, consulted }
    }
}

/// How many submissions each queue has.
fn signals(topology: &Topology, submissions: impl Iterator<Item = QueueIndex>) -> Vec<u64> {
    let mut signals = vec![0; topology.queues.len()];
    submissions.for_each(|queue| signals[usize::from(queue.0)] += 1);
    signals
}
