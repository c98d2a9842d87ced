//! Combinations of faults with a known outcome of each frame.

use anyhow::{Context, Result, ensure};

use super::program::{Fault, Program};

/// Number of frames of a run. The program resizes its window every ten frames.
const FRAMES: u64 = 40;

/// A script, and the expected counts.
struct Combination {
    script: &'static str,
    is_right: fn(&Counted) -> bool,
    /// Expectation in words, for the error.
    expected: &'static str,
}

const COMBINATIONS: [Combination; 3] = [
    Combination {
        script: "vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR\nimage order 1",
        is_right: |counted| counted.shown == FRAMES && counted.made > FRAMES / 3,
        expected: "each frame is shown, also those that are suboptimal, and each third of them is \
                   followed by another swapchain",
    },
    Combination {
        // The first query is for the formats; the second and the third precede the creation of a swapchain. The tenth
        // frame resizes once more.
        script: "vkCreateSwapchainKHR from=2 to=3 -> VK_ERROR_INITIALIZATION_FAILED\n\
                 extent from=4 to=13 0x0",
        is_right: |counted| {
            counted.errors == 1
                && (9..=10).contains(&counted.skipped)
                && counted.shown + counted.skipped + counted.errors == FRAMES
        },
        expected: "one frame fails, those without area are skipped, all others are shown",
    },
    Combination {
        script: "vkQueuePresentKHR from=1 to=4 -> VK_SUBOPTIMAL_KHR\n\
                 vkQueuePresentKHR nth=5 -> VK_ERROR_OUT_OF_DATE_KHR\n\
                 fence never from=1 to=4",
        is_right: |counted| {
            counted.most_old >= 4
                && counted.most_old <= 5
                && counted.out_of_date == 1
                && counted.shown + 1 == FRAMES
        },
        expected: "four old swapchains wait when one is out of date at once, and only the frame of \
                   that one is not shown",
    },
];

/// Counts of a run.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) shown: u64,
    pub(super) skipped: u64,
    pub(super) out_of_date: u64,
    pub(super) errors: u64,
    pub(super) most_old: u64,
    pub(super) old: u64,
    pub(super) made: u64,
}

impl Counted {
    /// Frames by outcome: shown, skipped, out of date, failed.
    pub(super) fn frames(&self) -> [u64; 4] {
        [self.shown, self.skipped, self.out_of_date, self.errors]
    }

    /// Parses the line that the program prints.
    pub(super) fn read(output: &str) -> Result<Self> {
        let line = output
            .lines()
            .find_map(|line| line.split_once("counted: "))
            .context("the program has counted nothing")?
            .1;
        let number = |name: &str| {
            let mut pairs = line
                .split_whitespace()
                .filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(key, _)| *key == name);
            let (_, value) = found.with_context(|| format!("`{name}` is not counted: {line}"))?;
            value
                .parse()
                .with_context(|| format!("`{name}` is no number: {line}"))
        };
        Ok(Self {
            shown: number("shown")?,
            skipped: number("skipped")?,
            out_of_date: number("out_of_date")?,
            errors: number("errors")?,
            most_old: number("most_old")?,
            old: number("old")?,
            made: number("made")?,
        })
    }
}

impl Program<'_> {
    /// Runs all combinations, with present fences and with the history.
    ///
    /// # Errors
    /// When a run has another outcome; the error has its script.
    pub(crate) fn combinations(&self) -> Result<String> {
        for combination in &COMBINATIONS {
            for fences in [true, false] {
                let fault = Fault {
                    script: combination.script.to_owned(),
                    frames: FRAMES as u32,
                    families: "gct:1",
                    fences,
                    environment: Vec::new(),
                };
                let output = self.run("faults-combinations", &fault, None)?;
                let counted = Counted::read(&output)?;
                ensure!(
                    (combination.is_right)(&counted),
                    "{fault:?}: {counted:?}, but {}",
                    combination.expected
                );
            }
        }
        Ok(format!(
            "{} scripts, by fences and by history",
            COMBINATIONS.len()
        ))
    }
}

#[cfg(test)]
mod tests;
