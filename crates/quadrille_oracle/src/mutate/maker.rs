//! Makes mutants: one for each element of a plan, and each part of it.

use std::ops::Range;

use quadrille_sync::{
    AccessMask, Frame, ImageBarrier, Layout, Plan, Scope, Stages, Step, Submission,
    SubresourceRange, Topology,
};

use super::barrier::{Barrier, Spot};
use super::excuse::{either, is_over};
use super::part::{Element, Part, Side, What, stages_of, without, without_stage};
use super::restrict::Purpose;
use super::{Excuse, Mutant, Mutation};
use crate::area::Area;
use crate::stages::{covers, first_scope, second_scope, single, touches};

/// All mutants of a plan.
pub(super) fn mutants(frame: &Frame, plan: &Plan, topology: &Topology) -> Vec<Mutant> {
    let mut maker = Maker {
        frame,
        plan,
        topology,
        purposes: Vec::new(),
        stage: Stages::empty(),
        made: Vec::new(),
    };
    for (at, submission) in plan.submissions.iter().enumerate() {
        maker.mutate_waits(at, submission);
        maker.mutate_signal(at, submission);
        maker.mutate_swapchain(at, submission);
        for (step_at, step) in submission.steps.iter().enumerate() {
            match step {
                Step::Pass(pass) => {
                    maker.purposes.clear();
                    let place = format!("{} of submission {at}", pass.0);
                    maker.add(Mutation::DropPass, None, place, |plan| {
                        plan.submissions[at].steps.remove(step_at);
                    });
                }
                Step::Barriers(batch) => {
                    maker.mutate_batch(at, step_at, batch);
                    maker.mutate_place(at, step_at, batch);
                    maker.mutate_calls(at, step_at, batch);
                }
            }
        }
    }
    maker.mutate_host();
    maker.made
}

pub(super) struct Maker<'a> {
    pub(super) frame: &'a Frame,
    pub(super) plan: &'a Plan,
    pub(super) topology: &'a Topology,
    /// What the element at hand is for.
    pub(super) purposes: Vec<Purpose>,
    /// The stage that the next mutant lacks.
    pub(super) stage: Stages,
    pub(super) made: Vec<Mutant>,
}

