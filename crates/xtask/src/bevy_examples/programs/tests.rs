use super::*;

fn package() -> PathBuf {
    let package = paths::target("tmp/bevy-examples-test");
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
fn programs_of_our_own_are_chosen_by_name() {
    let found = find(
        &package(),
        &["effects bloom", "materials standard"].map(str::to_owned),
    )
    .unwrap();
    assert_eq!(names(&found), ["effects", "materials"]);
    assert!(found.iter().all(|program| program.path.is_file()));
}

#[test]
fn names_choose_from_all_folders() {
    let found = find(&package(), &["lines".to_owned()]).unwrap();
    assert_eq!(names(&found), ["lines"]);
    let found = find(&package(), &["3d/lines".to_owned()]).unwrap();
    assert_eq!(names(&found), ["lines"]);
    assert!(find(&package(), &["2d/lines".to_owned()]).is_err());
    let error = find(&package(), &["liens".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bevy has no example called `liens`, and no folder of examples"
    );
}

#[test]
fn arguments_follow_the_name() {
    let found = find(&package(), &["lines --count 3".to_owned()]).unwrap();
    assert_eq!(names(&found), ["lines"]);
    assert_eq!(found[0].arguments, ["--count", "3"]);
}

#[test]
fn folders_name_all_that_lies_in_them() {
    let of = |name: &str| find(&package(), &[name.to_owned()]).unwrap();
    assert_eq!(names(&of("ui")), ["button", "text"]);
    assert_eq!(names(&of("ui/text")), ["text"]);
    assert_eq!(names(&of("text")), ["text"]);
    // A program with the folder's name elsewhere is not selected.
    assert_eq!(names(&of("2d")), ["mesh2d", "sprite"]);
}

#[test]
fn the_3d_programs_are_paths_and_those_left_out_have_a_reason() {
    let (names, left_out) = tier1();
    let all: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .chain(left_out.iter().map(|(name, _)| *name))
        .collect();
    let mut once = all.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), all.len(), "a program is named twice");
    for line in all {
        let name = line.split(' ').next().unwrap_or_default();
        let is_path = name.contains('/') && !name.contains(':');
        assert!(is_path, "`{name}` is no path below `examples`");
    }
    assert!(names.iter().any(|name| name == "3d/lighting"));
    assert!(left_out.iter().all(|(_, why)| !why.is_empty()));
}

#[test]
fn gltf_files_of_all_folders_are_runs_of_one_program() {
    let folder = paths::target("tmp/bevy-examples-gltf-test");
    for file in ["Box.glb", "lines/Lines 1.gltf", "lines/Lines.bin"] {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let found = gltf_files(&folder, Path::new("view.rs")).unwrap();
    assert_eq!(names(&found), ["Box.glb", "lines-Lines-1.gltf"]);
    assert!(found.iter().all(|run| run.path == Path::new("view.rs")));
    let folder = folder.to_string_lossy().into_owned();
    assert_eq!(
        found[1].arguments,
        [folder, "lines/Lines 1.gltf".to_owned()]
    );
}
