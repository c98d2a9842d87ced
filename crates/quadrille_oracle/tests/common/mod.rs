//! Settings from the environment.

use std::time::Duration;

/// A number from `QUADRILLE_ORACLE_` and the name.
pub fn setting(name: &str, default: u64) -> u64 {
    let found = std::env::var(format!("QUADRILLE_ORACLE_{name}")).ok();
    found.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How long a test may take.
pub fn seconds(default: u64) -> Duration {
    Duration::from_secs(setting("SECONDS", default))
}
