//! Resources that share memory.

use super::{fails, passes};

/// Two buffers in the same bytes: the first is written and read, then the second.
const FRAME: &str = "
buffer rough 0 bytes 64 transient block 0 bytes 0..64
buffer smooth 1 bytes 64 transient block 0 bytes 0..64
pass fill
  StorageWriteCompute rough
pass use
  CopyRead rough
pass blur
  StorageWriteCompute smooth
  after use
pass draw
  VertexRead smooth
";

const PLAN: &str = "
submit 0 signal 1
  pass fill
  barriers
    memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> COPY TRANSFER_READ
  pass use
  barriers
    memory COPY - -> COMPUTE_SHADER -
  pass blur
  barriers
    memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> VERTEX_ATTRIBUTE_INPUT VERTEX_ATTRIBUTE_READ
  pass draw
";

/// The plan without the barrier on a line.
fn without(plan: &str, barrier: &str) -> String {
    assert!(plan.contains(barrier), "the plan has no {barrier}");
    plan.replace(&format!("  barriers\n    {barrier}\n"), "")
}

#[test]
fn resources_in_the_same_bytes_take_turns() {
    passes("gct:1", &[(FRAME, PLAN)]);
    let plan = without(PLAN, "memory COPY - -> COMPUTE_SHADER -");
    let expected = "pass `blur` (StorageWriteCompute, frame 1) on all of `smooth` shares memory \
                    with all of `rough` and comes after pass `use` (CopyRead, frame 1) on that; \
                    no execution dependency orders them.";
    fails("gct:1", &[(FRAME, &plan)], &[expected]);
}

#[test]
fn order_among_resources_holds_over_frames() {
    let expected = "pass `fill` (StorageWriteCompute, frame 2) on all of `rough` shares memory \
                    with all of `smooth` and comes after pass `draw` (VertexRead, frame 1) on \
                    that; no execution dependency orders them.";
    fails("gct:1", &[(FRAME, PLAN), (FRAME, PLAN)], &[expected]);
    let first = "submit 0 signal 1\n";
    let barrier = "  barriers\n    memory VERTEX_ATTRIBUTE_INPUT - -> COMPUTE_SHADER -\n";
    let plan = PLAN.replace(first, &format!("{first}{barrier}"));
    passes("gct:1", &[(FRAME, PLAN), (FRAME, &plan), (FRAME, &plan)]);
}

#[test]
fn writes_of_former_resources_are_made_available() {
    let frame = FRAME.replace("pass use\n  CopyRead rough\n", "");
    let frame = frame.replace("after use", "after fill");
    let plan = |access: &str| {
        let read = "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> COPY TRANSFER_READ";
        let plan = without(PLAN, read).replace("  pass use\n", "");
        let order = "memory COPY - -> COMPUTE_SHADER -";
        let barrier = format!("memory COMPUTE_SHADER {access} -> COMPUTE_SHADER -");
        plan.replace(order, &barrier)
    };
    passes("gct:1", &[(&frame, &plan("SHADER_STORAGE_WRITE"))]);
    let expected = "pass `blur` (StorageWriteCompute, frame 1) on all of `smooth` shares memory \
                    with all of `rough` and comes after pass `fill` (StorageWriteCompute, frame \
                    1) on that; the write is not made available.";
    fails("gct:1", &[(&frame, &plan("-"))], &[expected]);
}

