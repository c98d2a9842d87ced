use super::*;

/// A point that a submission signals.
const DONE: Point = Point {
    timeline: 1,
    value: 7,
};

/// A signal of this side that the other side may wait for.
fn signal(state: &BinaryState) {
    assert_eq!(state.misuse(true, 1), None);
    state.note_used(true, DONE);
    state.note_certain();
    assert_eq!(state.pending(), PendingSignal::Ours);
}

/// A signal of the other side, and the wait of a frame.
fn wait(state: &BinaryState) {
    assert_eq!(state.arrived(), Ok(()));
    assert_eq!(state.pending(), PendingSignal::Theirs);
    assert_eq!(state.misuse(false, 1), None);
    state.note_used(false, DONE);
    assert_eq!(state.pending(), PendingSignal::None);
}

fn says(problem: Option<&str>, part: &str) {
    assert!(problem.is_some_and(|it| it.contains(part)), "{problem:?}");
}

#[test]
fn shared_semaphore_goes_back_and_forth() {
    let state = BinaryState::new(Binary::Shared);
    for _ in 0..3 {
        signal(&state);
        // The other side has waited and signals again.
        wait(&state);
        assert_eq!(state.waited(), Some(DONE));
    }
    // In one direction only.
    for _ in 0..3 {
        signal(&state);
        assert_eq!(state.taken(), Ok(()));
    }
}

#[test]
fn shared_semaphore_refuses_each_use_out_of_turn() {
    let state = BinaryState::new(Binary::Shared);
    says(state.misuse(true, 2), "use the value 1");
    says(state.misuse(false, 1), "call `BinarySemaphore::arrived`");
    says(state.taken().err(), "no signal of a frame is pending");
    says(state.take().err(), "`BinarySemaphore::export_opaque`");
    state.note_used(true, DONE);
    says(state.misuse(true, 1), "nobody has submitted in time");
    says(state.misuse(false, 1), "nobody has submitted in time");
    says(state.arrived().err(), "nobody has submitted in time");
    says(state.taken().err(), "no signal of a frame is pending");
    assert_eq!(state.pending(), PendingSignal::None);
    state.note_certain();
    says(state.misuse(true, 1), "call `BinarySemaphore::taken`");
    says(state.misuse(false, 1), "an earlier frame signals it");
    assert_eq!(state.arrived(), Ok(()));
    says(state.misuse(true, 1), "let a frame wait for that signal");
    says(state.arrived().err(), "has arrived before");
    says(state.taken().err(), "no signal of a frame is pending");
}

#[test]
fn sync_files_have_one_signal_and_one_wait() {
    for kind in [Binary::Imported, Binary::Exportable] {
        let state = BinaryState::new(kind);
        let is_signal = kind == Binary::Exportable;
        assert_eq!(state.value(), u64::from(!is_signal));
        assert_eq!(state.misuse(is_signal, 1), None);
        assert!(state.misuse(!is_signal, 1).is_some());
        says(state.arrived().err(), "it is of a sync file");
        says(state.taken().err(), "it is of a sync file");
        state.note_used(is_signal, DONE);
        assert_eq!(state.value(), 1);
        says(state.misuse(is_signal, 1), "an earlier frame has used it");
        assert!(state.take().is_err(), "its signal is not certain");
        state.note_certain();
        assert_eq!(state.take().is_ok(), is_signal);
        assert!(state.take().is_err());
    }
}
