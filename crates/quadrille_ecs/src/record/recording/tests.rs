use super::{PassRecording, Recordings};
use crate::record::outcome::Outcome;
use crate::record::slot::BLOCK;

#[test]
fn a_simple_pass_touches_four_cache_lines() {
    let bytes = size_of::<PassRecording>();
    assert!(bytes <= 256, "{bytes} bytes");
}

#[test]
fn each_slot_has_its_own() {
    let mut recordings = Recordings::default();
    let slots: Vec<_> = (0..3 * BLOCK + 1).map(|_| recordings.add()).collect();
    let mut outcome = Outcome::NONE;
    for (_, slot) in &slots {
        outcome = outcome.after();
        slot.note(outcome);
    }
    let mut expected = Outcome::NONE;
    for (number, _) in &slots {
        expected = expected.after();
        assert_eq!(
            recordings.read().outcome(*number),
            expected,
            "slot {number}"
        );
        assert!(recordings.read().get(*number).is_some());
    }
    assert_eq!(
        recordings.read().outcome(10_000),
        Outcome::NONE,
        "no such slot"
    );
    recordings.begin();
    let all = recordings.read();
    assert!(
        slots
            .iter()
            .all(|(number, _)| all.outcome(*number) == Outcome::NONE)
    );
    assert!(all.get(0).is_none(), "it did not run");
}
