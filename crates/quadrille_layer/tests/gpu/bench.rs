//! Test bench: builds the layer and the programs, and runs a program on the layer.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Upper bound of a program's run time, under validation on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// The built layer and programs.
struct Built {
    /// Folder of the layer's manifest.
    manifests: PathBuf,
    program: PathBuf,
}

/// Outcome of a program.
pub(crate) struct Run {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    log: Option<PathBuf>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\n--- stdout\n{}--- stderr\n{}",
            self.stdout, self.stderr
        )
    }
}

impl Run {
    pub(crate) fn succeeds(&self) {
        assert!(self.success, "the program failed: {self}");
    }

    /// Returns the values of all lines `key value`.
    pub(crate) fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let value = move |line: &'a str| line.strip_prefix(key)?.strip_prefix(' ');
        self.stdout.lines().filter_map(value)
    }

    /// Returns the value of the only line `key value`.
    pub(crate) fn value<'a>(&'a self, key: &'a str) -> &'a str {
        let values: Vec<_> = self.values(key).collect();
        assert_eq!(values.len(), 1, "one line `{key}`: {self}");
        values[0]
    }

    /// Returns the identifiers of the messages of Khronos's layer.
    pub(crate) fn messages(&self) -> Vec<String> {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        lines
            .filter(|line| {
                line.starts_with("Validation Error:") || line.starts_with("Validation Warning:")
            })
            .filter_map(|line| Some(line.split_once("[ ")?.1.split_once(" ]")?.0.to_owned()))
            .collect()
    }

    /// Returns the lines of the layer's log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log.as_ref().expect("run with LOG"))
            .expect("the layer writes a log");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }
}

/// Runs a program on the layer, with settings named without their prefix. A setting `LOG` without a value creates a new
/// log file.
pub(crate) fn program(name: &str, settings: &[(&str, &str)]) -> Run {
    run(Command::new(&built().program), name, settings)
}

/// Runs a program below Khronos's validation layer.
pub(crate) fn valid(name: &str, settings: &[(&str, &str)]) -> Run {
    let mut command = Command::new(validated());
    command.arg(&built().program);
    run(command, name, settings)
}

/// Writes a script to a new file.
pub(crate) fn write_script(text: &str) -> String {
    let path = fresh("script");
    std::fs::write(&path, text).expect("the folder can be written");
    path.to_string_lossy().into_owned()
}

fn run(mut command: Command, name: &str, settings: &[(&str, &str)]) -> Run {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUADRILLE_LAYER_") {
            command.env_remove(name);
        }
    }
    let mut log = None;
    for (name, value) in settings {
        let mut value = OsString::from(value);
        if *name == "LOG" && value.is_empty() {
            let path = fresh("log");
            value = path.clone().into();
            log = Some(path);
        }
        // An empty value means unset for numbers, so that tests can loop over "none, 1, 2".
        if *name != "SEED" || !value.is_empty() {
            command.env(format!("QUADRILLE_LAYER_{name}"), value);
        }
    }
    command
        .arg(name)
        .env("VK_LAYER_PATH", &built().manifests)
        .env("VK_INSTANCE_LAYERS", quadrille_layer::NAME);
    let (success, stdout, stderr) = end_of(&mut command, name);
    Run {
        success,
        stdout,
        stderr,
        log,
    }
}

/// Runs a command to its end. Returns whether it succeeded, and its output. A program that hangs is killed, because
/// hanging is one of the tested failures.
fn end_of(command: &mut Command, name: &str) -> (bool, String, String) {
    let [stdout, stderr] = ["stdout", "stderr"].map(fresh);
    let file = |path: &Path| File::create(path).expect("the folder can be written");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file(&stdout))
        .stderr(file(&stderr))
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().expect("the program can be ended");
            child.wait().expect("the program can be waited for");
            panic!("{name} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |path: &Path| {
        let bytes = std::fs::read(path).expect("the file was written");
        std::fs::remove_file(path).expect("nobody else uses the file");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (status.success(), text(&stdout), text(&stderr))
}

/// Returns the script that starts a program under the validation layer.
fn validated() -> PathBuf {
    let path = std::env::var_os("QUADRILLE_VALIDATED")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/validation/run")
        });
    assert!(
        path.exists(),
        "no validation layer; `cargo xtask setup` fetches it"
    );
    path
}

/// Returns a path that no other test uses.
fn fresh(kind: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{kind}-{}-{number}", std::process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .args([
                "build",
                "--package",
                "quadrille_layer",
                "--lib",
                "--example",
                "program",
            ])
            .args(["--message-format", "json", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "the layer does not build");
        let text = String::from_utf8_lossy(&output.stdout);
        let artifacts: Vec<Value> = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let library = files(&artifacts)
            .find(|file| {
                file.extension()
                    .is_some_and(|end| end == std::env::consts::DLL_EXTENSION)
            })
            .expect("cargo names the library");
        let program = artifacts.iter().find_map(|artifact| {
            let executable = artifact["executable"].as_str()?;
            (artifact["target"]["name"] == "program").then(|| PathBuf::from(executable))
        });
        let manifests = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manifests");
        std::fs::create_dir_all(&manifests).expect("the folder can be made");
        let manifest = quadrille_layer::manifest(&library);
        std::fs::write(manifests.join("VkLayer_quadrille_test.json"), manifest)
            .expect("the folder can be written");
        Built {
            manifests,
            program: program.expect("cargo names the program"),
        }
    })
}

/// Returns the files of the layer's own build artifacts.
fn files(artifacts: &[Value]) -> impl Iterator<Item = PathBuf> {
    let own = artifacts
        .iter()
        .filter(|artifact| artifact["target"]["name"] == "quadrille_layer");
    own.filter_map(|artifact| artifact["filenames"].as_array())
        .flatten()
        .filter_map(|file| file.as_str().map(PathBuf::from))
}
