//! Order in which runnable queues are forwarded. Pure.
//!
//! Without a seed, submissions are forwarded at once in submission order. With a seed, every virtual queue has a random
//! priority, and priorities are redrawn, rarely with some seeds and at every choice with others. So a queue may starve
//! until the app waits for it, queues may alternate, and every legal order is possible.

use crate::queues::fifo::Ticket;

/// With a seed, number of submissions that may be held while the app does not wait.
const PENDING_LIMIT: usize = 32;

/// Upper bound of the mean number of choices between redraws.
const RAREST_REDRAW: u64 = 8;

/// The order of forwarding.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Submission order, as early as possible.
    Eager,
    /// An order from a seed, with random delays.
    Seeded(Seeded),
}

/// The state of a seeded order.
#[derive(Debug)]
pub(crate) struct Seeded {
    random: Random,
    priorities: Vec<u64>,
    /// Mean number of choices between redraws of all priorities.
    redraw: u64,
}

impl Schedule {
    /// Creates the schedule of `queue_count` queues.
    pub(crate) fn new(seed: Option<u64>, queue_count: usize) -> Self {
        let Some(seed) = seed else { return Self::Eager };
        let mut random = Random(seed);
        let priorities = (0..queue_count).map(|_| random.next()).collect();
        let redraw = 1 + random.below(RAREST_REDRAW);
        Self::Seeded(Seeded {
            random,
            priorities,
            redraw,
        })
    }

    /// Chooses among the heads that may be forwarded.
    pub(crate) fn choose(&mut self, heads: &[(usize, Ticket)]) -> Option<usize> {
        match self {
            Self::Eager => heads.iter().min_by_key(|(_, ticket)| *ticket),
            Self::Seeded(seeded) => {
                if seeded.random.below(seeded.redraw) == 0 {
                    for priority in &mut seeded.priorities {
                        *priority = seeded.random.next();
                    }
                }
                heads
                    .iter()
                    .max_by_key(|(queue, _)| seeded.priorities[*queue])
            }
        }
        .map(|(queue, _)| *queue)
    }

    /// Returns how many of `pending` submissions to forward while the app does not wait.
    pub(crate) fn unasked(&mut self, pending: usize) -> usize {
        match self {
            Self::Eager => pending,
            Self::Seeded(seeded) => {
                pending.saturating_sub(PENDING_LIMIT) + usize::from(seeded.random.below(4) == 0)
            }
        }
    }

    /// Returns how many of `pending` submissions to forward when the app polls: at least one, so that a polling app makes
    /// progress.
    pub(crate) fn polled(&mut self, pending: usize) -> usize {
        match self {
            Self::Eager => pending,
            Self::Seeded(seeded) => {
                let bound = u64::try_from(pending).unwrap_or(u64::MAX);
                let extra = seeded.random.below(bound.max(1));
                1 + usize::try_from(extra).unwrap_or(0)
            }
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough for shuffling.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[cfg(test)]
mod tests;
