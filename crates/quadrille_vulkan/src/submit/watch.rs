//! Names of submitted work, for reports of a hanging device. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

/// The names of a submission's passes, shared between frames with the same passes.
type Passes = Arc<Vec<Arc<str>>>;

/// The submissions of each lane that are not known to be complete.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    lanes: Vec<Lane>,
    /// Passes of each submission in the last frame.
    last: Vec<Passes>,
    /// Allocations to reuse.
    spare: Vec<Vec<Arc<str>>>,
}

#[derive(Debug, Default)]
struct Lane {
    /// Signalled value and passes of each submission.
    submitted: VecDeque<(u64, Passes)>,
    /// The last pass of the last complete submission.
    finished: Option<Arc<str>>,
}

impl Watch {
    /// Creates the state for this number of idle lanes.
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            ..Self::default()
        }
    }

    /// Adds a submission, by its number in the frame, that signals a value on a lane. Values must increase.
    pub(crate) fn note<'a>(
        &mut self,
        submission: usize,
        (lane, value): (usize, u64),
        passes: impl Iterator<Item = &'a Arc<str>> + Clone,
    ) {
        if passes.clone().next().is_none() {
            return;
        }
        let passes = self.share(submission, passes);
        self.lanes[lane].submitted.push_back((value, passes));
    }

    /// Returns the passes of a submission, shared with the previous frame if they are equal, which is the common case.
    fn share<'a>(
        &mut self,
        submission: usize,
        passes: impl Iterator<Item = &'a Arc<str>> + Clone,
    ) -> Passes {
        let last = self.last.get(submission);
        let names = passes.clone().map(Arc::as_ptr);
        if let Some(last) = last.filter(|last| names.eq(last.iter().map(Arc::as_ptr))) {
            return Arc::clone(last);
        }
        let mut new = self.spare.pop().unwrap_or_default();
        new.extend(passes.cloned());
        let new = Arc::new(new);
        if self.last.len() <= submission {
            self.last.resize_with(submission + 1, Passes::default);
        }
        let old = std::mem::replace(&mut self.last[submission], Arc::clone(&new));
        self.save(old);
        new
    }

    /// Keeps the allocation of a complete submission for reuse.
    fn save(&mut self, passes: Passes) {
        let unused = Arc::try_unwrap(passes).ok();
        if let Some(mut passes) = unused.filter(|passes| passes.capacity() > 0) {
            passes.clear();
            self.spare.push(passes);
        }
    }

    /// Removes complete submissions.
    pub(crate) fn reached(&mut self, lane: usize, value: u64) {
        let submitted = |watch: &mut Self| {
            let lane = &mut watch.lanes[lane];
            let (_, passes) = lane.submitted.pop_front_if(|(at, _)| *at <= value)?;
            lane.finished = passes.last().cloned();
            Some(passes)
        };
        while let Some(passes) = submitted(self) {
            self.save(passes);
        }
    }

    /// Returns the passes of the first incomplete submission of a lane, and the last pass of its last complete one.
    pub(crate) fn stuck(&self, lane: usize, reached: u64) -> (Vec<String>, Option<String>) {
        let lane = &self.lanes[lane];
        let mut finished = lane.finished.as_ref();
        for (value, passes) in &lane.submitted {
            if *value > reached {
                let passes = passes.iter().map(ToString::to_string).collect();
                return (passes, finished.map(ToString::to_string));
            }
            finished = passes.last().or(finished);
        }
        (Vec::new(), finished.map(ToString::to_string))
    }
}

#[cfg(test)]
mod tests;
