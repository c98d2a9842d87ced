//! Where things lie in the checkout.

use std::path::{Path, PathBuf};

/// The root of the checkout this tool was built from.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// A path below `target/`, where everything goes that these commands make for themselves.
///
/// Always the checkout's own `target/`, also when cargo builds elsewhere: people look there.
pub(crate) fn made(path: &str) -> PathBuf {
    root().join("target").join(path)
}
