//! The contestants of `frame_bench`: Quadrille in several ways, and what they are compared with.
//!
//! Every contestant runs the same [`Workload`], a frame at a time, and says what each part of the
//! frame took. They take turns in one process, so that whatever disturbs the machine disturbs all.

mod engine;
mod floor;
mod mode;
mod null;
mod report;
mod systems;
mod tables;
mod watched;

use std::error::Error;

use quadrille_bench::{Contents, FrameTimes, HandWritten, Line, Medians, Workload};

pub use engine::Engine;
pub use floor::Floor;
pub use mode::Mode;
pub use null::run_below_null;
pub use report::{Measured, report};
pub use systems::Systems;
pub use tables::tables;

/// Result of a contestant's calls.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// One way to run the frame.
pub trait Contestant {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Runs a frame to its end on the device.
    fn frame(&mut self) -> Outcome<FrameTimes>;

    /// Returns the contents after all frames so far; none where nothing is computed. No frame follows.
    fn contents(&mut self) -> Outcome<Option<Contents>>;

    /// Returns the expected contents after so many frames.
    fn expected(&self, workload: &Workload, frames: u64) -> Contents {
        workload.simulate(frames)
    }

    /// Returns the counts of its frames, if it knows them.
    fn counts(&self) -> Option<Counts> {
        None
    }
}

/// Counts of Vulkan commands in a frame, by the contestant's own account; the test layer's log has them
/// from the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `vkCmdPipelineBarrier2` calls.
    pub barrier_calls: u32,
    /// Barriers in them.
    pub barriers: u32,
    /// Submissions.
    pub submissions: u32,
    /// Command buffers.
    pub command_buffers: u32,
}

impl Contestant for HandWritten {
    fn name(&self) -> &'static str {
        self.line().name()
    }

    fn frame(&mut self) -> Outcome<FrameTimes> {
        Ok(HandWritten::frame(self)?)
    }

    fn contents(&mut self) -> Outcome<Option<Contents>> {
        Ok(Some(HandWritten::contents(self)?))
    }
}

/// The hand-written lines on a device.
///
/// # Errors
/// A Vulkan call fails.
pub fn hand_written(workload: &Workload, device: &str) -> Outcome<Vec<Box<dyn Contestant>>> {
    let make = |line| -> Outcome<Box<dyn Contestant>> {
        Ok(Box::new(HandWritten::new(line, workload, device)?))
    };
    Line::ALL.into_iter().map(make).collect()
}

/// How many turns everybody has.
const TURNS: u64 = 10;

/// Runs all contestants in turns: `warmup` frames each, then `frames` that count.
///
/// # Errors
/// A contestant fails.
pub fn compete(
    contestants: &mut [Box<dyn Contestant>],
    warmup: u64,
    frames: u64,
) -> Outcome<Vec<Medians>> {
    let mut medians = vec![Medians::default(); contestants.len()];
    for contestant in contestants.iter_mut() {
        for _ in 0..warmup {
            contestant.frame()?;
        }
    }
    for turn in 0..TURNS {
        let (from, to) = (frames * turn / TURNS, frames * (turn + 1) / TURNS);
        for (contestant, medians) in contestants.iter_mut().zip(&mut medians) {
            for at in from..to {
                let times = contestant.frame()?;
                // The first after somebody else finds cold caches.
                if at > from || to - from < 3 {
                    medians.add(times);
                }
            }
        }
    }
    Ok(medians)
}
