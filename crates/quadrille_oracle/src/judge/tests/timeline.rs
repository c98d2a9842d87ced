//! Semaphores, several queues, and deadlock.

use super::{fails, passes};

const FRAME: &str = "
buffer cells 0 bytes 64
pass write
  StorageWriteCompute cells
pass read
  UniformReadVertex cells
";

/// The passes on two queues, with a line of waits before the second.
fn plan(waits: &str) -> String {
    format!("submit 1 signal 1\n  pass write\nsubmit 0 signal 1\n{waits}  pass read\n")
}

const LACKS: &str = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadVertex, frame \
                     1) after pass `write` (StorageWriteCompute, frame 1); ";

#[test]
fn a_wait_orders_and_makes_visible() {
    passes(
        "gct:2",
        &[(FRAME, &plan("  wait 1 value 1 at VERTEX_SHADER\n"))],
    );
    passes(
        "gct:2",
        &[(FRAME, &plan("  wait 1 value 1 at ALL_COMMANDS\n"))],
    );
}

#[test]
fn without_a_wait_queues_have_no_order() {
    let expected = format!("{LACKS}no execution dependency orders them.");
    fails("gct:2", &[(FRAME, &plan(""))], &[&expected]);
    let waits = "  wait 1 value 1 at COMPUTE_SHADER\n";
    fails("gct:2", &[(FRAME, &plan(waits))], &[&expected]);
    // A barrier on the other queue orders nothing on this one.
    let barrier = "  barriers\n    memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> VERTEX_SHADER \
                   UNIFORM_READ\n";
    fails("gct:2", &[(FRAME, &plan(barrier))], &[&expected]);
}

#[test]
fn later_stages_than_a_waits_are_ordered_and_see_nothing() {
    let expected = format!(
        "{LACKS}the write is not visible to AccessMask(UNIFORM_READ) in Stages(VERTEX_SHADER)."
    );
    fails(
        "gct:2",
        &[(FRAME, &plan("  wait 1 value 1 at INDEX_INPUT\n"))],
        &[&expected],
    );
}

#[test]
fn a_wait_chains_into_barriers_of_its_stages() {
    let waits = "  wait 1 value 1 at COMPUTE_SHADER\n  barriers\n    memory STAGE - -> \
                 VERTEX_SHADER UNIFORM_READ\n";
    passes(
        "gct:2",
        &[(FRAME, &plan(&waits.replace("STAGE", "COMPUTE_SHADER")))],
    );
    let expected = format!("{LACKS}no execution dependency orders them.");
    fails(
        "gct:2",
        &[(FRAME, &plan(&waits.replace("STAGE", "COPY")))],
        &[&expected],
    );
    fails(
        "gct:2",
        &[(FRAME, &plan(&waits.replace("STAGE", "-")))],
        &[&expected],
    );
}

#[test]
fn wait_includes_dependencies_of_its_signal() {
    let frame = "
buffer cells 0 bytes 64
buffer other 1 bytes 64
pass write side-effect
  StorageWriteCompute cells
pass middle side-effect
  CopyWrite other
  after write
pass read side-effect
  UniformReadVertex cells
  after middle
";
    let plan = "
submit 1 signal 1
  pass write
submit 2 signal 1
  wait 1 value 1 at CLEAR
  pass middle
submit 0 signal 1
  wait 2 value 1 at VERTEX_SHADER
  pass read
";
    passes("gct:3", &[(frame, plan)]);
    let wrong = plan.replace("  wait 1 value 1 at CLEAR\n", "");
    let expected = format!("{LACKS}no execution dependency orders them.");
    fails("gct:3", &[(frame, &wrong)], &[&expected]);
}

#[test]
fn a_wait_covers_later_submissions_of_its_queue() {
    let read = FRAME.replace("pass write\n  StorageWriteCompute cells\n", "");
    let first = plan("  wait 1 value 1 at VERTEX_SHADER\n");
    passes(
        "gct:2",
        &[(FRAME, &first), (&read, "submit 0 signal 1\n  pass read\n")],
    );
}

