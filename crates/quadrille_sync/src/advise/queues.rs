//! Which passes run beside the main queue, where the program leaves that open.
//!
//! A pass that wishes for no queue begins on the main one. Now and then the caller measures a frame
//! and has it looked at ([`QueueChoices::look`]). A look plans the frame twice: as it is, and with
//! one such pass on another queue. If several looks agree that this makes the estimated frame at
//! least [`GAIN`] of its time shorter, the pass moves. Then the frame is measured: if it has not
//! become shorter, as where queues share all the units of a device, the pass returns. It returns
//! as well when looks agree that it saves nothing any more.
//!
//! A resource that families own in turn keeps passes of several families from reading it at the same
//! time. So where the program leaves it open how they share it, a look compares the frame with these
//! resources shared as well, and if it is that which pays, they are shared when the pass moves
//! ([`QueueChoices::shares`]).
//!
//! A pass that was tried in vain is left alone for some looks, and for twice as many each time.
//! So a frame that does not change comes to rest. For given costs all of this is deterministic.
//!
//! Verdicts and costs belong to the names of passes. Passes of one name have one verdict.

use std::sync::Arc;

use super::sharing::steady;
use super::{Placed, length, needs};
use crate::frame::{Frame, PassIndex, PassKind, Preference};
use crate::plan::Plan;
use crate::resource::{ResourceIndex, Sharing};
use crate::states::States;
use crate::topology::{QueueIndex, Topology};

/// A pass moves if that makes a frame shorter by one part in so many.
const GAIN: u64 = 50;

/// A pass stays where it is as long as that makes a frame shorter by one part in so many.
const KEPT: u64 = 100;

/// How many looks in a row have to agree.
const LOOKS: u32 = 3;

/// A pass that was tried in vain is left alone for at most so many looks.
const LONGEST_REST: u32 = 64;

/// A measured cost replaces the known one if it differs by more than one part in so many.
const CHANGE: u32 = 4;

/// The least difference of costs that matters, in microseconds.
const LEAST_CHANGE_US: u32 = 10;

/// Frames of more passes are left as they are: to plan them a few times would be felt.
const MOST_PASSES: usize = 1024;

/// Chooses queues for passes that leave them open, and keeps what passes cost.
#[derive(Clone, Debug, Default)]
pub struct QueueChoices {
    passes: Vec<Known>,
    looks: u32,
}

/// A pass that runs beside the main queue because it was measured that this is quicker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueMove {
    /// The name of the pass.
    pub pass: Arc<str>,
    /// The queue it runs on.
    pub queue: QueueIndex,
    /// What it costs, in microseconds.
    pub cost_us: u32,
    /// How much shorter the frame is estimated to be for that, in microseconds, at the last look.
    pub saves_us: u64,
    /// It is still to be measured whether the frame is shorter.
    pub is_tried: bool,
}

/// What is known of the passes of one name.
#[derive(Clone, Debug)]
struct Known {
    name: Arc<str>,
    cost_us: u32,
    stage: Stage,
    /// The names of resources that have to be shared where it runs.
    shares: Vec<Arc<str>>,
    /// Looks that it is left alone for.
    rest: u32,
    /// How long it is left alone when it is tried in vain once more.
    next_rest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// On the main queue. So many looks in a row say that another queue is better; the frame took
    /// at least so long.
    Main { agreed: u32, least: Option<u64> },
    /// On another queue, to see what becomes of the frame.
    Tried {
        queue: QueueIndex,
        saves_us: u64,
        before: u64,
        since: (u32, u64),
    },
    /// On another queue. So many looks in a row say that this saves nothing.
    Moved {
        queue: QueueIndex,
        saves_us: u64,
        doubted: u32,
    },
}

impl Stage {
    const MAIN: Self = Self::Main {
        agreed: 0,
        least: None,
    };

    fn queue(self) -> Option<QueueIndex> {
        match self {
            Self::Main { .. } => None,
            Self::Tried { queue, .. } | Self::Moved { queue, .. } => Some(queue),
        }
    }
}

