//! Layouts and contents.

use super::{fails, passes};

const FRAME: &str = "
image map 0 aspects COLOR mips 2 layers 1
pass draw
  ColorAttachmentWrite map discard
pass sample
  SampledFragment map
";

const PLAN: &str = "
submit 0 signal 1
  barriers
    image map aspects COLOR mips 0..2 layers 0..1 - - -> COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE layout Undefined -> ColorAttachmentOptimal
  pass draw
  barriers
    image map aspects COLOR mips 0..2 layers 0..1 COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE -> FRAGMENT_SHADER SHADER_SAMPLED_READ layout ColorAttachmentOptimal -> ShaderReadOnlyOptimal
  pass sample
";

#[test]
fn transitions_between_uses_are_right() {
    passes("gct:1", &[(FRAME, PLAN)]);
}

#[test]
fn a_use_needs_its_layout() {
    let wrong = PLAN.replace("-> ShaderReadOnlyOptimal", "-> General");
    let expected = "pass `sample` (SampledFragment, frame 1) needs all of `map` in layout \
                    ShaderReadOnlyOptimal and finds it in General.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn layouts_are_kept_by_subresource() {
    let wrong = PLAN.replace("mips 0..2 layers 0..1 COLOR", "mips 0..1 layers 0..1 COLOR");
    let layout = "pass `sample` (SampledFragment, frame 1) needs mip levels 1..2, array layers \
                  0..1 of COLOR of `map` in layout ShaderReadOnlyOptimal and finds it in \
                  ColorAttachmentOptimal.";
    let hazard = "ReadAfterWrite hazard on mip levels 1..2, array layers 0..1 of COLOR of `map`: \
                  pass `sample` (SampledFragment, frame 1) after pass `draw` \
                  (ColorAttachmentWrite, frame 1); the write is not made available.";
    fails("gct:1", &[(FRAME, &wrong)], &[layout, hazard]);
}

#[test]
fn an_old_layout_is_the_present_one() {
    let wrong = PLAN.replace("layout ColorAttachmentOptimal ->", "layout General ->");
    let expected = "the layout transition General -> ShaderReadOnlyOptimal of frame 1 needs all of \
                    `map` in layout General and finds it in ColorAttachmentOptimal.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn discarded_contents_are_gone() {
    let wrong = PLAN.replace("layout ColorAttachmentOptimal ->", "layout Undefined ->");
    let expected = "pass `sample` (SampledFragment, frame 1) needs the contents of all of `map`, \
                    which the layout transition Undefined -> ShaderReadOnlyOptimal of frame 1 has \
                    discarded.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn no_image_can_be_put_into_layout_undefined() {
    let wrong = PLAN.replace("-> ShaderReadOnlyOptimal", "-> Undefined");
    let layout = "pass `sample` (SampledFragment, frame 1) needs all of `map` in layout \
                  ShaderReadOnlyOptimal and finds it in Undefined.";
    let invalid = "the layout transition ColorAttachmentOptimal -> Undefined of frame 1 has a new \
                   layout that images cannot be put in, on all of `map`.";
    fails("gct:1", &[(FRAME, &wrong)], &[invalid, layout]);
}

#[test]
fn a_transition_waits_for_writes_and_reads() {
    let wrong = PLAN.replace(
        "COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE -> FRAG",
        "- - -> FRAG",
    );
    let expected = "WriteAfterWrite hazard on all of `map`: the layout transition \
                    ColorAttachmentOptimal -> ShaderReadOnlyOptimal of frame 1 after pass `draw` \
                    (ColorAttachmentWrite, frame 1); no execution dependency orders them.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);

    let wrong = PLAN.replace("OUTPUT COLOR_ATTACHMENT_WRITE -> FRAG", "OUTPUT - -> FRAG");
    let expected = "WriteAfterWrite hazard on all of `map`: the layout transition \
                    ColorAttachmentOptimal -> ShaderReadOnlyOptimal of frame 1 after pass `draw` \
                    (ColorAttachmentWrite, frame 1); the write is not made available.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);

    let again = PLAN.replace(
        "    image map aspects COLOR mips 0..2 layers 0..1 - - ->",
        "    image map aspects COLOR mips 0..2 layers 0..1 COLOR_ATTACHMENT_OUTPUT - ->",
    );
    let expected = "WriteAfterRead hazard on all of `map`: the layout transition Undefined -> \
                    ColorAttachmentOptimal of frame 2 after pass `sample` (SampledFragment, frame \
                    1); no execution dependency orders them.";
    let early = again.replace("COLOR_ATTACHMENT_OUTPUT - ->", "VERTEX_SHADER - ->");
    let after_transition = "WriteAfterWrite hazard on all of `map`: the layout transition \
        Undefined -> ColorAttachmentOptimal of frame 2 after the layout transition \
        ColorAttachmentOptimal -> ShaderReadOnlyOptimal of frame 1; no execution dependency orders \
        them.";
    // Color attachment output is logically later than the fragment shader.
    passes("gct:1", &[(FRAME, PLAN), (FRAME, &again)]);
    fails(
        "gct:1",
        &[(FRAME, PLAN), (FRAME, &early)],
        &[after_transition, expected],
    );
}

