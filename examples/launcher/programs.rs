//! Programs of the launcher, and the one that runs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use bevy_ecs::prelude::*;
use bevy_window::{PrimaryWindow, Window};
use examples::run::Run;

/// A program with its tile.
pub(crate) struct Program {
    /// Name of the program.
    pub(crate) name: &'static str,
    /// Description, in a few words.
    pub(crate) text: &'static str,
    /// Frames of its moving picture, as a PNG file: see `tiles.rs`.
    pub(crate) sheet: &'static [u8],
}

macro_rules! program {
    ($name:literal, $text:literal) => {
        Program {
            name: $name,
            text: $text,
            sheet: include_bytes!(concat!("../../assets/launcher/", $name, ".png")),
        }
    };
}

/// All tiles, row by row.
pub(crate) const PROGRAMS: [Program; 6] = [
    program!("courier", "deliver parcels over a city at night"),
    program!("swarm", "survive fifty thousand enemies"),
    program!("breakout", "clear five walls with a ball"),
    program!("life", "paint cells and watch them live"),
    program!("scene3d", "lights, glass and fog, with all effects"),
    program!("many_cubes", "a hundred thousand culled cubes"),
];

/// The started program, and the message below the tiles.
#[derive(Resource, Default)]
pub(crate) struct Running {
    child: Option<(&'static str, Child)>,
    /// The message.
    pub(crate) message: String,
    is_dry: bool,
}

/// Returns the program beside another one, which the same build has made.
fn beside(launcher: &Path, name: &str) -> PathBuf {
    launcher.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

impl Running {
    /// No program. With `is_dry` programs are named instead of started, for runs that are repeated.
    pub(crate) fn new(is_dry: bool) -> Self {
        Self {
            is_dry,
            ..Self::default()
        }
    }

    /// Whether a program runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.child.is_some()
    }

    /// Whether programs are named instead of started.
    pub(crate) fn is_dry(&self) -> bool {
        self.is_dry
    }

    /// Starts a program, unless one runs.
    pub(crate) fn start(&mut self, name: &'static str) {
        if self.is_busy() {
            return;
        }
        if self.is_dry {
            self.message = format!("would play {name}");
            return;
        }
        let launcher = std::env::current_exe().unwrap_or_default();
        let path = beside(&launcher, name);
        if !path.is_file() {
            self.message = format!("not built yet: cargo build --release -p examples --bin {name}");
            return;
        }
        self.message = match Command::new(&path).spawn() {
            Ok(child) => {
                self.child = Some((name, child));
                format!("{name} runs in a window of its own")
            }
            Err(error) => format!("cannot start {}: {error}", path.display()),
        };
    }

    /// Notes the end of the program.
    fn poll(&mut self) {
        let Some((name, child)) = &mut self.child else {
            return;
        };
        let message = match child.try_wait() {
            Ok(None) => return,
            Ok(Some(status)) if status.success() => String::new(),
            Ok(Some(status)) => {
                format!("{name} ended with {status}; the terminal has its messages")
            }
            Err(error) => format!("{name} is out of reach: {error}"),
        };
        self.message = message;
        self.child = None;
    }
}

/// Notes the end of the program, and hides the window while it runs.
pub(crate) fn follow(
    mut running: ResMut<Running>,
    mut run: ResMut<Run>,
    window: Option<Single<&mut Window, With<PrimaryWindow>>>,
) {
    if running.is_busy() {
        running.poll();
    }
    if let Some(mut window) = window
        && window.visible == running.is_busy()
    {
        window.visible = !running.is_busy();
    }
    if running.is_changed() {
        run.report
            .insert("message".to_owned(), running.message.clone().into());
    }
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
