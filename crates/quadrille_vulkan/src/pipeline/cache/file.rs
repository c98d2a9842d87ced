//! Files that are replaced as a whole: a complete one is written beside the old one, and renamed.
//!
//! A process that is killed meanwhile leaves the beginning of a file, which the next one that
//! starts takes away. Who writes holds a lock on his file, and locks end with their process: so what
//! nobody holds is nobody's.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";

/// Counts files written by this process.
static STORED: AtomicU64 = AtomicU64::new(0);

/// Replaces a file as a whole.
///
/// # Errors
/// What the file system says; then the file is as it was.
pub(super) fn store(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Other processes may write at the same time, and other devices of this one.
    let number = STORED.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let temporary = file.with_extension(format!("{process}-{number}.{UNFINISHED}"));
    let stored = write(&temporary, bytes);
    stored
        .and_then(|()| std::fs::rename(&temporary, file))
        .inspect_err(|_| {
            // What cannot be completed should not be left; if that fails too, so be it.
            let _ = std::fs::remove_file(&temporary);
        })
}

/// Writes a file that shows, while it lasts, that somebody is at it.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(file)?;
    // Where the file system knows no locks nothing can be said of others either, and nothing goes.
    let _ = file.try_lock();
    file.write_all(bytes)
}

/// Takes away what was never finished, of the files with names that begin so.
pub(super) fn sweep(folder: &Path, prefix: &str) {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in files.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_unfinished = path.extension().is_some_and(|end| end == UNFINISHED);
        if is_unfinished && name.starts_with(prefix) && is_nobodys(&path) {
            match std::fs::remove_file(&path) {
                Ok(()) => tracing::info!("{} was never finished; it is removed", path.display()),
                Err(error) => tracing::debug!("{} cannot be removed: {error}", path.display()),
            }
        }
    }
}

/// Whether the process that wrote a file is gone.
fn is_nobodys(file: &Path) -> bool {
    // Opened for both, so that a pipe in its place, which nobody reads, holds nobody up.
    let opened = OpenOptions::new().read(true).write(true).open(file);
    opened.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
