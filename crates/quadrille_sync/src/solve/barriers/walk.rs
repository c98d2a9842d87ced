//! The decisions so far on the walk through a frame, which `barriers` and `queues` share, and the
//! operations that add to them.

use std::sync::Arc;

use crate::flags::{Layout, Stages};
use crate::frame::{Frame, PassIndex};
use crate::plan::{PassRef, Reason, Rung, Scope};
use crate::range::SubRange;
use crate::resource::{ResourceIndex, Sharing};
use crate::solve::barriers::calls::Calls;
use crate::solve::barriers::record::Record;
use crate::solve::schedule::split::Draft;
use crate::solve::state::blocks::Blocks;
use crate::solve::state::clocks::{Point, Timeline};
use crate::solve::state::{Hosted, LastUses, Maps, Mark, Past, State, is_away, load};
use crate::states::{EndPass, FirstUse, States};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// The decisions so far.
pub(in crate::solve) struct Walk<'a> {
    pub(in crate::solve) frame: &'a Frame,
    pub(in crate::solve) topology: &'a Topology,
    pub(in crate::solve) timeline: Timeline,
    /// Submissions in order: a window for each queue, then those of the frame; after each host
    /// pass that device passes depend on, windows again.
    pub(in crate::solve) records: Vec<Record>,
    /// The window of each queue that was opened last.
    windows: Vec<usize>,
    /// By queue: the submission without passes that was opened last for releases after reads on
    /// several queues; see `emit/own_signal`.
    releases: Vec<Option<usize>>,
    /// Where each pass runs on the device, once that is known.
    pub(in crate::solve) ran: Vec<Option<Point>>,
    /// How many passes of the device have been planned.
    pub(in crate::solve) step: u32,
    /// By resource: the last host pass that touched it.
    pub(in crate::solve) hosted: Vec<Option<Hosted>>,
    /// The submissions that have not been walked through yet.
    pub(in crate::solve) ahead: &'a [Draft],
    pub(in crate::solve) past: Past<'a>,
    pub(in crate::solve) blocks: Blocks,
    pub(in crate::solve) last_uses: LastUses,
    pub(in crate::solve) calls: Calls,
    /// The use by the next frame that a barrier is made for, instead of a request's pass.
    pub(in crate::solve) next_use: Option<Arc<FirstUse>>,
    /// The uses of the current pass; kept for its memory.
    pub(in crate::solve) requests: Vec<Request>,
    /// There are images whose mip levels have several slices.
    pub(in crate::solve) has_slices: bool,
    /// There is more than one family to own something.
    pub(in crate::solve) has_families: bool,
    /// A range may belong to another family than the one that needs it: there are several
    /// families, or an external owner.
    pub(in crate::solve) may_move: bool,
}

/// A use of a range that is about to be compared with the range's state.
#[derive(Clone, Debug)]
pub(in crate::solve) struct Request {
    pub(in crate::solve) resource: ResourceIndex,
    pub(in crate::solve) range: SubRange,
    pub(in crate::solve) submission: usize,
    pub(in crate::solve) queue: QueueIndex,
    pub(in crate::solve) family: FamilyIndex,
    pub(in crate::solve) value: i64,
    pub(in crate::solve) step: u32,
    pub(in crate::solve) pass: PassIndex,
    pub(in crate::solve) scope: Scope,
    /// The scopes of all uses of the pass that overlap this one, or of it alone. Barriers of one
    /// call do not chain, so a layout transition has to be visible to all of them.
    pub(in crate::solve) shared: Scope,
    /// Undefined for buffers.
    pub(in crate::solve) layout: Layout,
    pub(in crate::solve) image: bool,
    /// The resource has an owner.
    pub(in crate::solve) exclusive: bool,
    pub(in crate::solve) writes: bool,
    pub(in crate::solve) discard: bool,
    /// Asks for layout and owner of mip levels alone; see
    /// [`slices`](crate::solve::barriers::slices).
    pub(in crate::solve) is_for_level: bool,
}

impl Request {
    /// The mark of the request in the state, with the given accesses to make available later.
    pub(in crate::solve) fn mark(&self, scope: Scope) -> Mark {
        let pass = EndPass::Pass(self.pass);
        Mark {
            queue: self.queue,
            value: self.value,
            scope,
            pass,
            step: self.step,
        }
    }

