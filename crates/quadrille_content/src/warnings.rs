//! Telling of what entities hold that cannot be drawn.
//!
//! Such an entity is not drawn, and all others are: numbers that are not finite, sizes that make
//! no sense and places that do not exist end no frame.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bevy_asset::{Asset, AssetId, AssetServer};
use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;
use quadrille::ecs::entity_label;

/// There is one warning in this time at most, however many entities are wrong in however many
/// frames.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Enclose the bits of an entity in a message that waits for its names; from the area that Unicode leaves to
/// private use.
const ENTITY_MARKS: [char; 2] = ['\u{E000}', '\u{E001}'];

/// Warnings that are logged at a limited rate.
#[derive(Resource, Default)]
pub struct RateLimitedWarnings(Mutex<WarningLimiter>);

#[derive(Default)]
struct WarningLimiter {
    last: Option<Instant>,
    /// How often something was left unsaid since.
    suppressed: u64,
    /// Messages whose entities have no names yet.
    pending: Vec<String>,
}

impl RateLimitedWarnings {
    /// Warns that something is not drawn; `what` follows its name.
    pub fn warn(&self, who: impl Display, what: impl FnOnce() -> String) {
        self.warn_message(|| format!("{who} is not drawn: {}", what()));
    }

    /// Warns, unless there was a warning just now.
    pub fn warn_message(&self, message: impl FnOnce() -> String) {
        self.try_warn_message(message);
    }

    /// Warns, unless there was a warning just now. Returns whether the log gets it.
    pub fn try_warn_message(&self, message: impl FnOnce() -> String) -> bool {
        let mut limiter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(suppressed) = limiter.next_warning(Instant::now()) else {
            return false;
        };
        let message = message();
        limiter.pending.push(match suppressed {
            0 => message,
            _ => format!("{message} ({suppressed} warnings were left out)"),
        });
        true
    }

    /// Takes the messages that are due.
    fn take(&self) -> Vec<String> {
        let mut limiter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut limiter.pending)
    }
}

/// Logs the warnings that systems gave. Names are looked up here, so that those systems need not ask for them.
pub(crate) fn log_warnings(warnings: Res<RateLimitedWarnings>, names: Query<&Name>) {
    for message in warnings.take() {
        let message = resolve_entity_names(&message, |entity| {
            entity_label(entity, names.get(entity).ok())
        });
        tracing::warn!("{message}");
    }
}

/// Names an entity in a message of [`RateLimitedWarnings`]: by its `Name` where it has one, and by its id.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_content::{RateLimitedWarnings, entity_name};
/// fn check(lamps: Query<(Entity, &Transform)>, warnings: Res<RateLimitedWarnings>) {
///     for (lamp, transform) in &lamps {
///         if !transform.0.is_finite() {
///             warnings.warn(format_args!("the lamp {}", entity_name(lamp)), || "it has no position".to_owned());
///         }
///     }
/// }
/// # #[derive(Component)]
/// # struct Transform(f32);
/// ```
pub fn entity_name(entity: Entity) -> impl Display {
    std::fmt::from_fn(move |to| {
        let [begin, end] = ENTITY_MARKS;
        write!(to, "{begin}{}{end}", entity.to_bits())
    })
}

/// Puts names in place of what [`entity_name`] wrote.
fn resolve_entity_names(message: &str, label: impl Fn(Entity) -> String) -> String {
    let [begin, end] = ENTITY_MARKS;
    let mut parts = message.split(begin);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (bits, rest) = part.split_once(end).unwrap_or((part, ""));
        let entity = bits.parse().ok().and_then(Entity::try_from_bits);
        result += &entity.map_or_else(|| bits.to_owned(), &label);
        result += rest;
    }
    result
}

/// Names an asset by its path, and one without a path by its type and how it came to be.
pub fn asset_label<A: Asset>(id: AssetId<A>, server: &AssetServer) -> String {
    let kind = A::short_type_path();
    if let Some(path) = server.get_path(id) {
        return format!("the {kind} `{path}`");
    }
    match id {
        AssetId::Index { index, .. } => {
            format!("the {kind} that the program added ({index:?}, no path)")
        }
        _ if id == AssetId::default() => format!("the default `Handle<{kind}>`"),
        AssetId::Uuid { uuid } => format!("the {kind} with the UUID {uuid}"),
    }
}

impl WarningLimiter {
    /// How many warnings were left out before one that may come now; none if it may not.
    fn next_warning(&mut self, now: Instant) -> Option<u64> {
        let is_due = self.last.is_none_or(|last| now >= last + MIN_INTERVAL);
        if !is_due {
            self.suppressed += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.suppressed))
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
pub fn first_non_finite(values: &[(&str, &[f32])]) -> String {
    let is_odd = |(_, numbers): &&(&str, &[f32])| !numbers.iter().all(|number| number.is_finite());
    match values.iter().find(is_odd) {
        Some((name, numbers)) => format!("its {name} is {numbers:?}"),
        None => format!("its numbers are too large: {values:?}"),
    }
}

#[cfg(test)]
mod tests;
