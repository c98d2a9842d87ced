use super::{Libraries, PACKAGES, major, names};

#[test]
fn major_versions_with_epoch_and_without() {
    assert_eq!(major("25.0.7-2~bpo12+1"), Some(25), "plain");
    assert_eq!(major("1:22.3.6-1"), Some(22), "epoch");
    assert_eq!(major(""), None, "not installed");
}

#[test]
fn a_library_is_found_by_its_whole_name() {
    let libraries = Libraries(
        "\tlibX11.so.6 (libc6,x86-64) => /lib/libX11.so.6\n\tlibX11.so.6 (libc6,AArch64) => /lib/libX11.so.6\n".to_owned(),
    );
    assert!(libraries.has("libX11.so.6"), "listed");
    assert!(
        !libraries.has("libX11.so"),
        "a part of a name is another library"
    );
    assert!(!libraries.has("libXi.so.6"), "not listed");
}

#[test]
fn names_come_once() {
    let all: Vec<_> = PACKAGES.iter().collect();
    let arch = names(&all, |package| package.arch);
    assert_eq!(
        arch.iter().filter(|name| **name == "libx11").count(),
        1,
        "two libraries of one package"
    );
}
