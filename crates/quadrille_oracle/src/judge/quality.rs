//! Needless waits: a plan with one is valid, but slower than necessary.
//!
//! A submission that waits for another one must depend on one of its passes. The frame alone decides
//! that. Two passes depend on each other, directly or through others, if they use
//!
//! - a common range that one of them writes;
//! - a common range in different layouts, or (if exclusive) on different queue families;
//! - different resources in the same memory;
//! - the same swapchain image, or the same resource acquired from an external owner.
//!
//! A submission that writes a part of a resource, or uses it in another layout, may also change layout
//! and owner of the rest for later users. A release depends on all earlier passes that use the
//! resource. So if two readers need the same acquire or layout transition, it must be signalled by a
//! submission of its own or by the writer, but not by one of the two readers. A wait for a submission
//! without passes is always allowed.
//!
//! A range that was released as a whole is acquired as a whole. So for different families, any two
//! parts of one exclusive resource count as common. Passes that use the same mip levels of an image
//! with slices count as dependent, since one of them may change the layout of the level for all.
//! Waits for earlier frames are not judged.

use quadrille_sync::flags::Stages;
use quadrille_sync::frame::{PassIndex, PassKind, Use};
use quadrille_sync::plan::{BarrierBatch, Scope, Step, Submission, Wait};
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_sync::resource::{Lifetime, ResourceIndex, ResourceKind, Sharing};
use quadrille_sync::topology::QueueIndex;

use super::FrameCheck;
use crate::area::Area;
use crate::order::share_memory;
use crate::violation::Violation;

/// Submissions of passes.
#[derive(Default)]
struct Runs {
    /// Resources that are acquired from external owners; only one submission waits for such an owner.
    outside: Vec<ResourceIndex>,
    /// By pass: its submission, or for a host pass the submission after it. `None` if it does not run.
    of: Vec<Option<usize>>,
}

