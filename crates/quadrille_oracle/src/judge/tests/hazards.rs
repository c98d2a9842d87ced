//! Execution dependencies, availability and visibility.

use super::{fails, passes};

const RAW: &str = "
buffer cells 0 bytes 64
pass write
  StorageWriteCompute cells
pass read
  UniformReadFragment cells
";

/// The plan of two passes with a barrier in between.
fn between(first: &str, barrier: &str, second: &str) -> String {
    format!("submit 0 signal 1\n  pass {first}\n  barriers\n    {barrier}\n  pass {second}\n")
}

fn raw(barrier: &str) -> String {
    between("write", barrier, "read")
}

#[test]
fn a_read_after_a_write_needs_a_memory_dependency() {
    let right = [
        "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER UNIFORM_READ",
        "memory ALL_COMMANDS MEMORY_WRITE -> ALL_COMMANDS MEMORY_READ",
        "buffer cells bytes 0..64 COMPUTE_SHADER SHADER_WRITE -> FRAGMENT_SHADER UNIFORM_READ",
    ];
    for barrier in right {
        passes("gct:1", &[(RAW, &raw(barrier))]);
    }
}

#[test]
fn incomplete_scope_is_reported_with_the_missing_part() {
    let begin = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadFragment, \
                 frame 1) after pass `write` (StorageWriteCompute, frame 1); ";
    let execution = "no execution dependency orders them.";
    let availability = "the write is not made available.";
    let invisible = "the write is not visible to AccessMask(UNIFORM_READ) in \
                     Stages(FRAGMENT_SHADER).";
    let wrong = [
        ("memory - - -> FRAGMENT_SHADER UNIFORM_READ", execution),
        (
            "memory VERTEX_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER UNIFORM_READ",
            execution,
        ),
        (
            "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER UNIFORM_READ",
            execution,
        ),
        (
            "memory COMPUTE_SHADER - -> FRAGMENT_SHADER UNIFORM_READ",
            availability,
        ),
        (
            "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER -",
            invisible,
        ),
        (
            "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER SHADER_SAMPLED_READ",
            invisible,
        ),
        // Logically later stages are in the second synchronization scope, but not in the access scope.
        (
            "memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> VERTEX_SHADER UNIFORM_READ",
            invisible,
        ),
    ];
    for (barrier, end) in wrong {
        fails(
            "gct:1",
            &[(RAW, &raw(barrier))],
            &[&format!("{begin}{end}")],
        );
    }
}

#[test]
fn a_buffer_barrier_reaches_its_range_only() {
    let barrier = "buffer cells bytes 0..32 COMPUTE_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER UNIFORM_READ";
    let expected = "ReadAfterWrite hazard on bytes 32..64 of `cells`: pass `read` \
                    (UniformReadFragment, frame 1) after pass `write` (StorageWriteCompute, frame 1); \
                    the write is not made available.";
    fails("gct:1", &[(RAW, &raw(barrier))], &[expected]);
}

#[test]
fn ranges_that_do_not_overlap_have_no_hazard() {
    let frame = "
buffer cells 0 bytes 64
image map 1 aspects DEPTH|STENCIL mips 2 layers 2 concurrent
pass first
  StorageWriteCompute cells bytes 0..32
pass second
  StorageWriteCompute cells bytes 32..64
";
    passes(
        "gct:1",
        &[(frame, "submit 0 signal 1\n  pass first\n  pass second\n")],
    );
}

const WAR: &str = "
buffer cells 0 bytes 64
pass init
  CopyWrite cells
pass read
  VertexRead cells
  after init
pass write
  StorageWriteCompute cells
  after read
";

/// A plan in which the first write is visible to the second one before the read.
fn war(barrier: &str) -> String {
    let to = "VERTEX_ATTRIBUTE_INPUT|COMPUTE_SHADER VERTEX_ATTRIBUTE_READ|SHADER_STORAGE_WRITE";
    after_init(to, barrier)
}

fn after_init(to: &str, barrier: &str) -> String {
    let init = format!("memory COPY TRANSFER_WRITE -> {to}");
    let head = format!("submit 0 signal 1\n  pass init\n  barriers\n    {init}\n  pass read\n");
    format!("{head}  barriers\n    {barrier}\n  pass write\n")
}

