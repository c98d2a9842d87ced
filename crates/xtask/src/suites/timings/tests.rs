use std::fs;
use std::path::Path;
use std::process::Command;

use super::{EFFECTS_TABLE, TABLE, script_text, write};
use crate::host::paths;

/// A stand-in for a program: the side's times, or nothing.
fn program(path: &Path, median: Option<f64>) {
    let result = median.map_or(String::new(), |median| {
        format!(
            "echo '{{\"who\":\"x\",\"first_ms\":50.0,\"median_ms\":{median:.1},\"worst_ms\":{:.1},\
             \"process_cpu_ms_per_frame\":{:.1}}}'",
            median * 1.5,
            median * 3.0,
        )
    });
    write(path, &format!("#!/bin/bash\n{result}\n")).expect("it can be written");
}

/// The table for these times of both sides.
fn table(name: &str, theirs: Option<f64>, ours: Option<f64>) -> String {
    let folder = paths::target("timings-test").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    program(&folder.join("theirs"), theirs);
    program(&folder.join("ours"), ours);
    write(
        &folder.join("lines"),
        "many_cubes --benchmark\nmany_lights\n",
    )
    .expect("it can be written");
    write(&folder.join("table.py"), TABLE).expect("it can be written");
    let script = folder.join("run.sh");
    write(&script, &script_text("abc1234")).expect("it can be written");
    let status = Command::new("bash")
        .arg(&script)
        .arg(folder.join("out"))
        .env("TIMINGS", &folder)
        .env("ONLY", "many_cubes")
        .status()
        .expect("bash runs");
    assert!(status.success());
    fs::read_to_string(folder.join("out/table.md")).expect("the script wrote it")
}

#[test]
fn table_has_both_sides_and_their_ratio() {
    let table = table("both", Some(4.0), Some(2.0));
    let row = "| many_cubes --benchmark | 4.00 / 12.0 | 2.00 / 6.0 | 0.50 / 0.50 | 1.5, 1.5 | 50, 50 | -, - |";
    assert!(table.contains(row), "{table}");
    assert!(table.contains("commit abc1234"), "{table}");
    assert!(!table.contains("many_lights"), "{table}");
}

#[test]
fn failed_side_is_told() {
    let table = table("failed", Some(4.0), None);
    let row = "| many_cubes --benchmark | 4.00 / 12.0 | no result | - | 1.5, no result | 50, no result | -, - |";
    assert!(table.contains(row), "{table}");
}

/// A stand-in for `effects`: passes of the scene, and one of each effect.
fn effects(path: &Path, own: f64) {
    let text = format!(
        "#!/bin/bash\necho '{{\"who\":\"x\",\"median_ms\":3.0}}'\n\
         echo '  render/opaque/elapsed_gpu                 1.000'\n\
         echo '  render/opaque/elapsed_cpu                 5.000'\n\
         [ $1 = none ] || echo '  render/main pass/{{}}/elapsed_gpu   9.000'\n\
         [ $1 = none ] || echo '  render/main pass/elapsed_gpu   {own:.3}'\n"
    );
    write(path, &text).expect("it can be written");
}

#[test]
fn effects_are_compared_by_passes_that_the_scene_lacks() {
    let folder = paths::target("timings-test").join("effects-table");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    effects(&folder.join("theirs"), 0.5);
    effects(&folder.join("ours"), 0.25);
    for (name, text) in [
        ("lines", ""),
        ("effects", "none\nbloom\nfxaa\n"),
        ("effects.py", EFFECTS_TABLE),
        ("run.sh", &script_text("abc1234")),
    ] {
        write(&folder.join(name), text).expect("it can be written");
    }
    let status = Command::new("bash")
        .arg(folder.join("run.sh"))
        .arg(folder.join("out"))
        .env("TIMINGS", &folder)
        .env("EFFECTS", "bloom")
        .env("SIZES", "640x360")
        .status()
        .expect("bash runs");
    assert!(status.success());
    let table = fs::read_to_string(folder.join("out/effects.md")).expect("the script wrote it");
    let row =
        "| bloom | 0.500, 0.250 | 0.50 | 0.500, 0.250 | 0.50 | 0.00, 0.00 | 0, 0 | `main pass` |";
    assert!(table.contains(row), "{table}");
    assert!(
        table.contains("| bloom | 3.000 | 3.000 | +0.000 |"),
        "{table}"
    );
    assert!(!table.contains("fxaa"), "{table}");
}
