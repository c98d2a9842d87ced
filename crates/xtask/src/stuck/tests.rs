use super::judge;

#[test]
fn a_good_window_may_miss_one_frame_in_ten() {
    let frames = [200, 199, 200];
    assert!(judge(&frames, &[198, 0, 180]).is_ok(), "the bound itself");
    assert!(judge(&frames, &[198, 0, 179]).is_err(), "one too few");
}

#[test]
fn the_stuck_window_is_seen() {
    let frames = [200, 200, 200];
    assert!(judge(&frames, &[198, 198, 198]).is_err(), "none is stuck");
    assert!(judge(&frames, &[198, 0, 0]).is_err(), "two are stuck");
    assert!(
        judge(&frames[..2], &[198, 0]).is_err(),
        "a window is missing"
    );
    assert!(judge(&[20, 20, 20], &[20, 0, 20]).is_err(), "too short");
}
