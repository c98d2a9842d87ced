//! Queue family ownership transfers.

use super::{fails, passes};

const FRAME: &str = "
image map 0 aspects COLOR mips 1 layers 1
pass write fixed 1
  StorageWriteCompute map discard
pass read fixed 0
  SampledFragment map
";

const PLAN: &str = "
submit 1 signal 1
  barriers
    image map aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
  pass write
  barriers
    image map aspects COLOR mips 0..1 layers 0..1 COMPUTE_SHADER SHADER_STORAGE_WRITE -> - - layout General -> ShaderReadOnlyOptimal release 1 -> 0
submit 0 signal 1
  wait 1 value 1 at ALL_COMMANDS
  barriers
    image map aspects COLOR mips 0..1 layers 0..1 - - -> FRAGMENT_SHADER SHADER_SAMPLED_READ layout General -> ShaderReadOnlyOptimal acquire 1 -> 0
  pass read
";

/// The plan with one replacement.
fn changed(from: &str, to: &str) -> String {
    assert!(PLAN.contains(from), "the plan has no {from}");
    PLAN.replace(from, to)
}

#[test]
fn release_wait_acquire() {
    passes("gct:1,ct:1", &[(FRAME, PLAN)]);
}

#[test]
fn family_uses_only_owned_resources() {
    let lines: Vec<&str> = PLAN.lines().collect();
    let without = |gone: &[usize]| {
        let kept = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| !gone.contains(at));
        kept.map(|(_, line)| format!("{line}\n"))
            .collect::<String>()
    };
    // Neither half: a plain transition on the second queue.
    let neither = without(&[5, 6])
        .replace(" acquire 1 -> 0", "")
        .replace("0..1 - - -> FRAGMENT", "0..1 ALL_COMMANDS - -> FRAGMENT");
    let expected = "the layout transition General -> ShaderReadOnlyOptimal of frame 1 runs on \
                    family 0 and touches all of `map`, which family 1 owns.";
    fails("gct:1,ct:1", &[(FRAME, &neither)], &[expected]);
    // No release.
    let expected = "the acquire from family 1 to 0 of frame 1 acquires all of `map`, which has not \
                    been released.";
    fails("gct:1,ct:1", &[(FRAME, &without(&[5, 6]))], &[expected]);
    // No acquire.
    let violations = super::judged("gct:1,ct:1", &[(FRAME, &without(&[9, 10]))]);
    let expected = "pass `read` (SampledFragment, frame 1) touches all of `map` after the release \
                    from family 1 to 0 of frame 1 and before its acquire.";
    assert_eq!(violations[0], expected);
}

#[test]
fn the_halves_agree() {
    let begin = "the acquire from family 1 to 0 of frame 1 and the release from family 1 to 0 of \
                 frame 1 of all of `map` differ in their";
    let old = PLAN.replacen(
        "layout General -> ShaderReadOnlyOptimal acquire",
        "layout Undefined -> ShaderReadOnlyOptimal acquire",
        1,
    );
    fails(
        "gct:1,ct:1",
        &[(FRAME, &old)],
        &[&format!("{begin} old layouts.")],
    );
    let new = PLAN.replace(
        "-> ShaderReadOnlyOptimal release",
        "-> TransferSrcOptimal release",
    );
    fails(
        "gct:1,ct:1",
        &[(FRAME, &new)],
        &[&format!("{begin} new layouts.")],
    );
    let families = changed("release 1 -> 0", "release 1 -> 2");
    let expected = "the acquire from family 1 to 0 of frame 1 and the release from family 1 to 2 of \
                    frame 1 of all of `map` differ in their families.";
    fails("gct:1,ct:1", &[(FRAME, &families)], &[expected]);
}

#[test]
fn the_halves_have_equal_ranges() {
    let frame = "
buffer cells 0 bytes 64
pass write fixed 1
  StorageWriteCompute cells
pass read fixed 0
  UniformReadFragment cells bytes 0..32
";
    let plan = "
submit 1 signal 1
  pass write
  barriers
    buffer cells bytes 0..64 COMPUTE_SHADER SHADER_STORAGE_WRITE -> - - release 1 -> 0
submit 0 signal 1
  wait 1 value 1 at ALL_COMMANDS
  barriers
    buffer cells bytes 0..32 - - -> FRAGMENT_SHADER UNIFORM_READ acquire 1 -> 0
  pass read
";
    let expected = "the acquire from family 1 to 0 of frame 1 and the release from family 1 to 0 of \
                    frame 1 of bytes 0..32 of `cells` differ in their ranges.";
    fails("gct:1,ct:1", &[(frame, plan)], &[expected]);
    passes(
        "gct:1,ct:1",
        &[(frame, &plan.replace("0..32 - -", "0..64 - -"))],
    );
}

#[test]
fn the_wait_between_covers_all_stages() {
    let narrow = changed("at ALL_COMMANDS", "at FRAGMENT_SHADER");
    let unordered = "the acquire from family 1 to 0 of frame 1 of all of `map` is not ordered after \
                     the release by a wait that covers all stages.";
    fails("gct:1,ct:1", &[(FRAME, &narrow)], &[unordered]);
    let none = changed("  wait 1 value 1 at ALL_COMMANDS\n", "");
    fails("gct:1,ct:1", &[(FRAME, &none)], &[unordered]);
}

