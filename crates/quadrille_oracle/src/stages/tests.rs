use quadrille_sync::access::Access;
use quadrille_sync::flags::{AccessMask, Stages};
use quadrille_sync::plan::Scope;
use quadrille_sync::topology::Capabilities;

use super::{
    COMMAND, EVERY, StageAccess, covers, first_scope, impossible, pairs, second_scope, single,
};

#[test]
fn groups_are_written_out() {
    let vertex = Stages::INDEX_INPUT | Stages::VERTEX_ATTRIBUTE_INPUT;
    assert_eq!(single(Stages::VERTEX_INPUT), vertex);
    assert!(single(Stages::ALL_TRANSFER).contains(Stages::CLEAR));
    assert_eq!(single(Stages::ALL_COMMANDS), EVERY);
    assert!(!single(Stages::ALL_COMMANDS).contains(Stages::HOST));
    assert_eq!(
        single(Stages::TOP_OF_PIPE | Stages::BOTTOM_OF_PIPE),
        Stages::empty()
    );
}

#[test]
fn synchronization_scopes_follow_logical_order() {
    let first = first_scope(Stages::FRAGMENT_SHADER);
    assert!(
        first.contains(Stages::VERTEX_SHADER | Stages::EARLY_FRAGMENT_TESTS | Stages::MESH_SHADER)
    );
    assert!(!first.intersects(Stages::LATE_FRAGMENT_TESTS | Stages::COMPUTE_SHADER));
    let second = second_scope(Stages::FRAGMENT_SHADER);
    assert!(second.contains(Stages::LATE_FRAGMENT_TESTS | Stages::COLOR_ATTACHMENT_OUTPUT));
    assert!(!second.intersects(Stages::VERTEX_SHADER | Stages::COPY));
    // Task and mesh shaders are no part of the pipeline with vertex shaders.
    assert!(!first_scope(Stages::MESH_SHADER).contains(Stages::VERTEX_SHADER));
    assert!(!second_scope(Stages::VERTEX_SHADER).contains(Stages::MESH_SHADER));
}

#[test]
fn the_ends_of_the_pipe_hold_all_or_nothing() {
    assert_eq!(first_scope(Stages::TOP_OF_PIPE), Stages::empty());
    assert_eq!(first_scope(Stages::BOTTOM_OF_PIPE), EVERY | COMMAND);
    assert_eq!(second_scope(Stages::BOTTOM_OF_PIPE), Stages::empty());
    assert_eq!(second_scope(Stages::TOP_OF_PIPE), EVERY | COMMAND);
}

#[test]
fn accesses_happen_in_their_stages() {
    let sampled_depth = Scope {
        stages: Stages::EARLY_FRAGMENT_TESTS | Stages::FRAGMENT_SHADER,
        access: AccessMask::DEPTH_STENCIL_ATTACHMENT_READ | AccessMask::SHADER_SAMPLED_READ,
    };
    assert_eq!(pairs(sampled_depth).count(), 2);
    assert_eq!(impossible(sampled_depth), AccessMask::empty());
    let stray = Scope {
        access: AccessMask::INDEX_READ,
        ..sampled_depth
    };
    assert_eq!(impossible(stray), AccessMask::INDEX_READ);
}

#[test]
fn access_scopes_cover_the_named_accesses() {
    let pair = StageAccess {
        stage: Stages::FRAGMENT_SHADER,
        access: AccessMask::SHADER_SAMPLED_READ,
    };
    let scope = |access| Scope {
        stages: Stages::ALL_GRAPHICS,
        access,
    };
    assert!(covers(scope(AccessMask::SHADER_READ), pair));
    assert!(covers(scope(AccessMask::MEMORY_READ), pair));
    assert!(!covers(
        scope(AccessMask::MEMORY_WRITE | AccessMask::SHADER_STORAGE_READ),
        pair
    ));
    let elsewhere = Scope {
        stages: Stages::COMPUTE_SHADER,
        access: AccessMask::SHADER_READ,
    };
    assert!(!covers(elsewhere, pair));
}

/// Compares the solver's table of accesses: its stages must be able to make each access, and reads and
/// writes must agree. `Present` accesses no memory in any stage.
#[test]
fn every_named_access_is_possible() {
    for access in Access::ALL {
        let scope = Scope {
            stages: access.stages(),
            access: access.scope(Capabilities::all()).access,
        };
        assert_eq!(impossible(scope), AccessMask::empty(), "{}", access.name());
        let writes = pairs(scope).any(|pair| !super::accesses(pair.access, true).is_empty());
        assert_eq!(writes, access.is_write(), "{}", access.name());
        let accesses_memory = pairs(scope).next().is_some();
        assert_eq!(
            accesses_memory,
            *access != Access::Present,
            "{}",
            access.name()
        );
    }
}
