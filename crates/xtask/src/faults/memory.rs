//! A device without coherent host memory: writes have to be flushed and reads invalidated, in multiples of
//! `nonCoherentAtomSize`. The validation layer checks this.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::program::{Fault, Program};
use super::situations::Calls;
use crate::host::paths;
use crate::scenarios::examples;

/// Tests that write and read host memory, and compare the results.
const TESTS: [&str; 2] = [
    "compute::compute_fills_and_the_cpu_reads",
    "compute::uploads_updates_and_indirect_dispatches",
];

impl Program<'_> {
    /// Runs the tests on such a device.
    ///
    /// # Errors
    /// When one fails, or nothing is flushed or invalidated.
    pub(crate) fn incoherent_memory(&self) -> Result<String> {
        let log = paths::target("verify").join("faults.memory.json");
        let mut calls = [0; 2];
        for test in TESTS {
            let fault = Fault {
                script: String::new(),
                frames: 0,
                families: "gct:1,t:1",
                fences: true,
                environment: vec![("QUADRILLE_LAYER_HIDE", "hostCoherent")],
            };
            examples::forget(&log)?;
            self.run_test("faults-memory", test, &fault, Some(&log))
                .with_context(|| test.to_owned())?;
            let made = Calls::read(&fs::read_to_string(&log).context("no log")?)?;
            calls[0] += made.of("vkFlushMappedMemoryRanges");
            calls[1] += made.of("vkInvalidateMappedMemoryRanges");
        }
        ensure!(
            !calls.contains(&0),
            "{calls:?} calls that flush and that invalidate"
        );
        let [flushes, invalidations] = calls;
        Ok(format!("{flushes} flushed, {invalidations} invalidated"))
    }
}
