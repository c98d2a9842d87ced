use super::Watch;

fn watch() -> Watch {
    let mut watch = Watch::new(2);
    for (lane, value, pass) in [
        (0, 1, "upload"),
        (0, 2, "simulate"),
        (1, 5, "draw"),
        (0, 2, "count"),
        (0, 3, "blur"),
    ] {
        watch.note(lane, value, pass.into());
    }
    watch
}

#[test]
fn the_first_submission_that_is_not_done_is_named() {
    let stuck = watch().stuck(0, 1);
    assert_eq!(stuck.0, ["simulate", "count"]);
    assert_eq!(stuck.1.as_deref(), Some("upload"));
    let stuck = watch().stuck(1, 0);
    assert_eq!((stuck.0, stuck.1), (vec!["draw".to_owned()], None));
}

#[test]
fn what_is_done_is_forgotten_but_for_its_last_pass() {
    let mut watch = watch();
    watch.reached(0, 2);
    let (passes, finished) = watch.stuck(0, 2);
    assert_eq!(passes, ["blur"]);
    assert_eq!(finished.as_deref(), Some("count"));
    watch.reached(0, 3);
    let (passes, finished) = watch.stuck(0, 3);
    assert!(passes.is_empty(), "{passes:?}");
    assert_eq!(finished.as_deref(), Some("blur"));
}

#[test]
fn the_steady_state_needs_no_more_memory() {
    let mut watch = Watch::new(1);
    for value in 1..100 {
        watch.note(0, value, "draw".into());
        watch.reached(0, value.saturating_sub(2));
    }
    assert!(watch.lanes[0].submitted.len() + watch.spare.len() <= 4);
}