#[test]
fn transition_writes_are_visible_to_its_second_scope_only() {
    let wrong = PLAN.replace(
        "FRAGMENT_SHADER SHADER_SAMPLED_READ",
        "FRAGMENT_SHADER SHADER_STORAGE_READ",
    );
    let expected = "ReadAfterWrite hazard on all of `map`: pass `sample` (SampledFragment, frame \
                    1) after the layout transition ColorAttachmentOptimal -> ShaderReadOnlyOptimal \
                    of frame 1; the write is not visible to AccessMask(SHADER_SAMPLED_READ) in \
                    Stages(FRAGMENT_SHADER).";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn two_transitions_of_one_call_must_not_meet() {
    let line = PLAN.lines().nth(3).unwrap();
    let wrong = PLAN.replacen(line, &format!("{line}\n{line}"), 1);
    let collide = "Two barriers of one call change the layout or owner of all of `map`.";
    let violations = super::judged("gct:1", &[(FRAME, &wrong)]);
    assert_eq!(violations[0], collide);
}

#[test]
fn only_written_contents_are_read() {
    let frame = "
buffer cells 0 bytes 64
buffer stars 1 bytes 64
pass write
  CopyWrite stars
pass read
  UniformReadVertex cells
";
    let plan = "submit 0 signal 1\n  pass write\n  pass read\n";
    let expected = "pass `read` (UniformReadVertex, frame 1) reads all of `cells`, which was \
                    never written.";
    fails("gct:1", &[(frame, plan)], &[expected]);
}

/// Buffers may be filled in part and read as a whole, as in the solver; images may not.
#[test]
fn buffers_may_be_filled_in_part() {
    let frame = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells bytes 0..32
pass read
  UniformReadVertex cells
";
    let plan = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> VERTEX_SHADER UNIFORM_READ
  pass read
";
    passes("gct:1", &[(frame, plan)]);
}

#[test]
fn transient_contents_end_with_the_frame() {
    let write = "buffer cells 0 bytes 64 transient\npass write\n  CopyWrite cells\n";
    let read = "buffer cells 0 bytes 64 transient\npass read\n  UniformReadVertex cells\n";
    let plan = "
submit 0 signal 1
  barriers
    memory COPY TRANSFER_WRITE -> VERTEX_SHADER UNIFORM_READ
  pass read
";
    let expected =
        "pass `read` (UniformReadVertex, frame 2) reads all of `cells`, which was never written.";
    fails(
        "gct:1",
        &[(write, "submit 0 signal 1\n  pass write\n"), (read, plan)],
        &[expected],
    );
}

#[test]
fn a_partial_write_keeps_the_rest() {
    let frame = "
image map 0 aspects COLOR mips 1 layers 1
pass first
  StorageWriteCompute map
pass second
  TransferWrite map
  after first
";
    let plan = "
submit 0 signal 1
  barriers
    image map aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
  pass first
  barriers
    image map aspects COLOR mips 0..1 layers 0..1 COMPUTE_SHADER SHADER_STORAGE_WRITE -> ALL_TRANSFER TRANSFER_WRITE layout OLD -> TransferDstOptimal
  pass second
";
    passes("gct:1", &[(frame, &plan.replace("OLD", "General"))]);
    let expected = "pass `second` (TransferWrite, frame 1) needs the contents of all of `map`, \
                    which the layout transition Undefined -> TransferDstOptimal of frame 1 has \
                    discarded.";
    fails(
        "gct:1",
        &[(frame, &plan.replace("OLD", "Undefined"))],
        &[expected],
    );
}

#[test]
fn imported_contents_are_there_until_they_are_removed() {
    let frame =
        quadrille_sync::text::parse_frame("buffer x 0 bytes 4\npass a\n  CopyRead x\n").unwrap();
    let plan = quadrille_sync::text::parse_plan("submit 0 signal 1\n  pass a\n", &frame).unwrap();
    let topology = quadrille_sync::text::parse_topology("gct:1").unwrap();
    let mut judge = super::Judge::new(&topology);
    judge.import(
        &frame.resources[0],
        quadrille_sync::flags::Layout::Undefined,
        None,
    );
    assert_eq!(judge.frame(&frame, &plan), []);
    judge.remove(frame.resources[0].id);
    assert_eq!(judge.frame(&frame, &plan).len(), 1);
}
