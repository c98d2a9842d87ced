//! The canary: a deliberately invalid program, run first to check that the layer reports it.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::host::cargo::{self, Workspace};
use crate::host::process;
use crate::setup::layer::Layer;
use crate::setup::packages::LAVAPIPE_MESA;
use crate::setup::validation::{self, Stack};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs the canary: its class on one queue with the plain driver, all classes on virtual queues.
///
/// Returns the program's line about loader, driver and device.
///
/// # Errors
/// When an error goes unreported, or the driver is too old.
pub(crate) fn run(workspace: &Workspace, stack: &Stack, layer: Option<&Layer>) -> Result<String> {
    cargo::run("canary-build", &["build", "--package", "quadrille_canary"])?;
    let program = workspace.target.join("debug/canary");
    let output = process::run("canary", stack.command(&program).arg("same-queue"), LIMIT)?;
    // The program received its message; the filter that checks all other runs must find it too.
    if validation::messages(&output).is_empty() {
        bail!("the layer's message was not found in the output\n{output}");
    }
    let versions = output
        .lines()
        .find(|line| line.starts_with("loader "))
        .context("the canary did not describe its device")?
        .to_owned();
    check_driver(&versions)?;
    if let Some(layer) = layer {
        let mut command = stack.command(&program);
        layer.apply(&mut command, "gct:1,ct:1");
        process::run("canary-queues", &mut command, LIMIT)?;
    }
    Ok(versions)
}

/// Rejects an old software driver, on which tests would pass or fail for reasons of the driver.
fn check_driver(versions: &str) -> Result<()> {
    let mesa = versions
        .split_once("Mesa ")
        .and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
    match mesa {
        Some(mesa) if mesa < LAVAPIPE_MESA => {
            bail!(
                "the driver is of Mesa {mesa}; the tests need {LAVAPIPE_MESA} or newer ({versions})"
            )
        }
        // A newer driver, or another vendor's that the user selected by VK_DRIVER_FILES.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check_driver;

    #[test]
    fn an_old_mesa_is_refused() {
        let line = |mesa| {
            format!("loader 1.4.363; driver llvmpipe Mesa {mesa} (LLVM 15.0.6); device llvmpipe")
        };
        assert!(check_driver(&line("22.3.6")).is_err(), "too old");
        assert!(
            check_driver(&line("25.0.7-2~bpo12+1")).is_ok(),
            "new enough"
        );
        assert!(
            check_driver("driver NVIDIA 570.1").is_ok(),
            "no Mesa at all"
        );
    }
}
