use std::path::PathBuf;

use super::{Scores, parse, write};

/// A file in the test's own folder.
fn file(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("courier scores {}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    folder.join(name)
}

#[test]
fn scores_return_from_their_file() {
    let path = file("round.txt");
    let mut scores = Scores::load(Some(path.clone()));
    for score in [30, 900, 20, 400, 10, 500] {
        scores.add(score);
    }
    assert_eq!(scores.best, [900, 500, 400, 30, 20]);
    assert_eq!(Scores::load(Some(path)), scores);
}

#[test]
fn broken_files_are_a_fresh_start() {
    for (name, bytes) in [
        ("head.txt", b"something else\n12\n".as_slice()),
        ("number.txt", b"courier scores 1\n12\nmany\n"),
        ("bytes.txt", b"\xff\xfe\x00"),
    ] {
        let path = file(name);
        std::fs::write(&path, bytes).expect("files can be written");
        let mut scores = Scores::load(Some(path.clone()));
        assert!(scores.best.is_empty(), "{name}");
        scores.add(7);
        assert_eq!(Scores::load(Some(path)).best, [7], "{name}");
    }
}

#[test]
fn scores_without_a_file_stay_in_memory() {
    let mut scores = Scores::load(None);
    scores.add(5);
    assert_eq!(scores.best, [5]);
}

#[test]
fn text_is_read_back() {
    assert_eq!(parse(&write(&[9, 3])), Ok(vec![9, 3]));
    assert!(parse("").is_err());
}
