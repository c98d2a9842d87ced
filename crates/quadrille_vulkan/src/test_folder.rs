//! Temporary folders of tests.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

/// Creates a new folder in the system's temporary folder. Other users may write there too, so the name is
/// unpredictable, and an existing file or link of that name is an error.
pub(crate) fn make(name: &str) -> PathBuf {
    // The standard library seeds `RandomState` from the system's random generator.
    let random = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("quadrille-{name}-{random:016x}"));
    std::fs::create_dir(&folder).expect("a new folder can be made");
    folder
}
