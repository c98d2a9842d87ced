//! The dependency of a request on one earlier access: rungs 2, 3 and 5 of the ladder.

use std::ops::Range;

use crate::flags::Stages;
use crate::plan::{DependencyKind, Scope};
use crate::range::whole_levels;
use crate::solve::barriers::calls::{Calls, Plain};
use crate::solve::barriers::request::Request;
use crate::solve::barriers::waits::Waits;
use crate::solve::state::TrackedAccess;
use crate::solve::state::predecessors::source;

/// The dependency of a request on one access.
pub(crate) struct After {
    /// The second scope.
    pub(crate) dst: Scope,
    /// A memory dependency, not just an execution dependency.
    pub(crate) memory: bool,
    /// The access was to another resource in the same memory.
    pub(crate) is_aliased: bool,
}

impl After {
    /// A memory dependency.
    pub(crate) fn memory(dst: Scope, is_aliased: bool) -> Self {
        Self {
            dst,
            memory: true,
            is_aliased,
        }
    }
}

/// Orders a request after one access.
pub(crate) fn order_after(
    waits: &mut Waits<'_>,
    calls: &mut Calls,
    request: &Request,
    interval: &Range<u64>,
    tracked: &TrackedAccess,
    after: After,
) {
    let After {
        dst,
        memory,
        is_aliased,
    } = after;
    let (src, dependency_kind) = if tracked.queue == request.queue {
        // An access with the same step is the acquire for this pass.
        if tracked.step == request.step {
            return;
        }
        let dependency_kind = match memory {
            _ if is_aliased => DependencyKind::Aliasing,
            true => DependencyKind::Memory,
            false => DependencyKind::Execution,
        };
        (source(tracked, memory), dependency_kind)
    } else {
        let stages = chain(waits, request, tracked, is_aliased);
        // A semaphore wait makes all writes before its signal visible to the stages that wait.
        if stages.covers(dst.stages) {
            return;
        }
        (Scope::of_stages(stages), other_queue(is_aliased))
    };
    let kind = &waits.inputs.frame.resource(request.resource).kind;
    let plain = Plain {
        tracked: *tracked,
        interval: whole_levels(kind, interval),
        src,
        dst,
        layout: request.layout,
        reason: waits.reason(request, Some(tracked.pass), dependency_kind),
    };
    calls.add_plain(plain);
}

/// Waits for an access on another queue and returns the stages that a barrier can chain from. If they
/// cover the stages of the request, these wait themselves and no barrier is needed.
pub(crate) fn chain(
    waits: &mut Waits<'_>,
    request: &Request,
    tracked: &TrackedAccess,
    is_aliased: bool,
) -> Stages {
    let stages = request.scope.stages;
    waits.require(request, tracked, stages, false, other_queue(is_aliased))
}

/// The dependency kind of a wait.
fn other_queue(is_aliased: bool) -> DependencyKind {
    if is_aliased {
        DependencyKind::Aliasing
    } else {
        DependencyKind::OtherQueue
    }
}