#[test]
fn a_wait_orders_resources_on_two_queues() {
    let frame = "
buffer one 0 bytes 64 transient block 3 bytes 128..192
image other 1 aspects COLOR mips 2 layers 1 transient block 3 bytes 0..256
pass fill fixed 1
  StorageWriteCompute one
pass clear fixed 0
  Clear other mips 1..2 discard
  after fill
";
    let plan = |wait: &str| {
        format!(
            "submit 1 signal 1\n  pass fill\nsubmit 0 signal 1\n{wait}  barriers\n    \
             image other aspects COLOR mips 1..2 layers 0..1 CLEAR - -> CLEAR TRANSFER_WRITE \
             layout Undefined -> TransferDstOptimal\n  pass clear\n"
        )
    };
    let frame = frame.replace(
        "mips 1..2 discard",
        "aspects COLOR mips 1..2 layers 0..1 discard",
    );
    passes(
        "gct:1,ct:1",
        &[(&frame, &plan("  wait 1 value 1 at CLEAR\n"))],
    );
    let expected = "the layout transition Undefined -> TransferDstOptimal of frame 1 on mip levels \
                    1..2, array layers 0..1 of COLOR of `other` shares memory with all of `one` \
                    and comes after pass `fill` (StorageWriteCompute, frame 1) on that; no \
                    execution dependency orders them.";
    fails("gct:1,ct:1", &[(&frame, &plan(""))], &[expected]);
}

#[test]
fn only_bytes_in_common_matter() {
    let frame = |second: &str| {
        format!(
            "
buffer left 0 bytes 64 transient block 0 bytes 0..64
buffer right 1 bytes 64 transient block 0 bytes 32..96
pass west
  CopyWrite left {second}
pass east
  StorageWriteCompute right
  after west
"
        )
    };
    let plan = "submit 0 signal 1\n  pass west\n  pass east\n";
    passes("gct:1", &[(&frame("bytes 0..32"), plan)]);
    let expected = "pass `east` (StorageWriteCompute, frame 1) on bytes 0..1 of `right` shares \
                    memory with bytes 32..33 of `left` and comes after pass `west` (CopyWrite, \
                    frame 1) on that; no execution dependency orders them.";
    fails("gct:1", &[(&frame("bytes 32..33"), plan)], &[expected]);
}

#[test]
fn a_turn_that_is_over_is_remembered_where_nobody_has_written_since() {
    // The second buffer shares only the end of the first; the third shares all of it.
    let frame = "
buffer first 0 bytes 64 transient block 0 bytes 0..64
buffer second 1 bytes 64 transient block 0 bytes 0..64
buffer third 2 bytes 64 transient block 0 bytes 0..64
pass one
  CopyWrite first
pass two
  CopyWrite second bytes 48..64
  after one
pass three
  StorageWriteCompute third
  after two
";
    let plan = |last: &str| {
        format!(
            "submit 0 signal 1\n  pass one\n  barriers\n    \
             memory COPY TRANSFER_WRITE -> COPY TRANSFER_WRITE\n  pass two\n  \
             barriers\n    {last}\n  pass three\n"
        )
    };
    let barrier = "memory COPY TRANSFER_WRITE -> COMPUTE_SHADER -";
    passes("gct:1", &[(frame, &plan(barrier))]);
    let expected = [
        "pass `three` (StorageWriteCompute, frame 1) on bytes 48..64 of `third` shares memory with \
         bytes 48..64 of `second` and comes after pass `two` (CopyWrite, frame 1) on that; no \
         execution dependency orders them.",
        "pass `three` (StorageWriteCompute, frame 1) on bytes 0..48 of `third` shares memory with \
         bytes 0..48 of `first` and comes after pass `one` (CopyWrite, frame 1) on that; no \
         execution dependency orders them.",
    ];
    let barrier = "memory VERTEX_SHADER - -> COMPUTE_SHADER -";
    fails("gct:1", &[(frame, &plan(barrier))], &expected);
}

