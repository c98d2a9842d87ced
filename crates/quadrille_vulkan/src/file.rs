//! Files: read without being held up, and replaced as a whole.
//!
//! A complete file is written beside the old one and renamed, so a crash leaves the old one, and
//! programs may write at once. A process that is killed meanwhile leaves the beginning of a file;
//! the writer holds a lock on it, and locks end with their process, so [`sweep`] finds what nobody
//! holds.
//!
//! Temporary files have random names, are created exclusively (`O_EXCL` follows no symbolic link) and are
//! renamed through the handle of their folder, so nobody else can redirect what is written (CWE-377, CWE-59).

mod folder;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::path::{Path, PathBuf};

use folder::Folder;

/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";
/// So many symbolic links may follow one another; Linux has the same limit.
const MAX_LINKS: u32 = 40;
/// Random names that are tried before giving up: two files would have to meet in 64 bits.
const MAX_NAMES: u32 = 16;

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
    let name = path.file_name().ok_or_else(|| {
        let message = format!("{} names no file; add a file name to it", path.display());
        Error::new(ErrorKind::InvalidInput, message)
    })?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent)?;
    let folder = Folder::open(parent)?;
    let (file, temporary) = create_temporary(&folder, name, replaced.is_some())?;
    let written = write_new(file, bytes, replaced.as_ref());
    written
        .and_then(|()| folder.rename(&temporary, name))
        .inspect_err(|_| {
            // Removes the incomplete file; an error of that is not reported, as the first error matters more.
            let _ = folder.remove(&temporary);
        })
}

/// Creates the file that takes the bytes, under a random name beside `name`. Where it replaces a file
/// nobody else may read it before it has that file's permissions.
fn create_temporary(folder: &Folder, name: &OsStr, is_private: bool) -> Result<(File, OsString)> {
    let mut tries = MAX_NAMES;
    loop {
        let mut temporary = name.to_owned();
        temporary.push(format!(".{:016x}.{UNFINISHED}", random()));
        match folder.create_new(&temporary, is_private) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && tries > 0 => tries -= 1,
            Err(error) => return Err(error),
        }
    }
}

/// A number that nobody can predict: the standard library seeds these hashers by the system's generator.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The path behind symbolic links, whether there is a file or not.
fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            return Ok(path);
        };
        path.pop();
        path.push(target);
    }
    Err(Error::other("too many symbolic links"))
}

/// Writes a file that shows, while it lasts, that somebody is at it, like the one that it replaces.
fn write_new(mut file: File, bytes: &[u8], replaced: Option<&Metadata>) -> Result<()> {
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

/// Reads a regular file of at most so many bytes.
///
/// Nothing holds the caller up: a pipe without a writer and a device without an end are errors.
///
/// # Errors
/// What the file system says; [`ErrorKind::FileTooLarge`] if it has more bytes than that;
/// [`ErrorKind::InvalidInput`] if it is no regular file.
pub fn read_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let (file, length) = open_regular(path, most_bytes)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow meanwhile, and files such as those in `/proc` have no length at first.
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if read as u64 > most_bytes {
        return Err(too_large(most_bytes));
    }
    Ok(bytes)
}

/// Opens a regular file of at most so many bytes and returns its length, as [`read_file`] does.
///
/// # Errors
/// As for [`read_file`].
pub fn open_regular(path: &Path, most_bytes: u64) -> Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Else opening a pipe would wait for a writer.
        options.custom_flags(libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    // Metadata of the open file: by now the path may lead to another.
    let known = file.metadata()?;
    if !known.is_file() {
        let kind = kind(known.file_type());
        let message = format!("it is no regular file but {kind}; name a regular file");
        return Err(Error::new(ErrorKind::InvalidInput, message));
    }
    if known.len() > most_bytes {
        return Err(too_large(most_bytes));
    }
    Ok((file, known.len()))
}

fn too_large(most_bytes: u64) -> Error {
    let message = format!("it has more than {most_bytes} bytes");
    Error::new(ErrorKind::FileTooLarge, message)
}

/// The kind of a file in words.
fn kind(of: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if of.is_fifo() {
            return "a pipe";
        }
        if of.is_socket() {
            return "a socket";
        }
        if of.is_char_device() || of.is_block_device() {
            return "a device";
        }
    }
    if of.is_dir() {
        "a directory"
    } else {
        "something else"
    }
}

/// Takes away what was never finished, of the files with names that begin so.
pub(crate) fn sweep(folder: &Path, prefix: &str) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in files.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_unfinished = path.extension().is_some_and(|end| end == UNFINISHED);
        if is_unfinished && name.starts_with(prefix) && is_abandoned(&path) {
            match fs::remove_file(&path) {
                Ok(()) => tracing::info!("{} was never finished; it is removed", path.display()),
                Err(error) => tracing::debug!("{} cannot be removed: {error}", path.display()),
            }
        }
    }
}

/// Whether the process that wrote a file is gone.
fn is_abandoned(file: &Path) -> bool {
    let mut options = OpenOptions::new();
    // Opened for both, so that a pipe in its place, which nobody reads, holds nobody up.
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A link of such a name was made by somebody else, and leads to a file that is none of ours.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let opened = options.open(file);
    opened.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
