//! Who is left in the frames of a proof: whoever is not there does nothing, and what stands in plans
//! for him is there for others.

use quadrille_sync::{
    Access, Capabilities, CustomAccess, PassIndex, Plan, QueueIndex, Scope, Step, Use,
};

use super::proof::Taken;
use crate::stages::{Touch, accesses, covers, single, touches};

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
    /// As if those were there who are foreseen.
    Foreseen,
    /// As if all queues had all stages, so that groups of stages mean all that they can.
    Whole,
    /// With `ALL_COMMANDS` spelled out in first scopes: the stages, but not what barriers do
    /// themselves.
    Spelled,
    /// As if this pass were the last that does anything.
    Until(Site),
    /// As if nobody but these two did anything, and of the later one, if there is one, only one of
    /// its uses of the cell might be there, or only what it writes in some stages and what it sees
    /// there.
    Pair {
        earlier: Site,
        later: Option<Site>,
        only: Option<usize>,
        shown: Option<Scope>,
    },
}

impl View {
    /// What a pass does to a cell of one of its uses, counted from 0.
    pub(super) fn left_of(self, steps: &[Taken], site: Site, at: usize, one: Use) -> Option<Use> {
        match self {
            View::Plain | View::Foreseen | View::Whole | View::Spelled => Some(one),
            View::Until(last) => (site == last || is_before(steps, site, last)).then_some(one),
            View::Pair {
                earlier,
                later,
                only,
                shown,
            } => {
                let is_it = only.is_none_or(|only| only == at);
                match shown {
                    _ if site == earlier => Some(one),
                    _ if later != Some(site) || !is_it => None,
                    None => Some(one),
                    Some(shown) => narrowed(one, shown),
                }
            }
        }
    }

    /// Whether there is nothing to see after the frame in question.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, View::Until(_) | View::Pair { .. })
    }
}

/// What is left of a use that sees nothing but what is shown, and does nothing in other stages.
fn narrowed(one: Use, shown: Scope) -> Option<Use> {
    let stages = single(one.access.stages()) & single(shown.stages);
    let access = one.access.scope(Capabilities::all()).access;
    let is_left = |touch: &Touch| {
        let is_read = accesses(touch.access, true).is_empty();
        !is_read || covers(shown, *touch)
    };
    let left = touches(Scope { stages, access }).filter(is_left);
    let (stages, access) = left.fold(Default::default(), |(stages, access), touch| {
        (stages | touch.stage, access | touch.access)
    });
    let custom = CustomAccess {
        stages,
        access,
        layout: one.access.layout(),
        writes: one.access.is_write(),
    };
    let access = Access::Custom(custom);
    (!stages.is_empty()).then_some(Use { access, ..one })
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
