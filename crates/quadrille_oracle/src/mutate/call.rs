//! Mutants of whole barrier calls: one in another place, and two that are one.

use quadrille_sync::{BarrierBatch, PassRef, Reason, Step};

use super::Mutation;
use super::maker::Maker;
use super::part::{Element, elements};
use super::restrict::Purpose;

impl Maker<'_> {
    /// Adds the mutant whose barrier call comes after the next pass, if it is for that pass.
    pub(super) fn mutate_place(&mut self, at: usize, step: usize, batch: &BarrierBatch) {
        let Some(Step::Pass(pass)) = self.plan.submissions[at].steps.get(step + 1) else {
            return;
        };
        let place = format!("step {step} of submission {at}");
        let memory = batch.memory.iter().flat_map(|it| &it.reasons);
        let buffers = batch.buffers.iter().map(|it| &it.reason);
        let images = batch.images.iter().map(|it| &it.reason);
        let reasons = memory.chain(buffers).chain(images);
        let is_for = |reason: &&Reason| reason.later == PassRef::Pass(*pass);
        self.purposes = reasons.filter(is_for).map(Purpose::from).collect();
        if self.purposes.is_empty() {
            return;
        }
        self.add(Mutation::LateBarrier, None, place, |plan| {
            plan.submissions[at].steps.swap(step, step + 1);
        });
        let is_late = |element: &Element| {
            let is_here = matches!(element, Element::Barrier(spot) if (spot.submission, spot.step) == (at, step));
            is_here
                && element
                    .reasons(self.plan)
                    .iter()
                    .any(|reason| is_for(&reason))
        };
        let late = elements(self.plan).into_iter().filter(is_late);
        let late = late.map(Element::whole).collect();
        if let Some(mutant) = self.made.last_mut() {
            mutant.late = late;
        }
    }

    /// Adds the mutant in which a call does what the next one of its submission does, too. Two global
    /// memory barriers stay two: what covers both may order more than they do. So does what stands
    /// behind all passes: there it holds nobody back, and before one of them it would.
    pub(super) fn mutate_calls(&mut self, at: usize, step: usize, batch: &BarrierBatch) {
        let steps = &self.plan.submissions[at].steps;
        let mut later = steps.iter().enumerate().skip(step + 1);
        let next = later.find_map(|(at, it)| match it {
            Step::Barriers(batch) => Some((at, batch)),
            Step::Pass(_) => None,
        });
        let Some((next_at, next)) = next else {
            return;
        };
        let is_between = next_at > step + 1;
        let is_last = !steps[next_at..]
            .iter()
            .any(|it| matches!(it, Step::Pass(_)));
        if is_between && is_last || batch.memory.is_some() && next.memory.is_some() {
            return;
        }
        let place = format!("steps {step} and {next_at} of submission {at}");
        let mut both = batch.clone();
        both.memory = both.memory.or_else(|| next.memory.clone());
        both.buffers.extend(next.buffers.iter().cloned());
        both.images.extend(next.images.iter().cloned());
        self.purposes.clear();
        self.add(Mutation::JoinCalls, None, place, |plan| {
            let steps = &mut plan.submissions[at].steps;
            steps.remove(next_at);
            steps[step] = Step::Barriers(Box::new(both));
        });
    }
}
