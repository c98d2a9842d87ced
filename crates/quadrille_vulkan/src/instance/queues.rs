//! Choice of queues: from queue families and requested queues to a [`Topology`]. Pure.

use quadrille_sync::topology::{Capabilities, FamilyIndex, Queue, Topology};

use crate::error::SetupError;
use crate::instance::settings::WantedQueue;

/// A queue family of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// Capabilities of its queues, as the driver reports them.
    pub capabilities: Capabilities,
    /// Number of its queues.
    pub count: u32,
    /// Whether its queues can present.
    pub can_present: bool,
}

/// The letters of `QUADRILLE_QUEUES`, the same as in the text form of a topology.
const LETTERS: [(char, Capabilities); 7] = [
    ('g', Capabilities::GRAPHICS),
    ('c', Capabilities::COMPUTE),
    ('t', Capabilities::TRANSFER),
    ('s', Capabilities::SPARSE_BINDING),
    ('d', Capabilities::VIDEO_DECODE),
    ('e', Capabilities::VIDEO_ENCODE),
    ('o', Capabilities::OPTICAL_FLOW),
];

/// Takes a queue for each request that can be fulfilled, each queue once. The first request falls
/// back to any available queue, so the result is empty only if the device has no queue with any
/// capability. If none of the chosen queues presents, a presenting one is added.
pub(crate) fn choose(families: &[Family], wishes: &[WantedQueue]) -> Topology {
    let mut taken = vec![0u32; families.len()];
    let mut queues = Vec::new();
    for (position, wish) in wishes.iter().enumerate() {
        let family = match position {
            0 => main_family(families, wish.capabilities),
            _ => narrowest_family(families, &taken, wish.capabilities),
        };
        let Some(family) = family.filter(|_| queues.len() < Topology::MAX_QUEUES) else {
            continue;
        };
        queues.push(queue(families, family, taken[family]));
        taken[family] += 1;
    }
    let presents = queues.iter().any(|queue| queue.can_present);
    if let Some(family) = presenting_family(families).filter(|_| !presents && !queues.is_empty()) {
        queues.truncate(Topology::MAX_QUEUES - 1);
        queues.push(queue(families, family, 0));
    }
    Topology::new(queues)
}

fn queue(families: &[Family], family: usize, index: u32) -> Queue {
    Queue {
        family: FamilyIndex(family as u32),
        index,
        capabilities: with_implied(families[family].capabilities),
        can_present: families[family].can_present,
    }
}

/// Returns the first family that can present and execute commands, as needed to acquire ownership of images.
fn presenting_family(families: &[Family]) -> Option<usize> {
    families.iter().position(|family| {
        let can = with_implied(family.capabilities);
        family.count > 0 && family.can_present && can.contains(Capabilities::TRANSFER)
    })
}

/// Parses `QUADRILLE_QUEUES` and restricts the requested queues.
pub(crate) fn narrow(wishes: &[WantedQueue], value: &str) -> Result<Vec<WantedQueue>, SetupError> {
    let bad = || SetupError::Queues {
        value: value.to_owned(),
    };
    if let Ok(count) = value.parse::<usize>() {
        let kept: Vec<_> = wishes.iter().copied().take(count).collect();
        return if kept.is_empty() {
            Err(bad())
        } else {
            Ok(kept)
        };
    }
    let wish = |word: &str| {
        let mut capabilities = Capabilities::empty();
        for letter in word.trim().chars() {
            capabilities |= LETTERS.iter().find(|(known, _)| *known == letter)?.1;
        }
        (!capabilities.is_empty()).then_some(WantedQueue { capabilities })
    };
    value
        .split(',')
        .map(|word| wish(word).ok_or_else(bad))
        .collect()
}

/// Returns the family of the main queue: one with all requested capabilities that can present, else one with all
/// capabilities, else one with graphics, else compute, else any.
fn main_family(families: &[Family], wished: Capabilities) -> Option<usize> {
    let first = |fits: &dyn Fn(&Family) -> bool| {
        families
            .iter()
            .position(|family| family.count > 0 && fits(family))
    };
    let can =
        |family: &Family, what: Capabilities| with_implied(family.capabilities).contains(what);
    first(&|family| can(family, wished) && family.can_present)
        .or_else(|| first(&|family| can(family, wished)))
        .or_else(|| first(&|family| can(family, Capabilities::GRAPHICS)))
        .or_else(|| first(&|family| can(family, Capabilities::COMPUTE)))
        .or_else(|| first(&|family| can(family, Capabilities::TRANSFER)))
}

/// Returns the family with a queue left, the requested capabilities and the fewest others, so that a transfer request
/// gets the copy engine and not a graphics queue.
fn narrowest_family(families: &[Family], taken: &[u32], wished: Capabilities) -> Option<usize> {
    let fits = |&at: &usize| {
        let family = &families[at];
        taken[at] < family.count && with_implied(family.capabilities).contains(wished)
    };
    let surplus = |&at: &usize| {
        let extra = with_implied(families[at].capabilities).difference(wished);
        // Competition with the main queue counts most; sparse binding hardly distinguishes.
        (
            extra.contains(Capabilities::GRAPHICS),
            extra.bits().count_ones(),
        )
    };
    (0..families.len()).filter(fits).min_by_key(surplus)
}

/// Adds the transfer capability to graphics and compute queues, which may not report it (section "Queue
/// Family Properties").
fn with_implied(capabilities: Capabilities) -> Capabilities {
    if capabilities.intersects(Capabilities::GRAPHICS | Capabilities::COMPUTE) {
        capabilities | Capabilities::TRANSFER
    } else {
        capabilities
    }
}

#[cfg(test)]
mod tests;