impl QueueChoices {
    /// The queue that was chosen for passes of a name; none for the main one.
    pub fn queue(&self, pass: &str) -> Option<QueueIndex> {
        self.known(pass)?.stage.queue()
    }

    /// What passes of a name cost, in microseconds; 0 if that was never measured.
    pub fn cost_us(&self, pass: &str) -> u32 {
        self.known(pass).map_or(0, |it| it.cost_us)
    }

    /// The passes that were moved, in order of their names.
    pub fn moves(&self) -> impl Iterator<Item = QueueMove> {
        self.passes.iter().filter_map(|known| {
            let (queue, saves_us, is_tried) = match known.stage {
                Stage::Main { .. } => return None,
                Stage::Tried {
                    queue, saves_us, ..
                } => (queue, saves_us, true),
                Stage::Moved {
                    queue, saves_us, ..
                } => (queue, saves_us, false),
            };
            Some(QueueMove {
                pass: Arc::clone(&known.name),
                queue,
                cost_us: known.cost_us,
                saves_us,
                is_tried,
            })
        })
    }

    /// The names of the resources that have to be shared for the passes that were moved.
    pub fn shares(&self) -> impl Iterator<Item = &str> {
        self.passes.iter().flat_map(|it| &it.shares).map(|it| &**it)
    }

    /// Whether a decision is under way: the next looks should be soon.
    pub fn are_under_way(&self) -> bool {
        self.passes.iter().any(|known| match known.stage {
            Stage::Main { agreed, .. } => agreed > 0,
            Stage::Tried { .. } => true,
            Stage::Moved { doubted, .. } => doubted > 0,
        })
    }

    /// Looks at a frame that was submitted as the choices have it. `is_open` names the passes whose
    /// queue is left to the renderer, `cost_us` is what each pass took on the device (`None` where
    /// that was not measured), and `took_us` how long the device was busy with the whole frame.
    /// `is_shareable` names the resources whose sharing is left to the renderer.
    ///
    /// Returns whether a queue or a cost has changed, so that the next frame needs a new plan.
    /// A look plans the frame a few times, so it is nothing for every frame.
    ///
    /// ```
    /// use quadrille_sync::*;
    /// let topology = parse_topology("gct:1,ct:1").unwrap();
    /// let frame = parse_frame("
    /// buffer a 0 bytes 64
    /// buffer b 1 bytes 64
    /// pass shadows requires GRAPHICS
    ///   StorageWriteFragment a
    /// pass particles requires COMPUTE
    ///   StorageWriteCompute b
    /// ").unwrap();
    /// let mut choices = QueueChoices::default();
    /// for _ in 0..3 {
    ///     assert_eq!(choices.queue("particles"), None);
    ///     let open = (|_| true, |_| false);
    ///     choices.look(&frame, &topology, &States::default(), open, |_| Some(1000), None);
    /// }
    /// assert_eq!(choices.queue("particles"), Some(QueueIndex(1)), "three looks agree");
    /// ```
    pub fn look(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        states: &States,
        (is_open, is_shareable): (impl Fn(PassIndex) -> bool, impl Fn(ResourceIndex) -> bool),
        cost_us: impl Fn(PassIndex) -> Option<u64>,
        took_us: Option<u64>,
    ) -> bool {
        if frame.passes.len() > MOST_PASSES {
            return false;
        }
        self.looks += 1;
        let mut frame = frame.clone();
        let is_changed = self.note_costs(&mut frame, cost_us);
        let is_returned = self.judge_tried(took_us);
        if is_returned {
            return true;
        }
        // A frame is compared with itself but for one pass, so one that is tried decides alone.
        if self.is_trying() {
            return is_changed;
        }
        let open: Vec<PassIndex> = frame
            .pass_indices()
            .filter(|&pass| frame.pass(pass).kind == PassKind::Device && is_open(pass))
            .collect();
        self.rest_all();
        let Some(plan) = steady(&frame, topology, states) else {
            return is_changed;
        };
        let shareable = (0..frame.resources.len() as u32).map(ResourceIndex);
        let shareable: Vec<ResourceIndex> = shareable.filter(|it| is_shareable(*it)).collect();
        let look = Look {
            frame: &frame,
            topology,
            states,
            now: plan.critical_path_us(&frame),
            plan: &plan,
            open: &open,
            shareable: &shareable,
        };
        // Looks are in turn for passes that might move and for passes that have.
        let is_settled = if self.looks.is_multiple_of(2) && self.has_moved() {
            self.doubt(&look)
        } else {
            self.propose(&look, took_us)
        };
        is_changed | is_settled
    }

