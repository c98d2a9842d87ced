//! Order in which runnable queues are served. Pure.
//!
//! Without a seed the answer is submission order, at once. With a seed every virtual queue has a
//! priority, and now and then all priorities are drawn again, rarely with some seeds and at every
//! choice with others: so a queue may starve until somebody waits for it, queues may alternate,
//! and every legal order has a chance.

use crate::queues::fifo::Ticket;

/// With a seed, how many submissions may be held although nobody waits.
const HELD_LIMIT: usize = 32;

/// At the rarest, one in this many choices draws all priorities again.
const RAREST_REDRAW: u64 = 8;

/// The order of forwarding.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Submission order, as early as possible.
    Eager,
    /// An order drawn from a seed, as late as the draw says.
    Seeded(Seeded),
}

/// The state of a seeded order.
#[derive(Debug)]
pub(crate) struct Seeded {
    random: Random,
    priorities: Vec<u64>,
    /// Mean number of choices between two draws of all priorities.
    redraw: u64,
}

impl Schedule {
    /// The order for `queue_count` queues.
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

    /// How many of `held` submissions to forward although nobody waits for one.
    pub(crate) fn unasked(&mut self, held: usize) -> usize {
        match self {
            Self::Eager => held,
            Self::Seeded(seeded) => {
                held.saturating_sub(HELD_LIMIT) + usize::from(seeded.random.below(4) == 0)
            }
        }
    }

    /// How many of `held` submissions to forward when the app looks at progress: at least one,
    /// so that an app that polls gets on.
    pub(crate) fn polled(&mut self, held: usize) -> usize {
        match self {
            Self::Eager => held,
            Self::Seeded(seeded) => {
                let bound = u64::try_from(held).unwrap_or(u64::MAX);
                let extra = seeded.random.below(bound.max(1));
                1 + usize::try_from(extra).unwrap_or(0)
            }
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to shuffle with.
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