#[test]
fn with_maintenance8_the_acquires_first_scope_continues_the_wait() {
    let narrow = changed("at ALL_COMMANDS", "at FRAGMENT_SHADER");
    let right = narrow.replace("0..1 - - -> FRAGMENT", "0..1 FRAGMENT_SHADER - -> FRAGMENT");
    passes("gct:1,ct:1 maintenance8", &[(FRAME, &right)]);
    let unordered = "the acquire from family 1 to 0 of frame 1 of all of `map` is not ordered after \
                     the release by a wait whose stages its first scope continues.";
    fails("gct:1,ct:1 maintenance8", &[(FRAME, &narrow)], &[unordered]);
}

#[test]
fn a_release_waits_for_the_write() {
    let wrong = changed(
        "COMPUTE_SHADER SHADER_STORAGE_WRITE -> - -",
        "COMPUTE_SHADER - -> - -",
    );
    let expected = "WriteAfterWrite hazard on all of `map`: the release from family 1 to 0 of frame \
                    1 after pass `write` (StorageWriteCompute, frame 1); the write is not made \
                    available.";
    fails("gct:1,ct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn each_half_is_on_its_family() {
    let plan = "
submit 0 signal 1
  barriers
    buffer cells bytes 0..64 - - -> - - release 1 -> 0
submit 1 signal 1
  pass write
";
    let frame = "buffer cells 0 bytes 64\npass write fixed 1\n  CopyWrite cells discard\n";
    let expected = "the release from family 1 to 0 of frame 1 of all of `cells` cannot be: the \
                    queue is of another family.";
    let violations = super::judged("gct:1,ct:1", &[(frame, plan)]);
    assert_eq!(violations[0], expected);
    let concurrent = frame.replace("bytes 64", "bytes 64 concurrent");
    let plan = "
submit 1 signal 1
  pass write
  barriers
    buffer cells bytes 0..64 COPY TRANSFER_WRITE -> - - release 1 -> 0
";
    let expected = "the release from family 1 to 0 of frame 1 of all of `cells` cannot be: the \
                    resource is concurrent.";
    fails("gct:1,ct:1", &[(&concurrent, plan)], &[expected]);
}

#[test]
fn nobody_releases_twice() {
    let lines: Vec<&str> = PLAN.lines().collect();
    let twice = [&lines[..7], &lines[5..7], &lines[7..]].concat().join("\n");
    let expected = "the release from family 1 to 0 of frame 1 touches all of `map` after the \
                    release from family 1 to 0 of frame 1 and before its acquire.";
    fails("gct:1,ct:1", &[(FRAME, &twice)], &[expected]);
}

#[test]
fn discarding_write_takes_ownership() {
    let buffer = |discard: &str| {
        format!(
            "buffer cells 0 bytes 64\npass first fixed 1\n  CopyWrite cells\npass second fixed 0\n  \
             CopyWrite cells {discard}\n  after first\n"
        )
    };
    let plan = "
submit 1 signal 1
  pass first
submit 0 signal 1
  wait 1 value 1 at COPY
  pass second
";
    passes("gct:1,ct:1", &[(&buffer("discard"), plan)]);
    let expected = "pass `second` (CopyWrite, frame 1) runs on family 0 and touches all of \
                    `cells`, which family 1 owns.";
    fails("gct:1,ct:1", &[(&buffer(""), plan)], &[expected]);
}

#[test]
fn a_sibling_waits_for_the_acquire() {
    let frame = "
buffer cells 0 bytes 64
pass write fixed 2
  StorageWriteCompute cells
pass first fixed 0
  UniformReadFragment cells
pass second fixed 1
  UniformReadFragment cells
";
    let plan = "
submit 2 signal 1
  pass write
  barriers
    buffer cells bytes 0..64 COMPUTE_SHADER SHADER_STORAGE_WRITE -> - - release 1 -> 0
submit 0 signal 1
  wait 2 value 1 at ALL_COMMANDS
  barriers
    buffer cells bytes 0..64 - - -> FRAGMENT_SHADER UNIFORM_READ acquire 1 -> 0
submit 0 signal 2
  pass first
submit 1 signal 1
  wait 0 value 1 at FRAGMENT_SHADER
  pass second
";
    passes("gct:2,ct:1", &[(frame, plan)]);
    // A wait for the write does not order the acquire.
    let wrong = plan.replace(
        "wait 0 value 1 at FRAGMENT_SHADER",
        "wait 2 value 1 at FRAGMENT_SHADER",
    );
    let expected = "ReadAfterWrite hazard on all of `cells`: pass `second` (UniformReadFragment, \
                    frame 1) after the acquire from family 1 to 0 of frame 1; no execution \
                    dependency orders them.";
    fails("gct:2,ct:1", &[(frame, &wrong)], &[expected]);
}
