//! The solver's table of accesses against a second one, and both against the specification's
//! tables of access types, stages and layouts.

use std::collections::BTreeSet;

use bitflags::Flags;
use quadrille_sync::access::{Access, Target};
use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::topology::Capabilities;

#[path = "accesses/tables.rs"]
mod tables;

/// The rows of a table, as words.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().collect())
}

/// A set in words.
fn set<T: Flags>(word: &str) -> T {
    let mut set = T::empty();
    for name in word.split('|').filter(|name| *name != "-") {
        set.insert(T::from_name(name).unwrap_or_else(|| panic!("no flag {name}")));
    }
    set
}

/// All shader stages, and the group of those before rasterization.
fn shaders() -> Stages {
    pre_rasterization()
        | Stages::PRE_RASTERIZATION_SHADERS
        | Stages::FRAGMENT_SHADER
        | Stages::COMPUTE_SHADER
        | Stages::RAY_TRACING_SHADER
}

fn pre_rasterization() -> Stages {
    Stages::VERTEX_SHADER
        | Stages::TESSELLATION_CONTROL_SHADER
        | Stages::TESSELLATION_EVALUATION_SHADER
        | Stages::GEOMETRY_SHADER
        | Stages::TASK_SHADER
        | Stages::MESH_SHADER
}

/// The stages that make a kind of access.
fn stages_of(kind: AccessMask) -> Stages {
    let mut table = rows(tables::ACCESS_TYPES);
    let row = table.find(|row| set::<AccessMask>(row[0]) == kind);
    let row = row.unwrap_or_else(|| panic!("no row for {kind:?}"));
    let mut stages = Stages::empty();
    for word in row[1].split('|') {
        stages |= match word {
            "SHADERS" => shaders(),
            word => set(word),
        };
    }
    let transfers = Stages::COPY | Stages::BLIT | Stages::RESOLVE;
    if stages.contains(transfers) {
        stages |= Stages::ALL_TRANSFER;
    }
    stages
}

/// Whether a queue with these capabilities has a stage.
fn has(capabilities: Capabilities, stage: Stages) -> bool {
    let mut table = rows(tables::STAGES);
    let row = table.find(|row| set::<Stages>(row[0]) == stage);
    let row = row.unwrap_or_else(|| panic!("no row for {stage:?}"));
    row[1] == "ANY" || capabilities.intersects(set(row[1]))
}

/// All sets of capabilities.
fn all_capabilities() -> impl Iterator<Item = Capabilities> {
    let bits: Vec<Capabilities> = Capabilities::all().iter().collect();
    (0..1_u32 << bits.len()).map(move |number| {
        let chosen = (0..bits.len()).filter(|at| number >> at & 1 == 1);
        chosen.map(|at| bits[at]).collect()
    })
}

#[test]
fn both_tables_have_the_same_accesses() {
    let ours: BTreeSet<&str> = Access::ALL.iter().map(|access| access.name()).collect();
    let other: Vec<&str> = rows(tables::ACCESSES).map(|row| row[0]).collect();
    assert_eq!(other.len(), Access::ALL.len(), "no row stands there twice");
    assert_eq!(ours, other.into_iter().collect());
    assert!(ours.len() >= 45, "{} named accesses", ours.len());
}

#[test]
fn both_tables_say_the_same_of_each_access() {
    for row in rows(tables::ACCESSES) {
        let named = Access::ALL.iter().find(|access| access.name() == row[0]);
        let access = named.unwrap_or_else(|| panic!("no access {}", row[0]));
        let scope = access.scope(Capabilities::all());
        assert_eq!(access.stages(), set(row[1]), "{access:?}");
        assert_eq!(scope.stages, access.stages(), "{access:?}");
        assert_eq!(scope.access, set(row[2]), "{access:?}");
        assert_eq!(format!("{:?}", access.layout()), row[3], "{access:?}");
        assert_eq!(access.is_read(), row[4].contains('r'), "{access:?}");
        assert_eq!(access.is_write(), row[4].contains('w'), "{access:?}");
    }
}

#[test]
fn every_kind_of_access_happens_in_the_stages_that_make_it() {
    for access in Access::ALL {
        let scope = access.scope(Capabilities::all());
        for kind in scope.access {
            let possible = stages_of(kind) & scope.stages;
            assert!(!possible.is_empty(), "{access:?}: {kind:?} in no stage");
        }
        for stage in scope.stages {
            let mut kinds = scope.access.iter();
            let made = kinds.any(|kind| stages_of(kind).contains(stage));
            assert!(made, "{access:?} names {stage:?}, which does nothing");
        }
    }
}

