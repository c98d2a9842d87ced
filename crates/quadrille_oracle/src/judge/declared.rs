//! Conformance to the declaration: every pass runs once, on a suitable queue, in the declared order.

use quadrille_sync::access::Access;
use quadrille_sync::frame::{PassIndex, PassKind, Use};
use quadrille_sync::plan::Step;
use quadrille_sync::resource::{Lifetime, ResourceKind};
use quadrille_sync::topology::{Capabilities, OrderPolicy, QueueIndex};

use super::FrameCheck;
use super::schedule::Event;
use crate::area::Area;
use crate::order::{Order, prologues, share_memory};
use crate::stages::{single, stages_of_queue, supported};
use crate::violation::Violation;

/// A run of a pass in a plan: its position in the whole order, and its queue unless it is a host pass.
#[derive(Clone, Copy)]
struct Run {
    position: usize,
    queue: Option<QueueIndex>,
}

impl FrameCheck<'_> {
    /// Judges the rules that do not depend on earlier frames.
    pub(super) fn judge_declared(&mut self) {
        let runs = self.runs();
        self.judge_counts(&runs);
        for (pass, runs) in self.frame.pass_indices().zip(&runs) {
            for queue in runs.iter().filter_map(|run| run.queue) {
                self.judge_queue(pass, queue);
            }
        }
        self.judge_order(&runs);
    }

    /// By pass: its runs in the plan.
    fn runs(&mut self) -> Vec<Vec<Run>> {
        let mut runs = vec![Vec::new(); self.frame.passes.len()];
        let mut position = 0;
        let mut note = |pass: PassIndex, queue: Option<QueueIndex>| {
            position += 1;
            if let Some(runs) = runs.get_mut(pass.0 as usize) {
                runs.push(Run { position, queue });
            }
        };
        for event in self.events() {
            match event {
                Event::Submission(index) => {
                    let submission = &self.plan.submissions[index];
                    for step in &submission.steps {
                        if let Step::Pass(pass) = step {
                            note(*pass, Some(submission.queue));
                        }
                    }
                }
                Event::Host(index) => note(self.plan.host[index].pass, None),
            }
        }
        runs
    }

    /// Checks that every pass runs once, on host or device as declared, or is culled validly.
    fn judge_counts(&mut self, runs: &[Vec<Run>]) {
        for (pass, runs) in self.frame.pass_indices().zip(runs) {
            let declared = self.frame.pass(pass);
            let culled = self.plan.culled.contains(&pass);
            let on_device = declared.kind == PassKind::Device;
            let times = runs
                .iter()
                .filter(|run| run.queue.is_some() == on_device)
                .count();
            if times != usize::from(!culled) || runs.len() != times {
                let name = declared.name.clone();
                self.violations.push(Violation::PassCount {
                    pass: name,
                    times: runs.len(),
                    culled,
                });
            }
            if let Some(why) = culled.then(|| self.reason_to_run(pass)).flatten() {
                let name = declared.name.clone();
                self.violations
                    .push(Violation::WronglyCulled { pass: name, why });
            }
        }
    }

    /// The reason why a pass must not be culled, if this frame shows one.
    fn reason_to_run(&self, pass: PassIndex) -> Option<&'static str> {
        let declared = self.frame.pass(pass);
        let uses = || {
            self.frame
                .uses_of(pass)
                .iter()
                .filter(|declared| declared.access.is_write())
        };
        let outlives_frame =
            |declared: &Use| self.frame.resource(declared.resource).lifetime != Lifetime::Transient;
        if !self.frame.cull {
            Some("culling is off")
        } else if declared.side_effect {
            Some("it has side effects")
        } else if declared.kind == PassKind::Host {
            Some("it is a host pass")
        } else if self.frame.timeline_uses_of(pass).next().is_some() {
            Some("it waits for a timeline or signals one")
        } else if uses().next().is_none() {
            Some("it declares no write")
        } else if uses().any(outlives_frame) {
            Some("it writes what outlives the frame")
        } else if uses().any(|declared| self.is_read_later(pass, declared)) {
            Some("a pass that runs reads what it writes")
        } else {
            None
        }
    }

    /// Whether a pass that runs reads a range of which this pass is the only writer.
    fn is_read_later(&self, writer: PassIndex, written: &Use) -> bool {
        let passes = || self.frame.pass_indices().filter(|other| *other != writer);
        let overlap = |other: &&Use| self.overlap(written, other);
        let other_writer = passes().any(|other| {
            self.frame
                .uses_of(other)
                .iter()
                .filter(overlap)
                .any(|other| other.access.is_write())
        });
        let needs = |other: &Use| other.access.is_read() && !other.discard;
        // Includes order through culled passes.
        let order = Order::of(self.frame);
        let read = passes()
            .filter(|other| !self.plan.culled.contains(other))
            .any(|other| {
                !order.precedes(other, writer)
                    && self.frame.uses_of(other).iter().filter(overlap).any(needs)
            });
        read && !other_writer
    }

    fn overlap(&self, a: &Use, b: &Use) -> bool {
        let area = |declared: &Use, kind: &ResourceKind| Area::of(kind, &declared.range);
        a.resource == b.resource
            && self
                .frame
                .resources
                .get(a.resource.0 as usize)
                .is_some_and(|resource| {
                    area(a, &resource.kind)
                        .intersection(&area(b, &resource.kind))
                        .is_some()
                })
    }

    /// Checks that a pass runs on a queue that supports it, and on its fixed queue if that one does.
    fn judge_queue(&mut self, pass: PassIndex, queue: QueueIndex) {
        let queues = &self.judge.topology.queues;
        let Some(found) = queues.get(usize::from(queue.0)) else {
            return;
        };
        let declared = self.frame.pass(pass);
        let can_run = |capabilities: Capabilities| {
            let uses = self.frame.uses_of(pass);
            capabilities.contains(declared.queue.required)
                && uses
                    .iter()
                    .all(|declared| runs_on(declared.access, capabilities))
        };
        let fixed = declared.queue.fixed.filter(|fixed| {
            let queue = queues.get(usize::from(fixed.0));
            queue.is_some_and(|queue| can_run(queue.capabilities))
        });
        let why = if !can_run(found.capabilities) {
            "the queue cannot run it"
        } else if fixed.is_some_and(|fixed| fixed != queue) {
            "it asks for another queue, which could run it"
        } else {
            return;
        };
        let pass = declared.name.clone();
        self.violations
            .push(Violation::WrongQueue { pass, queue, why });
    }

    /// Checks that passes run in declared and inferred order (inferred: of two conflicting passes,
    /// only one writes). With `OrderPolicy::Free`, only the order of conflicting passes and of passes
    /// with side effects is binding.
    fn judge_order(&mut self, runs: &[Vec<Run>]) {
        let order = Order::of(self.frame);
        let position = |pass: PassIndex| runs[pass.0 as usize].first().map(|run| run.position);
        let declared = self.binding(&order);
        let mut report = |earlier: PassIndex, later: PassIndex, why| {
            if let (Some(first), Some(second)) = (position(earlier), position(later))
                && first > second
            {
                let (earlier, later) =
                    (&self.frame.pass(earlier).name, &self.frame.pass(later).name);
                let (earlier, later) = (earlier.clone(), later.clone());
                self.violations.push(Violation::PassOrder {
                    earlier,
                    later,
                    why,
                });
            }
        };
        for (earlier, later) in declared {
            report(earlier, later, "it is declared to come after");
        }
        for (first, second) in prologues(self.frame) {
            report(first, second, "the other one prepares what it touches");
        }
        for (writer, reader) in order.inferred(self.frame) {
            report(writer, reader, "it reads what only the other one writes");
        }
    }
}

