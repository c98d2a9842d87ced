//! How much of a block frames need, and when it is too large.

/// How many frames are looked at together: what comes back within this time finds its memory still
/// there.
const WINDOW: u32 = 240;

/// The part of a block that has to be needless before it is worth making all that lies in it again.
const PART: u64 = 2;

/// Blocks of this many bytes and less stay as they are: the allocator has larger pieces.
const LEAST: u64 = 1 << 20;

/// Memory of a block that frames need, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// The current need, since resources were last placed.
    now: u64,
    /// The most since the window began.
    peak: u64,
    /// Frames since the window began.
    frames: u32,
}

impl Demand {
    /// Frames need so many bytes from now on.
    pub(super) fn place(&mut self, bytes: u64) {
        self.now = bytes;
        self.peak = self.peak.max(bytes);
    }

    /// Counts a frame. What suffices, if a window ends in which a block of so many bytes was much
    /// too large throughout.
    pub(super) fn count_frame(&mut self, held: u64) -> Option<u64> {
        self.frames += 1;
        if self.frames < WINDOW {
            return None;
        }
        let peak = std::mem::replace(&mut self.peak, self.now);
        self.frames = 0;
        (held > LEAST && peak <= held / PART).then_some(peak)
    }
}

#[cfg(test)]
#[path = "demand_tests.rs"]
mod tests;
