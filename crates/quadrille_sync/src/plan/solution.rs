//! Which plan is which, without comparing what is in them.

use super::Plan;
use crate::states::Stamp;

/// What tells a plan and its copies from all others, equal ones included.
///
/// Whoever keeps what he has made of a plan, and of the frame that it is for, finds out with this
/// that he has been given both again: [`Planner`](crate::Planner) returns an earlier plan only for
/// an equal frame. It costs a comparison of two addresses.
///
/// ```
/// use quadrille_sync::*;
/// let topology = parse_topology("gct:1").unwrap();
/// let plan = || plan(&Frame::default(), &topology, &States::default()).unwrap();
/// let (one, other) = (plan(), plan());
/// assert!(one.solution().is_of(&one.clone()));
/// assert!(one == other && !one.solution().is_of(&other));
/// ```
#[derive(Clone, Debug)]
pub struct Solution(Stamp);

impl Solution {
    /// Whether the plan is the one that this was taken from, or a copy of it. A copy that was
    /// changed since counts as well.
    pub fn is_of(&self, plan: &Plan) -> bool {
        self.0.is(&plan.end.stamp)
    }
}

impl Plan {
    /// What tells the plan from others. As long as it is kept, no other plan takes its place.
    pub fn solution(&self) -> Solution {
        Solution(self.end.stamp.clone())
    }
}
