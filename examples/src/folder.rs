//! Folders for temporary files.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

/// A path in the system's folder for temporary files, under a name that nobody can predict. Others may write
/// there as well, so make it with [`std::fs::create_dir`], which fails where something waits by that name.
pub fn unpredictable(purpose: &str) -> PathBuf {
    // The standard library seeds these hashers by the system's generator.
    let random = RandomState::new().hash_one(std::process::id());
    std::env::temp_dir().join(format!("quadrille-{purpose}-{random:016x}"))
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
