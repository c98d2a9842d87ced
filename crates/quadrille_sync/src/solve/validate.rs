//! Validation of frames before planning. Lists all misuse, not just the first.

mod check;
mod custom;
mod owners;
mod presented;
mod race;

use crate::error::{PlanError, PlanErrors};
use crate::frame::Frame;
use crate::states::States;
use crate::topology::Topology;

pub(super) use check::check_shape;
pub(super) use race::race;

/// Validates each declaration by itself.
///
/// # Errors
/// Lists malformed indices and resources, which end planning at once. Without any, all later phases may
/// index without checks.
pub(super) fn validate(
    frame: &Frame,
    topology: &Topology,
    states: &States,
) -> Result<Vec<PlanError>, PlanErrors> {
    check_shape(frame, topology, states)?;
    let mut errors = Vec::new();
    check::check_uses(frame, states, &mut errors);
    presented::check_presented(frame, topology, &mut errors);
    owners::check_owners(frame, topology, states, &mut errors);
    Ok(errors)
}
