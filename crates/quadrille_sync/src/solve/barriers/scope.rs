//! Scopes: stages, and accesses in them.

use crate::flags::{AccessMask, Stages};
use crate::frame::Use;
use crate::plan::Scope;

/// The scope of a use on a queue with these stages. The presentation engine has no stages, so
/// presenting counts as an access in all of them.
#[inline]
pub(crate) fn scope_of(one: &Use, supported: Stages) -> Scope {
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

impl Scope {
    /// The scope of an execution dependency on stages.
    pub(crate) fn of_stages(stages: Stages) -> Self {
        Self {
            stages,
            access: AccessMask::empty(),
        }
    }

    /// This scope without its accesses, for an execution dependency.
    pub(crate) fn stages_only(self) -> Self {
        Self::of_stages(self.stages)
    }

    /// Both scopes' stages and accesses.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            stages: (self.stages | other.stages).simplified(),
            access: (self.access | other.access).simplified(),
        }
    }

    /// Whether every stage and access of another scope is in this one.
    #[inline]
    pub(crate) fn covers(self, other: Self) -> bool {
        self.stages.covers(other.stages) && self.access.covers(other.access)
    }
}
