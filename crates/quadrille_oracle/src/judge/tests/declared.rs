//! Violations of the declaration.

use super::fails;

#[test]
fn every_pass_runs_once() {
    let frame = "buffer x 0 bytes 4 concurrent\npass a\n  CopyWrite x\n";
    fails("gct:1", &[(frame, "")], &["Pass `a` runs 0 times."]);
    let twice = "submit 0 signal 1\n  pass a\n  barriers\n    memory COPY TRANSFER_WRITE -> COPY \
                 TRANSFER_WRITE\n  pass a\n";
    fails("gct:1", &[(frame, twice)], &["Pass `a` runs 2 times."]);
}

#[test]
fn write_after_the_last_read_is_culled() {
    let frame = "cull\nbuffer x 0 bytes 8 transient\nbuffer y 1 bytes 4 transient\n\
                 pass fill\n  CopyWrite x bytes 0..4\n\
                 pass read side-effect\n  CopyRead x\n  after fill\npass between\n  CopyWrite y\n  after read\n\
                 pass late\n  CopyWrite x bytes 4..8\n  after between\n";
    let barrier = "  barriers\n    memory COPY TRANSFER_WRITE -> COPY TRANSFER_READ\n      \
                   because x Memory pass fill -> pass read\n";
    let plan = format!(
        "submit 0 signal 1\n  pass fill\n{barrier}  pass read\nculled between\nculled late\n"
    );
    super::passes("gct:1", &[(frame, &plan)]);
}

#[test]
fn culling_has_its_limits() {
    let frame = |cull: &str, kind: &str, lifetime: &str| {
        format!("{cull}buffer x 0 bytes 4 {lifetime}\npass a {kind}\n  CopyWrite x\n")
    };
    let plan = "culled a\n";
    super::passes("gct:1", &[(&frame("cull\n", "", "transient"), plan)]);
    let expected = "Pass `a` is culled, and culling is off.";
    fails("gct:1", &[(&frame("", "", "transient"), plan)], &[expected]);
    let expected = "Pass `a` is culled, and it has side effects.";
    fails(
        "gct:1",
        &[(&frame("cull\n", "side-effect", "transient"), plan)],
        &[expected],
    );
    let expected = "Pass `a` is culled, and it writes what outlives the frame.";
    fails("gct:1", &[(&frame("cull\n", "", ""), plan)], &[expected]);
    let reader = "cull\nbuffer x 0 bytes 4\npass a\n";
    let expected = "Pass `a` is culled, and it declares no write.";
    fails("gct:1", &[(reader, plan)], &[expected]);
    let both = frame("cull\n", "", "transient") + "pass b side-effect\n  VertexRead x\n";
    let expected = [
        "Pass `a` is culled, and a pass that runs reads what it writes.",
        "pass `b` (VertexRead, frame 1) reads all of `x`, which was never written.",
    ];
    fails(
        "gct:1",
        &[(&both, "submit 0 signal 1\n  pass b\nculled a\n")],
        &expected,
    );
}

#[test]
fn passes_run_where_they_can() {
    let frame = "buffer x 0 bytes 4\npass a requires GRAPHICS\n  CopyWrite x\n";
    let expected = "Pass `a` runs on queue 1: the queue cannot run it.";
    fails(
        "gct:1,t:1",
        &[(frame, "submit 1 signal 1\n  pass a\n")],
        &[expected],
    );
    let frame = "buffer x 0 bytes 4\npass a\n  StorageWriteCompute x\n";
    fails(
        "gct:1,t:1",
        &[(frame, "submit 1 signal 1\n  pass a\n")],
        &[expected],
    );
    let frame = "buffer x 0 bytes 4\npass a fixed 1\n  CopyWrite x\n";
    let expected = "Pass `a` runs on queue 0: it asks for another queue, which could run it.";
    fails(
        "gct:1,t:1",
        &[(frame, "submit 0 signal 1\n  pass a\n")],
        &[expected],
    );
}

#[test]
fn passes_run_in_declared_order() {
    let frame = "buffer x 0 bytes 4\npass a\n  CopyWrite x bytes 0..2\n  after b\npass b\n  CopyWrite x bytes 2..4\n";
    let plan = "submit 0 signal 1\n  pass a\n  pass b\n";
    let expected = "Pass `a` runs before pass `b`, though it is declared to come after.";
    fails("gct:1 declared", &[(frame, plan)], &[expected]);
}

#[test]
fn free_order_keeps_observable_effects() {
    let frame = |effect: &str, third: &str| {
        format!(
            "buffer x 0 bytes 4\npass a{effect}\n  CopyWrite x bytes 0..2\n  after b\n\
             pass b{effect}\n  CopyWrite x bytes 2..3\n  after c\n\
             pass c\n  CopyWrite x bytes {third}\n"
        )
    };
    let plan = "submit 0 signal 1\n  pass a\n  pass b\n  pass c\n";
    super::passes("gct:1", &[(&frame("", "3..4"), plan)]);
    let expected = "Pass `a` runs before pass `b`, though it is declared to come after.";
    fails(
        "gct:1",
        &[(&frame(" side-effect", "3..4"), plan)],
        &[expected],
    );
    // Order is transitive, also through passes without a common resource.
    let order = "  barriers\n    memory COPY TRANSFER_WRITE -> COPY TRANSFER_WRITE\n";
    let plan = format!("submit 0 signal 1\n  pass a\n  pass b\n{order}  pass c\n");
    let expected = "Pass `a` runs before pass `c`, though it is declared to come after.";
    fails("gct:1", &[(&frame("", "0..1"), &plan)], &[expected]);
}

#[test]
fn plan_with_unknown_queue_is_reported() {
    let frame = "buffer x 0 bytes 4\npass a\n  CopyWrite x\n";
    let plan = "submit 7 signal 1\nsubmit 0 signal 1\n  pass a\n";
    fails(
        "gct:1",
        &[(frame, plan)],
        &["The plan names queue 7, which does not exist."],
    );
}

#[test]
fn prologue_passes_come_first() {
    let frame = "buffer x 0 bytes 4\npass a\n  CopyRead x\npass b prologue\n  CopyWrite x\n";
    let begin = "buffer x 0 bytes 4\npass fill\n  CopyWrite x\n";
    let barrier =
        "  barriers\n    memory COPY TRANSFER_WRITE -> COPY TRANSFER_READ|TRANSFER_WRITE\n";
    let right = format!("submit 0 signal 1\n{barrier}  pass b\n{barrier}  pass a\n");
    let filled = (begin, "submit 0 signal 1\n  pass fill\n");
    super::passes("gct:1", &[filled, (frame, &right)]);
    let wrong = format!("submit 0 signal 1\n{barrier}  pass a\n{barrier}  pass b\n");
    let expected = "Pass `a` runs before pass `b`, though the other one prepares what it touches.";
    fails("gct:1", &[filled, (frame, &wrong)], &[expected]);
}