impl Maker<'_> {
    pub(super) fn add(
        &mut self,
        mutation: Mutation,
        excuse: Option<Excuse>,
        place: String,
        change: impl FnOnce(&mut Plan),
    ) {
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.push(mutation, excuse, place, None, plan);
    }

    /// Adds the mutant that lacks a part.
    pub(super) fn take(
        &mut self,
        mutation: Mutation,
        excuse: Option<Excuse>,
        place: String,
        (element, what): (Element, What),
    ) {
        let part = Part { element, what };
        let plan = without(self.plan, self.topology, [part].iter());
        self.push(mutation, excuse, place, Some(part), plan);
    }

    fn push(
        &mut self,
        mutation: Mutation,
        excuse: Option<Excuse>,
        place: String,
        part: Option<Part>,
        plan: Plan,
    ) {
        self.made.push(Mutant {
            mutation,
            place,
            excuse,
            purposes: self.purposes.clone(),
            stage: std::mem::take(&mut self.stage),
            part,
            late: Vec::new(),
            plan,
        });
    }

    /// The single stages of a submission's queue, and the host's.
    pub(super) fn stages_of(&self, submission: usize) -> Stages {
        stages_of(self.plan, self.topology, submission)
    }

    fn mutate_waits(&mut self, at: usize, submission: &Submission) {
        let queue = self.stages_of(at);
        for (wait_at, wait) in submission.waits.iter().enumerate() {
            let place = format!("{wait_at} of submission {at}");
            self.purposes = wait.reasons.iter().map(Purpose::from).collect();
            let element = Element::Wait {
                submission: at,
                at: wait_at,
            };
            let whole = (element, What::All);
            self.take(Mutation::DropWait, None, place.clone(), whole);
            self.add(
                Mutation::WaitValue,
                is_over(self.plan, at, wait).then_some(Excuse::Over),
                place.clone(),
                |plan| {
                    plan.submissions[at].waits[wait_at].point.offset -= 1;
                },
            );
            for (stage, rest) in less_stages(wait.stages, queue) {
                let orders = second_scope(rest) & queue == second_scope(wait.stages) & queue;
                if orders && single(rest) & queue == single(wait.stages) & queue {
                    continue;
                }
                let excuse = orders.then_some(Excuse::Spelling).or(self.is_mixed());
                let place = format!("{stage:?} of {place}");
                let part = (element, What::Stages(Side::Dst, stage));
                self.take(Mutation::WaitStage, excuse, place, part);
            }
        }
    }

    fn mutate_swapchain(&mut self, at: usize, submission: &Submission) {
        self.purposes.clear();
        let queue = self.stages_of(at);
        for (acquire_at, acquire) in submission.acquires.iter().enumerate() {
            let place = format!("{acquire_at} of submission {at}");
            self.add(Mutation::DropAcquireImage, None, place.clone(), |plan| {
                plan.submissions[at].acquires.remove(acquire_at);
            });
            for (stage, rest) in less_stages(acquire.stages, queue) {
                let excuse = None;
                let place = format!("{stage:?} of {place}");
                self.stage = single(stage) - second_scope(rest);
                self.add(Mutation::AcquireImageStage, excuse, place, |plan| {
                    plan.submissions[at].acquires[acquire_at].stages = rest;
                });
            }
        }
        for present_at in 0..submission.presents.len() {
            let place = format!("{present_at} of submission {at}");
            self.add(Mutation::DropPresent, None, place, |plan| {
                plan.submissions[at].presents.remove(present_at);
            });
        }
    }

    fn mutate_host(&mut self) {
        for (at, step) in self.plan.host.iter().enumerate() {
            self.purposes = Purpose::of_host_pass(self.frame, step.pass);
            for wait_at in 0..step.waits.len() {
                let place = format!("{wait_at} of host pass {at}");
                self.add(Mutation::DropHostWait, None, place.clone(), |plan| {
                    plan.host[at].waits.remove(wait_at);
                });
                self.add(Mutation::HostWaitValue, None, place, |plan| {
                    plan.host[at].waits[wait_at].offset -= 1;
                });
            }
        }
        let last_gate = self
            .plan
            .host
            .iter()
            .rposition(|step| step.before.is_some());
        if let Some(at) = last_gate {
            let place = format!("of host pass {at}");
            let excuse = (!self.plan.culled.is_empty()).then_some(Excuse::Culled);
            self.add(Mutation::DropHostGate, excuse, place, |plan| {
                plan.host[at].before = None;
            });
        }
    }

    /// Adds the mutants of a submission's signal, and of its place on its queue.
    fn mutate_signal(&mut self, at: usize, submission: &Submission) {
        let place = format!("of submission {at}");
        self.purposes.clear();
        self.add(Mutation::Signal, None, place.clone(), |plan| {
            plan.submissions[at].signal -= 1;
        });
        let later = &self.plan.submissions[at + 1..];
        let of_queue = |other: &Submission| other.queue == submission.queue;
        if let Some(next) = later.iter().position(of_queue) {
            self.add(Mutation::SubmissionOrder, None, place, |plan| {
                plan.submissions.swap(at, at + 1 + next);
            });
        }
    }

    /// Adds the mutants of a barrier's scopes, and the one without it.
    pub(super) fn mutate_barrier(&mut self, barrier: Barrier) {
        let Barrier {
            spot, dst, excuses, ..
        } = barrier;
        let element = Element::Barrier(spot);
        self.take(
            barrier.drop_mutation(),
            excuses.whole,
            spot.to_string(),
            (element, What::All),
        );
        if barrier.has_src(self.topology) {
            self.mutate_src(barrier);
        }
        // After a release, everything is in the scope of the signal anyway.
        if barrier.is_release() {
            return;
        }
        let queue = self.stages_of(spot.submission);
        for (stage, stages) in less_stages(dst.stages, queue) {
            let weaker = Barrier {
                dst: without_stage(dst, stage, queue),
                ..barrier
            };
            let orders = second_scope(stages) & queue == second_scope(dst.stages) & queue;
            if orders && weaker.covers_the_same(&barrier, queue) {
                continue;
            }
            let place = format!("{stage:?} of {spot}");
            let part = Scope {
                stages: stage,
                ..dst
            };
            let excuse = excuses
                .dst
                .or(orders.then_some(Excuse::Spelling))
                .or(self.is_for_others(&barrier, part))
                .or(self.is_mixed());
            let part = (element, What::Stages(Side::Dst, stage));
            self.take(Mutation::DstStage, excuse, place, part);
        }
        for access in dst.access.iter() {
            let scope = Scope {
                access: dst.access - access,
                ..dst
            };
            let gone = Scope { access, ..dst };
            if touches(gone).all(|touch| covers(scope, touch)) {
                // A group of accesses says it too.
                continue;
            }
            let place = format!("{access:?} of {spot}");
            let excuse = excuses
                .dst
                .or(either(scope))
                .or(self.is_for_others(&barrier, gone));
            let part = (element, What::Access(Side::Dst, access));
            self.take(Mutation::DstAccess, excuse, place, part);
        }
    }

    fn mutate_src(&mut self, barrier: Barrier) {
        let Barrier {
            spot,
            src,
            dst,
            excuses,
            ..
        } = barrier;
        let element = Element::Barrier(spot);
        let queue = self.stages_of(spot.submission);
        for (stage, stages) in less_stages(src.stages, queue) {
            let weaker = Barrier {
                src: without_stage(src, stage, queue),
                ..barrier
            };
            let orders = first_scope(stages) & queue == first_scope(src.stages) & queue;
            if orders && weaker.covers_the_same(&barrier, queue) {
                continue;
            }
            let excuse = excuses.src.or(orders.then_some(Excuse::Spelling));
            let place = format!("{stage:?} of {spot}");
            let part = (element, What::Stages(Side::Src, stage));
            self.take(Mutation::SrcStage, excuse, place, part);
        }
        let is_half = barrier.is_acquire() || barrier.is_release();
        if src.stages == Stages::ALL_COMMANDS && !is_half && !dst.stages.is_empty() {
            // Behind a barrier that leads on to everything, its own stages would be enough.
            let place = format!("all but its own stages of {spot}");
            let stages = dst.stages;
            let released = (src.access == AccessMask::MEMORY_WRITE).then_some(Excuse::Released);
            let excuse = excuses.src.or(released);
            self.add(Mutation::SrcStage, excuse, place, |plan| {
                spot.put(plan, Scope { stages, ..src }, dst);
            });
        }
        // The first access scope of an acquire is ignored in any case.
        let access = if barrier.is_acquire() {
            Default::default()
        } else {
            src.access
        };
        for access in access.iter() {
            let place = format!("{access:?} of {spot}");
            let released = (access == AccessMask::MEMORY_WRITE).then_some(Excuse::Released);
            let excuse = excuses.src.or(released);
            let part = (element, What::Access(Side::Src, access));
            self.take(Mutation::SrcAccess, excuse, place, part);
        }
    }

    /// Adds the mutants of an image barrier's range and layouts.
    pub(super) fn mutate_image(&mut self, barrier: Barrier, image: &ImageBarrier) {
        let Barrier { spot, excuses, .. } = barrier;
        for (smaller, lost) in smaller_ranges(image.range) {
            let lost = Area::subresources(&lost);
            self.lose(excuses.range, spot, lost, |plan| {
                spot.edit_image(plan, |image| image.range = smaller);
            });
        }
        let predicted = excuses.all.filter(|excuse| *excuse == Excuse::Prediction);
        self.add(Mutation::NewLayout, predicted, spot.to_string(), |plan| {
            spot.edit_image(plan, |image| image.new_layout = other(image.new_layout));
        });
        if image.old_layout == Layout::Undefined {
            return;
        }
        self.add(Mutation::OldLayout, predicted, spot.to_string(), |plan| {
            spot.edit_image(plan, |image| image.old_layout = other(image.old_layout));
        });
        let needless = self.is_needless(&image.reason).then_some(Excuse::Discard);
        let excuse = needless.or(predicted);
        self.add(
            Mutation::OldLayoutUndefined,
            excuse,
            spot.to_string(),
            |plan| {
                spot.edit_image(plan, |image| image.old_layout = Layout::Undefined);
            },
        );
    }

    /// Adds the mutants of a buffer barrier's range.
    pub(super) fn mutate_size(&mut self, spot: Spot, bytes: Range<u64>, excuse: Option<Excuse>) {
        if bytes.end - bytes.start > 1 {
            let lost = Area::bytes(bytes.end - 1, 1);
            self.lose(excuse, spot, lost, |plan| spot.shorten(plan));
        }
    }

    /// Adds the mutant whose barrier is no longer about an area; for that it is as good as gone.
    fn lose(
        &mut self,
        excuse: Option<Excuse>,
        spot: Spot,
        lost: Area,
        change: impl FnOnce(&mut Plan),
    ) {
        let whole = self.purposes.clone();
        for purpose in &mut self.purposes {
            purpose.area = Some(lost.clone());
        }
        self.add(Mutation::Range, excuse, spot.to_string(), change);
        if let Some(mutant) = self.made.last_mut() {
            mutant.part = Some(Element::Barrier(spot).whole());
        }
        self.purposes = whole;
    }
}

