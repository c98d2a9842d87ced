//! Decides whether a frame is kept for reuse.
//!
//! Keeping a frame with its plan copies its declarations and holds the states that it began with.
//! Most frames repeat, so each new frame is kept, unless many frames in a row did not repeat. Then
//! a frame is kept only when its signature, a hash of its declarations, occurs a second time. A
//! collision of signatures only keeps one more frame.

use std::collections::VecDeque;

use super::KEPT;
use crate::frame::Frame;

/// After so many kept plans without a reuse, a frame has to occur twice to be kept.
const MAX_MISSES: usize = 2 * KEPT;

/// Statistics of the frames planned last.
#[derive(Clone, Debug, Default)]
pub(super) struct Worth {
    /// How many plans were kept since one was used again.
    in_vain: usize,
    /// The signatures of the last frames that were not kept.
    passed_over: VecDeque<u64>,
}

impl Worth {
    /// Notes that a plan was used again.
    pub(super) fn note_reuse(&mut self) {
        self.in_vain = 0;
    }

    /// Whether to keep a frame that needed a new plan.
    pub(super) fn is_worth(&mut self, signature: u64) -> bool {
        if self.in_vain < MAX_MISSES || self.passed_over.contains(&signature) {
            self.in_vain += 1;
            return true;
        }
        self.passed_over.truncate(KEPT - 1);
        self.passed_over.push_front(signature);
        false
    }
}

/// A hash of a frame: equal for equal frames, and rarely equal for others.
pub(super) fn signature(frame: &Frame) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, next: u64| (sum.rotate_left(5) ^ next).wrapping_mul(FACTOR);
    let mut sums = [frame.uses.len() as u64, frame.passes.len() as u64, 0, 0];
    // Four by four, for a product takes the processor longer than to begin the next.
    for uses in frame.uses.chunks(sums.len()) {
        for (sum, one) in sums.iter_mut().zip(uses) {
            *sum = mix(*sum, u64::from(one.resource.0));
        }
    }
    for passes in frame.passes.chunks(sums.len()) {
        for (sum, pass) in sums.iter_mut().zip(passes) {
            *sum = mix(*sum, u64::from(pass.cost_us));
        }
    }
    sums.into_iter().fold(0, mix)
}
