//! Semaphore waits of submissions, by vector clocks, with the accesses of earlier frames that they
//! depend on.

use crate::flags::Stages;
use crate::plan::{DependencyKind, PassRef, Reason};
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::request::Request;
use crate::solve::state::clocks::Timeline;
use crate::solve::state::{Past, TrackedAccess};
use crate::states::EndPass;
use crate::topology::QueueIndex;

/// Waits of the submissions planned so far.
pub(crate) struct Waits<'a> {
    pub(crate) inputs: Inputs<'a>,
    pub(crate) timeline: Timeline,
    pub(crate) past: Past<'a>,
}

impl Waits<'_> {
    /// The reason for a barrier or wait that a request needs.
    pub(crate) fn reason(
        &self,
        request: &Request,
        earlier: Option<EndPass>,
        dependency_kind: DependencyKind,
    ) -> Reason {
        let earlier = earlier.map_or(PassRef::None, |pass| self.past.pass_ref(pass));
        let next = request.next.as_ref().map(|next| next.pass.clone());
        Reason {
            resource: request.resource,
            earlier,
            later: next.map_or(PassRef::Pass(request.pass), PassRef::Next),
            dependency_kind,
        }
    }

    /// Orders a request after an access on another queue; see [`Timeline::require`].
    pub(crate) fn require(
        &mut self,
        request: &Request,
        tracked: &TrackedAccess,
        stages: Stages,
        all: bool,
        dependency_kind: DependencyKind,
    ) -> Stages {
        self.past.consult(tracked, request.queue);
        if all {
            // Some stages of the queue may have waited already, but a wait for the other stages puts
            // the value of the access into the plan.
            self.past.consult_exactly(tracked);
        }
        let reason = self.reason(request, Some(tracked.pass), dependency_kind);
        let submission = (request.submission, request.queue);
        self.timeline
            .require(submission, tracked.point(), stages, all, reason)
    }

    /// Orders a submission that is complete except for its tail after an access on another queue, and
    /// returns the stages that its tail can chain from; see [`Timeline::require_late`].
    pub(crate) fn require_late(
        &mut self,
        submission: (usize, QueueIndex),
        tracked: &TrackedAccess,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let point = tracked.point();
        self.past.consult(tracked, submission.1);
        if all {
            self.past.consult_exactly(tracked);
        }
        self.timeline.require_late(submission, point, all, reason)
    }
}
