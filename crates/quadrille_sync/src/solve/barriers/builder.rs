//! The submissions of a frame under construction.

use crate::flags::Stages;
use crate::frame::PassIndex;
use crate::plan::{Reason, Scope};
use crate::resource::ResourceIndex;
use crate::solve::barriers::inputs::Inputs;
use crate::solve::barriers::record::Record;
use crate::solve::barriers::waits::Waits;
use crate::solve::schedule::split::Draft;
use crate::solve::state::clocks::{Point, Timeline};
use crate::solve::state::predecessors::source;
use crate::solve::state::{Hosted, LastUses, Past, TrackedAccess};
use crate::states::States;
use crate::topology::QueueIndex;

/// Builder of submissions: their waits, the barriers at their start and end, and the last use of each
/// resource. [`Calls`](crate::solve::barriers::calls::Calls) builds the barriers between passes.
pub(crate) struct Builder<'a> {
    pub(crate) inputs: Inputs<'a>,
    pub(crate) waits: Waits<'a>,
    /// Submissions in order: first a window for each queue (see `queues/ownership`), then the
    /// submissions of passes. After each host pass that device passes depend on, new windows follow.
    pub(crate) records: Vec<Record>,
    /// By queue: the latest window.
    windows: Vec<usize>,
    /// By queue: the latest submission that only releases, after reads on several queues; see
    /// `emit/own_signal`.
    releases: Vec<Option<usize>>,
    /// The number of device passes planned so far.
    pub(crate) step: u32,
    /// The submissions that have not been walked through yet.
    pub(crate) ahead: &'a [Draft],
    pub(crate) last_uses: LastUses,
    /// By resource: the last host pass that touched it.
    pub(crate) hosted: Vec<Option<Hosted>>,
}

impl<'a> Builder<'a> {
    /// The submissions at the start of the walk: each queue has its window.
    pub(crate) fn new(inputs: Inputs<'a>, states: &States, past: Past<'a>) -> Self {
        let (resources, queues) = (inputs.frame.resources.len(), inputs.topology.queues.len());
        let mut builder = Self {
            inputs,
            waits: Waits {
                inputs,
                timeline: Timeline::new(inputs.topology, states),
                past,
            },
            records: Vec::new(),
            windows: Vec::new(),
            releases: vec![None; queues],
            step: 0,
            ahead: &[],
            last_uses: LastUses::new(resources, queues),
            hosted: vec![None; resources],
        };
        builder.open_windows();
        builder
    }

    /// Notes that a submission uses a resource.
    #[inline]
    pub(crate) fn note_use(&mut self, resource: ResourceIndex, submission: usize) {
        let Point { queue, value } = self.point(submission);
        self.last_uses.note(resource.0, queue, value, submission);
    }

    /// Opens a window on each queue.
    pub(crate) fn open_windows(&mut self) {
        self.windows.clear();
        for queue in self.inputs.topology.indices() {
            let window = self.open(queue);
            self.records[window].is_window = true;
            self.windows.push(window);
        }
    }

    /// Adds a submission and returns its index.
    pub(crate) fn open(&mut self, queue: QueueIndex) -> usize {
        let value = self.waits.timeline.open(queue);
        self.records.push(Record::new(queue, value, self.step));
        self.records.len() - 1
    }

    /// Opens a submission for releases after reads on several queues.
    pub(crate) fn open_release(&mut self, queue: QueueIndex) {
        let submission = self.open(queue);
        self.releases[usize::from(queue.0)] = Some(submission);
    }

    /// A release-only submission later than `after` on a queue of the family of `queue`, if there is
    /// one. After the last pass of the frame, one is opened on `queue` if there is none.
    pub(crate) fn release_submission(&mut self, queue: QueueIndex, after: usize) -> Option<usize> {
        let family = self.inputs.topology.family(queue);
        let found = |builder: &Self| {
            let queues = builder.inputs.topology.indices();
            let mut queues = queues.filter(|it| builder.inputs.topology.family(*it) == family);
            queues.find_map(|it| builder.releases[usize::from(it.0)].filter(|it| *it > after))
        };
        if found(self).is_none() && self.ahead.is_empty() {
            self.open_release(queue);
        }
        found(self)
    }

    /// Marks a submission as complete except for the barriers at its end.
    pub(crate) fn close(&mut self, submission: usize) {
        let record = &self.records[submission].submission;
        self.waits
            .timeline
            .close(submission, record.queue, record.signal);
    }

    /// The window of a queue.
    pub(crate) fn window(&self, queue: QueueIndex) -> usize {
        self.windows[usize::from(queue.0)]
    }

    /// Whether an access is in a window of its queue.
    pub(crate) fn is_window(&self, tracked: &TrackedAccess) -> bool {
        let submission = self.waits.timeline.submission(tracked.point());
        submission.is_some_and(|at| self.records[at].is_window)
    }

    /// Returns the timeline point that a submission signals.
    pub(crate) fn point(&self, submission: usize) -> Point {
        let record = &self.records[submission].submission;
        Point {
            queue: record.queue,
            value: record.signal,
        }
    }

    /// The queue of the next pass that uses a resource.
    pub(crate) fn next_queue(&self, resource: ResourceIndex) -> Option<QueueIndex> {
        let uses = |pass: &PassIndex| {
            let mut uses = self.inputs.frame.uses_of(*pass).iter();
            uses.any(|one| one.resource == resource)
        };
        let mut ahead = self.ahead.iter();
        let next = ahead.find(|draft| draft.passes.iter().any(uses));
        next.map(|draft| draft.queue)
    }

    /// Orders a submission that is complete except for its tail after an access on another queue; see
    /// [`Waits::require_late`].
    pub(crate) fn require_late(
        &mut self,
        submission: usize,
        tracked: &TrackedAccess,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let queue = self.records[submission].submission.queue;
        let submission = (submission, queue);
        self.waits.require_late(submission, tracked, all, reason)
    }

    /// The first scope of a barrier in the tail of a submission that depends on an access.
    pub(crate) fn source_at(
        &mut self,
        submission: usize,
        tracked: &TrackedAccess,
        memory: bool,
        reason: &Reason,
    ) -> Scope {
        if tracked.queue == self.point(submission).queue {
            return source(tracked, memory);
        }
        let earlier = self.waits.past.pass_ref(tracked.pass);
        let reason = Reason {
            earlier,
            ..reason.clone()
        };
        self.chain_late(submission, tracked, reason)
    }

    /// The first scope of a barrier in the tail of a submission, after an access on another queue.
    pub(crate) fn chain_late(
        &mut self,
        submission: usize,
        tracked: &TrackedAccess,
        reason: Reason,
    ) -> Scope {
        Scope::of_stages(self.require_late(submission, tracked, false, reason))
    }
}