    fn known(&self, name: &str) -> Option<&Known> {
        let at = self.passes.binary_search_by(|it| (*it.name).cmp(name));
        Some(&self.passes[at.ok()?])
    }

    fn is_trying(&self) -> bool {
        let is_tried = |it: &Known| matches!(it.stage, Stage::Tried { .. });
        self.passes.iter().any(is_tried)
    }

    fn has_moved(&self) -> bool {
        let is_moved = |it: &Known| matches!(it.stage, Stage::Moved { .. });
        self.passes.iter().any(is_moved)
    }

    fn rest_all(&mut self) {
        for known in &mut self.passes {
            known.rest = known.rest.saturating_sub(1);
        }
    }

    /// Keeps the costs of the passes of a frame, forgets other passes, and gives the frame these
    /// costs; whether one has changed by much.
    fn note_costs(
        &mut self,
        frame: &mut Frame,
        cost_us: impl Fn(PassIndex) -> Option<u64>,
    ) -> bool {
        let name = |pass: &PassIndex| &frame.pass(*pass).name;
        let mut by_name: Vec<PassIndex> = frame.pass_indices().collect();
        by_name.sort_by(|a, b| name(a).cmp(name(b)));
        let mut before = std::mem::take(&mut self.passes).into_iter().peekable();
        let mut is_changed = false;
        for of_name in by_name.chunk_by(|a, b| name(a) == name(b)) {
            let name = name(&of_name[0]);
            while before.next_if(|it| it.name < *name).is_some() {}
            let known = before.next_if(|it| it.name == *name);
            let mut known = known.unwrap_or_else(|| Known::new(Arc::clone(name)));
            let measured = of_name.iter().filter_map(|pass| cost_us(*pass));
            let (sum, count) = measured.fold((0, 0), |(sum, count), it| (sum + it, count + 1));
            if let Some(average) = u64::checked_div(sum, count) {
                is_changed |= known.note_cost(average);
            }
            self.passes.push(known);
        }
        for pass in 0..frame.passes.len() {
            frame.passes[pass].cost_us = self.cost_us(&frame.passes[pass].name);
        }
        is_changed
    }

    /// Ends the trial of a pass once the frame was measured often enough; whether it returns.
    fn judge_tried(&mut self, took_us: Option<u64>) -> bool {
        let Some(took) = took_us else {
            return false;
        };
        for known in &mut self.passes {
            let Stage::Tried {
                queue,
                saves_us,
                before,
                since: (looks, least),
            } = known.stage
            else {
                continue;
            };
            let (looks, least) = (looks + 1, least.min(took));
            if looks < LOOKS {
                let since = (looks, least);
                known.stage = Stage::Tried {
                    queue,
                    saves_us,
                    before,
                    since,
                };
            } else if least + least / KEPT <= before {
                known.stage = Stage::Moved {
                    queue,
                    saves_us,
                    doubted: 0,
                };
                known.next_rest = 1;
            } else {
                known.return_to_main();
                return true;
            }
        }
        false
    }

