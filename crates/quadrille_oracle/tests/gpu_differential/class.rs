//! Outcome of a stream, and how far the two judges agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use quadrille_oracle::{Actor, Hazard, MissingDependency, Violation};
use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::plan::Plan;
use quadrille_sync::topology::QueueIndex;

/// Verdicts of both judges.
pub(crate) struct Outcome {
    /// The part that the plan lacks, if it was changed.
    pub(crate) changed: Option<String>,
    /// Violations that our judge reports.
    pub(crate) violations: Vec<Violation>,
    /// How often the layer objected.
    pub(crate) messages: u64,
    /// The plans that were run.
    pub(crate) plans: Vec<Plan>,
    /// The frame that was planned.
    pub(crate) frame: Frame,
    /// The frame and its plans.
    pub(crate) text: String,
}

impl Display for Outcome {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let missing = self.changed.as_deref().unwrap_or("nothing");
        let messages = self.messages;
        writeln!(
            out,
            "the layer sent {messages} messages; left out: {missing}"
        )?;
        for violation in &self.violations {
            writeln!(out, "!!! {violation}")?;
        }
        write!(out, "{}", self.text)
    }
}

/// How the two judges compare on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Neither objects.
    BothAccept,
    /// Both object.
    BothObject,
    /// Our judge objects to owners alone. The layer does not know which family owns a resource, nor
    /// that the two halves of a transfer are accesses which need an order: it accepts what is
    /// released and used without an acquire, and an acquire that nothing orders after its release.
    OwnersUnknown,
    /// Our judge alone objects, to a write that nothing orders after a read, and a pass on another queue
    /// reads alike in between. The layer keeps one read for each pipeline stage since the last write,
    /// the latest, and the write comes after that one.
    ReadReplaced,
    /// Our judge alone objects, to a write that the write before is not visible to, and a pass reads in
    /// between. Passes of streams read all that they declare; then the layer asks for order after the read
    /// alone.
    ReadOfAll,
    /// The layer alone objects, and queues wait for each other in turn: it does not apply what leaves
    /// a queue and comes back to it by way of others to that queue's own writes, though signals and
    /// waits chain by the specification ("Semaphore Signaling", "Semaphore Waiting").
    RoundTripLost,
}

impl Class {
    /// The class of an outcome; none if the difference is not explained.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        match (outcome.violations.as_slice(), outcome.messages) {
            ([], 0) => Some(Self::BothAccept),
            ([_, ..], 1..) => Some(Self::BothObject),
            ([], _) => outcome.has_round_trip().then_some(Self::RoundTripLost),
            // Violations after the first may be its echo: `Judge::frame`.
            ([first, ..], 0) if is_of_owners(first) => Some(Self::OwnersUnknown),
            ([first, ..], 0) if outcome.is_read_between(first) => Some(Self::ReadOfAll),
            ([first, ..], 0) => outcome.is_replaced(first).then_some(Self::ReadReplaced),
        }
    }
}

impl Outcome {
    /// Whether a queue waits for another one that has waited for it, be it by way of others.
    fn has_round_trip(&self) -> bool {
        // By queue: those that it has waited for.
        let mut known: BTreeMap<QueueIndex, BTreeSet<QueueIndex>> = BTreeMap::new();
        for submission in self.plans.iter().flat_map(|plan| &plan.submissions) {
            for wait in &submission.waits {
                let from = wait.point.queue;
                let learned = known.get(&from).cloned().unwrap_or_default();
                if learned.contains(&submission.queue) {
                    return true;
                }
                let own = known.entry(submission.queue).or_default();
                own.insert(from);
                own.extend(learned);
            }
        }
        false
    }
}

impl Outcome {
    /// Whether a violation is a write that the write before is not visible to, of what some pass reads.
    fn is_read_between(&self, violation: &Violation) -> bool {
        let Violation::Hazard {
            hazard: Hazard::WriteAfterWrite,
            affected,
            missing: MissingDependency::Visibility { .. },
            ..
        } = violation
        else {
            return false;
        };
        let passes = (0..self.frame.passes.len()).map(|at| PassIndex(at as u32));
        let mut uses = passes.flat_map(|pass| self.frame.uses_of(pass));
        uses.any(|used| {
            let resource = &self.frame.resource(used.resource).name;
            *resource == affected.resource && !used.access.is_write()
        })
    }

    /// Whether a violation is a write after a read that another read on another queue has replaced in
    /// the layer's memory.
    fn is_replaced(&self, violation: &Violation) -> bool {
        let Violation::Hazard {
            hazard: Hazard::WriteAfterRead,
            affected,
            earlier: Actor::Pass { name, access, .. },
            ..
        } = violation
        else {
            return false;
        };
        let reads = |pass: PassIndex| {
            let mut uses = self.frame.uses_of(pass).iter();
            uses.any(|used| {
                let resource = &self.frame.resource(used.resource).name;
                *resource == affected.resource && used.access.name() == *access
            })
        };
        self.plans.iter().any(|plan| {
            let mut passes = plan.passes();
            let own = passes.find(|(_, pass)| self.frame.pass(*pass).name == *name);
            own.is_some_and(|(queue, _)| passes.any(|(other, pass)| other != queue && reads(pass)))
        })
    }
}

/// Whether a violation is about owners, or about the order of a half of a transfer.
fn is_of_owners(violation: &Violation) -> bool {
    let is_half = |actor: &Actor| matches!(actor, Actor::Release { .. } | Actor::Acquire { .. });
    match violation {
        Violation::NotOwner { .. }
        | Violation::Released { .. }
        | Violation::AcquireUnordered { .. } => true,
        Violation::Hazard { earlier, later, .. } => is_half(earlier) || is_half(later),
        _ => false,
    }
}
