//! Which frames are worth keeping.
//!
//! To keep a frame with its plan means to copy what it declares and to hold on to the states that it
//! began with. Most frames repeat, so that is done for each new one; but not where frame after frame
//! has come that never came again. Then a frame is kept once it comes a second time, which a number
//! tells that is made of what it declares: if that were the same by chance, one frame more is kept.

use std::collections::VecDeque;

use super::KEPT;
use crate::frame::Frame;

/// So many plans may be kept for nothing before the next have to come twice.
const PATIENCE: usize = 2 * KEPT;

/// What is known of the frames planned last.
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

    /// Whether a frame is worth keeping, which was planned anew.
    pub(super) fn is_worth(&mut self, signature: u64) -> bool {
        if self.in_vain < PATIENCE || self.passed_over.contains(&signature) {
            self.in_vain += 1;
            return true;
        }
        self.passed_over.truncate(KEPT - 1);
        self.passed_over.push_front(signature);
        false
    }
}

/// A number that frames have in common if they are equal, and hardly ever otherwise.
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
