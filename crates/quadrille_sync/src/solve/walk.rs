//! The walk through a frame in submission order, which the phases `barrier`, `ownership` and
//! `edge` share: what has been decided so far, and the verbs to decide more.

use std::ops::Range;
use std::sync::Arc;

use super::Ease;
use super::issued::{Issued, remember, remembered};
use super::occupy::Blocks;
use super::ownership;
use super::precise::cut;
use super::record::{Barrier, Record};
use super::share::Shared;
use super::show::{self, Shown, Standing};
use super::split::Draft;
use super::timeline::{Point, Timeline};
use super::track::{LastUses, Mark, Past, State, load};
use crate::flags::{Layout, Stages};
use crate::frame::{Frame, PassIndex};
use crate::plan::{BarrierBatch, ImageBarrier, PassRef, Reason, Rung, Scope, Step};
use crate::range::SubRange;
use crate::resource::{ResourceIndex, Sharing};
use crate::states::{EndPass, FirstUse, States};
use crate::topology::{BarrierStyle, FamilyIndex, QueueIndex, Topology};

use super::track::Maps;

/// Stages to wait in for nobody but a barrier, the least busy ones first.
const QUIET: [Stages; 4] = [
    Stages::COPY,
    Stages::CLEAR,
    Stages::COMPUTE_SHADER,
    Stages::COLOR_ATTACHMENT_OUTPUT,
];

/// The last barrier call of a queue. Later passes of its submission add to it what can stand there:
/// every call costs, and whatever depends on nothing behind it can be in it. In the end, so can
/// the next frame (see [`prepare`](super::prepare)).
#[derive(Debug)]
pub(super) struct Call {
    pub(super) submission: usize,
    /// The place of the call among the steps of the submission.
    at: usize,
    /// The pass that it stands before.
    pub(super) step: u32,
    pub(super) number: u32,
    pub(super) batch: BarrierBatch,
    plain: Vec<Plain>,
}

/// Memory for the next barrier call.
#[derive(Debug, Default)]
struct Spare {
    images: Vec<ImageBarrier>,
    plain: Vec<Plain>,
}

/// A dependency on one access that changes neither layout nor owner.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// The access.
    pub(super) mark: Mark,
    /// The write that an execution dependency on a read also shows.
    pub(super) shown: Option<Point>,
    pub(super) interval: Range<u64>,
    pub(super) src: Scope,
    pub(super) dst: Scope,
    pub(super) layout: Layout,
    pub(super) reason: Reason,
}

/// A host pass that touched a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hosted {
    pub(super) pass: PassIndex,
    /// How many submissions there were before it.
    pub(super) submissions: usize,
}

/// What has been decided so far.
pub(super) struct Walk<'a> {
    pub(super) frame: &'a Frame,
    pub(super) topology: &'a Topology,
    pub(super) timeline: Timeline,
    /// Submissions in order: a window for each queue, then those of the frame; after each host
    /// pass that device passes come after, windows again.
    pub(super) records: Vec<Record>,
    /// The window of each queue that was opened last.
    windows: Vec<usize>,
    /// Where each pass runs on the device, once that is known.
    pub(super) ran: Vec<Option<Point>>,
    /// By resource: the last host pass that touched it.
    pub(super) hosted: Vec<Option<Hosted>>,
    /// The submissions that have not been walked through yet.
    pub(super) ahead: &'a [Draft],
    pub(super) past: Past<'a>,
    pub(super) blocks: Blocks,
    pub(super) last_uses: LastUses,
    /// What the next pass needs, in two calls: barriers of one call do not chain.
    pub(super) before_pass: [BarrierBatch; 2],
    /// Dependencies without change of layout or owner that the next pass needs.
    plain: Vec<Plain>,
    /// The use by the next frame that is being prepared for, instead of a request's pass.
    pub(super) next_use: Option<Arc<FirstUse>>,
    /// The uses of the pass that is being looked at; kept for its memory.
    pub(super) requests: Vec<Request>,
    /// The last pass on the queue of the next pass that its barriers have to stand behind.
    behind: u32,
    /// Its barriers lead on from a wait.
    is_behind_wait: bool,
    /// What calls leave behind when they are closed.
    spare: Spare,
    /// The last call of each queue.
    pub(super) last_calls: Vec<Option<Call>>,
    /// By resource: where its last barrier is.
    pub(super) standing: Vec<Standing>,
    /// What barriers show to more than those who asked for them, until states say so.
    pub(super) shown: Vec<Shown>,
    /// By queue: the pass before which the first call stands that has to stand in this frame, and
    /// could not have been foreseen.
    first_calls: Vec<u32>,
    /// How many calls there have been.
    calls: u32,
    /// The barriers issued last, by queue.
    pub(super) issued: Vec<Vec<Issued>>,
    /// There is more than one family to own something.
    pub(super) has_families: bool,
    /// Something may be elsewhere than where it is needed: there are several families, or somebody
    /// outside has had a hand in it.
    pub(super) may_move: bool,
    pub(super) ease: Ease<'a>,
    /// Changes of layout that several queues share, if there are any.
    pub(super) shared: Option<&'a Shared>,
}

