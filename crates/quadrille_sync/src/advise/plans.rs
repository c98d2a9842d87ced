//! Plans that the observation of a frame compares, made one at a time.
//!
//! An observation is a function from plans to a finding. It requests the plans that it needs one after the
//! other. Where one is not made yet, it ends with [`Pending`], and is called again from its beginning
//! once that plan is there: what it has requested before is remembered. So an observation spreads over
//! frames, and each of them pays for one plan at most.

use std::sync::Arc;

use crate::frame::Frame;
use crate::plan::Plan;
use crate::solve::plan;
use crate::states::States;
use crate::topology::Topology;

/// How often a frame is repeated until its plans repeat: predictions use the two frames before.
const REPEATED: usize = 4;

/// A plan that was requested is not made yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending;

/// Plans of one observation.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    topology: Topology,
    states: States,
    /// In the order in which they are requested; none of a frame that cannot be planned.
    made: Vec<Option<Arc<Plan>>>,
    /// Number of plans that were requested since the observation began or was called again.
    asked: usize,
    open: Option<Repeated>,
}

/// A frame that is planned until its plans repeat.
#[derive(Clone, Debug)]
struct Repeated {
    frame: Frame,
    states: States,
    planned: usize,
}

impl Plans {
    /// Creates the plans of frames that follow these states.
    pub(super) fn new(topology: &Topology, states: &States) -> Self {
        Self {
            topology: topology.clone(),
            states: states.clone(),
            made: Vec::new(),
            asked: 0,
            open: None,
        }
    }

    /// The queues that are planned for.
    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The plan that a frame repeats with; none if it cannot be planned.
    pub(super) fn steady(&mut self, frame: &Frame) -> Result<Option<Arc<Plan>>, Pending> {
        let at = self.asked;
        self.asked += 1;
        if let Some(made) = self.made.get(at) {
            return Ok(made.clone());
        }
        self.open = Some(Repeated {
            frame: frame.clone(),
            states: self.states.clone(),
            planned: 0,
        });
        Err(Pending)
    }

    /// Makes one plan, if one is requested, and goes on with the observation if that was the last of its
    /// frame. Returns the finding, once there is one.
    pub(super) fn step<T>(
        &mut self,
        look: impl FnOnce(&mut Self) -> Result<T, Pending>,
    ) -> Option<T> {
        if let Some(open) = &mut self.open {
            let made = open.step(&self.topology)?;
            self.made.push(made);
            self.open = None;
        }
        self.asked = 0;
        look(self).ok()
    }

    /// Makes all plans that an observation requests.
    pub(super) fn finish<T>(&mut self, look: impl Fn(&mut Self) -> Result<T, Pending>) -> T {
        loop {
            if let Some(found) = self.step(&look) {
                return found;
            }
        }
    }
}

impl Repeated {
    /// Plans the frame once more. The outer option is none until its plans repeat.
    fn step(&mut self, topology: &Topology) -> Option<Option<Arc<Plan>>> {
        let Ok(plan) = plan(&self.frame, topology, &self.states) else {
            return Some(None);
        };
        self.planned += 1;
        if self.planned == REPEATED {
            return Some(Some(Arc::new(plan)));
        }
        self.states.commit(&self.frame, topology, &plan);
        None
    }
}

#[cfg(test)]
#[path = "plans_tests.rs"]
mod tests;
