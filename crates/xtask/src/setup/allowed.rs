//! Messages of the validation layer that are allowed. Each entry has a reason, the newest layer that reports it, and an
//! expiry date.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use crate::setup::version::Version;

/// The list that programs are built with, documented at its top.
const LIST: &str = include_str!("../../../quadrille_vulkan/allowed_messages.txt");

/// The entries of the list; none if it is malformed, which [`check`] reports.
pub(crate) static ALLOWED: LazyLock<Vec<Entry>> = LazyLock::new(|| parse(LIST).unwrap_or_default());

/// An allowed message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    layer: Version,
    /// Year, month, day.
    until: [u32; 3],
}

/// Checks that every entry is complete, not expired, and about the current layer.
///
/// # Errors
/// Describes the first invalid entry.
pub(crate) fn check(layer: Version) -> Result<usize> {
    let entries = parse(LIST)?;
    judge(&entries, layer, today()?)?;
    Ok(entries.len())
}

fn judge(entries: &[Entry], layer: Version, today: [u32; 3]) -> Result<()> {
    for Entry {
        name,
        layer: seen,
        until,
    } in entries
    {
        let [year, month, day] = until;
        ensure!(
            today <= *until,
            "{name} was allowed until {year}-{month}-{day}: look at it again"
        );
        ensure!(
            layer <= *seen,
            "{name} is allowed for layers up to {seen}; this one is {layer}"
        );
    }
    Ok(())
}

fn parse(list: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (at, line) in list.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = parse_line(line).with_context(|| {
            format!(
                "allowed_messages.txt:{}: expected `name | layer | year-month-day | why`",
                at + 1
            )
        })?;
        entries.push(entry);
    }
    Ok(entries)
}

fn parse_line(line: &str) -> Result<Entry> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, layer, until, why] = fields[..] else {
        bail!("found {} fields", fields.len())
    };
    ensure!(
        !name.is_empty() && !why.is_empty(),
        "the name or the reason is empty"
    );
    ensure!(
        !name.starts_with("SYNC-HAZARD"),
        "hazards are what the layer is there for"
    );
    let layer = Version::parse(layer).with_context(|| format!("`{layer}` is no version"))?;
    let mut numbers = until.split('-').map(str::parse::<u32>);
    let mut number = || {
        numbers
            .next()
            .and_then(Result::ok)
            .context("the day is no day")
    };
    let until = [number()?, number()?, number()?];
    Ok(Entry {
        name: name.to_owned(),
        layer,
        until,
    })
}

/// Returns today's year, month and day in UTC.
fn today() -> Result<[u32; 3]> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the clock is wrong")?
        .as_secs();
    Ok(date(seconds / 86_400))
}

/// Returns the Gregorian date this number of days after 1970-01-01.
fn date(mut days: u64) -> [u32; 3] {
    let is_leap = |year: u32| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    [year, month, days as u32 + 1]
}

#[cfg(test)]
mod tests;