/// A use of a range that is about to be compared with the range's state.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) resource: ResourceIndex,
    pub(super) range: SubRange,
    pub(super) submission: usize,
    pub(super) queue: QueueIndex,
    pub(super) family: FamilyIndex,
    pub(super) value: i64,
    pub(super) step: u32,
    pub(super) pass: PassIndex,
    pub(super) scope: Scope,
    /// The scopes of all uses of the pass that meet this one, or it alone: barriers of one call do
    /// not chain, so what a barrier writes has to be visible to all of them.
    pub(super) shared: Scope,
    /// Undefined for buffers.
    pub(super) layout: Layout,
    pub(super) image: bool,
    /// The resource has an owner.
    pub(super) exclusive: bool,
    pub(super) writes: bool,
    pub(super) discard: bool,
}

impl Request {
    /// What the state remembers of it, with the given accesses to make available later.
    pub(super) fn mark(&self, scope: Scope) -> Mark {
        let pass = EndPass::Pass(self.pass);
        Mark {
            queue: self.queue,
            value: self.value,
            scope,
            pass,
            step: self.step,
        }
    }
}

impl Request {
    /// Whether contents need not be kept: nobody wants them, or there are none.
    pub(super) fn discards(&self, state: &State) -> bool {
        self.discard || self.writes && !state.defined
    }

    /// Whether another family has a range, or it is on its way to some family.
    pub(super) fn finds_elsewhere(&self, state: &State) -> bool {
        // With one family nobody keeps book of owners, but who is outside is never the family.
        let is_other =
            |owner: FamilyIndex| owner != self.family && (self.exclusive || owner.is_outside());
        state.pending.is_some() || state.owner.is_some_and(is_other)
    }
}