    /// Compares the frame with one in which an open pass has left the main queue; whether it leaves.
    fn propose(&mut self, look: &Look<'_>, took_us: Option<u64>) -> bool {
        let candidates = look.candidates().into_iter();
        let is_rested = |pass: &PassIndex| {
            let known = self.known(&look.frame.pass(*pass).name);
            known.is_some_and(|it| it.rest == 0)
        };
        let Some(pass) = candidates.rev().find(is_rested) else {
            return false;
        };
        let name = Arc::clone(&look.frame.pass(pass).name);
        let better = look.beside(pass);
        let Some(known) = self.passes.iter_mut().find(|it| it.name == name) else {
            return false;
        };
        let Stage::Main { agreed, least } = known.stage else {
            return false;
        };
        let pays = |it: &Beside| it.time_us + look.now / GAIN <= look.now;
        let Some(better) = better.filter(pays) else {
            known.return_to_main();
            return false;
        };
        let least = match (least, took_us) {
            (Some(least), Some(took)) => Some(least.min(took)),
            (least, took) => least.or(took),
        };
        let agreed = agreed + 1;
        if agreed < LOOKS {
            known.stage = Stage::Main { agreed, least };
            return false;
        }
        let (queue, saves_us) = (better.queue, look.now - better.time_us);
        known.shares = better.shares;
        known.stage = match least {
            Some(before) => Stage::Tried {
                queue,
                saves_us,
                before,
                since: (0, u64::MAX),
            },
            // Where a whole frame cannot be measured the estimate decides.
            None => Stage::Moved {
                queue,
                saves_us,
                doubted: 0,
            },
        };
        true
    }

    /// Compares the frame with one in which a pass has returned to the main queue; whether it
    /// returns.
    fn doubt(&mut self, look: &Look<'_>) -> bool {
        let moved: Vec<usize> = (0..self.passes.len())
            .filter(|at| matches!(self.passes[*at].stage, Stage::Moved { .. }))
            .collect();
        // Those that are doubted already come first, so that looks in a row are of one pass.
        let is_doubted = |at: &&usize| matches!(self.passes[**at].stage, Stage::Moved { doubted, .. } if doubted > 0);
        let in_turn = moved[(self.looks / 2) as usize % moved.len()];
        let at = moved.iter().find(is_doubted).copied().unwrap_or(in_turn);
        let known = &mut self.passes[at];
        let Stage::Moved { queue, doubted, .. } = known.stage else {
            return false;
        };
        let Some(then) = look.returned(&known.name) else {
            // No open pass has the name any more.
            known.return_to_main();
            return true;
        };
        let saves_us = then.saturating_sub(look.now);
        let doubted = if saves_us >= then / KEPT {
            0
        } else {
            doubted + 1
        };
        if doubted < LOOKS {
            known.stage = Stage::Moved {
                queue,
                saves_us,
                doubted,
            };
            return false;
        }
        known.return_to_main();
        true
    }
}

impl Known {
    fn new(name: Arc<str>) -> Self {
        Self {
            name,
            cost_us: 0,
            stage: Stage::MAIN,
            shares: Vec::new(),
            rest: 0,
            next_rest: 1,
        }
    }

    /// Keeps a measured cost if it differs from the known one; whether it does.
    fn note_cost(&mut self, measured: u64) -> bool {
        let cost = u32::try_from(measured).unwrap_or(u32::MAX).max(1);
        let least = (self.cost_us / CHANGE).max(LEAST_CHANGE_US);
        let is_changed = self.cost_us == 0 || cost.abs_diff(self.cost_us) > least;
        if is_changed {
            self.cost_us = cost;
        }
        is_changed
    }

    /// Puts a pass on the main queue, where it is left alone for a while.
    fn return_to_main(&mut self) {
        self.stage = Stage::MAIN;
        self.shares.clear();
        self.rest = self.next_rest;
        self.next_rest = (self.next_rest * 2).min(LONGEST_REST);
    }
}

/// A frame with what its passes cost, and the plan that it repeats with.
struct Look<'a> {
    frame: &'a Frame,
    topology: &'a Topology,
    states: &'a States,
    plan: &'a Plan,
    /// The estimated time of the plan.
    now: u64,
    open: &'a [PassIndex],
    /// The resources whose sharing is left to the renderer.
    shareable: &'a [ResourceIndex],
}

/// A frame with a pass on another queue.
struct Beside {
    queue: QueueIndex,
    /// The names of the resources that are shared for that.
    shares: Vec<Arc<str>>,
    /// Its estimated time.
    time_us: u64,
}

