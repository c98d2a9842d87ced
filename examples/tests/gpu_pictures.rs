//! The picture of `many_cubes` beside one that was looked at. `cargo test -p examples --test
//! gpu_pictures -- --ignored`; without a device it fails.

mod common;

use common::{draw, expect};

const MANY_CUBES: &str = env!("CARGO_BIN_EXE_many_cubes");

/// Few enough cubes for a software driver, at the same place each time.
const SCENE: [&str; 4] = ["--frames", "12", "--cubes", "3000"];

#[test]
#[ignore = "needs a device"]
fn many_cubes_look_as_they_did() {
    let picture = draw(MANY_CUBES, "many_cubes", &SCENE);
    let golden = expect("many_cubes", &picture);
    let one_queue = draw(
        MANY_CUBES,
        "one_queue",
        &[&SCENE[..], &["--one-queue"]].concat(),
    );
    assert_eq!(one_queue.difference(&golden), None, "all on one queue");
    // A comparison that lets these through would prove nothing.
    let fewer = draw(MANY_CUBES, "fewer", &["--frames", "12", "--cubes", "2990"]);
    let later = draw(MANY_CUBES, "later", &["--frames", "13", "--cubes", "3000"]);
    let mut shifted = golden.clone();
    shifted.pixels.rotate_right(1);
    for (what, other) in [
        ("ten cubes that are missing", fewer),
        ("a camera that has moved on", later),
        ("a shift to the right", shifted),
    ] {
        assert!(
            other.difference(&golden).is_some(),
            "the comparison does not notice {what}"
        );
    }
}
