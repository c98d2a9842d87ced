use super::*;

#[test]
fn every_asset_is_named_and_fills_its_box() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/patterns");
    let files: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 10);
    for file in files {
        let pattern = Pattern::load(&file).unwrap();
        assert!(
            pattern.name.is_some() && !pattern.comments.is_empty(),
            "{file:?}"
        );
        assert!(pattern.rule.is_some(), "{file:?}");
        let width = pattern.runs.iter().map(|run| run.x + run.length).max();
        let height = pattern.runs.iter().map(|run| run.y + 1).max();
        assert_eq!(
            (width, height),
            (Some(pattern.size.width()), Some(pattern.size.height()))
        );
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Pattern::load(Path::new("no/such.rle"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the pattern \"no/such.rle\": "),
        "{error}"
    );
    let error = Pattern::load(Path::new(env!("CARGO_MANIFEST_DIR")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("directory"), "{error}");
}

/// A pipe that nobody writes to is an error, and so is a device without an end.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_not_waited_for() {
    let pipe = crate::folder::unpredictable("pattern");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (path, kind) in [(&*pipe, "a pipe"), (Path::new("/dev/zero"), "a device")] {
        let error = Pattern::load(path).unwrap_err().to_string();
        assert!(error.contains(kind), "{error}");
        let error = crate::script::Script::load(path).unwrap_err().to_string();
        assert!(error.contains(kind), "{error}");
    }
    std::fs::remove_file(&pipe).unwrap();
}
