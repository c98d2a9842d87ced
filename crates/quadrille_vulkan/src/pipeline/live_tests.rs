use std::sync::Arc;

use super::Live;

#[test]
fn what_is_laid_ready_runs_once_it_is_adopted() {
    let [old, new] = [Arc::new(1), Arc::new(2)];
    let live = Live::new(Arc::clone(&old));
    live.adopt();
    assert!(live.is(&old), "nothing is laid ready");
    live.prepare(Arc::clone(&new));
    assert!(live.is(&old) && *live.current() == 1, "not adopted yet");
    live.adopt();
    assert!(live.is(&new) && *live.current() == 2, "adopted");
    assert_eq!(Arc::strong_count(&old), 1, "let go");
}

#[test]
fn the_last_of_several_runs() {
    let live = Live::new(Arc::new(1));
    live.prepare(Arc::new(2));
    live.prepare(Arc::new(3));
    live.adopt();
    assert_eq!(*live.current(), 3);
    live.adopt();
    assert_eq!(*live.current(), 3, "adopted once");
}