impl<'a> Walk<'a> {
    /// Everything is as the last frame left it, and each queue has its window.
    pub(super) fn new(
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
            ran: vec![None; frame.passes.len()],
            hosted: vec![None; frame.resources.len()],
            ahead: &[],
            past,
            blocks,
            last_uses: LastUses::new(frame.resources.len(), topology.queues.len()),
            before_pass: Default::default(),
            plain: Vec::new(),
            next_use: None,
            requests: Vec::new(),
            behind: 0,
            is_behind_wait: false,
            first_calls: vec![u32::MAX; topology.queues.len()],
            last_calls: topology.queues.iter().map(|_| None).collect(),
            spare: Spare::default(),
            shown: Vec::new(),
            standing: vec![Standing::default(); frame.resources.len()],
            calls: 0,
            issued: vec![Vec::new(); topology.queues.len()],
            has_families: topology.family_count() > 1,
            may_move: false,
            ease: Ease::Usual,
            shared: None,
        };
        walk.may_move = walk.has_families || maps.iter().any(ownership::is_away);
        walk.open_windows();
        (walk, maps)
    }

    /// Opens a window on each queue.
    pub(super) fn open_windows(&mut self) {
        self.windows.clear();
        for queue in self.topology.indices() {
            let window = self.open(queue);
            self.records[window].is_window = true;
            self.windows.push(window);
        }
    }

    /// Adds a submission and returns its index.
    pub(super) fn open(&mut self, queue: QueueIndex) -> usize {
        let value = self.timeline.open(queue);
        self.records.push(Record::new(queue, value));
        self.records.len() - 1
    }

    /// The submission is complete but for its tail.
    pub(super) fn close(&mut self, submission: usize) {
        let record = &self.records[submission].submission;
        self.timeline.close(submission, record.queue, record.signal);
    }

    /// The window of a queue.
    pub(super) fn window(&self, queue: QueueIndex) -> usize {
        self.windows[usize::from(queue.0)]
    }

    /// Whether an access is in a window of its queue.
    pub(super) fn is_window(&self, mark: &Mark) -> bool {
        let submission = self.timeline.submission(mark.point());
        submission.is_some_and(|at| self.records[at].is_window)
    }

    /// What a submission signals.
    pub(super) fn point(&self, submission: usize) -> Point {
        let record = &self.records[submission].submission;
        Point {
            queue: record.queue,
            value: record.signal,
        }
    }

    /// The first queue of a family that can be planned for.
    pub(super) fn queue_of(&self, family: FamilyIndex) -> Option<QueueIndex> {
        self.topology.indices().find(|queue| {
            let queue = self.topology.queue(*queue);
            queue.family == family && !queue.is_foreign()
        })
    }

    /// Whether a resource has an owner: it is exclusive, and there are families to choose from.
    pub(super) fn is_owned(&self, resource: ResourceIndex) -> bool {
        self.has_families && self.frame.resource(resource).sharing == Sharing::Exclusive
    }

    /// The queue of the next pass that uses a resource.
    pub(super) fn next_queue(&self, resource: ResourceIndex) -> Option<QueueIndex> {
        let uses = |pass: &PassIndex| {
            let mut uses = self.frame.uses_of(*pass).iter();
            uses.any(|one| one.resource == resource)
        };
        let mut ahead = self.ahead.iter();
        let next = ahead.find(|draft| draft.passes.iter().any(uses));
        next.map(|draft| draft.queue)
    }

    /// Whether a resource leaves at the end of the frame.
    pub(super) fn is_given(&self, resource: ResourceIndex) -> bool {
        let mut gives = self.frame.gives.iter();
        gives.any(|give| give.resource == resource)
    }

    /// The reason for something that a request needs.
    pub(super) fn reason(&self, request: &Request, earlier: Option<EndPass>, rung: Rung) -> Reason {
        let earlier = earlier.map_or(PassRef::Nobody, |pass| self.past.pass_ref(pass));
        let next = self.next_use.as_ref().map(|next| next.pass.clone());
        Reason {
            resource: request.resource,
            earlier,
            later: next.map_or(PassRef::Pass(request.pass), PassRef::Next),
            rung,
        }
    }

    /// Orders a request after an access on another queue; see [`Timeline::require`].
    pub(super) fn require(
        &mut self,
        request: &Request,
        mark: &Mark,
        stages: Stages,
        all: bool,
        rung: Rung,
    ) -> Stages {
        self.past.consult(mark, request.queue);
        if all {
            // However much of it the queue has waited for, a wait for the rest may name it.
            self.past.consult_exactly(mark);
        }
        let reason = self.reason(request, Some(mark.pass), rung);
        self.timeline.require(
            &mut self.records,
            request.submission,
            mark.point(),
            stages,
            all,
            reason,
        )
    }

    /// Orders a submission that is complete but for its tail after an access on another queue, and
    /// returns the stages that its tail can lead on from; see [`Timeline::require_late`].
    pub(super) fn require_late(
        &mut self,
        submission: usize,
        mark: &Mark,
        all: bool,
        reason: Reason,
    ) -> Stages {
        let queue = self.records[submission].submission.queue;
        self.past.consult(mark, queue);
        if all {
            self.past.consult_exactly(mark);
        }
        let point = mark.point();
        let stages = if all {
            Stages::ALL_COMMANDS
        } else {
            self.quiet_stages(submission)
        };
        self.timeline
            .require_late(&mut self.records, submission, point, stages, all, reason)
    }

    /// Stages for a wait that only the tail of a submission leads on from: one in which no pass of
    /// it does anything, so that none is held back, or else all.
    fn quiet_stages(&self, submission: usize) -> Stages {
        let record = &self.records[submission];
        let capabilities = self.topology.queue(record.submission.queue).capabilities;
        let quiet = Stages::supported_by(capabilities) - record.busy.expanded();
        let found = QUIET.into_iter().find(|stage| quiet.contains(*stage));
        found.unwrap_or(Stages::ALL_COMMANDS)
    }

    /// The source of a barrier in the tail of a submission, after an access on another queue.
    pub(super) fn chain_late(&mut self, submission: usize, mark: &Mark, reason: Reason) -> Scope {
        let stages = self.require_late(submission, mark, false, reason);
        Scope {
            stages,
            ..Scope::default()
        }
    }

    /// Adds a dependency without change of layout or owner to what the next pass needs.
    pub(super) fn add_plain(&mut self, plain: Plain) {
        self.plain.push(plain);
    }

    /// Whether a barrier since an access already orders a scope after it; with accesses in
    /// `dst`, also makes it visible there.
    #[inline]
    pub(super) fn is_ordered(&self, mark: &Mark, src: Scope, dst: Scope) -> bool {
        let issued = remembered(&self.issued[usize::from(mark.queue.0)]);
        // Those remembered last stand behind the others.
        for issued in issued.iter().rev() {
            if issued.step <= mark.step {
                return false;
            }
            if issued.src.contains(src) && issued.dst.contains(dst) {
                return true;
            }
        }
        false
    }

    /// Whether the last call of a submission leads on to a scope from one of the stages that wait
    /// there. What an earlier submission has issued may have come before the wait.
    pub(super) fn is_led_on(&self, request: &Request, waiting: Stages, dst: Scope) -> bool {
        let call = self.last_call(request.queue);
        let Some(call) = call.filter(|call| call.submission == request.submission) else {
            return false;
        };
        let issued = remembered(&self.issued[usize::from(request.queue.0)]).iter();
        let waiting = waiting.expanded();
        let leads = |it: &Issued| it.src.stages.intersects(waiting) && it.dst.contains(dst);
        issued.filter(|it| it.call == call.number).any(leads)
    }

    /// Says that the barriers of the next pass come after an access on the same queue.
    pub(super) fn stand_behind(&mut self, mark: &Mark) {
        self.behind = self.behind.max(mark.step);
    }

    /// Says that the barriers of the next pass lead on from a wait.
    pub(super) fn stand_behind_wait(&mut self) {
        self.is_behind_wait = true;
    }

    /// Puts what a pass needs into the submission: into the last barrier call there, if that
    /// stands behind all that the pass depends on, else into a call of its own.
    pub(super) fn put_barriers(&mut self, submission: usize, queue: QueueIndex, step: u32) {
        if self.plain.is_empty() && self.before_pass.iter().all(BarrierBatch::is_empty) {
            self.behind = 0;
            self.is_behind_wait = false;
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.retain_mut(|plain| self.is_left_by_waits(plain, queue));
        let behind = std::mem::take(&mut self.behind);
        let is_of_frame = std::mem::take(&mut self.is_behind_wait) || behind > 0;
        if !self.before_pass[0].is_empty() || !plain.is_empty() {
            let joins = |call: &Call| call.submission == submission && call.step > behind;
            if !self.last_call(queue).is_some_and(joins) {
                self.open_call(submission, queue, step);
            }
            self.add_to_call(queue, 0, &mut plain);
            if is_of_frame {
                self.note_first_call(queue);
            }
        }
        if !self.before_pass[1].is_empty() {
            self.open_call(submission, queue, step);
            self.add_to_call(queue, 1, &mut plain);
        }
        // Emptied, for its memory.
        self.plain = plain;
    }

    fn last_call(&self, queue: QueueIndex) -> Option<&Call> {
        self.last_calls[usize::from(queue.0)].as_ref()
    }

    /// Notes that the last call of a queue has to stand in this frame.
    fn note_first_call(&mut self, queue: QueueIndex) {
        let step = self.last_call(queue).map_or(u32::MAX, |call| call.step);
        let first = &mut self.first_calls[usize::from(queue.0)];
        *first = (*first).min(step);
    }

    /// The pass before which the first call of a queue stands that has to stand in this frame.
    pub(super) fn first_call(&self, queue: QueueIndex) -> u32 {
        self.first_calls[usize::from(queue.0)]
    }

    /// The submission with the last call of a queue, and the pass that it stands before.
    pub(super) fn last_call_place(&self, queue: QueueIndex) -> Option<(usize, u32)> {
        self.last_call(queue)
            .map(|call| (call.submission, call.step))
    }

    /// Puts what the next frame needs into the last call of a queue.
    pub(super) fn put_ahead(&mut self, queue: QueueIndex) {
        if self.plain.is_empty() && self.before_pass[0].is_empty() {
            return;
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.retain_mut(|plain| self.is_left_by_waits(plain, queue));
        self.behind = 0;
        self.is_behind_wait = false;
        if !plain.is_empty() || !self.before_pass[0].is_empty() {
            self.add_to_call(queue, 0, &mut plain);
        }
        self.plain = plain;
    }

    /// Begins a barrier call.
    fn open_call(&mut self, submission: usize, queue: QueueIndex, step: u32) {
        self.close_call(queue);
        let steps = &mut self.records[submission].submission.steps;
        self.calls += 1;
        self.last_calls[usize::from(queue.0)] = Some(Call {
            submission,
            at: steps.len(),
            step,
            number: self.calls,
            batch: BarrierBatch {
                images: std::mem::take(&mut self.spare.images),
                ..BarrierBatch::default()
            },
            plain: std::mem::take(&mut self.spare.plain),
        });
        // Written when the call is closed.
        steps.push(Step::Barriers(Box::default()));
    }

    /// Adds barriers to the call, some of those that the next pass needs, and remembers them for those
    /// who come later.
    fn add_to_call(&mut self, queue: QueueIndex, batch: usize, plain: &mut Vec<Plain>) {
        let batch = &mut self.before_pass[batch];
        let Some(call) = &mut self.last_calls[usize::from(queue.0)] else {
            unreachable!("a call is opened before barriers are added to it");
        };
        let issued = &mut self.issued[usize::from(queue.0)];
        let style = self.topology.barriers;
        let barrier = |is_global: bool, src: Scope, dst: Scope| {
            Issued::new(call.step, call.number, is_global, (src, dst))
        };
        for (src, dst) in batch.orders() {
            remember(issued, barrier(false, src, dst));
        }
        for Plain { src, dst, .. } in plain.iter() {
            // Mere order may be left out of the global barrier, and with it its stages.
            let only_orders = src.access.is_empty() && dst.access.is_empty();
            match style {
                BarrierStyle::Merged if !only_orders => {
                    remember(issued, barrier(true, *src, *dst));
                }
                _ => remember(issued, barrier(false, src.stages_only(), dst.stages_only())),
            }
        }
        call.plain.append(plain);
        let (images, buffers) = (batch.images.len(), batch.buffers.len());
        call.batch.append(batch);
        show::note(&mut self.standing, call, images, buffers);
    }

    /// Writes the last calls into their submissions.
    pub(super) fn close_calls(&mut self) {
        self.topology
            .indices()
            .for_each(|queue| self.close_call(queue));
    }

    fn close_call(&mut self, queue: QueueIndex) {
        let Some(mut call) = self.last_calls[usize::from(queue.0)].take() else {
            return;
        };
        // Mere order comes last, because barriers that do more order too, and of it the widest first.
        let only_orders =
            |plain: &Plain| plain.src.access.is_empty() && plain.dst.access.is_empty();
        let mut plain = call.plain;
        let mut order: Vec<Plain> = plain.extract_if(.., |it| only_orders(it)).collect();
        if self.topology.barriers == BarrierStyle::Precise {
            (plain, order) = (cut(plain), cut(order));
        }
        // What barriers of ranges order already: few kinds, however many barriers.
        let mut ordered: Vec<(Scope, Scope)> = Vec::new();
        let note = |ordered: &mut Vec<_>, kind| {
            if !ordered.contains(&kind) {
                ordered.push(kind);
            }
        };
        call.batch
            .orders()
            .for_each(|kind| note(&mut ordered, kind));
        order.sort_by_key(|plain| std::cmp::Reverse(plain.src.width() + plain.dst.width()));
        for plain in plain.drain(..).chain(order) {
            let orders = |(a, b): &(Scope, Scope)| a.covers(plain.src) && b.covers(plain.dst);
            if ordered.iter().any(orders) {
                continue;
            }
            if self.topology.barriers == BarrierStyle::Precise {
                let kind = (plain.src.stages_only(), plain.dst.stages_only());
                note(&mut ordered, kind);
            }
            self.put(&mut call.batch, plain);
        }
        self.spare.plain = plain;
        self.spare.images = take_exactly(&mut call.batch.images);
        let steps = &mut self.records[call.submission].submission.steps;
        steps[call.at] = Step::Barriers(Box::new(call.batch));
    }

    /// Leaves to waits what they cover of a dependency, and says whether anything is left: waits for
    /// another queue that has itself waited for the access, or those that were added, for another
    /// range, after the dependency was found. What is left leads on from them.
    fn is_left_by_waits(&mut self, plain: &mut Plain, queue: QueueIndex) -> bool {
        self.past.consult(&plain.mark, queue);
        if let Some(write) = plain.shown {
            let waiting = self.timeline.ordered_by_waits(queue, write);
            if waiting.covers(plain.dst.stages) {
                plain.dst = plain.dst.stages_only();
            }
        }
        let stages = self.timeline.ordered_by_waits(queue, plain.mark.point());
        let left = plain.dst.without(stages);
        // A call for the next frame may stand before the wait.
        if left != plain.dst && self.next_use.is_none() {
            plain.src = Scope {
                stages,
                ..Scope::default()
            };
        }
        plain.dst = left;
        !plain.dst.stages.is_empty()
    }

    /// Writes a dependency down in the way the device likes best.
    fn put(&self, batch: &mut BarrierBatch, plain: Plain) {
        let Plain {
            interval,
            src,
            dst,
            layout,
            reason,
            ..
        } = plain;
        match self.topology.barriers {
            BarrierStyle::Merged => batch.merge(src, dst, reason),
            BarrierStyle::Precise => {
                let resource = self.frame.resource(reason.resource);
                batch.push(resource, interval, Barrier::plain(src, dst, layout, reason));
            }
        }
    }
}

/// Leaves what is in a list in one that is as large, and gives the memory of the other.
fn take_exactly<T>(list: &mut Vec<T>) -> Vec<T> {
    let mut exact = Vec::with_capacity(list.len());
    exact.append(list);
    std::mem::replace(list, exact)
}

impl Scope {
    /// How many stages there are: what covers another scope has no fewer.
    fn width(self) -> u32 {
        self.stages.expanded().bits().count_ones()
    }

    /// The scope of an execution dependency.
    pub(super) fn stages_only(self) -> Self {
        Self {
            stages: self.stages,
            access: crate::flags::AccessMask::empty(),
        }
    }
}