#[test]
fn values_of_earlier_frames_are_relative() {
    let write = "buffer cells 0 bytes 64\npass write\n  StorageWriteCompute cells\n";
    let read = "buffer cells 0 bytes 64\npass read\n  UniformReadVertex cells\n";
    let idle = "buffer cells 0 bytes 64\nbuffer x 1 bytes 4\npass w\n  CopyWrite x\n";
    let frames = |value: i64| {
        let wait = format!("  wait 1 value {value} at VERTEX_SHADER\n");
        format!("submit 0 signal 1\n{wait}  pass read\n")
    };
    let (w, i) = (
        "submit 1 signal 1\n  pass write\n",
        "submit 1 signal 1\n  pass w\n",
    );
    passes("gct:2", &[(write, w), (idle, i), (read, &frames(-1))]);
    let expected = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadVertex, frame \
                    3) after pass `write` (StorageWriteCompute, frame 1); no execution dependency \
                    orders them.";
    fails(
        "gct:2",
        &[(write, w), (idle, i), (read, &frames(-2))],
        &[expected],
    );
}

#[test]
fn signals_grow() {
    let frame = "buffer x 1 bytes 4\npass w\n  CopyWrite x\n";
    let plan = "submit 0 signal 1\n  pass w\nsubmit 0 signal 1\n";
    let expected = "Submission 1 signals 1 on queue 0, whose timeline is at 1 already.";
    fails("gct:1", &[(frame, plan)], &[expected]);
}

#[test]
fn signals_come_first_in_submission_order() {
    let plan = "
submit 0 signal 1
  wait 1 value 1 at VERTEX_SHADER
  pass read
submit 1 signal 1
  pass write
";
    let order =
        "Pass `read` runs before pass `write`, though it reads what only the other one writes.";
    let wait = "Submission 0 waits for value 1 of queue 1, which no earlier submission signals.";
    fails("gct:2", &[(FRAME, plan)], &[order, wait]);
    fails("gct:2 coalesced", &[(FRAME, plan)], &[order]);
}

#[test]
fn nobody_waits_for_ever() {
    let frame = "buffer x 1 bytes 4 concurrent\npass w\n  CopyWrite x\n";
    let plan = "
submit 0 signal 1
  wait 1 value 1 at COPY
  pass w
submit 1 signal 1
  wait 0 value 1 at COPY
";
    let expected = [
        "Submission 0 waits for ever, for value 1 of queue 1.",
        "Submission 1 waits for ever, for value 1 of queue 0.",
    ];
    fails("gct:2 coalesced", &[(frame, plan)], &expected);
    let own = "submit 0 signal 1\n  wait 0 value 1 at COPY\n  pass w\n";
    fails(
        "gct:1",
        &[(frame, own)],
        &["Submission 0 waits for ever, for value 1 of queue 0."],
    );
}

#[test]
fn stages_and_accesses_are_those_of_the_queue() {
    let frame = "buffer x 1 bytes 4\npass w fixed 1\n  CopyWrite x\n";
    let plan = "
submit 1 signal 1
  wait 0 value 0 at VERTEX_SHADER
  barriers
    memory COMPUTE_SHADER SHADER_WRITE -> COPY VERTEX_ATTRIBUTE_READ
  pass w
";
    let expected = [
        "Submission 0 on queue 1 names stages Stages(VERTEX_SHADER) (Wait), which the queue does \
         not have.",
        "Submission 0 on queue 1 names stages Stages(COMPUTE_SHADER) (Src), which the queue does \
         not have.",
        "Submission 0 names accesses AccessMask(VERTEX_ATTRIBUTE_READ) (Dst), which none of the \
         stages beside them makes.",
    ];
    fails("gct:1,t:1", &[(frame, plan)], &expected);
}