#[test]
fn a_write_after_a_read_needs_order_only() {
    passes(
        "gct:1",
        &[(
            WAR,
            &war("memory VERTEX_ATTRIBUTE_INPUT - -> COMPUTE_SHADER -"),
        )],
    );
    // A first scope includes logically earlier stages.
    passes(
        "gct:1",
        &[(WAR, &war("memory FRAGMENT_SHADER - -> COMPUTE_SHADER -"))],
    );
    passes(
        "gct:1",
        &[(WAR, &war("memory BOTTOM_OF_PIPE - -> TOP_OF_PIPE -"))],
    );
    let lacks = "WriteAfterRead hazard on all of `cells`: pass `write` (StorageWriteCompute, \
                 frame 1) after pass `read` (VertexRead, frame 1); no execution dependency orders \
                 them.";
    let wrong = war("memory INDEX_INPUT - -> COMPUTE_SHADER -");
    fails("gct:1", &[(WAR, &wrong)], &[lacks]);
    let wrong = war("memory VERTEX_ATTRIBUTE_INPUT - -> VERTEX_SHADER -");
    fails("gct:1", &[(WAR, &wrong)], &[lacks]);
    let wrong = war("memory TOP_OF_PIPE - -> ALL_COMMANDS -");
    fails("gct:1", &[(WAR, &wrong)], &[lacks]);
}

/// A draw may read only some of the declared vertices; the other bytes are written twice in a row.
#[test]
fn a_write_sees_the_write_before_a_read_that_may_be_of_a_part() {
    let plan = |barrier| after_init("VERTEX_ATTRIBUTE_INPUT VERTEX_ATTRIBUTE_READ", barrier);
    let right = plan("memory VERTEX_ATTRIBUTE_INPUT - -> COMPUTE_SHADER SHADER_STORAGE_WRITE");
    passes("gct:1", &[(WAR, &right)]);
    let begin = "WriteAfterWrite hazard on all of `cells`: pass `write` (StorageWriteCompute, \
                 frame 1) after pass `init` (CopyWrite, frame 1); ";
    let invisible = format!(
        "{begin}the write is not visible to AccessMask(SHADER_STORAGE_WRITE) in \
         Stages(COMPUTE_SHADER)."
    );
    let wrong = plan("memory VERTEX_ATTRIBUTE_INPUT - -> COMPUTE_SHADER -");
    fails("gct:1", &[(WAR, &wrong)], &[&invisible]);
}

#[test]
fn a_write_after_a_write_needs_a_memory_dependency() {
    let frame = "
buffer cells 0 bytes 64
pass first
  CopyWrite cells
pass second
  StorageWriteCompute cells
  after first
";
    let plan = |barrier| between("first", barrier, "second");
    let right = plan("memory COPY TRANSFER_WRITE -> COMPUTE_SHADER SHADER_STORAGE_WRITE");
    passes("gct:1", &[(frame, &right)]);
    let begin = "WriteAfterWrite hazard on all of `cells`: pass `second` (StorageWriteCompute, \
                 frame 1) after pass `first` (CopyWrite, frame 1); ";
    let invisible = format!(
        "{begin}the write is not visible to AccessMask(SHADER_STORAGE_WRITE) in \
         Stages(COMPUTE_SHADER)."
    );
    let wrong = plan("memory COPY TRANSFER_WRITE -> COMPUTE_SHADER -");
    fails("gct:1", &[(frame, &wrong)], &[&invisible]);
    let wrong = plan("memory COPY - -> COMPUTE_SHADER SHADER_STORAGE_WRITE");
    let unavailable = format!("{begin}the write is not made available.");
    fails("gct:1", &[(frame, &wrong)], &[&unavailable]);
}

const CHAIN: &str = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells
pass read
  UniformReadFragment cells
";

#[test]
fn barriers_chain_over_calls() {
    let plan = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> COMPUTE_SHADER -
  barriers
    memory COMPUTE_SHADER - -> FRAGMENT_SHADER UNIFORM_READ
  pass read
";
    passes("gct:1", &[(CHAIN, plan)]);
    let broken = plan.replace("memory COMPUTE_SHADER -", "memory TASK_SHADER -");
    let lacks = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadFragment, frame \
                 1) after pass `write` (CopyWrite, frame 1); no execution dependency orders them.";
    fails("gct:1", &[(CHAIN, &broken)], &[lacks]);
}

