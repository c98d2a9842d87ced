//! An X server without a screen, on a free display number.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::host::process::Running;

const START_LIMIT: Duration = Duration::from_secs(30);

/// A running server, which is killed on drop.
pub(crate) struct Xvfb {
    /// Value of `DISPLAY`.
    pub(crate) display: String,
    _server: Running,
}

impl Xvfb {
    /// Starts a server, which chooses a free display number itself. So any number of runs can be concurrent.
    ///
    /// # Errors
    /// When Xvfb is not installed, or does not start.
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
            // The number is alone on its line; other lines are warnings of the server.
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
