//! An X server without a screen, on a display number of its own choice.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::host::process::Running;

const START_LIMIT: Duration = Duration::from_secs(30);

/// A running server; dropping it ends it.
pub(crate) struct Xvfb {
    /// Where programs find it, as `DISPLAY` wants it.
    pub(crate) display: String,
    _server: Running,
}

impl Xvfb {
    /// Starts a server. It looks for a free display number by itself, so any number of runs
    /// can stand side by side.
    ///
    /// # Errors
    /// When there is no Xvfb, or it does not come up.
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new("Xvfb");
        command.args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x1024x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        let mut server = Running::start("xvfb", &mut command)?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            // The number stands alone on a line; the server may complain on others.
            if let Some(number) = server
                .output()
                .lines()
                .find_map(|line| line.trim().parse::<u32>().ok())
            {
                return Ok(Self {
                    display: format!(":{number}"),
                    _server: server,
                });
            }
            if !server.is_alive() || Instant::now() >= deadline {
                bail!("Xvfb did not start\n{}", server.tail());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
