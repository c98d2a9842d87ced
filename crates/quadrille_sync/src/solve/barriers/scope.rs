//! The scope of a use on a queue: stages, and accesses in them.

use crate::flags::Stages;
use crate::frame::Use;
use crate::plan::Scope;

/// The scope of a use on a queue with these stages. The time of an access without stages
/// (presenting) is unknown. So accesses before it precede all stages, and accesses after it follow
/// all stages.
#[inline]
pub(in crate::solve) fn scope_of(one: &Use, supported: Stages) -> Scope {
    let scope = one.access.scope_in(supported);
    if scope.stages.is_empty() {
        Scope {
            stages: Stages::ALL_COMMANDS,
            ..scope
        }
    } else {
        scope
    }
}
