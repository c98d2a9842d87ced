use super::*;

#[test]
fn images_are_named_by_label_or_path() {
    let path = || Some(AssetPath::parse("props/crate.glb#Texture0"));
    assert_eq!(label(Some("atlas"), path()), "atlas");
    assert_eq!(label(None, path()), "props/crate.glb#Texture0");
    assert_eq!(label(None, None), "image that the program added");
}
