use super::Pace;

#[test]
fn a_game_stops_at_its_target() {
    let pace = Pace {
        target: Some(20),
        behind: 0,
    };
    assert_eq!(pace.steps(0, 16, false), 16);
    assert_eq!(pace.steps(16, 16, false), 4);
    assert_eq!(pace.steps(20, 16, false), 0);
    assert_eq!(pace.steps(0, 16, true), 0, "a paused game goes on");
}

#[test]
fn a_game_that_is_behind_catches_up_at_once_and_no_further() {
    let pace = Pace {
        target: None,
        behind: 1500,
    };
    assert_eq!(pace.steps(0, 1, false), 1024);
    assert_eq!(pace.steps(1024, 1, true), 476, "also if it is paused");
    assert_eq!(pace.steps(1500, 1, false), 1);
    assert_eq!(pace.steps(1500, 1, true), 0);
}
