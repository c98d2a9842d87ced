//! Folders for the files of tests.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

/// Makes a new folder below the system's one for temporary files. Others may write there as well: the name cannot
/// be predicted, and nothing that waits by it is followed.
pub(crate) fn make(name: &str) -> PathBuf {
    // The standard library seeds these hashers by the system's generator.
    let random = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("quadrille-{name}-{random:016x}"));
    std::fs::create_dir(&folder).expect("a new folder can be made");
    folder
}
