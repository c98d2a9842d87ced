use super::Contents;

#[test]
fn contents_are_written_once_for_a_key() {
    let mut contents = Contents::default();
    assert!(contents.begin_write(b"noon", 3));
    assert!(!contents.begin_write(b"noon", 4));
    assert!(!contents.begin_write(b"noon", 5));
    assert!(contents.begin_write(b"dusk", 6));
    assert!(!contents.begin_write(b"dusk", 7));
}

#[test]
fn failed_frame_is_written_again() {
    let mut contents = Contents::default();
    assert!(contents.begin_write(b"noon", 3));
    assert!(contents.begin_write(b"noon", 3));
    assert!(!contents.begin_write(b"noon", 4));
}
