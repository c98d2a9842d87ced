//! What is left of scopes.

use super::*;
use crate::states::Seen;

const INDIRECT: Scope = Scope {
    stages: Stages::DRAW_INDIRECT.union(Stages::COMPUTE_SHADER),
    access: AccessMask::INDIRECT_COMMAND_READ.union(AccessMask::UNIFORM_READ),
};

#[test]
fn accesses_go_with_the_last_stage_that_makes_them() {
    let compute = Scope {
        stages: Stages::COMPUTE_SHADER,
        access: AccessMask::UNIFORM_READ,
    };
    assert_eq!(INDIRECT.without(Stages::DRAW_INDIRECT), compute);
    assert_eq!(INDIRECT.without(Stages::ALL_GRAPHICS), compute);
    assert_eq!(INDIRECT.without(Stages::ALL_COMMANDS), Scope::default());
    assert_eq!(INDIRECT.without(Stages::FRAGMENT_SHADER), INDIRECT);
}

#[test]
fn a_group_of_stages_stays_whole() {
    let copies = Scope {
        stages: Stages::ALL_TRANSFER,
        access: AccessMask::TRANSFER_READ,
    };
    assert_eq!(copies.without(Stages::COPY), copies);
}

fn seen(scope: Scope) -> State {
    let mut state = State::fresh();
    state.visible.push(Seen {
        queue: QueueIndex(0),
        scope,
        is_ready: false,
    });
    state
}

#[test]
fn stages_that_see_all_they_can_need_nothing() {
    let state = seen(Scope {
        stages: Stages::COMPUTE_SHADER,
        access: AccessMask::UNIFORM_READ,
    });
    let indirect = Scope {
        stages: Stages::DRAW_INDIRECT,
        access: AccessMask::INDIRECT_COMMAND_READ,
    };
    assert_eq!(unseen(&state, QueueIndex(0), INDIRECT), indirect);
    let uniform = Scope {
        access: AccessMask::UNIFORM_READ,
        stages: Stages::COMPUTE_SHADER | Stages::VERTEX_SHADER,
    };
    let vertex = Scope {
        stages: Stages::VERTEX_SHADER,
        ..uniform
    };
    assert_eq!(unseen(&state, QueueIndex(0), uniform), vertex);
    assert_eq!(unseen(&state, QueueIndex(1), uniform), uniform);
}

#[test]
fn a_stage_that_sees_some_accesses_is_shown_all() {
    let state = seen(Scope {
        stages: Stages::ALL_TRANSFER,
        access: AccessMask::TRANSFER_READ,
    });
    let both = Scope {
        stages: Stages::ALL_TRANSFER,
        access: AccessMask::TRANSFER_READ | AccessMask::TRANSFER_WRITE,
    };
    assert_eq!(unseen(&state, QueueIndex(0), both), both);
}
