use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{read_file, sweep, write_file};

/// Temporary folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(crate::test_folder::make(name))
    }

    fn count(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn files_come_and_go_as_a_whole() {
    let folder = Folder::new("whole");
    let file = folder.0.join("pipelines.bin");
    for bytes in [b"one", b"two"] {
        write_file(&file, bytes).unwrap();
        assert_eq!(fs::read(&file).unwrap(), bytes);
        assert_eq!(folder.count(), 1, "a temporary file is left");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_no_more() {
    let folder = Folder::new("blocked");
    let file = folder.0.join("pipelines.bin");
    fs::write(&file, b"not a folder").unwrap();
    assert!(write_file(&file.join("pipelines.bin"), b"data").is_err());
}

#[test]
fn only_temporary_files_without_a_writer_are_removed() {
    let folder = Folder::new("swept");
    let at = |name: &str| folder.0.join(name);
    let kept = ["pipelines-1.bin", "pipelines.txt", "other-1.7-0.tmp"];
    let left = ["pipelines-1.7-0.tmp", "pipelines-2.7-1.tmp"];
    for name in kept.iter().chain(&left) {
        fs::write(at(name), b"half").unwrap();
    }
    let written = File::create(at("pipelines-1.8-0.tmp")).unwrap();
    written.lock().unwrap();
    sweep(&folder.0, "pipelines-");
    assert!(kept.iter().all(|name| at(name).exists()), "not ours");
    assert!(left.iter().all(|name| !at(name).exists()), "left over");
    assert!(at("pipelines-1.8-0.tmp").exists(), "somebody is at it");
    // Explicitly unlocked: a child process of another test may inherit the descriptor for a moment.
    written.unlock().unwrap();
    sweep(&folder.0, "pipelines-");
    assert_eq!(folder.count(), kept.len(), "nobody is at it any more");
    sweep(Path::new("/no such folder"), "pipelines-");
}

/// A target that is not a regular file is kept, and receives the bytes.
#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_written_to() {
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    let folder = Folder::new("pipe");
    let link = folder.0.join("link");
    for (device, has_room) in [("/dev/full", false), ("/dev/null", true)] {
        // By a link, so that a faulty replacement would not remove a device file of the machine.
        symlink(device, &link).unwrap();
        assert_eq!(write_file(&link, b"data").is_ok(), has_room, "{device}");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(device));
        let kind = fs::symlink_metadata(device).unwrap().file_type();
        assert!(kind.is_char_device(), "{device} is replaced");
        fs::remove_file(&link).unwrap();
    }

    let pipe = folder.0.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success(), "there is no pipe");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write_file(&pipe, b"data").unwrap();
    // A replaced pipe would leave the reader waiting forever.
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), b"data");
    assert_eq!(folder.count(), 1, "something is left beside it");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = Folder::new("links");
    let file = folder.0.join("report.json");
    fs::write(&file, b"old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.join("link.json");
    symlink("report.json", &link).unwrap();
    write_file(&link, b"new").unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("report.json"));
    assert_eq!(fs::read(&file).unwrap(), b"new");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    let dangling = folder.0.join("later.json");
    symlink("folder/made later.json", &dangling).unwrap();
    write_file(&dangling, b"data").unwrap();
    let behind = folder.0.join("folder/made later.json");
    assert_eq!(fs::read(behind).unwrap(), b"data");
    assert!(fs::read_link(&dangling).is_ok(), "the link is replaced");
    let circle = folder.0.join("circle");
    symlink("circle", &circle).unwrap();
    assert!(write_file(&circle, b"data").is_err(), "a link to itself");
}

/// Folder in which the child process without disk space writes.
const NO_ROOM: &str = "QUADRILLE_TEST_NO_ROOM";

/// Runs this test in a child process whose limit of file sizes is 0.
#[cfg(unix)]
#[test]
fn where_there_is_no_room_nothing_is_left() {
    if let Some(folder) = std::env::var_os(NO_ROOM) {
        let folder = Path::new(&folder);
        for file in ["old", "new"] {
            assert!(write_file(&folder.join(file), b"data").is_err());
        }
        return;
    }
    let folder = Folder::new("no-room");
    let old = folder.0.join("old");
    fs::write(&old, b"what was there").unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "file::tests::where_there_is_no_room_nothing_is_left",
        ])
        .env(NO_ROOM, &folder.0)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success(), "it could write");
    assert_eq!(fs::read(&old).unwrap(), b"what was there");
    assert_eq!(folder.count(), 1, "a part of a file is left");
}

/// Names of temporary files are random and files are created exclusively. So links placed at the names that a counter
/// would produce are followed neither by writing nor by sweeping.
#[cfg(unix)]
#[test]
fn links_in_place_of_temporary_files_are_not_followed() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("waiting");
    let other = folder.0.join("other");
    fs::write(&other, b"of somebody else").unwrap();
    let file = folder.0.join("pipelines.bin");
    for number in 0..512 {
        let name = format!("pipelines.bin.{}-{number}.tmp", std::process::id());
        symlink(&other, folder.0.join(name)).unwrap();
    }
    write_file(&file, b"data").unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"of somebody else");
    assert_eq!(fs::read(&file).unwrap(), b"data");
    sweep(&folder.0, "pipelines");
    assert_eq!(fs::read(&other).unwrap(), b"of somebody else");
    assert_eq!(folder.count(), 2 + 512, "links are not ours to remove");
}

/// A private file stays private while it is replaced.
#[cfg(unix)]
#[test]
fn temporary_files_of_private_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new("private");
    let open = super::Folder::open(&folder.0).unwrap();
    let (file, name) = super::create_temporary(&open, "secret".as_ref(), true).unwrap();
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let (_, second) = super::create_temporary(&open, "secret".as_ref(), true).unwrap();
    assert_ne!(name, second);
}

/// Reading pipes fails without blocking, and reading devices fails without exhausting memory.
#[cfg(target_os = "linux")]
#[test]
fn pipes_devices_and_long_files_are_not_read() {
    use std::io::ErrorKind;

    let folder = Folder::new("endless");
    let pipe = folder.0.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (path, kind) in [
        (&*pipe, "a pipe"),
        (Path::new("/dev/zero"), "a device"),
        (&*folder.0, "a directory"),
    ] {
        let error = read_file(path, 16).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let said = format!("it is no regular file but {kind}; name a regular file");
        assert_eq!(error.to_string(), said);
    }
    let long = folder.0.join("long");
    fs::write(&long, [0; 17]).unwrap();
    let error = read_file(&long, 16).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(read_file(&long, 17).unwrap().len(), 17);
    // The system reports length 0 for this file, but it has contents.
    assert!(
        read_file(Path::new("/proc/self/status"), 1 << 16)
            .unwrap()
            .len()
            > 100
    );
    let error = read_file(Path::new("/proc/self/status"), 100).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
}
