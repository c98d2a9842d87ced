//! Releases: their submission, first scope, and destination family.
//!
//! One barrier releases adjacent runs. First [`Releases::add`] determines submission, scope and
//! layout of the release of each run. Then [`Releases::release`] gathers equal releases into the
//! fewest ranges that Vulkan's barriers can express.

use std::ops::Range;

use super::half;
use crate::flags::{AccessMask, Layout, Stages};
use crate::plan::{DependencyKind, PassRef, Reason, Scope, TransferHalf};
use crate::range::{SubRange, gather, intervals};
use crate::resource::{Lifetime, ResourceIndex};
use crate::solve::barriers::builder::Builder;
use crate::solve::barriers::record::Barrier;
use crate::solve::state::predecessors::{for_each_predecessor_of, last_pass, source};
use crate::solve::state::{Maps, State, TrackedAccess};
use crate::states::{EndPass, Pending};
use crate::topology::{FamilyIndex, QueueIndex};

/// The number of latest groups that are searched for an equal release.
const JOINED: usize = 16;

/// The destination of a release: family, layout, and the pass that needs it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Destination {
    pub(crate) resource: ResourceIndex,
    pub(crate) family: FamilyIndex,
    pub(crate) layout: Layout,
    pub(crate) later: PassRef,
}

/// Parameters of a release. Ranges with equal releases may share a barrier.
#[derive(Clone, Debug, PartialEq)]
struct Release {
    to: Destination,
    from: FamilyIndex,
    /// The submission that the release is recorded in.
    submission: usize,
    src: Scope,
    old_layout: Layout,
}

/// The runs that their owners release.
#[derive(Debug, Default)]
pub(crate) struct Releases {
    groups: Vec<Group>,
}

/// Runs that are released together, as intervals of the resource's positions.
#[derive(Debug)]
struct Group {
    release: Release,
    /// The last pass that used the first of the intervals.
    last: Option<EndPass>,
    intervals: Vec<Range<u64>>,
}

impl Releases {
    /// Releases a run, or all runs of a mip level, from its owner, after all uses of the frame so
    /// far.
    pub(crate) fn add(
        &mut self,
        builder: &mut Builder<'_>,
        to: &Destination,
        interval: Range<u64>,
        states: &[&State],
    ) {
        let [state, ..] = states else { return };
        let from = match state.owner {
            Some(owner) => owner,
            // Ownership is not tracked with one family, until it is transferred to an external
            // owner.
            None if to.family.is_outside() => last_family(builder, states),
            None => to.family,
        };
        let submission = release_submission(builder, to.resource, from, states);
        let hosted = builder.hosted[to.resource.0 as usize];
        let last = last_pass(states).or(hosted.map(|hosted| EndPass::Pass(hosted.pass)));
        let queue = builder.point(submission).queue;
        let mut src = Scope::default();
        for_each_predecessor_of(states, |tracked, memory| {
            if tracked.queue == queue {
                src = src.union(source(tracked, memory));
            } else {
                let reason = reason(builder, to, last);
                src = src.union(builder.chain_late(submission, tracked, reason));
            }
        });
        let release = Release {
            to: to.clone(),
            from,
            submission,
            src,
            old_layout: state.layout,
        };
        let mut groups = self.groups.iter_mut().rev().take(JOINED);
        match groups.find(|group| group.release == release) {
            Some(group) => group.intervals.push(interval),
            None => self.groups.push(Group {
                release,
                last,
                intervals: vec![interval],
            }),
        }
    }

    /// Appends the releases to their submissions, and notes the pending acquires in the states.
    pub(crate) fn release(self, builder: &mut Builder<'_>, maps: &mut Maps) {
        for mut group in self.groups {
            let resource = group.release.to.resource;
            let kind = &builder.inputs.frame.resource(resource).kind;
            for range in gather(kind, &mut group.intervals) {
                let pending = append(builder, &group.release, group.last, range);
                let map = &mut maps[resource.0 as usize];
                intervals(kind, &range, |interval| {
                    map.update(interval, |_, state| state.rare.set_pending(pending.clone()));
                });
            }
        }
    }
}

/// The reason for a transfer.
fn reason(builder: &Builder<'_>, to: &Destination, last: Option<EndPass>) -> Reason {
    Reason {
        resource: to.resource,
        earlier: last.map_or(PassRef::None, |pass| builder.waits.past.pass_ref(pass)),
        later: to.later.clone(),
        dependency_kind: DependencyKind::OwnershipTransfer,
    }
}

/// The family that used a range last, or else the first one.
fn last_family(builder: &Builder<'_>, states: &[&State]) -> FamilyIndex {
    let mut queue = QueueIndex(0);
    for_each_predecessor_of(states, |tracked, _| queue = tracked.queue);
    builder.inputs.topology.family(queue)
}

