//! What uses touch on a queue: stages, and accesses in them.

use crate::access::Row;
use crate::flags::Stages;
use crate::frame::Use;
use crate::plan::Scope;

/// What a use touches on a queue with these stages. An access without stages (presenting) happens
/// nobody knows when: what comes before it is before everything, and what comes after it after
/// everything.
#[inline]
pub(super) fn scope_of(one: &Use, supported: Stages) -> Scope {
    or_everything(one.access.scope_in(supported))
}

/// The same of an access that is in the table.
#[inline]
pub(super) fn row_scope(row: &Row, supported: Stages) -> Scope {
    or_everything(Scope {
        stages: row.stages.intersection(supported),
        access: row.access,
    })
}

/// Everything, instead of no stages.
#[inline]
fn or_everything(scope: Scope) -> Scope {
    if scope.stages.is_empty() {
        Scope {
            stages: Stages::ALL_COMMANDS,
            ..scope
        }
    } else {
        scope
    }
}

/// How many stages a scope names: what covers another one names no fewer.
pub(super) fn named(scope: Scope) -> u32 {
    scope.stages.expanded().bits().count_ones()
}
