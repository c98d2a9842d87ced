//! Non-blocking reads and atomic writes of files.
//!
//! A complete file is written beside the old one and renamed, so a crash leaves the old one intact, and
//! several programs may write at once. A killed process leaves an incomplete temporary file. The writer
//! holds a lock on it, which ends with the process, so `sweep` can remove unlocked ones.
//!
//! Temporary files have random names, are created exclusively (`O_EXCL` follows no symbolic link) and are
//! renamed through the handle of their folder, so that another process cannot redirect the write (CWE-377, CWE-59).

mod folder;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::path::{Path, PathBuf};

use folder::Folder;

/// The extension of files that are being written.
const UNFINISHED: &str = "tmp";
/// Maximum length of a chain of symbolic links, as in Linux.
const MAX_LINKS: u32 = 40;
/// Maximum number of attempts to find an unused random name of 64 bits.
const MAX_NAMES: u32 = 16;

/// Writes a file atomically, and creates its folders.
///
/// A replaced file keeps its permissions, its owner if the system allows it, and the
/// symbolic links to it. Anything but a regular file (a device, a pipe) is written to and
/// never replaced, as are files in `/dev` and `/proc`, such as a redirected `/dev/stdout`.
/// Writing to a pipe blocks until it is read.
///
/// # Errors
/// Errors of the file system. A regular file is then unchanged, and the temporary file is removed.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    // Opening for append changes nothing, and fails if the file is not writable.
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

/// Creates a temporary file with a random name beside `name`. If `is_private`, only its owner may read it until it gets
/// the permissions of the file that it replaces.
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

/// Returns an unpredictable number: the standard library seeds `RandomState` by the system's random generator.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Resolves symbolic links of a path, whether or not the file exists.
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

/// Writes a temporary file under a lock, with the permissions and owner of the file that it replaces.
fn write_new(mut file: File, bytes: &[u8], replaced: Option<&Metadata>) -> Result<()> {
    // On file systems without locks `sweep` cannot lock files either, and removes none.
    let _ = file.try_lock();
    file.write_all(bytes)?;
    let Some(replaced) = replaced else {
        return Ok(());
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Only a privileged process may change the owner.
        let _ = fchown(&file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

/// Reads a regular file of at most `most_bytes` bytes.
///
/// Never blocks: pipes and devices are errors.
///
/// # Errors
/// Errors of the file system; [`ErrorKind::FileTooLarge`] for a larger file;
/// [`ErrorKind::InvalidInput`] for anything but a regular file.
pub fn read_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let (file, length) = open_regular(path, most_bytes)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow meanwhile, and files such as those in `/proc` report length 0.
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if read as u64 > most_bytes {
        return Err(too_large(most_bytes));
    }
    Ok(bytes)
}

/// Opens a regular file of at most `most_bytes` bytes without blocking, and returns its length.
///
/// # Errors
/// As for [`read_file`].
pub fn open_regular(path: &Path, most_bytes: u64) -> Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Without it, opening a pipe would block until there is a writer.
        options.custom_flags(libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    // Metadata of the open file, because the path may name another file by now.
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

/// Names a file type.
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

/// Removes abandoned temporary files whose names have this prefix.
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

/// Whether the process that wrote a temporary file has ended.
fn is_abandoned(file: &Path) -> bool {
    let mut options = OpenOptions::new();
    // For reading and writing, so that opening a pipe of this name does not block.
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A symbolic link of such a name was not created by `write_file`.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let opened = options.open(file);
    opened.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