impl Look<'_> {
    /// The open passes on the main queue that could save enough on a queue of their own, the best
    /// last.
    fn candidates(&self) -> Vec<PassIndex> {
        let placed = |(queue, pass): (QueueIndex, PassIndex)| Placed {
            queue,
            pass,
            cost: u64::from(self.frame.pass(pass).cost_us),
        };
        let order: Vec<Placed> = self.plan.passes().map(placed).collect();
        let needs = needs(self.frame, &order);
        let (now, least) = (length(&order, &needs, None), self.now / GAIN);
        let mut all = Vec::new();
        for (at, placed) in order.iter().enumerate() {
            let is_main =
                self.frame.pass(placed.pass).queue.fixed.is_none() && self.can_leave(placed);
            // No pass saves more than it costs.
            if is_main && placed.cost >= least && self.open.contains(&placed.pass) {
                let saves = now.saturating_sub(length(&order, &needs, Some(at)));
                if saves > 0 && saves >= least {
                    all.push((saves, placed.pass));
                }
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, pass)| pass).collect()
    }

    /// Whether another queue can run a pass.
    fn can_leave(&self, placed: &Placed) -> bool {
        let required = self.frame.pass(placed.pass).queue.required;
        let mut others = self
            .topology
            .indices()
            .filter(|queue| *queue != placed.queue);
        others.any(|queue| {
            let queue = self.topology.queue(queue);
            let mut uses = self.frame.uses_of(placed.pass).iter();
            !queue.is_foreign()
                && queue.capabilities.contains(required)
                && uses.all(|used| used.access.runs_on(queue.capabilities))
        })
    }

    /// The frame with the passes of one name beside the main queue, and with what they use shared if
    /// it is that which makes it shorter. None if there is no other queue for them.
    fn beside(&self, pass: PassIndex) -> Option<Beside> {
        let name = &self.frame.pass(pass).name;
        let mut frame = self.frame.clone();
        let of_name = |it: &&PassIndex| self.frame.pass(**it).name == *name;
        for &open in self.open.iter().filter(of_name) {
            frame.passes[open.0 as usize].queue.preference = Preference::Async;
        }
        let alone = self.placed(pass, &frame, Vec::new())?;
        let mut shares = Vec::new();
        for used in self.frame.uses_of(pass) {
            let resource = &mut frame.resources[used.resource.0 as usize];
            let is_open =
                self.shareable.contains(&used.resource) && self.has_others(name, used.resource);
            if resource.sharing == Sharing::Exclusive && is_open {
                resource.sharing = Sharing::Concurrent;
                shares.push(Arc::clone(&resource.name));
            }
        }
        if shares.is_empty() {
            return Some(alone);
        }
        let shared = self.placed(pass, &frame, shares);
        let pays = |it: &Beside| it.time_us + self.now / GAIN <= alone.time_us;
        Some(shared.filter(pays).unwrap_or(alone))
    }

    /// Whether passes of another name use a resource.
    fn has_others(&self, name: &str, resource: ResourceIndex) -> bool {
        let mut others = self
            .frame
            .pass_indices()
            .filter(|it| *self.frame.pass(*it).name != *name);
        others.any(|pass| {
            self.frame
                .uses_of(pass)
                .iter()
                .any(|it| it.resource == resource)
        })
    }

    /// Where a pass of a frame runs, if not as now, and how long the frame takes.
    fn placed(&self, pass: PassIndex, frame: &Frame, shares: Vec<Arc<str>>) -> Option<Beside> {
        let plan = steady(frame, self.topology, self.states)?;
        let queue_of = |plan: &Plan| plan.passes().find(|(_, it)| *it == pass).map(|it| it.0);
        let queue = queue_of(&plan)?;
        (queue_of(self.plan) != Some(queue)).then(|| Beside {
            queue,
            shares,
            time_us: plan.critical_path_us(frame),
        })
    }

    /// The estimated time of the frame with the passes of a name on the main queue. None if no open
    /// pass has it.
    fn returned(&self, name: &str) -> Option<u64> {
        let mut frame = self.frame.clone();
        let mut of_name = self
            .open
            .iter()
            .filter(|&&it| *self.frame.pass(it).name == *name);
        let first = of_name.next()?;
        for open in std::iter::once(first).chain(of_name) {
            frame.passes[open.0 as usize].queue.fixed = None;
        }
        let plan = steady(&frame, self.topology, self.states)?;
        Some(plan.critical_path_us(&frame))
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
