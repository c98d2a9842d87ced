//! Handle of a folder in which files are created, renamed and removed by name (POSIX `openat`, `renameat`,
//! `unlinkat`). All three act on the same folder even if its path changes meanwhile.

#[cfg(unix)]
pub(super) use unix::Folder;

#[cfg(not(unix))]
pub(super) use other::Folder;

#[cfg(unix)]
mod unix {
    use std::ffi::{CString, OsStr};
    use std::fs::{File, OpenOptions};
    use std::io::{Error, Result};
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;

    pub(in super::super) struct Folder(File);

    impl Folder {
        pub(in super::super) fn open(path: &Path) -> Result<Self> {
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_DIRECTORY);
            options.open(path).map(Self)
        }

        /// Creates a new file; an existing file or symbolic link with that name is an error.
        pub(in super::super) fn create_new(&self, name: &OsStr, is_private: bool) -> Result<File> {
            let name = c_string(name)?;
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
            let mode: libc::c_uint = if is_private { 0o600 } else { 0o666 };
            // SAFETY: the name is NUL-terminated, and the folder is open as long as `self`.
            let file = unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode) };
            if file < 0 {
                return Err(Error::last_os_error());
            }
            // SAFETY: `openat` has just returned this descriptor, so nothing else owns it.
            Ok(File::from(unsafe { OwnedFd::from_raw_fd(file) }))
        }

        /// Renames a file, and replaces any file of the new name.
        pub(in super::super) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
            let (from, to) = (c_string(from)?, c_string(to)?);
            let folder = self.0.as_raw_fd();
            // SAFETY: the names are NUL-terminated, and the folder is open as long as `self`.
            check(unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) })
        }

        pub(in super::super) fn remove(&self, name: &OsStr) -> Result<()> {
            let name = c_string(name)?;
            // SAFETY: the name is NUL-terminated, and the folder is open as long as `self`.
            check(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) })
        }
    }

    fn c_string(name: &OsStr) -> Result<CString> {
        Ok(CString::new(name.as_bytes())?)
    }

    fn check(returned: libc::c_int) -> Result<()> {
        if returned < 0 {
            Err(Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

#[cfg(not(unix))]
mod other {
    use std::ffi::OsStr;
    use std::fs::{self, File, OpenOptions};
    use std::io::Result;
    use std::path::{Path, PathBuf};

    pub(in super::super) struct Folder(PathBuf);

    impl Folder {
        pub(in super::super) fn open(path: &Path) -> Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(in super::super) fn create_new(&self, name: &OsStr, _is_private: bool) -> Result<File> {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            options.open(self.0.join(name))
        }

        pub(in super::super) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(in super::super) fn remove(&self, name: &OsStr) -> Result<()> {
            fs::remove_file(self.0.join(name))
        }
    }
}
