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
            self.text.push_str("(no message)\n");
        }
        for message in messages {
            writeln!(self.text, "{}", portable(message)).expect("text takes text");
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

/// Phrases before limits of the device: all numbers after them in a message are the device's.
const LIMITS: [&str; 4] = [
    "limit of ",
    "limits of ",
    "the device allows ",
    "device's limits: ",
];

/// Returns a message without limits of the device, which others do not share, and without bevy's back trace.
fn portable(message: &str) -> String {
    let message = message.split("\n   ").next().unwrap_or_default();
    let ends = LIMITS.iter().filter_map(|phrase| {
        let begin = message.find(phrase)?;
        Some(begin + phrase.len())
    });
    let Some(end) = ends.min() else {
        return message.to_owned();
    };
    let (mut portable, limits) = (message[..end].to_owned(), &message[end..]);
    let mut is_number = false;
    for letter in limits.chars() {
        let was_number = std::mem::replace(&mut is_number, letter.is_ascii_digit());
        match (was_number, is_number) {
            (true, true) => {}
            (false, true) => portable.push('N'),
            (_, false) => portable.push(letter),
        }
    }
    portable
}

#[test]
fn catalog_has_no_limits_of_the_device() {
    let messages = |pixels: u32, bound: u32, layers: u32| {
        [
            format!(
                "the viewport [0.0, 0.0] is outside the device's limits: its size is at most {pixels}x{pixels} pixels and \
                 it lies between -{bound} and {bound}"
            ),
            format!("it has 9 array layers; the device allows 1 to {layers}"),
            format!("a push of 160 bytes is above the limit of {pixels}"),
            format!("[4096, 1, 1] is above the device's limits of {bound} and [{layers}, 64]"),
        ]
        .map(|message| portable(&message))
    };
    assert_eq!(messages(16384, 32768, 2048), messages(32768, 65536, 16384));
    assert_eq!(
        messages(1, 2, 3)[2],
        "a push of 160 bytes is above the limit of N"
    );
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
    let both = known.split("\n\n").zip(diagnostics.text.split("\n\n"));
    let others: Vec<String> = both
        .filter(|(known, now)| known != now)
        .map(|(known, now)| format!("known:\n{known}\nnow:\n{now}"))
        .collect();
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    assert_eq!(known, diagnostics.text);
    assert!(!known.contains("(no message)"), "silence");
}
