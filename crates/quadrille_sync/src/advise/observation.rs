//! Effect on a frame of running passes on another queue than the main one.
//!
//! Candidates are found by an estimate ([`length`]): the time of the frame with passes on a separate queue.
//! Both single passes and chains are candidates. In a chain, each pass reads a resource that only it and
//! the previous pass use, so that moving the chain needs no more semaphores than moving one pass. Then the
//! frame is planned with the best candidate on another queue.

use std::cmp::Reverse;
use std::sync::Arc;

use super::plans::{Pending, Plans};
use super::queues::{GAIN, QueueChoices};
use super::{Placed, length, needs};
use crate::frame::{Frame, PassIndex, Preference};
use crate::plan::Plan;
use crate::resource::{ResourceIndex, Sharing};
use crate::states::States;
use crate::topology::{QueueIndex, Topology};

/// The most passes that are moved together.
pub(super) const MAX_CHAIN_PASSES: usize = 3;

/// Observation of a frame: see [`QueueChoices::observe`].
#[derive(Clone, Debug)]
pub struct QueueObservation {
    /// The frame, with measured costs of its passes.
    frame: Frame,
    plans: Plans,
    /// The passes whose queue is automatic.
    pub(super) open: Vec<PassIndex>,
    /// The resources whose sharing mode is automatic.
    pub(super) shareable: Vec<ResourceIndex>,
    pub(super) took_us: Option<u64>,
    /// A queue or a cost has changed already.
    pub(super) is_changed: bool,
    /// There are plans to compare.
    pub(super) has_question: bool,
}

/// Result of an observation.
pub(super) enum Finding {
    Nothing,
    /// The frame with the chain of passes of these names on another queue; `better` is `None` without a
    /// gain.
    Proposed {
        passes: Vec<Arc<str>>,
        better: Option<MultiQueueCandidate>,
    },
    /// The saving by the move of a pass, and the frame's estimated time with the pass back on the main
    /// queue, in microseconds; `None` if no open pass has the name any more.
    Doubted {
        pass: Arc<str>,
        saves: Option<(u64, u64)>,
    },
}

/// A frame with passes on another queue.
pub(super) struct MultiQueueCandidate {
    pub(super) queue: QueueIndex,
    /// The names of the resources that the candidate makes concurrent.
    pub(super) shares: Vec<Arc<str>>,
    /// The estimated saving in microseconds.
    pub(super) saves_us: u64,
}

/// The plan of the repeated frame without changes, and its estimated time.
struct Now {
    plan: Arc<Plan>,
    time_us: u64,
}

impl QueueObservation {
    /// Creates an observation that asks for no plans yet.
    pub(super) fn without_question(frame: Frame, topology: &Topology, states: &States) -> Self {
        Self {
            frame,
            plans: Plans::new(topology, states),
            open: Vec::new(),
            shareable: Vec::new(),
            took_us: None,
            is_changed: false,
            has_question: false,
        }
    }

    /// Calls [`Plans::step`] for this observation.
    pub(super) fn step<T>(
        &mut self,
        find: impl FnOnce(&Self, &mut Plans) -> Result<T, Pending>,
    ) -> Option<T> {
        let mut plans = std::mem::take(&mut self.plans);
        let found = plans.step(|plans| find(self, plans));
        self.plans = plans;
        found
    }

    /// Compares plans of the frame.
    pub(super) fn find(
        &self,
        choices: &QueueChoices,
        plans: &mut Plans,
    ) -> Result<Finding, Pending> {
        let Some(plan) = plans.steady(&self.frame)? else {
            return Ok(Finding::Nothing);
        };
        let time_us = plan.critical_path_us(&self.frame);
        let now = Now { plan, time_us };
        if let Some(pass) = choices.doubted() {
            let returned = self.returned(pass, choices.followers(pass), plans)?;
            let saves = returned.map(|then| (then.saturating_sub(time_us), then));
            let pass = Arc::clone(pass);
            return Ok(Finding::Doubted { pass, saves });
        }
        let candidates = self.candidates(&now, plans.topology()).into_iter();
        let names = candidates.rev().map(|passes| self.names(&passes));
        let is_rested = |names: &Vec<Arc<str>>| choices.are_rested(&names[0], names.len() - 1);
        let Some(passes) = names.into_iter().find(is_rested) else {
            return Ok(Finding::Nothing);
        };
        let better = self.beside(&passes, &now, plans)?;
        Ok(Finding::Proposed { passes, better })
    }