    /// Whether contents need not be kept: they are not needed, or undefined.
    pub(in crate::solve) fn discards(&self, state: &State) -> bool {
        self.discard || self.writes && !state.defined
    }

    /// Whether another family owns a range, or its acquire is pending.
    pub(in crate::solve) fn finds_elsewhere(&self, state: &State) -> bool {
        // Ownership is not tracked with one family, but an external owner is never that family.
        let is_other =
            |owner: FamilyIndex| owner != self.family && (self.exclusive || owner.is_outside());
        state.rare.pending().is_some() || state.owner.is_some_and(is_other)
    }
}

impl<'a> Walk<'a> {
    /// The start of the walk: states are those of the last frame's end, and each queue has its
    /// window.
    pub(in crate::solve) fn new(
        frame: &'a Frame,
        topology: &'a Topology,
        states: &'a States,
    ) -> (Self, Maps) {
        let (maps, blocks, past) = load(frame, states);
        let mut walk = Self {
            frame,
            topology,
            timeline: Timeline::new(topology, states),
            records: Vec::new(),
            windows: Vec::new(),
            releases: vec![None; topology.queues.len()],
            ran: vec![None; frame.passes.len()],
            step: 0,
            hosted: vec![None; frame.resources.len()],
            ahead: &[],
            past,
            blocks,
            last_uses: LastUses::new(frame.resources.len(), topology.queues.len()),
            calls: Calls::new(topology.queues.len()),
            next_use: None,
            requests: Vec::new(),
            has_slices: frame.resources.iter().any(|it| it.kind.depth() > 1),
            has_families: topology.family_count() > 1,
            may_move: false,
        };
        walk.may_move = walk.has_families || maps.iter().any(is_away);
        walk.open_windows();
        (walk, maps)
    }

    /// Puts what a pass needs into its submission.
    pub(in crate::solve) fn put_barriers(
        &mut self,
        submission: usize,
        queue: QueueIndex,
        step: u32,
    ) {
        self.write_plain(queue);
        self.calls.put(&mut self.records, (submission, queue), step);
    }

    /// Puts what the next frame needs into the last call of a queue.
    pub(in crate::solve) fn put_ahead(&mut self, queue: QueueIndex) {
        self.write_plain(queue);
        self.calls.put_ahead(&mut self.records, queue);
    }

    fn write_plain(&mut self, queue: QueueIndex) {
        let inputs = (self.frame, self.topology);
        let (timeline, past) = (&self.timeline, &mut self.past);
        self.calls.write_plain(inputs, timeline, past, queue);
    }

    /// Opens a window on each queue.
    pub(in crate::solve) fn open_windows(&mut self) {
        self.windows.clear();
        for queue in self.topology.indices() {
            let window = self.open(queue);
            self.records[window].is_window = true;
            self.windows.push(window);
        }
    }

    /// Adds a submission and returns its index.
    pub(in crate::solve) fn open(&mut self, queue: QueueIndex) -> usize {
        let value = self.timeline.open(queue);
        self.records.push(Record::new(queue, value, self.step));
        self.records.len() - 1
    }

    /// Opens a submission for releases after reads on several queues.
    pub(in crate::solve) fn open_release(&mut self, queue: QueueIndex) {
        let submission = self.open(queue);
        self.releases[usize::from(queue.0)] = Some(submission);
    }

    /// The submission for a release on a family after another submission and others that this one
    /// does not wait for, if one was opened. After the last pass of the frame one is opened on the
    /// `queue`, which is of that family.
    pub(in crate::solve) fn release_submission(
        &mut self,
        queue: QueueIndex,
        after: usize,
    ) -> Option<usize> {
        let family = self.topology.family(queue);
        let found = |walk: &Self| {
            let queues = walk.topology.indices();
            let mut queues = queues.filter(|it| walk.topology.family(*it) == family);
            queues.find_map(|it| walk.releases[usize::from(it.0)].filter(|it| *it > after))
        };
        if found(self).is_none() && self.ahead.is_empty() {
            self.open_release(queue);
        }
        found(self)
    }

    /// The submission is complete but for its tail.
    pub(in crate::solve) fn close(&mut self, submission: usize) {
        let record = &self.records[submission].submission;
        self.timeline.close(submission, record.queue, record.signal);
    }

