//! Files: read without being held up, and replaced as a whole.
//!
//! A complete file is written beside the old one and renamed, so a crash leaves the old one, and
//! programs may write at once. A process that is killed meanwhile leaves the beginning of a file;
//! the writer holds a lock on it, and locks end with their process, so [`sweep`] finds what nobody
//! holds.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";
/// So many symbolic links may follow one another; Linux has the same limit.
const MOST_LINKS: u32 = 40;

/// Counts files written by this process.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes a file whole or not at all, and the folders that it is in.
///
/// A file that is replaced keeps its permissions, its owner where the system allows it, and the
/// symbolic links that lead to it. What is no regular file (a device, a pipe) is written to and
/// never replaced, as is what lies in `/dev` and `/proc`: `/dev/stdout` leads to a file if the
/// shell says so. A pipe holds the caller up until somebody reads it.
///
/// # Errors
/// What the file system says; a regular file is then as it was, and nothing lies beside it.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    // Opened to append, which changes nothing yet and fails for what must not be written.
    let replaced = match OpenOptions::new().append(true).open(path) {
        Ok(mut open) => {
            let known = open.metadata()?;
            let in_place = ["/dev", "/proc"];
            if !known.is_file() || in_place.iter().any(|folder| path.starts_with(folder)) {
                return open.write_all(bytes);
            }
            Some(known)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let path = follow_links(path)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut temporary = path.clone().into_os_string();
    // Other processes may write at the same time, and other threads of this one.
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    temporary.push(format!(".{}-{number}.{UNFINISHED}", std::process::id()));
    let written = write_new(temporary.as_ref(), bytes, replaced.as_ref());
    written
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| {
            // What cannot be completed should not be left; if that fails too, so be it.
            let _ = fs::remove_file(&temporary);
        })
}

/// The path behind symbolic links, whether there is a file or not.
fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            return Ok(path);
        };
        path.pop();
        path.push(target);
    }
    Err(Error::other("too many symbolic links"))
}

/// Writes a file that shows, while it lasts, that somebody is at it, like the one that it replaces.
fn write_new(path: &Path, bytes: &[u8], replaced: Option<&Metadata>) -> Result<()> {
    let mut file = File::create(path)?;
    // Where the file system knows no locks nothing can be said of others either, and nothing goes.
    let _ = file.try_lock();
    file.write_all(bytes)?;
    let Some(replaced) = replaced else {
        return Ok(());
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Only a privileged process may give files away; anybody else's file is its own.
        let _ = fchown(&file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

/// Reads a regular file.
///
/// # Errors
/// What the file system says; [`ErrorKind::FileTooLarge`] if it has more bytes than that;
/// [`ErrorKind::InvalidInput`] if it is no regular file: a device might have no end, a pipe no
/// writer.
pub(crate) fn read_regular(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Else opening a pipe would wait for a writer.
        options.custom_flags(libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    // Of the file that is open: by now the path may lead to another.
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if read as u64 > most_bytes {
        let message = format!("it has more than {most_bytes} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Takes away what was never finished, of the files with names that begin so.
pub(crate) fn sweep(folder: &Path, prefix: &str) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in files.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_unfinished = path.extension().is_some_and(|end| end == UNFINISHED);
        if is_unfinished && name.starts_with(prefix) && is_nobodys(&path) {
            match fs::remove_file(&path) {
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
