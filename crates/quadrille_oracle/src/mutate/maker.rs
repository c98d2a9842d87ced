//! Makes mutants.

use std::fmt::{self, Display, Formatter};

use quadrille_sync::{
    BarrierBatch, Frame, ImageBarrier, Layout, PassRef, Plan, Reason, Scope, Stages, Step,
    Submission, SubresourceRange, Topology, Transfer, TransferHalf,
};

use super::{Excuse, Mutant, Mutation};
use crate::stages::{first_scope, second_scope, single, stages_of_queue, touches};

/// All mutants of a plan.
pub(super) fn mutants(frame: &Frame, plan: &Plan, topology: &Topology) -> Vec<Mutant> {
    let mut maker = Maker {
        frame,
        plan,
        topology,
        made: Vec::new(),
    };
    for (at, submission) in plan.submissions.iter().enumerate() {
        maker.mutate_waits(at, submission);
        maker.mutate_swapchain(at, submission);
        for (step_at, step) in submission.steps.iter().enumerate() {
            match step {
                Step::Pass(pass) => {
                    let place = format!("{} of submission {at}", pass.0);
                    maker.add(Mutation::DropPass, None, place, |plan| {
                        plan.submissions[at].steps.remove(step_at);
                    });
                }
                Step::Barriers(batch) => maker.mutate_batch(at, step_at, batch),
            }
        }
    }
    for (at, step) in plan.host.iter().enumerate() {
        for wait_at in 0..step.waits.len() {
            let place = format!("{wait_at} of host pass {at}");
            maker.add(Mutation::DropHostWait, None, place, |plan| {
                plan.host[at].waits.remove(wait_at);
            });
        }
    }
    maker.made
}

struct Maker<'a> {
    frame: &'a Frame,
    plan: &'a Plan,
    topology: &'a Topology,
    made: Vec<Mutant>,
}

/// Where a barrier is.
#[derive(Clone, Copy)]
struct Spot {
    submission: usize,
    step: usize,
    kind: Kind,
}

/// Which barrier of a call.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Memory,
    Buffer(usize),
    Image(usize),
}

/// A barrier without its range.
#[derive(Clone, Copy)]
struct Barrier {
    spot: Spot,
    src: Scope,
    dst: Scope,
    half: Option<TransferHalf>,
    excuse: Option<Excuse>,
}

