use super::*;

fn file(name: &str) -> PathBuf {
    let folder = crate::folder::unpredictable("scores");
    std::fs::create_dir(&folder).expect("folders can be made");
    folder.join(name)
}

#[test]
fn best_scores_return_from_their_file() {
    let path = file("game.txt");
    let mut scores = Scores::load("game", Some(path.clone()));
    assert_eq!(scores.highest(), 0, "no file, no score");
    for score in [3, 90, 20, 7, 50, 1] {
        scores.add(score);
    }
    assert_eq!(scores.best, [90, 50, 20, 7, 3]);
    assert_eq!(Scores::load("game", Some(path)), scores);
}

#[test]
fn broken_files_are_a_fresh_start() {
    let path = file("broken.txt");
    for broken in [
        &b"game scores 0\n5\n"[..],
        b"other scores 1\n5\n",
        b"game scores 1\nmany\n",
        b"\xff\xfe\x00",
        b"",
    ] {
        std::fs::write(&path, broken).expect("written");
        assert!(read("game", &path).is_err(), "{broken:?}");
        let mut scores = Scores::load("game", Some(path.clone()));
        assert_eq!(scores.best, [0; 0], "{broken:?}");
        scores.add(5);
        assert_eq!(read("game", &path), Ok(vec![5]), "{broken:?}");
    }
}

#[test]
fn unsaved_scores_count_all_the_same() {
    let mut scores = Scores::unsaved();
    scores.add(7);
    assert_eq!((scores.highest(), scores.path), (7, None));
}
