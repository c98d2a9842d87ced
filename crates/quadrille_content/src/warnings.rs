//! Rate-limited warnings about entities that cannot be drawn.
//!
//! Invalid entities (non-finite values, invalid sizes, indices out of bounds) are skipped with a warning and do not
//! fail the frame.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bevy_asset::{Asset, AssetId, AssetServer};
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_platform::time::Instant;
use quadrille::ecs::{ContentKind, DrawnContent, entity_label};

/// Least time between two warnings.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Delimiters of entity bits in a pending message, whose names are resolved when it is logged (Unicode private use
/// area).
const ENTITY_MARKS: [char; 2] = ['\u{E000}', '\u{E001}'];

/// Rate-limited log of warnings.
#[derive(Resource, Default)]
pub struct RateLimitedWarnings(Mutex<WarningLimiter>);

#[derive(Default)]
struct WarningLimiter {
    last: Option<Instant>,
    /// Number of warnings suppressed since the last one.
    suppressed: u64,
    /// Messages with unresolved entity names.
    pending: Vec<String>,
}

impl RateLimitedWarnings {
    /// Warns that `subject` is not drawn because of `reason`.
    pub fn warn(&self, subject: impl Display, reason: impl FnOnce() -> String) {
        self.warn_message(|| format!("{subject} is not drawn: {}", reason()));
    }

    /// Logs a warning, subject to the rate limit.
    pub fn warn_message(&self, message: impl FnOnce() -> String) {
        self.try_warn_message(message);
    }

    /// Logs a warning, subject to the rate limit. Returns whether it is logged.
    pub fn try_warn_message(&self, message: impl FnOnce() -> String) -> bool {
        let mut limiter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(suppressed) = limiter.next_warning(Instant::now()) else {
            return false;
        };
        let message = message();
        limiter.pending.push(match suppressed {
            0 => message,
            _ => format!("{message} ({suppressed} warnings suppressed)"),
        });
        true
    }

    /// Takes the pending messages.
    fn take(&self) -> Vec<String> {
        let mut limiter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut limiter.pending)
    }
}

/// Logs pending warnings. Names are resolved here, so that other systems need no query for them.
pub(crate) fn log_warnings(warnings: Res<RateLimitedWarnings>, names: Query<&Name>) {
    for message in warnings.take() {
        let message = resolve_entity_names(&message, |entity| {
            entity_label(entity, names.get(entity).ok())
        });
        tracing::warn!("{message}");
    }
}

/// Formats an entity in a message of [`RateLimitedWarnings`]: its `Name`, if any, and its id.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_content::warnings::{RateLimitedWarnings, entity_name};
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

/// Replaces the output of [`entity_name`] by names.
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

/// Warns of a component `C` with a material `M` that nothing in the app draws, once per type: an insertion hook for
/// generic components, given the name of `C` and the material that the plugin of this kind draws.
pub fn warn_undrawn_material<C: Component, M: Asset>(
    mut world: DeferredWorld,
    entity: Entity,
    kind: ContentKind,
    [component, drawn]: [&str; 2],
) {
    let Some(mut content) = world.get_resource_mut::<DrawnContent>() else {
        return;
    };
    // Without the plugin nothing of this kind is drawn, of which there is a warning.
    if !content.contains(kind) || content.contains_component::<C>() {
        return;
    }
    content.add_component::<C>();
    let label = entity_label(entity, world.get::<Name>(entity));
    let material = M::short_type_path();
    let advice = match kind {
        ContentKind::ThreeD => {
            format!("Add `MaterialPlugin::<{material}>::default()` to the app, or use")
        }
        _ => "Use".to_owned(),
    };
    tracing::warn!(
        "{label} has a `{component}<{material}>`, and nothing in this app draws it. {advice} `{component}<{drawn}>`; an app \
         that draws it by passes of its own says so with `DrawnContent::add_component::<{component}<{material}>>()`. \
         There is no further warning about this type"
    );
}

/// Describes an asset by type and path, or by its id if it has no path.
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
    /// Returns the number of suppressed warnings if a warning may be logged now, else `None`.
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

/// Whether all numbers are finite. Shaders may treat other values arbitrarily.
pub fn is_finite(numbers: &[f32]) -> bool {
    // Branch-free per number, for 100,000 instances.
    numbers
        .iter()
        .fold(true, |all, number| all & number.is_finite())
}

/// Describes the first non-finite value, or reports overflow if all are finite.
pub fn first_non_finite(values: &[(&str, &[f32])]) -> String {
    let is_odd = |(_, numbers): &&(&str, &[f32])| !numbers.iter().all(|number| number.is_finite());
    match values.iter().find(is_odd) {
        Some((name, numbers)) => format!("its {name} is {numbers:?}"),
        None => format!("its numbers are too large: {values:?}"),
    }
}

#[cfg(test)]
mod tests;
