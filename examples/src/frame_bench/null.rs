//! Below the program, a layer that swallows recorded commands.
//!
//! Layers are named by the environment that a process starts with, so the program restarts
//! itself.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::Outcome;

/// Set in the program that runs on the null driver.
const MARK: &str = "QUADRILLE_LAYER_NULL";

/// The folder that `cargo xtask bench` puts the manifest of the layer in, beside the program; that of
/// the tests is one further up.
const FOLDER: &str = "layer";

/// Restarts the program on the null driver and returns its exit code, or nothing if this is the
/// restarted program.
///
/// # Errors
/// The layer is not built.
pub fn run_below_null() -> Outcome<Option<ExitCode>> {
    if std::env::var_os(MARK).is_some_and(|value| value == "1") {
        return Ok(None);
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new(&program);
    command
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_QUADRILLE_test");
    if std::env::var_os("VK_LAYER_PATH").is_none() {
        let is_layer = |folder: &PathBuf| folder.join("VkLayer_quadrille_test.json").exists();
        let folders = program.ancestors().map(|folder| folder.join(FOLDER));
        let folder = folders.into_iter().find(is_layer).ok_or(
            "the layer that swallows commands is not built; `cargo xtask bench --null` builds it",
        )?;
        command.env("VK_LAYER_PATH", folder);
    }
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Some(code.map_or(ExitCode::FAILURE, ExitCode::from)))
}
