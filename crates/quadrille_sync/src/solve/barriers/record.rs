//! A submission under construction, and how barriers are added to it.

use std::ops::Range;

use crate::flags::Layout;
use crate::plan::{
    BarrierBatch, BufferBarrier, DependencyKind, ImageBarrier, MemoryBarrier, Reason, Scope, Step,
    Submission, Transfer,
};
use crate::range::{EVERYTHING, JOINED, SubRange, SubresourceRange, boxes, join_nearby};
use crate::resource::{Resource, ResourceIndex, ResourceKind};
use crate::topology::QueueIndex;

use crate::solve::state::clocks::{Timeline, push_reason};
use crate::solve::state::numbers::Numbers;

/// A submission under construction. Its timeline values also count unused windows; see
/// [`clocks`](crate::solve::state::clocks).
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Barriers before everything else.
    pub(crate) head: BarrierBatch,
    pub(crate) submission: Submission,
    /// Layout transitions for the host, after the last pass.
    pub(crate) changes: BarrierBatch,
    /// Barriers after everything else, some of which may chain from the transitions.
    pub(crate) tail: BarrierBatch,
    /// Whether it is a window, for transfers that were not predicted; see `queues/ownership`.
    pub(crate) is_window: bool,
    /// The step of its last pass, counted over the frame; while it has none, that of the last pass
    /// before it.
    pub(crate) step: u32,
}

impl Record {
    /// An empty submission.
    pub(crate) fn new(queue: QueueIndex, value: i64, step: u32) -> Self {
        let submission = Submission {
            queue,
            waits: Vec::new(),
            acquires: Vec::new(),
            steps: Vec::new(),
            signal: value,
            presents: Vec::new(),
        };
        Self {
            head: BarrierBatch::default(),
            submission,
            changes: BarrierBatch::default(),
            tail: BarrierBatch::default(),
            is_window: false,
            step,
        }
    }

    /// Whether passes run in it.
    pub(crate) fn has_passes(&self) -> bool {
        let mut steps = self.submission.steps.iter();
        steps.any(|step| matches!(step, Step::Pass(_)))
    }

    /// Whether there is nothing to submit.
    pub(crate) fn is_empty(&self) -> bool {
        self.submission.steps.is_empty()
            && self.submission.presents.is_empty()
            && self.head.is_empty()
            && self.changes.is_empty()
            && self.tail.is_empty()
    }

    /// The submission with head and tail in their places.
    pub(crate) fn finish(mut self) -> Submission {
        let steps = &mut self.submission.steps;
        if !self.head.is_empty() {
            steps.insert(0, Step::Barriers(Box::new(self.head)));
        }
        for batch in [self.changes, self.tail] {
            if !batch.is_empty() {
                steps.push(Step::Barriers(Box::new(batch)));
            }
        }
        self.submission
    }
}

/// A barrier without its range.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub(crate) src: Scope,
    pub(crate) dst: Scope,
    pub(crate) old_layout: Layout,
    pub(crate) new_layout: Layout,
    pub(crate) transfer: Option<Transfer>,
    pub(crate) reason: Reason,
}

impl Barrier {
    /// A barrier that changes neither layout nor owner.
    pub(crate) fn plain(src: Scope, dst: Scope, layout: Layout, reason: Reason) -> Self {
        Self {
            src,
            dst,
            old_layout: layout,
            new_layout: layout,
            transfer: None,
            reason,
        }
    }

    /// The barrier for a part of an image.
    fn of_image(self, range: SubresourceRange) -> ImageBarrier {
        ImageBarrier {
            resource: self.reason.resource,
            range,
            src: self.src,
            dst: self.dst,
            old_layout: self.old_layout,
            new_layout: self.new_layout,
            transfer: self.transfer,
            reason: self.reason,
        }
    }
}

/// Numbers the submissions that are used. Drops empty windows, and waits that another wait of the same
/// submission implies.
pub(crate) fn number(timeline: &mut Timeline, records: Vec<Record>) -> (Vec<Submission>, Numbers) {
    let used = |record: &Record| !record.is_empty();
    let used_records = records.iter().map(|it| (it.submission.queue, used(it)));
    let numbers = Numbers::new(timeline.queues, used_records);
    let mut submissions = Vec::with_capacity(records.len());
    for (at, record) in records.into_iter().enumerate() {
        if !used(&record) {
            continue;
        }
        let mut submission = record.finish();
        submission.waits = timeline.take_waits(at);
        for wait in &mut submission.waits {
            wait.point.offset = numbers.value(wait.point.queue, wait.point.offset);
        }
        submission.waits.sort_by_key(|wait| wait.point.queue);
        submission.signal = numbers.value(submission.queue, submission.signal);
        submissions.push(submission);
    }
    (submissions, numbers)
}

impl BarrierBatch {
    /// Adds a dependency to the global memory barrier.
    pub(crate) fn merge(&mut self, src: Scope, dst: Scope, reason: Reason) {
        let memory = self.memory.get_or_insert_with(|| MemoryBarrier {
            src: Scope::default(),
            dst: Scope::default(),
            reasons: Vec::new(),
        });
        memory.src = memory.src.union(src);
        memory.dst = memory.dst.union(dst);
        push_reason(&mut memory.reasons, reason);
    }

