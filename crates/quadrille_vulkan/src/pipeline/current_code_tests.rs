use std::sync::Arc;

use super::CurrentCode;

#[test]
fn prepared_code_runs_once_it_is_adopted() {
    let [old, new] = [Arc::new(1), Arc::new(2)];
    let code = CurrentCode::new(Arc::clone(&old));
    code.adopt();
    assert!(code.is(&old), "nothing is laid ready");
    code.prepare(Arc::clone(&new));
    assert!(code.is(&old) && *code.current() == 1, "not adopted yet");
    code.adopt();
    assert!(code.is(&new) && *code.current() == 2, "adopted");
    assert_eq!(Arc::strong_count(&old), 1, "let go");
}

#[test]
fn the_last_of_several_runs() {
    let code = CurrentCode::new(Arc::new(1));
    code.prepare(Arc::new(2));
    code.prepare(Arc::new(3));
    code.adopt();
    assert_eq!(*code.current(), 3);
    code.adopt();
    assert_eq!(*code.current(), 3, "adopted once");
}
