//! Paths in the checkout.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Root of the checkout that cargo runs this tool for.
///
/// Without cargo, the root of the checkout that it was built from.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let here = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        here.ancestors().nth(2).unwrap_or(&here).to_owned()
    });
    &ROOT
}

/// Path of a generated file below `target/`.
///
/// Always in the checkout's own `target/`, even if cargo builds elsewhere, so that users find it.
pub(crate) fn target(path: &str) -> PathBuf {
    root().join("target").join(path)
}

/// Free space of the checkout's disk with its unit, such as `48G`; `None` if `df` fails or prints something else.
pub(crate) fn free_space() -> Option<String> {
    let output = Command::new("df")
        .args(["--human-readable", "--output=avail"])
        .arg(root())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.lines().nth(1)?.trim().to_owned())
}
