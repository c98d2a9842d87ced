//! What uses touch on a queue: stages, and accesses in them.

use crate::flags::Stages;
use crate::frame::Use;
use crate::plan::Scope;

/// What a use touches on a queue with these stages. An access without stages (presenting) happens
/// nobody knows when: what comes before it is before everything, and what comes after it after
/// everything.
#[inline]
pub(in crate::solve) fn scope_of(one: &Use, supported: Stages) -> Scope {
    let scope = one.access.scope_in(supported);
    match scope.stages.is_empty() {
        true => Scope {
            stages: Stages::ALL_COMMANDS,
            ..scope
        },
        false => scope,
    }
}