impl Maker<'_> {
    fn add(
        &mut self,
        mutation: Mutation,
        excuse: Option<Excuse>,
        place: String,
        change: impl FnOnce(&mut Plan),
    ) {
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.made.push(Mutant {
            mutation,
            place,
            excuse,
            plan,
        });
    }

    /// The single stages of a submission's queue, and the host's.
    fn stages_of(&self, submission: usize) -> Stages {
        let queue = self.plan.submissions[submission].queue;
        let queue = self.topology.queues.get(usize::from(queue.0));
        let stages = queue.map_or(Stages::empty(), |queue| stages_of_queue(queue.capabilities));
        stages | Stages::HOST
    }

    fn mutate_waits(&mut self, at: usize, submission: &Submission) {
        let queue = self.stages_of(at);
        for (wait_at, wait) in submission.waits.iter().enumerate() {
            let place = format!("{wait_at} of submission {at}");
            self.add(Mutation::DropWait, None, place.clone(), |plan| {
                plan.submissions[at].waits.remove(wait_at);
            });
            self.add(Mutation::WaitValue, None, place.clone(), |plan| {
                plan.submissions[at].waits[wait_at].point.offset -= 1;
            });
            for (stage, rest) in less_stages(wait.stages) {
                let (less, all) = (
                    second_scope(rest) & queue,
                    second_scope(wait.stages) & queue,
                );
                if less == all && single(rest) & queue == single(wait.stages) & queue {
                    continue;
                }
                let place = format!("{stage:?} of {place}");
                let excuse = continues(submission, rest).then_some(Excuse::Chain);
                self.add(Mutation::WaitStage, excuse, place, |plan| {
                    plan.submissions[at].waits[wait_at].stages = rest;
                });
            }
        }
    }

    fn mutate_swapchain(&mut self, at: usize, submission: &Submission) {
        for (acquire_at, acquire) in submission.acquires.iter().enumerate() {
            let place = format!("{acquire_at} of submission {at}");
            self.add(Mutation::DropAcquireImage, None, place.clone(), |plan| {
                plan.submissions[at].acquires.remove(acquire_at);
            });
            for (stage, rest) in less_stages(acquire.stages) {
                let place = format!("{stage:?} of {place}");
                let excuse = continues(submission, rest).then_some(Excuse::Chain);
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

    fn mutate_batch(&mut self, submission: usize, step: usize, batch: &BarrierBatch) {
        let spot = |kind| Spot {
            submission,
            step,
            kind,
        };
        if let Some(memory) = &batch.memory {
            let (spot, excuse) = (spot(Kind::Memory), Some(Excuse::Merged));
            let barrier = Barrier {
                spot,
                src: memory.src,
                dst: memory.dst,
                half: None,
                excuse,
            };
            self.mutate_barrier(barrier);
        }
        for (at, buffer) in batch.buffers.iter().enumerate() {
            let spot = spot(Kind::Buffer(at));
            let barrier = self.barrier(
                spot,
                buffer.src,
                buffer.dst,
                buffer.transfer,
                &buffer.reason,
            );
            self.mutate_barrier(barrier);
            if buffer.size > 1 {
                self.add(Mutation::Range, barrier.excuse, spot.to_string(), |plan| {
                    if let Some(batch) = spot.batch(plan) {
                        batch.buffers[at].size -= 1;
                    }
                });
            }
        }
        for (at, image) in batch.images.iter().enumerate() {
            let spot = spot(Kind::Image(at));
            let barrier = self.barrier(spot, image.src, image.dst, image.transfer, &image.reason);
            self.mutate_barrier(barrier);
            self.mutate_image(barrier, at, image);
        }
    }

    /// A barrier of a range, with what may excuse its mutants.
    fn barrier(
        &self,
        spot: Spot,
        src: Scope,
        dst: Scope,
        transfer: Option<Transfer>,
        reason: &Reason,
    ) -> Barrier {
        let submission = &self.plan.submissions[spot.submission];
        let has_global = self
            .plan
            .submissions
            .iter()
            .flat_map(|it| &it.steps)
            .any(|step| {
                matches!(
                    step,
                    Step::Barriers(BarrierBatch {
                        memory: Some(_),
                        ..
                    })
                )
            });
        let half = transfer.map(|transfer| transfer.half);
        let only_orders = half.is_none() && src.access.is_empty() && dst.access.is_empty();
        let excuse = if matches!(reason.later, PassRef::Next(_)) {
            Some(Excuse::Prediction)
        } else if half != Some(TransferHalf::Acquire) && !submission.waits.is_empty() {
            Some(Excuse::RoundTrip)
        } else if has_global {
            Some(Excuse::Merged)
        } else {
            only_orders.then_some(Excuse::Order)
        };
        Barrier {
            spot,
            src,
            dst,
            half,
            excuse,
        }
    }

    fn mutate_image(&mut self, barrier: Barrier, at: usize, image: &ImageBarrier) {
        let (spot, excuse) = (barrier.spot, barrier.excuse);
        let mut change = |mutation, excuse, edit: &dyn Fn(&mut ImageBarrier)| {
            self.add(mutation, excuse, spot.to_string(), |plan| {
                if let Some(batch) = spot.batch(plan) {
                    edit(&mut batch.images[at]);
                }
            });
        };
        for smaller in smaller_ranges(image.range) {
            change(Mutation::Range, excuse, &|image| image.range = smaller);
        }
        let predicted = excuse.filter(|excuse| *excuse == Excuse::Prediction);
        change(Mutation::NewLayout, predicted, &|image| {
            image.new_layout = other(image.new_layout)
        });
        if image.old_layout == Layout::Undefined {
            return;
        }
        change(Mutation::OldLayout, predicted, &|image| {
            image.old_layout = other(image.old_layout)
        });
        let needless = matches!(image.reason.later, PassRef::Pass(pass) if {
            let mut uses = self.frame.uses_of(pass).iter();
            uses.any(|declared| {
                let needs = declared.access.is_read() && !declared.discard;
                declared.resource == image.resource && !needs
            })
        });
        let excuse = if needless {
            Some(Excuse::Discard)
        } else {
            predicted
        };
        self.add(
            Mutation::OldLayoutUndefined,
            excuse,
            spot.to_string(),
            |plan| {
                if let Some(batch) = spot.batch(plan) {
                    batch.images[at].old_layout = Layout::Undefined;
                }
            },
        );
    }

    fn mutate_barrier(&mut self, barrier: Barrier) {
        let Barrier {
            spot,
            src,
            dst,
            half,
            excuse,
        } = barrier;
        let drop = match half {
            None => Mutation::DropBarrier,
            Some(TransferHalf::Release) => Mutation::DropRelease,
            Some(TransferHalf::Acquire) => Mutation::DropAcquire,
        };
        self.add(drop, excuse, spot.to_string(), |plan| spot.remove(plan));
        // Vulkan ignores one scope of each half, and after a release everything is in the scope of
        // the signal anyway.
        let has_src = half != Some(TransferHalf::Acquire) || self.topology.maintenance8;
        if has_src {
            self.mutate_src(barrier);
        }
        if half == Some(TransferHalf::Release) {
            return;
        }
        let queue = self.stages_of(spot.submission);
        for (stage, stages) in less_stages(dst.stages) {
            let scope = Scope { stages, ..dst };
            if second_scope(stages) & queue != second_scope(dst.stages) & queue
                || !same(scope, dst, queue)
            {
                let place = format!("{stage:?} of {spot}");
                self.add(Mutation::DstStage, excuse, place, |plan| {
                    spot.set(plan, src, scope)
                });
            }
        }
        for access in dst.access.iter() {
            let scope = Scope {
                access: dst.access - access,
                ..dst
            };
            let place = format!("{access:?} of {spot}");
            self.add(Mutation::DstAccess, excuse, place, |plan| {
                spot.set(plan, src, scope)
            });
        }
    }

    fn mutate_src(
        &mut self,
        Barrier {
            spot,
            src,
            dst,
            half,
            excuse,
        }: Barrier,
    ) {
        let queue = self.stages_of(spot.submission);
        for (stage, stages) in less_stages(src.stages) {
            let scope = Scope { stages, ..src };
            if first_scope(stages) & queue != first_scope(src.stages) & queue
                || !same(scope, src, queue)
            {
                let place = format!("{stage:?} of {spot}");
                let chains = src.access.is_empty() && !stages.is_empty();
                let excuse = excuse.or(chains.then_some(Excuse::Chain));
                self.add(Mutation::SrcStage, excuse, place, |plan| {
                    spot.set(plan, scope, dst)
                });
            }
        }
        let access = if half == Some(TransferHalf::Acquire) {
            Default::default()
        } else {
            src.access
        };
        for access in access.iter() {
            let scope = Scope {
                access: src.access - access,
                ..src
            };
            let place = format!("{access:?} of {spot}");
            self.add(Mutation::SrcAccess, excuse, place, |plan| {
                spot.set(plan, scope, dst)
            });
        }
    }
}

impl Spot {
    fn batch(self, plan: &mut Plan) -> Option<&mut BarrierBatch> {
        match &mut plan.submissions[self.submission].steps[self.step] {
            Step::Barriers(batch) => Some(batch),
            Step::Pass(_) => None,
        }
    }

    fn set(self, plan: &mut Plan, src: Scope, dst: Scope) {
        let Some(batch) = self.batch(plan) else {
            return;
        };
        match self.kind {
            Kind::Memory => {
                if let Some(memory) = &mut batch.memory {
                    (memory.src, memory.dst) = (src, dst);
                }
            }
            Kind::Buffer(at) => (batch.buffers[at].src, batch.buffers[at].dst) = (src, dst),
            Kind::Image(at) => (batch.images[at].src, batch.images[at].dst) = (src, dst),
        }
    }

    fn remove(self, plan: &mut Plan) {
        let Some(batch) = self.batch(plan) else {
            return;
        };
        match self.kind {
            Kind::Memory => batch.memory = None,
            Kind::Buffer(at) => drop(batch.buffers.remove(at)),
            Kind::Image(at) => drop(batch.images.remove(at)),
        }
    }
}

impl Display for Spot {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Spot {
            submission,
            step,
            kind,
        } = self;
        write!(
            out,
            "barrier {kind:?} in step {step} of submission {submission}"
        )
    }
}

/// Whether a barrier of a submission continues a wait for these stages.
fn continues(submission: &Submission, stages: Stages) -> bool {
    let stages = second_scope(stages);
    let meets = |src: Scope| first_scope(src.stages).intersects(stages);
    submission.steps.iter().any(|step| match step {
        Step::Pass(_) => false,
        Step::Barriers(batch) => {
            batch.memory.iter().any(|barrier| meets(barrier.src))
                || batch.buffers.iter().any(|barrier| meets(barrier.src))
                || batch.images.iter().any(|barrier| meets(barrier.src))
        }
    })
}

/// Whether two scopes cover the same accesses in the stages of a queue.
fn same(a: Scope, b: Scope, queue: Stages) -> bool {
    let within = |a: Scope, b: Scope| {
        let mut mine = touches(a).filter(|touch| queue.contains(touch.stage));
        mine.all(|touch| touches(b).any(|other| other == touch))
    };
    within(a, b) && within(b, a)
}

/// The mask without one stage, for each of its stages. ALL_COMMANDS loses all of them, or the
/// copies, which no logical order implies.
fn less_stages(mask: Stages) -> Vec<(Stages, Stages)> {
    if mask == Stages::ALL_COMMANDS {
        let most = single(mask) - Stages::COPY;
        return vec![(mask, Stages::empty()), (Stages::COPY, most)];
    }
    mask.iter().map(|stage| (stage, mask - stage)).collect()
}

/// Boxes that lack one mip level, one array layer or one aspect.
fn smaller_ranges(range: SubresourceRange) -> Vec<SubresourceRange> {
    let mut smaller = Vec::new();
    if range.mip_count > 1 {
        smaller.push(SubresourceRange {
            mip_count: range.mip_count - 1,
            ..range
        });
    }
    if range.layer_count > 1 {
        smaller.push(SubresourceRange {
            layer_count: range.layer_count - 1,
            ..range
        });
    }
    if let (Some(first), true) = (
        range.aspects.iter().next(),
        range.aspects.iter().count() > 1,
    ) {
        smaller.push(SubresourceRange {
            aspects: range.aspects - first,
            ..range
        });
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
