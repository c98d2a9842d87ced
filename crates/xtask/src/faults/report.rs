//! The report of a lost device.

use anyhow::{Result, ensure};

use super::program::{Fault, Program};

/// Parts of the report if the driver knows the reason.
const BY_THE_DRIVER: [&str; 5] = [
    "the driver says: the test layer has lost the device",
    "a write to the device addresses 0xdead0000 to 0xdead0fff, which no buffer has",
    "the driver names a read from the device addresses ",
    ", which `short-lived` has",
    "the driver says: made up, code 0x51, data 0x52",
];
/// Parts of the report on every driver: queues and their passes.
const BY_US: [&str; 2] = [" had the passes ", "fill"];

impl Program<'_> {
    /// Loses the device with a driver that reports the reason, and with one that does not.
    ///
    /// # Errors
    /// When the report lacks a part, or has more than is known.
    pub(crate) fn reports(&self) -> Result<String> {
        for has_fault in ["0", "1"] {
            let fault = Fault {
                script: "lost nth=7".to_owned(),
                frames: 40,
                families: "gct:1,ct:1,t:1",
                fences: true,
                environment: vec![("QUADRILLE_LAYER_DEVICE_FAULT", has_fault)],
            };
            let output = self.run("faults-report", &fault, None)?;
            for line in BY_US {
                ensure!(output.contains(line), "`{line}` is missing:\n{output}");
            }
            for line in BY_THE_DRIVER {
                ensure!(
                    output.contains(line) == (has_fault == "1"),
                    "`{line}` with QUADRILLE_LAYER_DEVICE_FAULT={has_fault}:\n{output}"
                );
            }
        }
        Ok("with and without VK_EXT_device_fault".to_owned())
    }
}