#[test]
fn barriers_of_a_resource_do_not_cover_former_ones() {
    let frame = "
buffer first 0 bytes 64 transient block 0 bytes 0..64
buffer second 1 bytes 64 transient block 0 bytes 0..64
image third 2 aspects COLOR mips 1 layers 1 transient block 0 bytes 0..64
pass one
  CopyWrite first
pass two
  StorageWriteCompute second
  after one
pass three
  Clear third discard
  after two
";
    let plan = |buffer: &str, global: &str, image: &str| {
        format!(
            "submit 0 signal 1\n  pass one\n  barriers\n    {buffer} -> COMPUTE_SHADER -\n  pass two\n  \
             barriers\n    memory {global} -> CLEAR TRANSFER_WRITE\n    \
             image third aspects COLOR mips 0..1 layers 0..1 {image} -> \
             CLEAR TRANSFER_WRITE layout Undefined -> TransferDstOptimal\n  pass three\n"
        )
    };
    let written = "COMPUTE_SHADER SHADER_STORAGE_WRITE";
    passes(
        "gct:1",
        &[(frame, &plan("memory COPY TRANSFER_WRITE", written, written))],
    );
    let transition = "the layout transition Undefined -> TransferDstOptimal of frame 1 on all of `third` shares \
         memory with all of `second` and comes after pass `two` (StorageWriteCompute, frame 1) on \
         that; the write is not made available.";
    for [global, image] in [["COMPUTE_SHADER -", written], [written, "COMPUTE_SHADER -"]] {
        let plan = plan("memory COPY TRANSFER_WRITE", global, image);
        fails("gct:1", &[(frame, &plan)], &[transition]);
    }
    let expected = [
        "pass `two` (StorageWriteCompute, frame 1) on all of `second` shares memory with all of \
         `first` and comes after pass `one` (CopyWrite, frame 1) on that; the write is not made \
         available.",
        transition,
    ];
    let plan = plan(
        "buffer second bytes 0..64 COPY TRANSFER_WRITE",
        "COMPUTE_SHADER -",
        written,
    );
    fails("gct:1", &[(frame, &plan)], &expected);
}

#[test]
fn contents_and_layout_are_lost_with_the_memory() {
    let frame = "
image one 0 aspects COLOR mips 1 layers 1 transient block 0 bytes 0..64
buffer other 1 bytes 64 transient block 0 bytes 0..64
pass fill
  Clear one discard
pass write
  CopyWrite other
  after fill
pass read
  CopyRead one
  after write
";
    let plan = "
submit 0 signal 1
  barriers
    image one aspects COLOR mips 0..1 layers 0..1 - - -> CLEAR TRANSFER_WRITE layout Undefined -> TransferDstOptimal
  pass fill
  barriers
    memory CLEAR TRANSFER_WRITE -> COPY TRANSFER_WRITE
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> COPY TRANSFER_READ
    image one aspects COLOR mips 0..1 layers 0..1 COPY TRANSFER_WRITE -> COPY TRANSFER_READ layout TransferDstOptimal -> TransferSrcOptimal
  pass read
";
    let expected = [
        "the layout transition TransferDstOptimal -> TransferSrcOptimal of frame 1 needs all of \
         `one` in layout TransferDstOptimal and finds it in Undefined.",
        "pass `read` (CopyRead, frame 1) needs the contents of all of `one`, whose memory `other` \
         has taken.",
    ];
    fails("gct:1", &[(frame, plan)], &expected);
}

#[test]
fn each_part_comes_after_former_uses_of_its_memory() {
    // The halves of the second buffer are first used by passes on different queues.
    let frame = "
buffer first 0 bytes 64 transient block 0 bytes 0..64
buffer second 1 bytes 64 concurrent transient block 0 bytes 0..64
pass one fixed 0
  CopyWrite first
pass two fixed 0
  CopyWrite second bytes 0..32
  after one
pass three fixed 1
  StorageWriteCompute second bytes 32..64
  after one
";
    let plan = |wait: &str| {
        format!(
            "submit 0 signal 1\n  pass one\nsubmit 0 signal 2\n  barriers\n    \
             memory COPY TRANSFER_WRITE -> COPY -\n  pass two\n\
             submit 1 signal 1\n{wait}  pass three\n"
        )
    };
    let wait = "  wait 0 value 1 at COMPUTE_SHADER\n";
    passes("gct:1,ct:1", &[(frame, &plan(wait))]);
    let expected = "pass `three` (StorageWriteCompute, frame 1) on bytes 32..64 of `second` shares \
                    memory with bytes 32..64 of `first` and comes after pass `one` (CopyWrite, frame 1) on \
                    that; no execution dependency orders them.";
    fails("gct:1,ct:1", &[(frame, &plan(""))], &[expected]);
}
