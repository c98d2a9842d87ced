//! The pipeline cache on disk: whatever is wrong with it, the program runs, and the file is good
//! again afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use quadrille_vulkan::{ComputePipelineDesc, GpuShader, Settings};

use crate::rig::{Rig, settings};

/// Where the file's fields are: see the form in `pipeline/cache.rs`.
const VENDOR: usize = 8;
const DEVICE: usize = 12;
const DRIVER: usize = 16;
const UUID: usize = 20;
const LENGTH: usize = 36;
const HASH: usize = 44;
const PAYLOAD: usize = 52;

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("quadrille-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // Left over from a process of the same number.
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles a pipeline on a device that keeps its cache in a folder.
fn run(folder: &Path) {
    let rig = Rig::with(&Settings {
        pipeline_cache: Some(folder.to_owned()),
        ..settings()
    });
    let shader = GpuShader::wgsl("idle", "@compute @workgroup_size(1) fn main() {}").unwrap();
    let pipeline = rig
        .gpu
        .compute_pipeline(&ComputePipelineDesc::of("idle", &shader))
        .unwrap();
    pipeline.wait().unwrap();
    assert!(pipeline.is_ready());
}

/// The one file in a folder.
fn only_file(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 1, "one file for one device: {files:?}");
    files[0].clone()
}

/// Whether a file has our form, and as many bytes as it says.
fn is_whole(bytes: &[u8]) -> bool {
    let length = bytes
        .get(LENGTH..HASH)
        .and_then(|field| field.first_chunk());
    length.is_some_and(|field| u64::from_le_bytes(*field) == (bytes.len() - PAYLOAD) as u64)
        && bytes.starts_with(b"QUADRPC")
}

#[test]
#[ignore = "needs a Vulkan device"]
fn damage_is_ignored_and_mended() {
    let folder = Folder::new("damage");
    run(&folder.0);
    let file = only_file(&folder.0);
    let whole = fs::read(&file).unwrap();
    assert!(is_whole(&whole) && whole.len() > PAYLOAD);
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let mut claims = whole.clone();
    claims[LENGTH..HASH].copy_from_slice(&(2_u64 << 30).to_le_bytes());
    let driver_alone = whole[PAYLOAD..].to_vec();
    let twice = [&whole[..], &whole[..]].concat();
    let cases: [(&str, Vec<u8>); 14] = [
        ("empty", Vec::new()),
        ("one byte", whole[..1].to_vec()),
        ("half a header", whole[..31].to_vec()),
        ("a header alone", whole[..PAYLOAD].to_vec()),
        ("written by half", whole[..whole.len() / 2].to_vec()),
        ("another magic", flipped(0)),
        ("another vendor", flipped(VENDOR)),
        ("another device", flipped(DEVICE)),
        ("another driver version", flipped(DRIVER)),
        ("another UUID", flipped(UUID)),
        ("another hash", flipped(HASH)),
        ("another payload", flipped(whole.len() - 1)),
        ("claims 2 GiB", claims),
        ("the driver's data without our header", driver_alone),
    ];
    for (name, damaged) in cases.into_iter().chain([("twice itself", twice)]) {
        fs::write(&file, &damaged).unwrap();
        run(&folder.0);
        let mended = fs::read(only_file(&folder.0)).unwrap();
        assert!(mended != damaged && is_whole(&mended), "{name}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn what_cannot_be_read_or_written_is_done_without() {
    let folder = Folder::new("blocked");
    run(&folder.0);
    let file = only_file(&folder.0);

    // A process that was killed while it wrote leaves a part of a file beside the good one.
    let left_over = folder.0.join("pipelines-killed.0.tmp");
    fs::write(&left_over, b"QUADRPC1 and no more").unwrap();
    run(&folder.0);
    assert_eq!(only_file(&folder.0), file, "what was left over is gone");
    assert!(is_whole(&fs::read(&file).unwrap()));

    // Larger than any cache: not even read.
    let huge = fs::OpenOptions::new().write(true).open(&file).unwrap();
    huge.set_len(3 << 30).unwrap();
    drop(huge);
    run(&folder.0);
    assert!(is_whole(&fs::read(&file).unwrap()), "it is replaced");

    // A folder where the file should be, and a file where the folder should be.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    run(&folder.0);
    assert!(
        file.is_dir() && only_file(&folder.0) == file,
        "nothing is left beside it"
    );

    // A pipe there, which nobody writes, and a link to what has no end.
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = |file: &Path| fs::symlink_metadata(file).unwrap().file_type();
        fs::remove_dir(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success(), "there is no pipe");
        run(&folder.0);
        assert!(kind(&only_file(&folder.0)).is_fifo(), "it stays a pipe");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        run(&folder.0);
        assert!(kind(&only_file(&folder.0)).is_symlink(), "it stays a link");
    }
    let blocked = Folder::new("file");
    fs::write(&blocked.0, b"no folder").unwrap();
    run(&blocked.0);
    assert_eq!(fs::read(&blocked.0).unwrap(), b"no folder");
    fs::remove_file(&blocked.0).unwrap();
}

#[test]
#[ignore = "needs a Vulkan device"]
fn programs_that_write_at_once_leave_a_whole_file() {
    let folder = Folder::new("crowd");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| run(&folder.0));
        }
    });
    assert!(is_whole(&fs::read(only_file(&folder.0)).unwrap()));
}

