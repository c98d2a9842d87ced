//! Devices and windows with unusual behavior during a whole run, each with a known outcome.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use super::combinations::Counted;
use super::program::{Fault, Program};
use crate::host::paths;
use crate::scenarios::examples;
use crate::setup::layer;

/// Behavior of a device or a window, and the expected counts of a run.
struct Situation {
    script: &'static str,
    families: &'static str,
    frames: u32,
    /// With present fences, with the history, or both.
    proofs: &'static [bool],
    /// Further variables for the program.
    variables: &'static [(&'static str, &'static str)],
    is_right: fn(&Counted, &Calls) -> bool,
    /// Expectation in words, for the error.
    expected: &'static str,
}

/// Defaults of a situation.
const PLAIN: Situation = Situation {
    script: "# none",
    families: "gct:1",
    frames: 40,
    proofs: &[true, false],
    variables: &[],
    is_right: |counted, _| counted.shown == 40 && counted.errors == 0,
    expected: "all frames are shown",
};

const TWO_WINDOWS: (&str, &str) = ("QUADRILLE_FAULT_WINDOWS", "2");
const NEVER_RESIZED: (&str, &str) = ("QUADRILLE_FAULT_RESIZE_EVERY", "1000");
const EACH_FRAME: (&str, &str) = ("QUADRILLE_FAULT_RESIZE_EVERY", "1");