impl FrameCheck<'_> {
    /// Reports waits for submissions of this frame on whose passes the waiting submission does not
    /// depend.
    pub(super) fn judge_needs(&mut self) {
        // Only for plans that are otherwise valid.
        if self.plan.submissions.len() < 2 || !self.violations.is_empty() {
            return;
        }
        let mut runs = self.all_runs();
        runs.outside = self.outside();
        for (index, submission) in self.plan.submissions.iter().enumerate() {
            for wait in &submission.waits {
                let Some(waited) = self.awaited(wait) else {
                    continue;
                };
                let mut passes = self.plan.submissions[waited].passes();
                if passes.next().is_none() || self.needs_directly(&runs, index, waited) {
                    continue;
                }
                if !self.needs_through_others(&runs, index, waited) {
                    let of = wait.point.queue;
                    self.violations.push(Violation::NeedlessWait {
                        submission: index,
                        queue: of,
                        value: i128::from(wait.point.offset),
                    });
                }
            }
        }
    }

    /// The submission of this frame that satisfies a wait.
    fn awaited(&self, wait: &Wait) -> Option<usize> {
        let mut submissions = self.plan.submissions.iter();
        let is_it = |it: &Submission| {
            it.queue == wait.point.queue && it.signal >= wait.point.offset && wait.point.offset > 0
        };
        submissions.position(is_it)
    }

    /// Whether a submission depends directly on a pass of another one.
    fn needs_directly(&self, runs: &Runs, index: usize, waited: usize) -> bool {
        let submissions = &self.plan.submissions;
        let (one, other) = (&submissions[index], &submissions[waited]);
        let needed = || other.passes().filter(|pass| self.is_known(*pass));
        let depends = |pass: PassIndex| {
            let mut needed = needed();
            needed.any(|earlier| self.is_related(runs, (earlier, other.queue), (pass, one.queue)))
        };
        let mut own = one.passes().filter(|pass| self.is_known(*pass));
        if own.any(depends) || self.needs_what_a_writer_changes(one, other) {
            return true;
        }
        // Presents, layout changes for the host and releases depend on all earlier passes that use the
        // resource. In a submission without passes, all changes of owner or layout do.
        let has_passes = one.passes().next().is_some();
        let changes = one.changes();
        let changes = changes.filter(|(_, ends_use)| *ends_use || !has_passes);
        let changes = changes.map(|(resource, _)| resource);
        let changed: Vec<ResourceIndex> = changes.chain(one.presents.clone()).collect();
        let touches = |pass: PassIndex| {
            let mut uses = self.frame.uses_of(pass).iter();
            uses.any(|it| changed.contains(&it.resource))
        };
        !changed.is_empty() && needed().any(touches)
    }

    /// Whether a submission uses a resource whose layout or owner another one changes, where that one
    /// writes a part of it or uses it in another layout.
    fn needs_what_a_writer_changes(&self, one: &Submission, other: &Submission) -> bool {
        let uses = |it: &Submission| {
            let passes: Vec<PassIndex> = it.passes().filter(|pass| self.is_known(*pass)).collect();
            passes.into_iter().flat_map(|pass| self.frame.uses_of(pass))
        };
        let mut changed = other.changes().map(|(resource, _)| resource);
        changed.any(|resource| {
            let is_it = |it: &&Use| it.resource == resource;
            uses(one).filter(is_it).any(|own| {
                let is_other =
                    |it: &Use| it.access.is_write() || it.access.layout() != own.access.layout();
                uses(other).filter(is_it).any(is_other)
            })
        })
    }

    /// Whether a submission depends on a pass of `waited` through passes in between.
    fn needs_through_others(&self, runs: &Runs, index: usize, waited: usize) -> bool {
        let submissions = &self.plan.submissions;
        let mut reached: Vec<PassIndex> = submissions[waited].passes().collect();
        reached.retain(|pass| self.is_known(*pass));
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            for pass in self.frame.pass_indices() {
                let Some(position) = runs.of[pass.0 as usize].filter(|position| *position <= index)
                else {
                    continue;
                };
                let is_later = runs.of[from.0 as usize].is_some_and(|from| from <= position);
                let (queue, from_queue) = (self.queue_of(runs, pass), self.queue_of(runs, from));
                if !is_later
                    || reached.contains(&pass)
                    || !self.is_related(runs, (from, from_queue), (pass, queue))
                {
                    continue;
                }
                let is_own = submissions[index].passes().any(|own| own == pass);
                // A barrier or a present of the submission may depend on the pass, too.
                if is_own
                    || position != waited
                        && position != index
                        && self.needs_directly(runs, index, position)
                {
                    return true;
                }
                reached.push(pass);
            }
        }
        false
    }

    fn all_runs(&self) -> Runs {
        let mut of = vec![None; self.frame.passes.len()];
        for (at, submission) in self.plan.submissions.iter().enumerate() {
            for pass in submission.passes().filter(|pass| self.is_known(*pass)) {
                of[pass.0 as usize] = Some(at);
            }
        }
        for step in &self.plan.host {
            if self.is_known(step.pass) {
                let before = step.before.map_or(usize::MAX, |before| before as usize);
                of[step.pass.0 as usize] = Some(before);
            }
        }
        Runs {
            of,
            outside: Vec::new(),
        }
    }

    /// The resources that barriers acquire from external owners.
    fn outside(&self) -> Vec<ResourceIndex> {
        let steps = self.plan.submissions.iter().flat_map(|it| &it.steps);
        let batches = steps.filter_map(|step| match step {
            Step::Barriers(batch) => Some(batch),
            Step::Pass(_) => None,
        });
        let transfers = batches.flat_map(|batch| {
            let images = batch.images.iter().map(|it| (it.resource, it.transfer));
            let buffers = batch.buffers.iter().map(|it| (it.resource, it.transfer));
            images.chain(buffers)
        });
        let from_outside = transfers.filter(|(_, it)| it.is_some_and(|it| it.from.is_outside()));
        from_outside.map(|(resource, _)| resource).collect()
    }

    fn is_known(&self, pass: PassIndex) -> bool {
        (pass.0 as usize) < self.frame.passes.len()
    }

    /// The queue of a pass; for a host pass an arbitrary one, since it needs no owner.
    fn queue_of(&self, runs: &Runs, pass: PassIndex) -> QueueIndex {
        let at = runs.of[pass.0 as usize];
        let submission = at.and_then(|at| self.plan.submissions.get(at));
        submission.map_or(QueueIndex(0), |it| it.queue)
    }

    /// Whether two passes on these queues must not overlap in time.
    fn is_related(
        &self,
        runs: &Runs,
        one: (PassIndex, QueueIndex),
        other: (PassIndex, QueueIndex),
    ) -> bool {
        let frame = self.frame;
        let family = |queue: QueueIndex| {
            let queue = self.judge.topology.queues.get(usize::from(queue.0));
            queue.map(|queue| queue.family)
        };
        let is_host = |pass: PassIndex| frame.pass(pass).kind == PassKind::Host;
        let same_family = family(one.1) == family(other.1) || is_host(one.0) || is_host(other.0);
        let effects = frame.pass(one.0).side_effect && frame.pass(other.0).side_effect;
        let conflicts = |a: &Use, b: &Use| {
            if a.resource != b.resource {
                return share_memory(frame, a, b);
            }
            let Some(resource) = frame.resources.get(a.resource.0 as usize) else {
                return false;
            };
            let area = |it: &Use| Area::of(&resource.kind, &levels(&it.range));
            let writes = a.access.is_write() || b.access.is_write();
            let layouts = resource.is_image() && a.access.layout() != b.access.layout();
            let owners = resource.sharing == Sharing::Exclusive && !same_family;
            let has_slices = matches!(resource.kind, ResourceKind::Image { slices: 2.., .. });
            let changes = writes || layouts || has_slices;
            let is_handed_over =
                resource.lifetime == Lifetime::Swapchain || runs.outside.contains(&a.resource);
            is_handed_over || owners || changes && area(a).intersection(&area(b)).is_some()
        };
        let uses = || frame.uses_of(other.0).iter();
        effects
            || frame
                .uses_of(one.0)
                .iter()
                .any(|a| uses().any(|b| conflicts(a, b)))
    }
}

