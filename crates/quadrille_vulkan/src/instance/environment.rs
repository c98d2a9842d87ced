//! Environment variables that override [`Settings`] without changing the program.

use quadrille_sync::topology::BarrierStyle;

use crate::error::SetupError;
use crate::instance::queues;
use crate::instance::settings::Settings;
use crate::instance::sharing::Sharing;

/// The values of a boolean variable.
const SWITCH: [(&str, bool); 2] = [("1", true), ("0", false)];

/// Overrides settings by the environment variables of this process.
///
/// # Errors
/// Returns an error for the first variable with an unknown value.
pub(crate) fn overrule(settings: &Settings) -> Result<Settings, SetupError> {
    overrule_by(settings, of_process)
}

/// Whether `QUADRILLE_PRESENT_FENCES=0` disables present fences, so that the code path without them can be
/// tested on any device.
///
/// # Errors
/// A value that is neither `1` nor `0`.
pub(crate) fn leaves_out_present_fences() -> Result<bool, SetupError> {
    Ok(choice(of_process, "QUADRILLE_PRESENT_FENCES", &SWITCH)? == Some(false))
}

/// Whether `QUADRILLE_PROGRESS=waited` is set: then only values that the host waited for count as reached. Frames are
/// planned as if earlier ones were still running as long as possible, even on a driver that completes each frame before
/// the next one begins.
///
/// # Errors
/// A value that is neither `waited` nor `read`.
pub(crate) fn counts_only_waits() -> Result<bool, SetupError> {
    let words = [("waited", true), ("read", false)];
    Ok(choice(of_process, "QUADRILLE_PROGRESS", &words)? == Some(true))
}

fn of_process(variable: &str) -> Option<String> {
    let value = std::env::var_os(variable)?;
    Some(value.to_string_lossy().into_owned())
}

fn overrule_by(
    settings: &Settings,
    read: impl Fn(&str) -> Option<String> + Copy,
) -> Result<Settings, SetupError> {
    let mut settings = settings.clone();
    if settings.device.is_none() {
        settings.device = set(read, "QUADRILLE_DEVICE");
    }
    if let Some(value) = set(read, "QUADRILLE_QUEUES") {
        settings.queues = queues::narrow(&settings.queues, &value)?;
    }
    if let Some(on) = choice(read, "QUADRILLE_VALIDATION", &SWITCH)? {
        settings.validation = on;
    }
    if let Some(on) = choice(read, "QUADRILLE_ALIASING", &SWITCH)? {
        settings.aliasing = Some(on);
    }
    if let Some(on) = choice(read, "QUADRILLE_AUTO_QUEUES", &SWITCH)? {
        settings.auto_queues = on;
    }
    if let Some(on) = choice(read, "QUADRILLE_CULL_PASSES", &SWITCH)? {
        settings.cull_passes = on;
    }
    let styles = [
        ("merged", BarrierStyle::Merged),
        ("precise", BarrierStyle::Precise),
    ];
    if let Some(style) = choice(read, "QUADRILLE_BARRIERS", &styles)? {
        settings.barriers = Some(style);
    }
    let modes = [
        ("exclusive", Sharing::Exclusive),
        ("concurrent", Sharing::Concurrent),
        ("auto", Sharing::Auto),
    ];
    if let Some(sharing) = choice(read, "QUADRILLE_SHARING", &modes)? {
        settings.sharing = sharing;
    }
    Ok(settings)
}

/// Returns a variable's value; an empty one counts as unset.
fn set(read: impl Fn(&str) -> Option<String>, variable: &str) -> Option<String> {
    read(variable).filter(|value| !value.is_empty())
}

/// Parses a variable with a fixed set of values.
fn choice<T: Copy>(
    read: impl Fn(&str) -> Option<String>,
    variable: &'static str,
    words: &[(&'static str, T)],
) -> Result<Option<T>, SetupError> {
    let Some(value) = set(read, variable) else {
        return Ok(None);
    };
    let known = words.iter().find(|(word, _)| *word == value);
    match known {
        Some(&(_, meaning)) => Ok(Some(meaning)),
        None => Err(SetupError::Environment {
            variable,
            value,
            words: words.iter().map(|(word, _)| *word).collect(),
        }),
    }
}

#[cfg(test)]
mod tests;
