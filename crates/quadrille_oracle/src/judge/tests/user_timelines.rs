use super::{fails, passes};

const FRAME: &str = "buffer a 0 bytes 4\nbuffer b 1 bytes 4\nbuffer c 2 bytes 4\n\
                     timeline t base 7\npass first\n  CopyWrite a\n  signal t value 1\n\
                     pass other\n  CopyWrite b\npass last\n  CopyWrite c\n  wait t value 1\n";

#[test]
fn waits_begin_submissions_and_signals_end_them() {
    let plan = "submit 0 signal 1\n  pass first\nsubmit 0 signal 2\n  pass other\n\
                submit 0 signal 3\n  pass last\n";
    passes("gct:1", &[(FRAME, plan)]);
    let plan = "submit 0 signal 1\n  pass first\n  pass other\nsubmit 0 signal 2\n  pass last\n";
    let expected = "Pass `first` uses value 1 of the timeline `t`: it signals, and another pass of its \
                    submission delays that.";
    fails("gct:1", &[(FRAME, plan)], &[expected]);
    let plan = "submit 0 signal 1\n  pass first\nsubmit 0 signal 2\n  pass other\n  pass last\n";
    let expected = "Pass `last` uses value 1 of the timeline `t`: it waits, and another pass of its \
                    submission is held up.";
    fails("gct:1", &[(FRAME, plan)], &[expected]);
}

#[test]
fn signal_is_submitted_before_the_wait_for_it() {
    let plan = "submit 0 signal 1\n  pass last\nsubmit 0 signal 2\n  pass other\n\
                submit 0 signal 3\n  pass first\n";
    let expected = "Pass `last` uses value 1 of the timeline `t`: its value comes before a lower one is \
                    signalled.";
    fails("gct:1", &[(FRAME, plan)], &[expected]);
}

#[test]
fn pass_that_signals_is_not_culled() {
    let frame = "cull\nbuffer a 0 bytes 4 transient\ntimeline t base 0\npass first\n  CopyWrite a\n  \
                 signal t value 1\n";
    let expected = [
        "Pass `first` is culled, and it waits for a timeline or signals one.",
        "Pass `first` uses value 1 of the timeline `t`: it does not run.",
    ];
    fails("gct:1", &[(frame, "culled first\n")], &expected);
}
