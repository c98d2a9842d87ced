//! The pipeline cache on disk: with any invalid file the program runs, and the file is valid afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Rig, settings};

/// Offsets of the file's fields: see the format in `pipeline/cache.rs`.
const VENDOR: usize = 8;
const DEVICE: usize = 12;
const DRIVER: usize = 16;
const UUID: usize = 20;
const LENGTH: usize = 36;
const HASH: usize = 44;
const PAYLOAD: usize = 52;

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(crate::test_folder::make(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles a pipeline on a device that keeps its cache in a folder, and saves it when it is destroyed.
fn run(folder: &Path) {
    drop(compile(folder));
}

fn compile(folder: &Path) -> Rig {
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
    rig
}

/// The single file in a folder.
fn only_file(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 1, "one file for one device: {files:?}");
    files[0].clone()
}

/// Whether a file has our format and the size in its header.
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
fn unreadable_or_unwritable_caches_are_ignored() {
    let folder = Folder::new("blocked");
    run(&folder.0);
    let file = only_file(&folder.0);

    // A process that is killed while it writes leaves a partial file next to the valid one.
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

    // A folder in place of the file, and a file in place of the folder.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    run(&folder.0);
    assert!(
        file.is_dir() && only_file(&folder.0) == file,
        "nothing is left beside it"
    );

    // A pipe without a writer, and a link to an endless file.
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
    let other = Folder::new("file");
    let blocked = other.0.join("file");
    fs::write(&blocked, b"no folder").unwrap();
    run(&blocked);
    assert_eq!(fs::read(&blocked).unwrap(), b"no folder");
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

/// A file to use instead of one of the test's own: the process is killed when it writes a byte to any file after its
/// pipeline is compiled.
const CACHE_FILE: &str = "QUADRILLE_TEST_CACHE_FILE";

/// Replaces the file in a folder by one of another driver. Returns its bytes.
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
    let is_killed = given.is_some();
    let file = given.unwrap_or_else(|| {
        make_foreign(&own.0);
        only_file(&own.0)
    });
    let before = fs::read(&file).unwrap();
    let rig = compile(file.parent().unwrap());
    if is_killed {
        #[cfg(target_os = "linux")]
        forbid_writes();
    }
    drop(rig);
    let after = fs::read(&file).unwrap();
    assert!(is_whole(&after) && after != before);
}

/// Has the process killed by `SIGXFSZ` when it writes to a file.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the standard library sets no limits")]
fn forbid_writes() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit is read from a variable.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const none) };
    assert_eq!(result, 0);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs a Vulkan device"]
fn killed_while_it_saves_it_leaves_the_file_as_it_was() {
    use std::os::unix::process::ExitStatusExt as _;

    let folder = Folder::new("killed");
    let before = make_foreign(&folder.0);
    let file = only_file(&folder.0);
    let status = saves(&file).status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGXFSZ), "{status}");
    let files = fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(files, 2, "its temporary file is left");
    assert_eq!(fs::read(&file).unwrap(), before, "the file is as it was");
    run(&folder.0);
    assert_eq!(only_file(&folder.0), file, "the next one cleans up");
    let after = fs::read(&file).unwrap();
    assert!(is_whole(&after) && after != before, "the next one saves");
}

/// A process that replaces a cache file of another driver, and is killed when its temporary file is there, and empty.
/// The driver has no shader cache of its own to write to.
#[cfg(target_os = "linux")]
fn saves(file: &Path) -> std::process::Command {
    use std::process::{Command, Stdio};

    let program = std::env::args_os().next().unwrap();
    // Children of a validated test are validated too.
    let mut command = match std::env::var_os("QUADRILLE_VALIDATED") {
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    command
        .args(["--ignored", "--exact"])
        .arg("cache::the_file_of_another_driver_is_replaced")
        .env(CACHE_FILE, file)
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .env("__GL_SHADER_DISK_CACHE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
