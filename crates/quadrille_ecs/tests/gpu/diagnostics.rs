//! Messages for programs that do something wrong, word by word: `diagnostics.txt` has all of them.
//! `QUADRILLE_DIAGNOSTICS=write` before the test rewrites that file; read it then as a user would.

#[path = "diagnostics/described.rs"]
mod described;
#[path = "diagnostics/queries.rs"]
mod queries;
#[path = "diagnostics/recorded.rs"]
mod recorded;
#[path = "diagnostics/resources.rs"]
mod resources;
#[path = "diagnostics/shaders.rs"]
mod shaders;
#[path = "diagnostics/tables.rs"]
mod tables;

use std::fmt::Write as _;
use std::path::Path;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use quadrille_ecs::*;

use crate::common::{Errors, Rig};

const FEWEST: usize = 50;

/// Wrong programs, and their diagnostics.
#[derive(Default)]
struct DiagnosticCatalog {
    text: String,
    count: usize,
}

impl DiagnosticCatalog {
    /// Adds the diagnostic of a wrong program; a program without one is a mistake of ours.
    fn note(&mut self, program: &str, messages: &[String]) {
        self.count += 1;
        writeln!(self.text, "# {program}").expect("text takes text");
        if messages.is_empty() {
            self.text.push_str("(nothing is told)\n");
        }
        for message in messages {
            writeln!(self.text, "{}", steady(message)).expect("text takes text");
        }
        self.text.push('\n');
    }

    /// Something that cannot be made.
    fn made<T>(&mut self, program: &str, made: Result<T, impl std::fmt::Display>) {
        let message = made.err().map(|error| error.to_string());
        self.note(program, message.as_slice());
    }

    /// Passes that are wrong, with what they need.
    fn passes<M>(&mut self, program: &str, passes: impl IntoScheduleConfigs<ScheduleSystem, M>) {
        let passes: ScheduleConfigs<ScheduleSystem> = passes.into_configs();
        self.app(program, |rig| {
            rig.app.add_systems(Render, passes);
        });
    }

    /// An app that is wrong.
    fn app(&mut self, program: &str, change: impl FnOnce(&mut Rig)) {
        let mut rig = Rig::new();
        rig.app.add_systems(RenderStartup, resources::setup);
        change(&mut rig);
        rig.update(2);
        let mut errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
        errors.dedup();
        self.note(program, &errors);
    }
}

/// A message without the numbers that other devices have, and without bevy's back trace.
fn steady(message: &str) -> String {
    let message = message.split("\n   ").next().unwrap_or_default();
    let mut parts = message.split("limit of ");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        steady.push_str("limit of N");
        steady.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    let Some((before, limits)) = steady.split_once("device's limits of ") else {
        return steady;
    };
    let numbers = limits.split(|letter: char| letter.is_ascii_digit());
    let others: Vec<&str> = numbers.filter(|part| !part.is_empty()).collect();
    format!("{before}device's limits of N{}", others.join("N"))
}

#[test]
#[ignore = "needs a device"]
fn diagnostics_match_the_catalog() {
    let mut diagnostics = DiagnosticCatalog::default();
    let rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>();
    shaders::add(&mut diagnostics, gpu);
    described::add(&mut diagnostics, gpu);
    tables::described(&mut diagnostics, gpu);
    queries::described(&mut diagnostics, gpu);
    drop(rig);
    recorded::add(&mut diagnostics);
    tables::recorded(&mut diagnostics);
    queries::recorded(&mut diagnostics);
    assert!(
        diagnostics.count >= FEWEST,
        "{} programs",
        diagnostics.count
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/diagnostics.txt");
    if std::env::var_os("QUADRILLE_DIAGNOSTICS").is_some_and(|it| it == "write") {
        std::fs::write(&path, &diagnostics.text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&path).expect("the file can be read");
    let mut both = known.split("\n\n").zip(diagnostics.text.split("\n\n"));
    if let Some((known, diagnostics)) = both.find(|(known, diagnostics)| known != diagnostics) {
        panic!("known:\n{known}\n\nnow:\n{diagnostics}");
    }
    assert_eq!(known, diagnostics.text);
    assert!(!known.contains("(nothing is told)"), "silence");
}
