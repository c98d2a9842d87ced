//! Swapchain images.

use super::{fails, passes};

const FRAME: &str = "
image screen 0 aspects COLOR mips 1 layers 1 swapchain
pass draw
  ColorAttachmentWrite screen discard
";

const PLAN: &str = "
submit 0 signal 1
  acquire screen at COLOR_ATTACHMENT_OUTPUT
  barriers
    image screen aspects COLOR mips 0..1 layers 0..1 COLOR_ATTACHMENT_OUTPUT - -> COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE layout Undefined -> ColorAttachmentOptimal
  pass draw
  barriers
    image screen aspects COLOR mips 0..1 layers 0..1 COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE -> - - layout ColorAttachmentOptimal -> PresentSrc
  present screen
";

/// The plan with one replacement.
fn changed(from: &str, to: &str) -> String {
    assert!(PLAN.contains(from), "the plan has no {from}");
    PLAN.replace(from, to)
}

#[test]
fn acquire_draw_present() {
    passes("gct:1", &[(FRAME, PLAN), (FRAME, PLAN)]);
}

#[test]
fn a_transition_continues_the_wait_for_the_acquire() {
    let expected = "WriteAfterRead hazard on all of `screen`: the layout transition Undefined -> \
                    ColorAttachmentOptimal of frame 1 after the presentation engine; no execution \
                    dependency orders them.";
    let wrong = changed("0..1 COLOR_ATTACHMENT_OUTPUT - ->", "0..1 - - ->");
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
    let wrong = changed(
        "acquire screen at COLOR_ATTACHMENT_OUTPUT",
        "acquire screen at COMPUTE_SHADER",
    );
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn an_image_is_acquired_before_its_first_use() {
    let wrong = changed("  acquire screen at COLOR_ATTACHMENT_OUTPUT\n", "");
    let expected = [
        "the layout transition Undefined -> ColorAttachmentOptimal of frame 1 touches swapchain \
         image `screen`, which is not acquired.",
        "WriteAfterRead hazard on all of `screen`: the layout transition Undefined -> \
         ColorAttachmentOptimal of frame 1 after the presentation engine; no execution dependency \
         orders them.",
        "Swapchain image `screen` is acquired 0 times in a frame that uses it.",
    ];
    fails("gct:1", &[(FRAME, &wrong)], &expected);
}

#[test]
fn an_image_is_presented_once() {
    let wrong = changed("  present screen\n", "");
    let expected = "Swapchain image `screen` is presented 0 times in a frame that uses it.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn an_image_is_presented_in_its_layout() {
    let lines: Vec<&str> = PLAN.lines().collect();
    let wrong = [&lines[..6], &lines[8..]].concat().join("\n");
    let expected = "the presentation engine needs all of `screen` in layout PresentSrc and finds it \
                    in ColorAttachmentOptimal.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn nobody_touches_an_image_after_its_present() {
    let first = "pass first\n  CopyWrite screen discard\npass draw";
    let frame = FRAME.replace("pass draw", first) + "  after first\n";
    let plan = PLAN.to_owned() + "submit 0 signal 2\n  pass first\n";
    let violations = super::judged("gct:1", &[(&frame, &plan)]);
    let expected = "pass `first` (CopyWrite, frame 1) touches swapchain image `screen`, which is \
                    not acquired.";
    assert!(
        violations.iter().any(|violation| violation == expected),
        "{violations:#?}"
    );
}

#[test]
fn a_present_comes_after_all_queues() {
    let plan = "
submit 1 signal 1
  acquire screen at COLOR_ATTACHMENT_OUTPUT
  barriers
    image screen aspects COLOR mips 0..1 layers 0..1 COLOR_ATTACHMENT_OUTPUT - -> COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE layout Undefined -> ColorAttachmentOptimal
  pass draw
  barriers
    image screen aspects COLOR mips 0..1 layers 0..1 COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE -> - - layout ColorAttachmentOptimal -> PresentSrc
submit 0 signal 1
  wait 1 value 1 at ALL_COMMANDS
  present screen
";
    passes("gct:2", &[(FRAME, plan)]);
    let wrong = plan.replace("  wait 1 value 1 at ALL_COMMANDS\n", "");
    let expected = "ReadAfterWrite hazard on all of `screen`: the presentation engine after the \
                    layout transition ColorAttachmentOptimal -> PresentSrc of frame 1; no execution \
                    dependency orders them.";
    fails("gct:2", &[(FRAME, &wrong)], &[expected]);
}

#[test]
fn a_queue_presents_if_it_can() {
    let expected = "Swapchain image `screen` is presented on queue 0, which cannot present.";
    fails("gctn:1", &[(FRAME, PLAN)], &[expected]);
}

#[test]
fn only_swapchain_images_are_acquired() {
    let frame = "buffer x 0 bytes 4\npass w\n  CopyWrite x\n";
    let plan = "submit 0 signal 1\n  acquire x at COPY\n  pass w\n  present x\n";
    let expected = [
        "`x` is acquired and is no swapchain image.",
        "`x` is presented and is no swapchain image.",
    ];
    fails("gct:1", &[(frame, plan)], &expected);
}
