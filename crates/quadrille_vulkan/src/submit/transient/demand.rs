//! Memory demand of frames, to shrink blocks that are too large.

/// Number of frames over which the peak demand is measured. Demand that recurs within this window does not reallocate
/// the block.
const WINDOW: u32 = 240;

/// A block shrinks if the peak demand is at most 1 / `PART` of it, since shrinking recreates all its resources.
const PART: u64 = 2;

/// Blocks up to this size in bytes never shrink: the allocator's own blocks are larger.
const LEAST: u64 = 1 << 20;

/// Memory of a block that frames need, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// The current need, since resources were last placed.
    now: u64,
    /// The maximum since the window began.
    peak: u64,
    /// Frames since the window began.
    frames: u32,
}

impl Demand {
    /// Sets the current demand in bytes.
    pub(super) fn place(&mut self, bytes: u64) {
        self.now = bytes;
        self.peak = self.peak.max(bytes);
    }

    /// Counts a frame. Returns a sufficient size if a window ends in which a block of `held` bytes was much
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