impl FrameCheck<'_> {
    /// The pairs of passes whose declared order a plan has to keep. A host pass may have effects besides
    /// its uses, so its declared order is always binding.
    fn binding(&self, order: &Order) -> Vec<(PassIndex, PassIndex)> {
        let is_free = self.judge.topology.order == OrderPolicy::Free;
        let is_host = |pass: PassIndex| self.frame.pass(pass).kind == PassKind::Host;
        let passes = || self.frame.pass_indices();
        let pairs = passes().flat_map(|later| passes().map(move |earlier| (earlier, later)));
        // Passes of the prologue are judged separately.
        let prologues = prologues(self.frame);
        pairs
            .filter(|pair| !prologues.contains(pair))
            .filter(|(earlier, later)| {
                let is_declared = self.frame.after_of(*later).contains(earlier);
                is_declared && (!is_free || is_host(*earlier) || is_host(*later))
                    || order.precedes(*earlier, *later) && self.is_observable(*earlier, *later)
            })
            .collect()
    }

    /// Whether the order of two passes is observable: both have side effects, they use a common range
    /// that one of them writes, or they use different resources in the same memory.
    fn is_observable(&self, a: PassIndex, b: PassIndex) -> bool {
        let conflicts = |one: &Use, other: &Use| {
            let writes = one.access.is_write() || other.access.is_write();
            writes && self.overlap(one, other) || share_memory(self.frame, one, other)
        };
        let uses = || self.frame.uses_of(b).iter();
        let conflict = |one: &Use| uses().any(|other| conflicts(one, other));
        self.frame.pass(a).side_effect && self.frame.pass(b).side_effect
            || self.frame.uses_of(a).iter().any(conflict)
    }
}

/// Whether a queue supports an access: it has all stages of the access, or at least one stage for
/// accesses in any shader stage. Of a stage group, the stages that the queue has suffice.
fn runs_on(access: Access, capabilities: Capabilities) -> bool {
    let takes_any = access.name().ends_with("Any") || access == Access::DescriptorBufferRead;
    if access.is_host() {
        return false;
    }
    if takes_any {
        single(access.stages()).intersects(stages_of_queue(capabilities))
    } else {
        supported(capabilities).contains(access.stages())
    }
}