const SITUATIONS: [Situation; 22] = [
    // A value is waited for only once, and only if it is not known to be reached; idle queues are not waited for.
    Situation {
        families: "gct:1,ct:2,t:1",
        is_right: |counted, calls| {
            counted.shown == 40 && (1..=calls.of("vkQueueSubmit2")).contains(&calls.waits)
        },
        expected: "all frames are shown, and no submission is waited for twice",
        ..PLAIN
    },
    // Five swapchains whose fences never prove their presents complete, then eleven good frames: the swapchains are
    // destroyed once the current one has been displayed for a while.
    Situation {
        script: "vkQueuePresentKHR from=1 to=5 -> VK_SUBOPTIMAL_KHR\n\
                 present fence never from=1 to=5",
        frames: 16,
        variables: &[NEVER_RESIZED],
        is_right: |counted, _| (counted.shown, counted.old) == (16, 0) && counted.most_old >= 4,
        expected: "all frames are shown, and no old swapchain is left",
        ..PLAIN
    },
    // A counter has an impossible value while all frames are in flight: the frames do not count as complete, and the
    // device counts as lost.
    Situation {
        script: "counter max from=60",
        families: "gct:1,ct:1,t:1",
        is_right: |counted, calls| {
            (1..40).contains(&counted.shown)
                && counted.errors == 1
                && calls.of("vkDestroySwapchainKHR") == calls.of("vkCreateSwapchainKHR")
        },
        expected: "the loss is the one error, and nothing is left",
        ..PLAIN
    },
    // Waits return early, as they do after the process was stopped.
    Situation {
        script: "vkWaitSemaphores every=2 -> VK_TIMEOUT\nvkWaitForFences every=2 -> VK_TIMEOUT",
        families: "gct:1,ct:1,t:1",
        ..PLAIN
    },
    // Drivers limit the number of swapchains. The minimum for a window is one at a time.
    Situation {
        script: "swapchains most=5\nfence late=300 from=1\n\
                 vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR",
        ..PLAIN
    },
    Situation {
        script: "swapchains most=1\nvkQueuePresentKHR every=3 -> VK_SUBOPTIMAL_KHR",
        ..PLAIN
    },
    Situation {
        script: "swapchains most=19\nfence late=300 from=1\n\
                 vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR",
        variables: &[("QUADRILLE_FAULT_WINDOWS", "4")],
        is_right: |counted, _| counted.shown == 160 && counted.errors == 0,
        expected: "all frames of four windows are shown",
        ..PLAIN
    },
    // A thousand such frames: each makes two attempts, and leaves nothing behind.
    Situation {
        script: "vkAcquireNextImageKHR from=1 -> VK_ERROR_OUT_OF_DATE_KHR",
        frames: 1000,
        is_right: |counted, calls| {
            (counted.skipped, counted.errors, counted.most_old) == (1000, 0, 0)
                && calls.of("vkAcquireNextImageKHR") == 2000
                && calls.of("vkDestroySwapchainKHR") == calls.of("vkCreateSwapchainKHR")
        },
        expected: "1000 frames are skipped, after two attempts each",
        ..PLAIN
    },
    Situation {
        script: "vkQueuePresentKHR from=1 -> VK_ERROR_OUT_OF_DATE_KHR",
        frames: 1000,
        is_right: |counted, calls| {
            (counted.out_of_date, counted.errors) == (1000, 0)
                && calls.of("vkAcquireNextImageKHR") == 1000
                && calls.of("vkDestroySwapchainKHR") == calls.of("vkCreateSwapchainKHR")
        },
        expected: "1000 frames are drawn for nothing, by one acquisition each",
        ..PLAIN
    },
    // Each swapchain needs some time for its first image.
    Situation {
        script: "image late=20 every=1\nvkQueuePresentKHR every=5 -> VK_SUBOPTIMAL_KHR",
        ..PLAIN
    },
    // Only another family can present, so ownership of images is transferred.
    Situation {
        families: "gct:1(present=no),ct:1",
        is_right: |counted, calls| counted.shown == 40 && calls.transfers >= 80,
        expected: "all frames are shown, and each image is released and acquired",
        ..PLAIN
    },
    Situation {
        families: "gct:1(present=no),t:1",
        variables: &[("QUADRILLE_QUEUES", "1")],
        is_right: |counted, calls| counted.shown == 40 && calls.transfers >= 80,
        expected: "all frames are shown, and each image is released and acquired",
        ..PLAIN
    },
    // The surface of one window is lost at each present while the other window is resized.
    Situation {
        script: "vkQueuePresentKHR every=2 -> VK_ERROR_SURFACE_LOST_KHR",
        variables: &[TWO_WINDOWS, EACH_FRAME],
        is_right: |counted, _| counted.shown + counted.out_of_date == 80 && counted.errors == 0,
        expected: "the other window shows all its frames",
        ..PLAIN
    },
    // Creation fails twice while the mode changes.
    Situation {
        script: "vkCreateSwapchainKHR from=2 to=3 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
        variables: &[("QUADRILLE_FAULT_MODE_EVERY", "3")],
        is_right: |counted, _| counted.errors == 1 && counted.shown == 39,
        expected: "one frame fails, and all others are shown",
        ..PLAIN
    },
    // The mode changes every third frame, 13 times in total; the size changes four times.
    Situation {
        proofs: &[true],
        variables: &[
            ("QUADRILLE_FAULT_MODE_EVERY", "3"),
            ("QUADRILLE_LAYER_PRESENT_MODES", "1"),
        ],
        is_right: |counted, calls| (counted.shown, counted.made, calls.modes) == (40, 5, 12),
        expected: "a mode takes no other swapchain, but a size does",
        ..PLAIN
    },
    Situation {
        variables: &[("QUADRILLE_FAULT_MODE_EVERY", "3")],
        is_right: |counted, calls| (counted.shown, calls.modes) == (40, 0) && counted.made > 13,
        expected: "each mode takes another swapchain",
        ..PLAIN
    },
    // Two windows change modes and sizes at once on a device whose first acquisitions fail.
    Situation {
        script: "vkAcquireNextImageKHR every=2 -> VK_ERROR_OUT_OF_DATE_KHR\n\
                 image late=5 every=2\nswapchains most=3\nfence late=40 every=2",
        families: "gct:1,ct:1,t:1",
        variables: &[TWO_WINDOWS, EACH_FRAME, ("QUADRILLE_FAULT_MODE_EVERY", "2")],
        is_right: |counted, _| counted.shown == 80 && counted.errors == 0,
        expected: "all frames of both windows are shown",
        ..PLAIN
    },
    // A surface is lost during a recreation while the mode of both windows changes; the device is lost soon after. The
    // lost surface costs no frame.
    Situation {
        script: "vkCreateSwapchainKHR nth=4 -> VK_ERROR_SURFACE_LOST_KHR\nlost nth=12",
        families: "gct:1,ct:1",
        variables: &[
            TWO_WINDOWS,
            ("QUADRILLE_FAULT_RESIZE_EVERY", "2"),
            ("QUADRILLE_FAULT_MODE_EVERY", "1"),
        ],
        is_right: |counted, _| (counted.shown, counted.errors) == (10, 1),
        expected: "five frames of both windows are shown, and the loss is the one error",
        ..PLAIN
    },
    // The surface of one window is lost permanently, which does not affect the other.
    Situation {
        script: "vkCreateSwapchainKHR from=3 -> VK_ERROR_SURFACE_LOST_KHR",
        variables: &[TWO_WINDOWS, ("QUADRILLE_FAULT_RESIZE_EVERY", "5")],
        is_right: |counted, _| counted.shown == 4 + 40,
        expected: "the other window shows all its frames",
        ..PLAIN
    },
    // A window is closed with an acquired image, while old swapchains wait for fences that are never signalled; the
    // other window has such swapchains too.
    Situation {
        script: "vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR\npresent fence never from=1\n\
                 image late=3 every=2",
        families: "gct:1,ct:1",
        variables: &[
            TWO_WINDOWS,
            ("QUADRILLE_FAULT_RESIZE_EVERY", "3"),
            ("QUADRILLE_FAULT_CLOSE_EVERY", "7"),
        ],
        is_right: |counted, calls| {
            (counted.shown, counted.errors) == (75, 0)
                && calls.of("vkDestroySwapchainKHR") == calls.of("vkCreateSwapchainKHR")
        },
        expected: "all frames are shown but the five that closed their window, and nothing is left",
        ..PLAIN
    },
    // All combined: three windows without reliable fences, few swapchains, a family that cannot present, and a device
    // that is lost at the end.
    Situation {
        script: "swapchains most=3\nfence never every=2\nvkAcquireNextImageKHR every=4 -> VK_TIMEOUT\n\
                 vkQueuePresentKHR every=3 -> VK_ERROR_OUT_OF_DATE_KHR\nimage order 2,2,0\n\
                 extent from=9 to=19 0x0\nlost nth=55",
        families: "gct:1(present=no),ct:1",
        frames: 60,
        variables: &[("QUADRILLE_FAULT_WINDOWS", "3"), EACH_FRAME],
        is_right: |counted, _| counted.frames() == [24, 19, 12, 1],
        expected: "24 are shown, 19 skipped, 12 out of date, by either proof, until the loss",
        ..PLAIN
    },
    // Temporary problems: no area for ten frames, a lost surface, then each third image is suboptimal while the same
    // index is always acquired.
    Situation {
        script: "extent from=3 to=12 0x0\nvkAcquireNextImageKHR nth=9 -> VK_ERROR_SURFACE_LOST_KHR\n\
                 vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR\nimage order 1\n\
                 vkQueuePresentKHR every=7 -> VK_ERROR_OUT_OF_DATE_KHR",
        variables: &[TWO_WINDOWS, EACH_FRAME],
        is_right: |counted, _| counted.shown >= 60 && counted.errors <= 2,
        expected: "both windows come back",
        ..PLAIN
    },
];