/// The mask without one stage, for each of its stages. ALL_COMMANDS loses all of them, or the
/// copies, which no logical order implies.
fn less_stages(mask: Stages, queue: Stages) -> Vec<(Stages, Stages)> {
    if mask == Stages::ALL_COMMANDS {
        let most = (single(mask) & queue) - Stages::COPY;
        return vec![(mask, Stages::empty()), (Stages::COPY, most)];
    }
    mask.iter().map(|stage| (stage, mask - stage)).collect()
}

/// Boxes that lack one mip level, one array layer or one aspect, and what they lack.
fn smaller_ranges(range: SubresourceRange) -> Vec<(SubresourceRange, SubresourceRange)> {
    let mut smaller = Vec::new();
    if range.mip_count > 1 {
        let mip_count = range.mip_count - 1;
        let base_mip = range.base_mip + mip_count;
        let lost = SubresourceRange {
            base_mip,
            mip_count: 1,
            ..range
        };
        smaller.push((SubresourceRange { mip_count, ..range }, lost));
    }
    if range.layer_count > 1 {
        let layer_count = range.layer_count - 1;
        let base_layer = range.base_layer + layer_count;
        let lost = SubresourceRange {
            base_layer,
            layer_count: 1,
            ..range
        };
        smaller.push((
            SubresourceRange {
                layer_count,
                ..range
            },
            lost,
        ));
    }
    let mut aspects = range.aspects.iter();
    if let (Some(first), Some(_)) = (aspects.next(), aspects.next()) {
        let rest = range.aspects - first;
        let lost = SubresourceRange {
            aspects: first,
            ..range
        };
        smaller.push((
            SubresourceRange {
                aspects: rest,
                ..range
            },
            lost,
        ));
    }
    smaller
}

/// Another layout.
fn other(layout: Layout) -> Layout {
    match layout {
        Layout::TransferSrcOptimal => Layout::TransferDstOptimal,
        _ => Layout::TransferSrcOptimal,
    }
}
