//! The judge against Khronos's validation layer: random streams of commands, right and wrong, run
//! on a device under the layer and judged on paper. Every difference must belong to a [`Class`]
//! that explains it.
//!
//! The test is ignored by name, because it needs a device and the layer:
//!
//! ```text
//! QUADRILLE_DIFFERENTIAL_SECONDS=120 \
//!     cargo xtask validated cargo test -p quadrille_oracle --test gpu_differential -- --ignored
//! ```
//!
//! `QUADRILLE_DIFFERENTIAL_SECONDS` and `QUADRILLE_DIFFERENTIAL_STREAMS` say how much, whichever
//! is reached first; `QUADRILLE_DIFFERENTIAL_SEED` says where to begin. A stream is two frames
//! with the same passes; the plan of the first is changed in half of the streams.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the counts are the point of the test")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;
use std::time::{Duration, Instant};

#[path = "gpu_differential/class.rs"]
mod class;
#[path = "gpu_differential/device.rs"]
mod device;
#[path = "gpu_differential/stream.rs"]
mod stream;

use class::Class;
use device::Device;
use quadrille_oracle::Random;
use stream::Stream;

/// Set in the process that the layer may talk in.
const INNER: &str = "QUADRILLE_DIFFERENTIAL_INNER";

/// The layer's setting that has it follow what shaders do by their descriptors. Without it the
/// layer is blind to compute passes, and objects to later writes that it takes for the next ones.
const SHADER_ACCESSES: &str = "VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC";

/// The layer prints what it reports, and a test run under it counts that as a failure. So
/// the streams run in a process whose output is kept unless the test fails.
#[test]
#[ignore = "needs a Vulkan device and the validation layer"]
fn the_layer_and_the_judge_agree() {
    if std::env::var_os(INNER).is_some() {
        return compare();
    }
    let run = std::env::var_os("QUADRILLE_VALIDATED")
        .expect("the validation layer is needed: cargo xtask validated PROGRAM");
    // Not `current_exe`: the program may have been started through another dynamic loader.
    let program = std::env::args_os().next().unwrap();
    let output = Command::new(run)
        .arg(program)
        .args(["--ignored", "--exact", "the_layer_and_the_judge_agree"])
        .args(["--nocapture", "--test-threads=1"])
        .env(INNER, OsStr::new("1"))
        .env(SHADER_ACCESSES, OsStr::new("1"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    // The name of the test may stand before it on its line.
    let summary = text.lines().find(|line| line.contains("differential: "));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    println!("{}", summary.expect("the streams ran"));
}

/// Runs streams until time is up, and counts their outcomes.
fn compare() {
    let first_seed = setting("SEED", 1);
    let wanted = setting("STREAMS", 100_000);
    let time = Duration::from_secs(setting("SECONDS", 8));
    let (start, mut device) = (Instant::now(), Device::new());
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    let mut seed = first_seed;
    while seed - first_seed < wanted && start.elapsed() < time {
        let stream = Stream::random(&mut Random::new(seed), &device);
        let outcome = stream.run(&mut device);
        let class = Class::of(&outcome).unwrap_or_else(|| {
            panic!("seed {seed} on {}: {outcome}", device.topology());
        });
        *tally.entry(format!("{class:?}")).or_default() += 1;
        seed += 1;
    }
    println!(
        "differential: {} streams from seed {first_seed} on {}: {tally:?}",
        seed - first_seed,
        device.topology()
    );
    let objected = tally.get("BothObject").copied().unwrap_or(0);
    assert!(objected > 0, "no stream was wrong: nothing was compared");
}

fn setting(name: &str, default: u64) -> u64 {
    let found = std::env::var(format!("QUADRILLE_DIFFERENTIAL_{name}")).ok();
    found.and_then(|text| text.parse().ok()).unwrap_or(default)
}
