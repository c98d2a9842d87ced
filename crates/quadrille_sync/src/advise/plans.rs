//! Plans that the observation of a frame compares, made one at a time.
//!
//! An observation is a function from plans to a finding. It requests the plans that it needs one after the
//! other. If a plan is not made yet, the function returns [`Pending`], and is called again from its
//! beginning once the plan exists; earlier plans are cached. So an observation is spread over frames, with
//! at most one plan in each.

use std::sync::Arc;

use crate::frame::Frame;
use crate::plan::Plan;
use crate::solve::plan;
use crate::states::States;
use crate::topology::Topology;

/// Number of repetitions after which the plans of a frame are steady: predictions use the two frames before.
const REPEATED: usize = 4;

/// The requested plan is not made yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending;

/// Plans of one observation.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    topology: Topology,
    states: States,
    /// Plans in the order of requests; `None` for a frame that cannot be planned.
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

    /// The topology that is planned for.
    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The plan of a frame in the steady state; `None` if the frame cannot be planned.
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

    /// Makes one plan if one is requested. Once the plans of its frame are steady, calls the observation
    /// again. Returns the finding when there is one.
    pub(super) fn step<T>(
        &mut self,
        observe: impl FnOnce(&mut Self) -> Result<T, Pending>,
    ) -> Option<T> {
        if let Some(open) = &mut self.open {
            let made = open.step(&self.topology)?;
            self.made.push(made);
            self.open = None;
        }
        self.asked = 0;
        observe(self).ok()
    }

    /// Makes all plans that an observation requests.
    pub(super) fn finish<T>(&mut self, observe: impl Fn(&mut Self) -> Result<T, Pending>) -> T {
        loop {
            if let Some(found) = self.step(&observe) {
                return found;
            }
        }
    }
}

impl Repeated {
    /// Plans the frame once more. The outer option is `None` until its plans are steady.
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
