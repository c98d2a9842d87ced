//! The identity of plans, without a comparison of their contents.

use super::Plan;
use crate::states::Stamp;

/// The identity of a plan and its copies. Differs from that of every other plan, even an equal one.
///
/// A backend can use it as a key of data derived from a plan and its frame, because
/// [`Planner`](crate::planner::Planner) returns an earlier plan only for an equal frame. A comparison compares two
/// addresses.
///
/// ```
/// use quadrille_sync::frame::Frame;
/// use quadrille_sync::solve::plan;
/// use quadrille_sync::states::States;
/// use quadrille_sync::text::parse_topology;
/// let topology = parse_topology("gct:1").unwrap();
/// let plan = || plan(&Frame::default(), &topology, &States::default()).unwrap();
/// let (one, other) = (plan(), plan());
/// assert!(one.plan_id().is_of(&one.clone()));
/// assert!(one == other && !one.plan_id().is_of(&other));
/// ```
#[derive(Clone, Debug)]
pub struct PlanId(Stamp);

impl PlanId {
    /// Whether the plan is the one that this was taken from, or a copy of it. A copy that was
    /// changed since counts as well.
    pub fn is_of(&self, plan: &Plan) -> bool {
        self.0.is(&plan.end.stamp)
    }
}

impl Plan {
    /// The identity of the plan. As long as it is kept, no other plan has the same.
    pub fn plan_id(&self) -> PlanId {
        PlanId(self.end.stamp.clone())
    }
}
