use std::fs::File;
use std::path::{Path, PathBuf};

use super::{store, sweep};

/// A folder of its own for a test; removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("quadrille-file-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn count(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn files_come_and_go_as_a_whole() {
    let folder = Folder::new("whole");
    let file = folder.0.join("pipelines.bin");
    for bytes in [b"one", b"two"] {
        store(&file, bytes).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        assert_eq!(folder.count(), 1, "a temporary file is left");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_no_more() {
    let folder = Folder::new("blocked");
    let file = folder.0.join("pipelines.bin");
    std::fs::write(&file, b"not a folder").unwrap();
    assert!(store(&file.join("pipelines.bin"), b"data").is_err());
}

#[test]
fn only_what_nobody_writes_any_more_is_taken_away() {
    let folder = Folder::new("swept");
    let at = |name: &str| folder.0.join(name);
    let kept = ["pipelines-1.bin", "pipelines.txt", "other-1.7-0.tmp"];
    let left = ["pipelines-1.7-0.tmp", "pipelines-2.7-1.tmp"];
    for name in kept.iter().chain(&left) {
        std::fs::write(at(name), b"half").unwrap();
    }
    let written = File::create(at("pipelines-1.8-0.tmp")).unwrap();
    written.lock().unwrap();
    sweep(&folder.0, "pipelines-");
    assert!(kept.iter().all(|name| at(name).exists()), "not ours");
    assert!(left.iter().all(|name| !at(name).exists()), "left over");
    assert!(at("pipelines-1.8-0.tmp").exists(), "somebody is at it");
    drop(written);
    sweep(&folder.0, "pipelines-");
    assert_eq!(folder.count(), kept.len(), "nobody is at it any more");
    sweep(Path::new("/no such folder"), "pipelines-");
}
