//! What is on its way to the device, by name: for reports of a device that does not get on. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

/// The submissions of each lane that are not known to be done.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    lanes: Vec<Lane>,
    /// Memory to use again.
    spare: Vec<Vec<Arc<str>>>,
}

#[derive(Debug, Default)]
struct Lane {
    /// The value that each signals, and its passes.
    submitted: VecDeque<(u64, Vec<Arc<str>>)>,
    /// The last pass of those that are done.
    finished: Option<Arc<str>>,
}

impl Watch {
    /// Nothing is on its way on so many lanes.
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            spare: Vec::new(),
        }
    }

    /// Notes a pass of the submission that signals a value; later values come later.
    pub(crate) fn note(&mut self, lane: usize, value: u64, pass: Arc<str>) {
        let submitted = &mut self.lanes[lane].submitted;
        if submitted.back().is_none_or(|(last, _)| *last != value) {
            let passes = self.spare.pop().unwrap_or_default();
            submitted.push_back((value, passes));
        }
        if let Some((_, passes)) = submitted.back_mut() {
            passes.push(pass);
        }
    }

    /// Forgets what is done by now.
    pub(crate) fn reached(&mut self, lane: usize, value: u64) {
        let lane = &mut self.lanes[lane];
        while let Some((_, mut passes)) = lane.submitted.pop_front_if(|(at, _)| *at <= value) {
            lane.finished = passes.pop().or(lane.finished.take());
            passes.clear();
            self.spare.push(passes);
        }
    }

    /// The passes of the first submission that is not done, and the last pass that is, of a lane
    /// that has reached a value.
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