/// Number of calls by command.
#[derive(Debug, Default)]
pub(super) struct Calls {
    counts: BTreeMap<String, u64>,
    /// Barriers that release or acquire ownership.
    transfers: u64,
    /// Presents that change the mode.
    modes: u64,
    /// Waits for timeline semaphores that succeeded.
    waits: u64,
}

impl Calls {
    /// Counts the calls in a log of the test layer.
    pub(super) fn read(log: &str) -> Result<Self> {
        let mut calls = Self::default();
        for entry in layer::entries(log) {
            let entry = entry?;
            if let Some(call) = entry["call"].as_str() {
                *calls.counts.entry(call.to_owned()).or_default() += 1;
            }
            let came = entry["result"] == "SUCCESS";
            calls.waits += u64::from(entry["call"] == "vkWaitSemaphores" && came);
            calls.transfers += entry["transfers"].as_u64().unwrap_or(0);
            calls.modes += entry["modes"].as_u64().unwrap_or(0);
        }
        Ok(calls)
    }

    /// Returns the number of calls of a command.
    pub(super) fn of(&self, call: &str) -> u64 {
        self.counts.get(call).copied().unwrap_or(0)
    }
}

impl Program<'_> {
    /// Runs all situations, with present fences and with the history.
    ///
    /// # Errors
    /// When a run has another outcome; the error has its script.
    pub(crate) fn situations(&self) -> Result<String> {
        let log = paths::target("verify").join("faults.situations.json");
        let mut runs = 0;
        for situation in &SITUATIONS {
            for &fences in situation.proofs {
                runs += 1;
                let fault = Fault {
                    script: situation.script.to_owned(),
                    frames: situation.frames,
                    families: situation.families,
                    fences,
                    environment: situation.variables.to_vec(),
                };
                examples::forget(&log)?;
                let output = self
                    .run("faults-situations", &fault, Some(&log))
                    .with_context(|| format!("{fault:?}"))?;
                let calls = fs::read_to_string(&log).context("no log")?;
                let (counted, calls) = (Counted::read(&output)?, Calls::read(&calls)?);
                ensure!(
                    (situation.is_right)(&counted, &calls),
                    "{fault:?}: {counted:?} and {calls:?}, but {}",
                    situation.expected
                );
            }
        }
        Ok(format!("{runs} runs, by fences and by history"))
    }
}