    fn names(&self, passes: &[PassIndex]) -> Vec<Arc<str>> {
        let names = passes
            .iter()
            .map(|&it| Arc::clone(&self.frame.pass(it).name));
        let mut all: Vec<Arc<str>> = Vec::new();
        for name in names {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// The open passes and chains on the main queue that could save enough on a separate queue, the best
    /// last.
    fn candidates(&self, now: &Now, topology: &Topology) -> Vec<Vec<PassIndex>> {
        let placed = |(queue, pass): (QueueIndex, PassIndex)| Placed {
            queue,
            pass,
            cost: u64::from(self.frame.pass(pass).cost_us),
        };
        let order: Vec<Placed> = now.plan.passes().map(placed).collect();
        let needs = needs(&self.frame, &order);
        let (before, least) = (length(&order, &needs, &[]), now.time_us / GAIN);
        let can_move = |placed: &Placed| {
            let is_main = self.frame.pass(placed.pass).queue.fixed.is_none();
            is_main && self.open.contains(&placed.pass) && self.can_leave(placed, topology)
        };
        let mut all = Vec::new();
        for chain in chains(&self.frame, &order, can_move) {
            // Moving passes saves at most their own time.
            let cost = chain.iter().map(|&at| order[at].cost).sum::<u64>();
            if cost < least {
                continue;
            }
            let saves = before.saturating_sub(length(&order, &needs, &chain));
            if saves > 0 && saves >= least {
                let passes: Vec<PassIndex> = chain.iter().map(|&at| order[at].pass).collect();
                all.push((saves, Reverse(passes.len()), passes));
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, _, passes)| passes).collect()
    }

    /// Whether another queue can run a pass.
    fn can_leave(&self, placed: &Placed, topology: &Topology) -> bool {
        let required = self.frame.pass(placed.pass).queue.required;
        let mut others = topology.indices().filter(|queue| *queue != placed.queue);
        others.any(|queue| {
            let queue = topology.queue(queue);
            let mut uses = self.frame.uses_of(placed.pass).iter();
            !queue.is_foreign()
                && queue.capabilities.contains(required)
                && uses.all(|used| used.access.runs_on(queue.capabilities))
        })
    }

    /// The candidate with the passes of these names on another queue, and with resources concurrent if only
    /// that shortens the frame. `None` without another queue for them, or without a gain.
    fn beside(
        &self,
        names: &[Arc<str>],
        now: &Now,
        plans: &mut Plans,
    ) -> Result<Option<MultiQueueCandidate>, Pending> {
        let mut frame = self.frame.clone();
        for &open in self.open.iter().filter(|it| self.is_of(names, **it)) {
            frame.passes[open.0 as usize].queue.preference = Preference::Async;
        }
        let Some(alone) = self.placed(names, &frame, (now, plans))? else {
            return Ok(None);
        };
        let mut shares = Vec::new();
        for &resource in &self.shareable {
            let shared = &mut frame.resources[resource.0 as usize];
            if shared.sharing == Sharing::Exclusive && self.is_between(names, resource) {
                shared.sharing = Sharing::Concurrent;
                shares.push(Arc::clone(&shared.name));
            }
        }
        let least = now.time_us / GAIN;
        let pays = |it: &MultiQueueCandidate| it.saves_us > 0 && it.saves_us >= least;
        if !shares.is_empty()
            && let Some(shared) = self.placed(names, &frame, (now, plans))?
            && shared.saves_us >= alone.saves_us + least
        {
            let shared = MultiQueueCandidate { shares, ..shared };
            return Ok(Some(shared).filter(pays));
        }
        Ok(Some(alone).filter(pays))
    }

    fn is_of(&self, names: &[Arc<str>], pass: PassIndex) -> bool {
        names.contains(&self.frame.pass(pass).name)
    }

    /// Whether both passes of these names and other passes use a resource.
    fn is_between(&self, names: &[Arc<str>], resource: ResourceIndex) -> bool {
        let mut is_used = [false; 2];
        for pass in self.frame.pass_indices() {
            let mut uses = self.frame.uses_of(pass).iter();
            if uses.any(|it| it.resource == resource) {
                is_used[usize::from(self.is_of(names, pass))] = true;
            }
        }
        is_used == [true; 2]
    }

    /// The queue of these passes in the plan of a frame, with the saving; `None` unless all are on one queue
    /// other than the current one.
    fn placed(
        &self,
        names: &[Arc<str>],
        frame: &Frame,
        (now, plans): (&Now, &mut Plans),
    ) -> Result<Option<MultiQueueCandidate>, Pending> {
        let Some(plan) = plans.steady(frame)? else {
            return Ok(None);
        };
        let queue_of = |plan: &Plan| {
            let mut queues = plan.passes().filter(|(_, it)| self.is_of(names, *it));
            let first = queues.next()?.0;
            queues.all(|(queue, _)| queue == first).then_some(first)
        };
        let queue = queue_of(&plan).filter(|it| queue_of(&now.plan) != Some(*it));
        Ok(queue.map(|queue| MultiQueueCandidate {
            queue,
            shares: Vec::new(),
            saves_us: now.time_us.saturating_sub(plan.critical_path_us(frame)),
        }))
    }

    /// The estimated time of the frame with the passes of a name and their followers back on the main
    /// queue. `None` if no open pass has the name.
    fn returned(
        &self,
        name: &Arc<str>,
        followers: &[Arc<str>],
        plans: &mut Plans,
    ) -> Result<Option<u64>, Pending> {
        let mut frame = self.frame.clone();
        let mut is_there = false;
        for &open in &self.open {
            let of = &self.frame.pass(open).name;
            is_there |= of == name;
            if of == name || followers.contains(of) {
                frame.passes[open.0 as usize].queue.fixed = None;
            }
        }
        if !is_there {
            return Ok(None);
        }
        let plan = plans.steady(&frame)?;
        Ok(plan.map(|plan| plan.critical_path_us(&frame)))
    }
}

/// Single passes and chains, as indices in the order of the plan.
fn chains(frame: &Frame, order: &[Placed], can_move: impl Fn(&Placed) -> bool) -> Vec<Vec<usize>> {
    let next = links(frame, order);
    let can_move: Vec<bool> = order.iter().map(can_move).collect();
    let mut all: Vec<Vec<usize>> = (0..order.len())
        .filter(|&at| can_move[at])
        .map(|at| vec![at])
        .collect();
    let mut at = 0;
    while at < all.len() {
        let chain = &all[at];
        at += 1;
        let last = chain[chain.len() - 1];
        if chain.len() < MAX_CHAIN_PASSES
            && let Some(next) = next[last].filter(|&next| can_move[next])
        {
            let longer = chain.iter().copied().chain([next]);
            all.push(longer.collect());
        }
    }
    all
}

/// For each pass in the order of the plan, the next pass with which it shares a resource that no other
/// pass uses.
fn links(frame: &Frame, order: &[Placed]) -> Vec<Option<usize>> {
    // The first users of each resource, and whether there are more than two.
    let mut users: Vec<(Vec<usize>, bool)> = vec![Default::default(); frame.resources.len()];
    for (at, placed) in order.iter().enumerate() {
        for used in frame.uses_of(placed.pass) {
            let (of, has_more) = &mut users[used.resource.0 as usize];
            if !of.contains(&at) {
                *has_more |= of.len() == 2;
                of.push(at);
                of.truncate(2);
            }
        }
    }
    let mut next = vec![None; order.len()];
    for (of, has_more) in users {
        if let ([one, other], false) = (&of[..], has_more) {
            next[*one] = next[*one].or(Some(*other));
        }
    }
    next
}
