use super::*;

fn package() -> PathBuf {
    let package = crate::place::made("tmp/bevy-examples-test");
    for file in [
        "2d/sprite.rs",
        "2d/mesh2d.rs",
        "2d/notes.md",
        "showcase/breakout.rs",
        "3d/lines.rs",
        "ui/text/text.rs",
        "ui/button.rs",
        "testbed/2d.rs",
    ] {
        let path = package.join("examples").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    package
}

fn names(programs: &[Program]) -> Vec<&str> {
    programs
        .iter()
        .map(|program| program.name.as_str())
        .collect()
}

#[test]
fn without_names_the_2d_programs_and_the_game_run() {
    let found = find(&package(), &[]).unwrap();
    assert_eq!(names(&found), ["breakout", "mesh2d", "sprite"]);
}

#[test]
fn names_choose_from_all_folders() {
    let found = find(&package(), &["lines".to_owned()]).unwrap();
    assert_eq!(names(&found), ["lines"]);
    let error = find(&package(), &["liens".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bevy has no example called `liens`, and no folder of examples"
    );
}

#[test]
fn folders_name_all_that_lies_in_them() {
    let of = |name: &str| find(&package(), &[name.to_owned()]).unwrap();
    assert_eq!(names(&of("ui")), ["button", "text"]);
    assert_eq!(names(&of("ui/text")), ["text"]);
    assert_eq!(names(&of("text")), ["text"]);
    // A program of the folder's name elsewhere is not meant.
    assert_eq!(names(&of("2d")), ["mesh2d", "sprite"]);
}