/// A range with all slices of its mip levels.
fn levels(range: &SubRange) -> SubRange {
    match range {
        SubRange::Slices(slices) => SubRange::Subresources(SubresourceRange {
            aspects: slices.aspects,
            base_mip: slices.mip,
            mip_count: 1,
            base_layer: 0,
            layer_count: 1,
        }),
        range => *range,
    }
}

/// Passes and ownership or layout changes of a submission.
trait Does {
    /// Its passes.
    fn passes(&self) -> impl Iterator<Item = PassIndex>;

    /// The resources whose layout or owner its barriers change. The flag is true for a change after
    /// all uses by the family: a layout change for the host, or a release.
    fn changes(&self) -> impl Iterator<Item = (ResourceIndex, bool)>;
}

impl Does for Submission {
    fn passes(&self) -> impl Iterator<Item = PassIndex> {
        self.steps.iter().filter_map(|step| match step {
            Step::Pass(pass) => Some(*pass),
            Step::Barriers(_) => None,
        })
    }

    fn changes(&self) -> impl Iterator<Item = (ResourceIndex, bool)> {
        let batches = self.steps.iter().filter_map(|step| match step {
            Step::Barriers(batch) => Some(&**batch),
            Step::Pass(_) => None,
        });
        batches.flat_map(|batch: &BarrierBatch| {
            let buffers = batch.buffers.iter();
            let buffers = buffers.filter(|it| it.transfer.is_some());
            let images = batch.images.iter();
            let images =
                images.filter(|it| it.transfer.is_some() || it.old_layout != it.new_layout);
            // A release has no second scope.
            let ends = |it: &Scope| it.stages.contains(Stages::HOST) || it.stages.is_empty();
            let images = images.map(move |it| (it.resource, ends(&it.dst)));
            let buffers = buffers.map(move |it| (it.resource, ends(&it.dst)));
            buffers.chain(images)
        })
    }
}