#[test]
fn every_layout_allows_its_accesses() {
    for access in Access::ALL {
        let layout = access.layout();
        if layout == Layout::General {
            continue;
        }
        let mut table = rows(tables::LAYOUTS);
        let row = table.find(|row| row[0] == format!("{layout:?}"));
        let allowed: AccessMask = set(row.unwrap_or_else(|| panic!("no row for {layout:?}"))[1]);
        let done = access.scope(Capabilities::all()).access;
        assert!(allowed.contains(done), "{access:?} in {layout:?}");
    }
}

/// Returns the target of an access's flags and layout, by the specification.
fn target_of(access: Access) -> Target {
    let layout = format!("{:?}", access.layout());
    let kinds = access.scope(Capabilities::all()).access;
    if layout.starts_with("DepthStencil") {
        // A resolve of depth happens as one of color: only the layout tells.
        return Target::DEPTH;
    }
    let video = Stages::VIDEO_DECODE | Stages::VIDEO_ENCODE;
    if video.intersects(access.stages()) && access.layout() == Layout::General {
        // Pictures have layouts of their own; the rest are bitstreams.
        return Target::BUFFER;
    }
    let stages = access.stages();
    let names = kinds.iter_names().map(|(name, _)| name.to_owned());
    let names = names.chain(stages.iter_names().map(|(name, _)| name.to_owned()));
    let names: BTreeSet<String> = names.chain([layout]).collect();
    let found = rows(tables::TARGETS).filter(|row| names.contains(row[0]));
    let found: BTreeSet<&str> = found.map(|row| row[1]).collect();
    match found.into_iter().collect::<Vec<_>>()[..] {
        [] => Target::ANY,
        ["buffer"] => Target::BUFFER,
        ["image"] => Target::IMAGE,
        ["color"] | ["color", "image"] => Target::COLOR,
        ["depth"] | ["depth", "image"] => Target::DEPTH,
        ref other => panic!("{access:?} is about {other:?}"),
    }
}

#[test]
fn access_targets_follow_from_flags() {
    for access in Access::ALL {
        assert_eq!(access.target(), target_of(*access), "{access:?}");
    }
}

/// A queue runs what it has all stages of, or one of them for the accesses that say `any`; and it
/// is never given a stage that it does not have.
#[test]
fn queues_run_accesses_of_their_stages() {
    for row in rows(tables::ACCESSES) {
        let named = Access::ALL.iter().find(|access| access.name() == row[0]);
        let access = named.unwrap_or_else(|| panic!("no access {}", row[0]));
        let stages: Stages = set(row[1]);
        for capabilities in all_capabilities() {
            let supported: Stages = (stages.iter())
                .filter(|stage| has(capabilities, *stage))
                .collect();
            let runs = if row.last() == Some(&"any") {
                !supported.is_empty()
            } else {
                supported == stages
            };
            assert_eq!(
                access.runs_on(capabilities),
                runs,
                "{access:?} {capabilities:?}"
            );
            let given = access.scope(capabilities).stages;
            assert_eq!(given, supported, "{access:?} {capabilities:?}");
        }
    }
}

/// Nothing of Vulkan is out of reach without `Access::Custom`, but these.
#[test]
fn every_stage_and_kind_of_access_has_a_name() {
    let (mut stages, mut kinds) = (Stages::empty(), AccessMask::empty());
    for access in Access::ALL {
        stages |= access.stages();
        kinds |= access.scope(Capabilities::all()).access;
    }
    // Groups, of which parts are named; and what such a group stands for.
    let groups = Stages::TOP_OF_PIPE
        | Stages::BOTTOM_OF_PIPE
        | Stages::VERTEX_INPUT
        | Stages::ALL_GRAPHICS
        | Stages::ALL_COMMANDS;
    assert_eq!(Stages::all() - stages - pre_rasterization(), groups);
    let groups = AccessMask::MEMORY_READ | AccessMask::MEMORY_WRITE | AccessMask::SHADER_WRITE;
    assert_eq!(AccessMask::all() - kinds, groups);
}

#[test]
fn a_transfer_queue_is_given_nothing_but_transfers() {
    let legal = Stages::COPY | Stages::CLEAR | Stages::ALL_TRANSFER | Stages::HOST;
    for access in Access::ALL {
        let stages = access.scope(Capabilities::TRANSFER).stages;
        assert!(legal.contains(stages), "{access:?}: {stages:?}");
    }
}
