//! Decides whether a frame and its plan are cached.
//!
//! Caching copies the declarations, and holds references to the states before the frame. Most frames
//! repeat, so each new frame is cached, unless many in a row did not repeat. Then a frame is cached only
//! when its signature, a hash of its declarations, occurs a second time. A collision of signatures only
//! caches one more frame.

use std::collections::VecDeque;

use super::CACHED_PLANS;
use crate::frame::Frame;

/// Number of cached plans without a reuse after which a frame has to occur twice to be cached.
const MAX_MISSES: usize = 2 * CACHED_PLANS;

/// Statistics of recent frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Worth {
    /// Number of plans cached since the last reuse.
    in_vain: usize,
    /// The signatures of the last frames that were not cached.
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
        self.passed_over.truncate(CACHED_PLANS - 1);
        self.passed_over.push_front(signature);
        false
    }
}

/// A hash of a frame: equal for equal frames, and rarely equal for others.
pub(super) fn signature(frame: &Frame) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, next: u64| (sum.rotate_left(5) ^ next).wrapping_mul(FACTOR);
    let mut sums = [frame.uses.len() as u64, frame.passes.len() as u64, 0, 0];
    // Four independent sums, so that the latencies of their multiplications overlap.
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