    /// The window of a queue.
    pub(in crate::solve) fn window(&self, queue: QueueIndex) -> usize {
        self.windows[usize::from(queue.0)]
    }

    /// Whether an access is in a window of its queue.
    pub(in crate::solve) fn is_window(&self, mark: &Mark) -> bool {
        let submission = self.timeline.submission(mark.point());
        submission.is_some_and(|at| self.records[at].is_window)
    }

    /// What a submission signals.
    pub(in crate::solve) fn point(&self, submission: usize) -> Point {
        let record = &self.records[submission].submission;
        Point {
            queue: record.queue,
            value: record.signal,
        }
    }

    /// The first queue of a family that can be planned for.
    pub(in crate::solve) fn queue_of(&self, family: FamilyIndex) -> Option<QueueIndex> {
        self.topology.indices().find(|queue| {
            let queue = self.topology.queue(*queue);
            queue.family == family && !queue.is_foreign()
        })
    }

    /// Whether a resource has an owner: it is exclusive, and there are families to choose from.
    pub(in crate::solve) fn is_owned(&self, resource: ResourceIndex) -> bool {
        self.has_families && self.frame.resource(resource).sharing == Sharing::Exclusive
    }

    /// The queue of the next pass that uses a resource.
    pub(in crate::solve) fn next_queue(&self, resource: ResourceIndex) -> Option<QueueIndex> {
        let uses = |pass: &PassIndex| {
            let mut uses = self.frame.uses_of(*pass).iter();
            uses.any(|one| one.resource == resource)
        };
        let mut ahead = self.ahead.iter();
        let next = ahead.find(|draft| draft.passes.iter().any(uses));
        next.map(|draft| draft.queue)
    }

    /// Whether a resource is given to another stream or an external owner at the end of the frame.
    pub(in crate::solve) fn is_given(&self, resource: ResourceIndex) -> bool {
        let mut gives = self.frame.gives.iter();
        gives.any(|give| give.resource == resource)
    }

    /// The reason for something that a request needs.
    pub(in crate::solve) fn reason(
        &self,
        request: &Request,
        earlier: Option<EndPass>,
        rung: Rung,
    ) -> Reason {
        let earlier = earlier.map_or(PassRef::None, |pass| self.past.pass_ref(pass));
        let next = self.next_use.as_ref().map(|next| next.pass.clone());
        Reason {
            resource: request.resource,
            earlier,
            later: next.map_or(PassRef::Pass(request.pass), PassRef::Next),
            rung,
        }
    }

    /// Orders a request after an access on another queue; see [`Timeline::require`].
    pub(in crate::solve) fn require(
        &mut self,
        request: &Request,
        mark: &Mark,
        stages: Stages,
        all: bool,
        rung: Rung,
    ) -> Stages {
        self.past.consult(mark, request.queue);
        if all {
            // Stages of the queue may have waited for the access, but a wait for the rest may name
            // it.
            self.past.consult_exactly(mark);
        }
        let reason = self.reason(request, Some(mark.pass), rung);
        let submission = &mut self.records[request.submission].submission;
        let submission = (request.submission, submission);
        self.timeline
            .require(submission, mark.point(), stages, all, reason)
    }

    /// Orders a submission that is complete but for its tail after an access on another queue, and
    /// returns the stages that its tail can chain from; see [`Timeline::require_late`].
    pub(in crate::solve) fn require_late(
        &mut self,
        submission: usize,
        mark: &Mark,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let point = mark.point();
        let record = &mut self.records[submission].submission;
        self.past.consult(mark, record.queue);
        if all {
            self.past.consult_exactly(mark);
        }
        self.timeline
            .require_late((submission, record), point, all, reason)
    }

    /// The source of a barrier in the tail of a submission, after an access on another queue.
    pub(in crate::solve) fn chain_late(
        &mut self,
        submission: usize,
        mark: &Mark,
        reason: Reason,
    ) -> Scope {
        let stages = self.require_late(submission, mark, false, reason);
        Scope {
            stages,
            ..Scope::default()
        }
    }
}

impl Scope {
    /// The scope of an execution dependency.
    pub(in crate::solve) fn stages_only(self) -> Self {
        Self {
            stages: self.stages,
            access: crate::flags::AccessMask::empty(),
        }
    }
}
