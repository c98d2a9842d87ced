//! Telling of what entities hold that cannot be drawn.
//!
//! Such an entity is not drawn, and all others are: numbers that are not finite, sizes that make
//! no sense and places that do not exist end no frame.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;

/// There is one warning in this time at most, however many entities are wrong in however many
/// frames.
const PAUSE: Duration = Duration::from_secs(1);

/// What was said, and when.
#[derive(Resource, Default)]
pub struct Complaints(Mutex<Said>);

#[derive(Default)]
struct Said {
    last: Option<Instant>,
    /// How often something was left unsaid since.
    left_out: u64,
}

impl Complaints {
    /// Warns that something is not drawn; `what` follows its name.
    pub fn warn(&self, who: impl Display, what: impl FnOnce() -> String) {
        self.say(|| format!("{who} is not drawn: {}", what()));
    }

    /// Warns, unless there was a warning just now.
    pub fn say(&self, message: impl FnOnce() -> String) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(left_out) = said.say(Instant::now()) else {
            return;
        };
        let message = message();
        match left_out {
            0 => tracing::warn!("{message}"),
            _ => tracing::warn!("{message} ({left_out} warnings were left out)"),
        }
    }
}

impl Said {
    /// How many warnings were left out before one that may come now; none if it may not.
    fn say(&mut self, now: Instant) -> Option<u64> {
        let is_due = self.last.is_none_or(|last| now >= last + PAUSE);
        if !is_due {
            self.left_out += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

/// Whether all numbers are finite. What devices make of others is not defined.
pub fn is_finite(numbers: &[f32]) -> bool {
    // Without a branch for each, since there may be a hundred thousand of them.
    numbers
        .iter()
        .fold(true, |all, number| all & number.is_finite())
}

/// Names the first of some values that is not finite. If all are, they are too large together.
pub fn first_odd(values: &[(&str, &[f32])]) -> String {
    let is_odd = |(_, numbers): &&(&str, &[f32])| !numbers.iter().all(|number| number.is_finite());
    match values.iter().find(is_odd) {
        Some((name, numbers)) => format!("its {name} is {numbers:?}"),
        None => format!("its numbers are too large: {values:?}"),
    }
}

#[cfg(test)]
mod tests;
