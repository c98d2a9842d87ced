use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

use super::{
    LIBRARIES, OLDEST_LAYER, Version, check_silence, foreign_loader, is_whole, messages,
    newest_suite, run, script, versions,
};

#[test]
fn versions_compare_by_number() {
    let parse = |text| Version::parse(text).unwrap();
    assert!(parse("1.4.363") >= OLDEST_LAYER, "new enough");
    assert!(parse("1.3.999") < OLDEST_LAYER, "an older minor version");
    assert!(parse("1.4.99") < OLDEST_LAYER, "99 < 309 as numbers");
    assert_eq!(Version::parse("1.4"), None, "three numbers or none");
    assert_eq!(Version::parse("one.4.309"), None, "numbers or none");
}

#[test]
fn archive_names_hold_versions() {
    let archives = [
        PathBuf::from("/x/libc6_2.43-7_amd64.deb"),
        PathBuf::from("/x/libvulkan1_1%3a2.0_amd64.deb"),
    ];
    assert_eq!(
        versions(&archives),
        "libc6 2.43-7, libvulkan1 1:2.0",
        "names and versions"
    );
}

#[test]
fn scripts_are_shell() {
    for text in [script(None), script(foreign_loader().ok())] {
        let mut shell = std::process::Command::new("sh");
        let status = shell.args(["-n", "-c", &text]).status().unwrap();
        assert!(status.success(), "sh reads it:\n{text}");
        assert!(
            !text.contains('{') || text.contains("${"),
            "no leftover of the template"
        );
    }
}

#[test]
fn an_unknown_distribution_is_refused() {
    assert!(newest_suite("debian").is_ok(), "Debian");
    assert!(newest_suite("plan9").is_err(), "not known");
}

#[test]
fn messages_are_found_amid_other_output() {
    let output = "test a ... Validation Error: [ SYNC-HAZARD-WRITE-AFTER-WRITE ] | MessageID = 0x5c0ec5d6\n\
                  vkCmdFillBuffer(): ...\nok\nValidation Warning: [ VUID-x ] | MessageID = 0x1\n";
    assert_eq!(
        messages(output),
        ["SYNC-HAZARD-WRITE-AFTER-WRITE", "VUID-x"],
        "both"
    );
    let error = check_silence("a run", output).unwrap_err().to_string();
    assert!(
        error.contains("2 validation messages") && error.contains("VUID-x"),
        "{error}"
    );
    assert!(
        check_silence("a run", "Validation layer 1.4.363\n").is_ok(),
        "no message"
    );
}

#[test]
fn a_layer_without_one_of_its_libraries_is_not_whole() {
    let random = RandomState::new().hash_one(std::process::id());
    let root = std::env::temp_dir().join(format!("quadrille-whole-{random:016x}"));
    std::fs::create_dir(&root).unwrap();
    let loader = foreign_loader().unwrap();
    let folder = root.join("usr/lib").join(loader.triplet);
    std::fs::create_dir_all(&folder).unwrap();
    for library in LIBRARIES {
        assert!(!is_whole(&root, &loader), "{library} is missing");
        std::fs::write(folder.join(library), "").unwrap();
    }
    assert!(is_whole(&root, &loader));
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn a_command_that_fails_shows_its_messages() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "echo 'Validation Error: [ VUID-x ] text'; exit 1"]);
    let limit = std::time::Duration::from_secs(60);
    let error = run("messages-of-a-failure", &mut shell, limit)
        .unwrap_err()
        .to_string();
    assert!(error.contains("1 validation messages: VUID-x"), "{error}");
    assert!(error.contains("ended with exit status: 1"), "{error}");
}