/// A file to use instead of one of the test's own.
const CACHE_FILE: &str = "QUADRILLE_TEST_CACHE_FILE";

/// Makes the file of a folder one of another driver; its bytes.
fn make_foreign(folder: &Path) -> Vec<u8> {
    run(folder);
    let file = only_file(folder);
    let mut bytes = fs::read(&file).unwrap();
    bytes[DRIVER] ^= 0x10;
    fs::write(&file, &bytes).unwrap();
    bytes
}

#[test]
#[ignore = "needs a Vulkan device"]
fn the_file_of_another_driver_is_replaced() {
    let own = Folder::new("foreign");
    let given = std::env::var_os(CACHE_FILE).map(PathBuf::from);
    let file = given.unwrap_or_else(|| {
        make_foreign(&own.0);
        only_file(&own.0)
    });
    let before = fs::read(&file).unwrap();
    run(file.parent().unwrap());
    let after = fs::read(&file).unwrap();
    assert!(is_whole(&after) && after != before);
}

/// The temporary file of the process that is killed is a pipe that is full: it opens the file, and
/// never gets as far as to rename it.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs a Vulkan device"]
fn killed_while_it_saves_it_leaves_the_file_as_it_was() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let folder = Folder::new("killed");
    let before = make_foreign(&folder.0);
    let file = only_file(&folder.0);
    let program = std::env::args().next().unwrap();
    // What is validated has its children validated.
    let validated = std::env::var("QUADRILLE_VALIDATED").ok();
    let mut child = Command::new("sh")
        .args(["-c", "read go && exec \"$@\"", "sh"])
        .args(validated)
        .arg(program)
        .args(["--ignored", "--exact"])
        .arg("cache::the_file_of_another_driver_is_replaced")
        .env(CACHE_FILE, &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut temporary = file.clone().into_os_string();
    temporary.push(format!(".{}-0.tmp", child.id()));
    let temporary = PathBuf::from(temporary);
    let pipe = full_pipe(&temporary);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let descriptors = format!("/proc/{}/fd", child.id());
    let has_opened = || {
        let known = fs::read_dir(&descriptors).into_iter().flatten().flatten();
        let mut links = known.map(|link| link.path()).filter(|link| writes(link));
        links.any(|link| fs::read_link(link).is_ok_and(|file| file == temporary))
    };
    while !has_opened() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it ended before it saved: {ended:?}");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert_eq!(fs::read(&file).unwrap(), before, "the file is as it was");
    assert!(temporary.exists(), "it was not renamed");
    run(&folder.0);
    assert_eq!(only_file(&folder.0), file, "the next one cleans up");
    let after = fs::read(&file).unwrap();
    assert!(is_whole(&after) && after != before, "the next one saves");
}

/// Whether a file was opened to be written only; what looks whether somebody is at it reads too.
#[cfg(target_os = "linux")]
fn writes(descriptor: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    let known = fs::symlink_metadata(descriptor).map(|known| known.permissions().mode());
    known.is_ok_and(|mode| mode & 0o700 == 0o300)
}

/// A pipe that takes no more, at a path, with somebody at it: who starts leaves it there.
#[cfg(target_os = "linux")]
fn full_pipe(path: &Path) -> fs::File {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    const NON_BLOCKING: i32 = 0o4000;
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success(), "there is no pipe");
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).custom_flags(NON_BLOCKING);
    let mut pipe = options.open(path).unwrap();
    pipe.lock().unwrap();
    for bytes in [4096, 1] {
        while pipe.write(&vec![0; bytes]).is_ok() {}
    }
    pipe
}
