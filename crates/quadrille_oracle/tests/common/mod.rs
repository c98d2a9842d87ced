//! Settings from the environment.

/// A number from `QUADRILLE_ORACLE_` and the name.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    let found = std::env::var(format!("QUADRILLE_ORACLE_{name}")).ok();
    found.and_then(|text| text.parse().ok()).unwrap_or(default)
}