/// Appends a release to its submission.
fn append(
    builder: &mut Builder<'_>,
    release: &Release,
    last: Option<EndPass>,
    range: SubRange,
) -> Pending<TrackedAccess> {
    let Release {
        to,
        from,
        submission,
        src,
        old_layout,
    } = release;
    // Without maintenance8 the second scope of a release is ignored.
    let stages = if builder.inputs.topology.maintenance8 {
        Stages::ALL_COMMANDS
    } else {
        Stages::empty()
    };
    let barrier = Barrier {
        src: *src,
        dst: Scope::of_stages(stages),
        old_layout: *old_layout,
        new_layout: to.layout,
        transfer: Some(half(*from, to.family, TransferHalf::Release)),
        reason: reason(builder, to, last),
    };
    let resource = builder.inputs.frame.resource(to.resource);
    builder.records[*submission]
        .tail
        .push_half(resource, &range, barrier);
    let point = builder.point(*submission);
    builder.note_use(to.resource, *submission);
    let tracked = TrackedAccess {
        queue: point.queue,
        value: point.value,
        // The source for a later access that discards the contents and so skips the acquire. The
        // release of an image may be a layout transition, which is a write. With maintenance8, the
        // second scope of a buffer's release is all stages, so any later barrier chains from its
        // source.
        scope: Scope {
            stages: match builder.inputs.topology.maintenance8 && !resource.is_image() {
                true if !src.stages.is_empty() => src.stages,
                _ => Stages::ALL_COMMANDS,
            },
            access: if resource.is_image() {
                AccessMask::MEMORY_WRITE
            } else {
                src.access
            },
        },
        pass: last.unwrap_or(EndPass::None),
        step: builder.records[*submission].step,
    };
    Pending {
        from: *from,
        to: to.family,
        old_layout: *old_layout,
        new_layout: to.layout,
        range,
        tracked,
    }
}

/// The submission in which the owner releases a range:
///
/// - the last submission of this frame that uses it;
/// - else the window of the queue that used it;
/// - after reads on several queues, a separate submission if one was opened.
///
/// An image that the host uses, and a resource that is given away, are released after the host is
/// done. A swapchain image never gets a separate submission, because the submission that presents it
/// exists already.
fn release_submission(
    builder: &mut Builder<'_>,
    resource: ResourceIndex,
    owner: FamilyIndex,
    states: &[&State],
) -> usize {
    let mut last = None;
    let mut queue = None;
    for_each_predecessor_of(states, |tracked, _| {
        last = last.max(builder.waits.timeline.submission(tracked.point()));
        let candidate = builder.inputs.topology.queue(tracked.queue);
        if candidate.family == owner && !candidate.is_foreign() {
            queue = Some(tracked.queue);
        }
    });
    if builder.inputs.frame.resource(resource).is_image() || builder.inputs.is_given(resource) {
        let hosted = builder.hosted[resource.0 as usize];
        last = last.filter(|last| hosted.is_none_or(|hosted| *last >= hosted.submissions));
    }
    let is_presented = builder.inputs.frame.resource(resource).lifetime == Lifetime::Swapchain;
    if let Some((queue, last)) = unordered_release(builder, states).filter(|_| !is_presented)
        && let Some(release) = builder.release_submission(queue, last)
    {
        return release;
    }
    let queue = queue.or_else(|| builder.inputs.queue_of(owner));
    // A range that no known family has used has no owner.
    last.unwrap_or_else(|| queue.map_or(0, |queue| builder.window(queue)))
}

/// The queue for a separate release submission, after uses of this frame on several queues whose last
/// user does not depend on all others. `None` if the last user's submission can release.
pub(crate) fn own_release_queue(builder: &Builder<'_>, states: &[&State]) -> Option<QueueIndex> {
    unordered_release(builder, states).map(|(queue, _)| queue)
}

/// [`own_release_queue`], with the submission of the last use.
fn unordered_release(builder: &Builder<'_>, states: &[&State]) -> Option<(QueueIndex, usize)> {
    let mut last = None;
    for_each_predecessor_of(states, |tracked, _| {
        last = last.max(builder.waits.timeline.submission(tracked.point()));
    });
    let last = last.filter(|last| builder.records[*last].has_passes())?;
    let mut is_alone = true;
    for_each_predecessor_of(states, |tracked, _| {
        let is_ordered = builder.waits.timeline.is_after(last, tracked.point());
        is_alone &= tracked.value <= 0 || is_ordered;
    });
    (!is_alone).then(|| (builder.point(last).queue, last))
}
