use super::judge;

#[test]
fn a_good_window_may_miss_one_frame_in_ten() {
    let frames = [200, 199, 200];
    assert!(
        judge(&frames, &[198, 0, 180], true).is_ok(),
        "the bound itself"
    );
    assert!(judge(&frames, &[198, 0, 179], true).is_err(), "one too few");
}

#[test]
fn the_stuck_window_is_seen() {
    let frames = [200, 200, 200];
    assert!(
        judge(&frames, &[198, 198, 198], true).is_err(),
        "none is stuck"
    );
    assert!(judge(&frames, &[198, 0, 0], true).is_err(), "two are stuck");
    assert!(
        judge(&frames[..2], &[198, 0], true).is_err(),
        "a window is missing"
    );
    assert!(
        judge(&[20, 20, 20], &[20, 0, 20], true).is_err(),
        "too short"
    );
}

#[test]
fn after_a_loss_it_is_stuck_no_more() {
    let frames = [200, 200, 200];
    assert!(
        judge(&frames, &[198, 110, 180], false).is_ok(),
        "since then"
    );
    assert!(
        judge(&frames, &[198, 0, 180], false).is_err(),
        "still stuck"
    );
    assert!(
        judge(&frames, &[198, 190, 180], false).is_err(),
        "it never was"
    );
}
