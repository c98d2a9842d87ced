use std::sync::Arc;

use super::Watch;

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn watch() -> Watch {
    let mut watch = Watch::new(2);
    let submissions: [(usize, u64, &[&str]); 5] = [
        (0, 1, &["upload"]),
        (0, 2, &["simulate", "count"]),
        (1, 4, &[]),
        (1, 5, &["draw"]),
        (0, 3, &["blur"]),
    ];
    for (at, (lane, value, passes)) in submissions.into_iter().enumerate() {
        watch.note(at, (lane, value), names(passes).iter());
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
fn completed_work_keeps_only_its_last_pass() {
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
fn frames_that_are_alike_share_their_names() {
    let mut watch = Watch::new(1);
    let (draw, blur) = (names(&["shadow", "draw"]), names(&["blur"]));
    for value in 1..100 {
        // The first submission of each frame has no pass.
        watch.note(0, (0, 3 * value), [].iter());
        watch.note(1, (0, 3 * value + 1), draw.iter());
        watch.note(2, (0, 3 * value + 2), blur.iter());
        watch.reached(0, 3 * value.saturating_sub(2));
    }
    assert!(watch.lanes[0].submitted.len() <= 6);
    assert!(watch.spare.is_empty(), "nothing was made twice");
    // References: this one, one in the watch, and one in `finished` at most.
    assert!(Arc::strong_count(&draw[0]) <= 3);
}

#[test]
fn frames_that_differ_use_memory_again() {
    let mut watch = Watch::new(1);
    for value in 1..100 {
        watch.note(0, (0, value), names(&["draw"]).iter());
        watch.reached(0, value.saturating_sub(2));
    }
    assert_eq!(watch.stuck(0, 98).0, ["draw"]);
    assert!(watch.lanes[0].submitted.len() + watch.spare.len() <= 4);
}