    /// Adds all barriers of another batch, and leaves it empty.
    pub(crate) fn append(&mut self, other: &mut Self) {
        match (&mut self.memory, other.memory.take()) {
            (_, None) => {}
            (Some(memory), Some(other)) => {
                memory.src = memory.src.union(other.src);
                memory.dst = memory.dst.union(other.dst);
                for reason in other.reasons {
                    push_reason(&mut memory.reasons, reason);
                }
            }
            (memory, other) => *memory = other,
        }
        self.buffers.append(&mut other.buffers);
        self.images.reserve(other.images.len());
        for image in other.images.drain(..) {
            let mut nearby = self.images.iter().rev().take(JOINED);
            let may_join = nearby.any(|it| it.resource == image.resource);
            self.images.push(image);
            if may_join {
                join_nearby(&mut self.images, ImageBarrier::try_merge);
            }
        }
    }

    /// Adds a barrier for an interval of a resource.
    pub(crate) fn push(&mut self, resource: &Resource, interval: Range<u64>, barrier: Barrier) {
        match resource.kind {
            ResourceKind::Buffer { bytes } => self.push_buffer(bytes, interval, barrier),
            ResourceKind::Image { .. } => self.push_image(&resource.kind, interval, barrier),
        }
    }

    /// Adds one half of a transfer. It is never merged: release and acquire must name equal ranges.
    pub(crate) fn push_half(&mut self, resource: &Resource, range: &SubRange, half: Barrier) {
        match (resource.kind.subresources(), *range) {
            (None, SubRange::Bytes { offset, size }) => {
                self.push_buffer(offset + size, offset..offset + size, half);
            }
            (None, _) => self.push_buffer(resource.kind.length(), EVERYTHING, half),
            (Some(_), SubRange::Subresources(part)) => self.images.push(half.of_image(part)),
            (Some(all), _) => self.images.push(half.of_image(all)),
        }
    }

    fn push_buffer(&mut self, bytes: u64, interval: Range<u64>, barrier: Barrier) {
        let (offset, end) = (interval.start, interval.end.min(bytes));
        let next = BufferBarrier {
            resource: barrier.reason.resource,
            offset,
            size: end.saturating_sub(offset),
            src: barrier.src,
            dst: barrier.dst,
            transfer: barrier.transfer,
            reason: barrier.reason,
        };
        if next.size == 0 {
            return;
        }
        self.buffers.push(next);
        join_nearby(&mut self.buffers, BufferBarrier::try_merge);
    }

    fn push_image(&mut self, kind: &ResourceKind, interval: Range<u64>, barrier: Barrier) {
        // A barrier for a whole image cannot be merged with a neighbour.
        if interval == EVERYTHING
            && let Some(all) = kind.subresources()
        {
            self.images.push(barrier.of_image(all));
            return;
        }
        let mut parts = Vec::new();
        boxes(kind, interval, &mut parts);
        for range in parts {
            self.images.push(barrier.clone().of_image(range));
            join_nearby(&mut self.images, ImageBarrier::try_merge);
        }
    }
}

/// Properties that two barriers must share to be merged into one for the ranges of both: the resource,
/// the second scope, the layouts of an image, the dependency kind. Their first scopes and passes may
/// differ: all barriers of one call order the same commands, so the second scope waits for both first
/// scopes in any case. The reason is that of the first. A half of a transfer has no key, because the
/// other half must name the same range and may have other neighbours.
type MergeKey = (
    ResourceIndex,
    Scope,
    Option<(Layout, Layout)>,
    DependencyKind,
);

impl BufferBarrier {
    fn merge_key(&self) -> Option<MergeKey> {
        let is_whole = self.transfer.is_none();
        is_whole.then_some((self.resource, self.dst, None, self.reason.dependency_kind))
    }

    /// Merges another barrier into this one, if they are equal but for ranges that join to one.
    fn try_merge(&mut self, other: &Self) -> bool {
        let key = self.merge_key();
        let touches = |a: &Self, b: &Self| a.offset + a.size == b.offset;
        let joins = key.is_some()
            && key == other.merge_key()
            && (touches(self, other) || touches(other, self));
        if joins {
            self.offset = self.offset.min(other.offset);
            self.size += other.size;
            self.src = self.src.union(other.src);
        }
        joins
    }
}

impl ImageBarrier {
    fn merge_key(&self) -> Option<MergeKey> {
        let layouts = Some((self.old_layout, self.new_layout));
        let is_whole = self.transfer.is_none();
        is_whole.then_some((
            self.resource,
            self.dst,
            layouts,
            self.reason.dependency_kind,
        ))
    }

    /// Merges another barrier into this one, as [`BufferBarrier::try_merge`] does.
    fn try_merge(&mut self, other: &Self) -> bool {
        let key = self.merge_key();
        let is_alike = key.is_some() && key == other.merge_key();
        let joins = is_alike && self.range.join(&other.range);
        if joins {
            self.src = self.src.union(other.src);
        }
        joins
    }
}
