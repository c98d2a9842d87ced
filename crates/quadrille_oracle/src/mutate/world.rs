//! Who is left in the frames of a proof: whoever is not there does nothing, and what stands in plans
//! for him is there for others.

use quadrille_sync::{PassIndex, Plan, QueueIndex, Step};

use super::proof::Taken;

/// A pass of one frame of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) frame: usize,
    pub(super) pass: PassIndex,
}

/// How to look at a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) enum View {
    /// As it is.
    Plain,
    /// As if all queues had all stages, so that groups of stages mean all that they can.
    Whole,
    /// With `ALL_COMMANDS` spelled out in first scopes: the stages, but not what barriers do
    /// themselves.
    Spelled,
    /// As if this pass were the last that does anything.
    Until(Site),
    /// As if nobody but these two did anything, and of the later one, if there is one, only one of
    /// its uses of the cell might be there.
    Pair {
        earlier: Site,
        later: Option<Site>,
        only: Option<usize>,
    },
}

impl View {
    /// Whether a pass uses a cell, of which this is one of its uses.
    pub(super) fn has(self, steps: &[Taken], site: Site, one: usize) -> bool {
        match self {
            View::Plain | View::Whole | View::Spelled => true,
            View::Until(last) => site == last || is_before(steps, site, last),
            View::Pair {
                earlier,
                later,
                only,
            } => {
                let is_it = || only.is_none_or(|only| only == one);
                site == earlier || later == Some(site) && is_it()
            }
        }
    }

    /// Whether there is nothing to see after the frame in question.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, View::Until(_) | View::Pair { .. })
    }
}

/// Whether one pass comes before another where plans have been made for: in submission order.
pub(super) fn is_before(steps: &[Taken], one: Site, other: Site) -> bool {
    let place = |site: Site| {
        let (_, _, plan) = &steps[site.frame];
        (site.frame, place(plan, site.pass))
    };
    place(one) < place(other)
}

/// The queue that a pass runs on, if it does.
pub(super) fn queue_of(plan: &Plan, pass: PassIndex) -> Option<QueueIndex> {
    let mut passes = plan.passes();
    passes.find(|(_, it)| *it == pass).map(|(queue, _)| queue)
}

/// Where a pass stands in a plan: host passes before the submission that waits for them. Who is
/// culled stands before all.
fn place(plan: &Plan, pass: PassIndex) -> Option<(usize, usize)> {
    let on_host = plan.host.iter().position(|step| step.pass == pass);
    if let Some(at) = on_host {
        let before = plan.host[at].before.map(|before| 2 * before as usize);
        return Some((before.unwrap_or(usize::MAX), at));
    }
    let mut submissions = plan.submissions.iter().enumerate();
    submissions.find_map(|(submission, it)| {
        let is_it = |step: &Step| *step == Step::Pass(pass);
        let at = it.steps.iter().position(is_it)?;
        Some((2 * submission + 1, at))
    })
}
