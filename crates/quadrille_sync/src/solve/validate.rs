//! Validation of frames: misuse is found before anything is planned, all of it in one go.

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
/// Lists defects that leave nothing to reason about. Without any, all later phases may index freely.
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