#[test]
fn barriers_of_one_call_do_not_chain() {
    let plan = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> COMPUTE_SHADER -
    buffer cells bytes 0..64 COMPUTE_SHADER - -> FRAGMENT_SHADER UNIFORM_READ
  pass read
";
    let lacks = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadFragment, frame \
                 1) after pass `write` (CopyWrite, frame 1); no execution dependency orders them.";
    fails("gct:1", &[(CHAIN, plan)], &[lacks]);
}

#[test]
fn a_read_proves_nothing_for_other_stages() {
    let frame = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells
pass first
  UniformReadVertex cells
pass second
  UniformReadFragment cells
";
    let plan = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> VERTEX_SHADER UNIFORM_READ
  pass first
  pass second
";
    let lacks = "ReadAfterWrite hazard on all of `cells`: pass `second` (UniformReadFragment, \
                 frame 1) after pass `write` (CopyWrite, frame 1); the write is not visible to \
                 AccessMask(UNIFORM_READ) in Stages(FRAGMENT_SHADER).";
    fails("gct:1", &[(frame, plan)], &[lacks]);
    // The write is available already, so this one only has to continue the chain.
    let chained = plan.replace(
        "  pass second",
        "  barriers\n    memory VERTEX_SHADER - -> FRAGMENT_SHADER UNIFORM_READ\n  pass second",
    );
    passes("gct:1", &[(frame, &chained)]);
}

#[test]
fn hazards_are_found_over_frames() {
    let write = "buffer cells 0 bytes 64\npass write\n  CopyWrite cells\n";
    let read = "buffer cells 0 bytes 64\npass read\n  UniformReadVertex cells\n";
    let plan = "submit 0 signal 1\n  pass write\n";
    let right = "
submit 0 signal 1
  barriers
    memory COPY TRANSFER_WRITE -> VERTEX_SHADER UNIFORM_READ
  pass read
";
    passes("gct:1", &[(write, plan), (read, right)]);
    let lacks = "ReadAfterWrite hazard on all of `cells`: pass `read` (UniformReadVertex, frame \
                 2) after pass `write` (CopyWrite, frame 1); no execution dependency orders them.";
    fails(
        "gct:1",
        &[(write, plan), (read, "submit 0 signal 1\n  pass read\n")],
        &[lacks],
    );
}

#[test]
fn depth_and_stencil_are_apart() {
    let frame = "
image map 0 aspects DEPTH|STENCIL mips 1 layers 1
pass depth
  DepthAttachmentWrite map aspects DEPTH mips 0..1 layers 0..1 discard
pass stencil
  StencilAttachmentWrite map aspects STENCIL mips 0..1 layers 0..1 discard
";
    let plan = "
submit 0 signal 1
  barriers
    image map aspects DEPTH|STENCIL mips 0..1 layers 0..1 - - -> EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE layout Undefined -> DepthStencilAttachmentOptimal
  pass depth
  pass stencil
";
    passes("gct:1", &[(frame, plan)]);
}

#[test]
fn the_host_needs_a_barrier_and_a_wait() {
    let frame = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells
pass read host
  HostRead cells
";
    let plan = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> HOST HOST_READ
host read
  wait 0 value 1
";
    passes("gct:1", &[(frame, plan)]);
    let begin = "ReadAfterWrite hazard on all of `cells`: pass `read` (HostRead, frame 1) after \
                 pass `write` (CopyWrite, frame 1); ";
    let no_wait = plan.replace("  wait 0 value 1\n", "");
    let lacks = format!("{begin}no execution dependency orders them.");
    fails("gct:1", &[(frame, &no_wait)], &[&lacks]);
    let invisible = plan.replace("HOST HOST_READ", "ALL_COMMANDS MEMORY_READ");
    let lacks =
        format!("{begin}the write is not visible to AccessMask(HOST_READ) in Stages(HOST).");
    fails("gct:1", &[(frame, &invisible)], &[&lacks]);
}
