use bevy_gltf::gltf::json::{Root, deserialize};

use super::*;

fn root(accessors: &str, rest: &str) -> Root {
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "buffers": [{{"byteLength": 36}}],
            "bufferViews": [{{"buffer": 0, "byteLength": 36}}],
            "accessors": [{accessors}]{rest}}}"#
    );
    deserialize::from_str(&text).unwrap()
}

fn positions(count: u64, more: &str) -> String {
    format!(r#"{{"bufferView": 0, "componentType": 5126, "count": {count}, "type": "VEC3"{more}}}"#)
}

fn checked(root: &Root) -> Result<(), String> {
    check(root, &Buffers::of(&[0; 36]))
}

#[test]
fn accessors_stay_within_the_file() {
    assert_eq!(checked(&root(&positions(3, ""), "")), Ok(()));
    let expected = "accessor 0 of 4 elements goes beyond the 36 bytes of view 0";
    assert_eq!(
        checked(&root(&positions(4, ""), "")),
        Err(expected.to_owned())
    );
    for (count, more) in [
        (3, r#", "byteOffset": 4"#),
        (u64::MAX, ""),
        (u64::MAX / 12 + 2, ""),
        (1, r#", "byteOffset": 18446744073709551615"#),
    ] {
        assert!(
            checked(&root(&positions(count, more), "")).is_err(),
            "{count}{more}"
        );
    }
}

#[test]
fn views_stay_within_their_buffers() {
    for (offset, length) in [(1, 36), (36, 1), (u64::MAX, 1), (0, u64::MAX)] {
        let mut root = root("", "");
        root.buffer_views[0].byte_offset = Some(offset.into());
        root.buffer_views[0].byte_length = length.into();
        let error = checked(&root).unwrap_err();
        assert!(error.starts_with("view 0 has"), "{error}");
    }
}

#[test]
fn sparse_accessors_are_checked() {
    let sparse = |count: u64, offset: u64| {
        let sparse = format!(
            r#"{{"componentType": 5126, "count": 9, "type": "SCALAR", "sparse": {{"count": {count},
                "indices": {{"bufferView": 0, "componentType": 5121}},
                "values": {{"bufferView": 0, "byteOffset": {offset}}}}}}}"#
        );
        checked(&root(&sparse, ""))
    };
    assert_eq!(sparse(8, 4), Ok(()));
    for (count, offset) in [(0, 0), (9, 4), (10, 0), (1, 33), (u64::MAX, 0)] {
        assert!(sparse(count, offset).is_err(), "{count} {offset}");
    }
}

/// Accessors without a view are zeros of any count, and each use is a copy.
#[test]
fn accessor_uses_are_counted() {
    let zeros = r#"{"componentType": 5126, "count": 1000000000, "type": "VEC3"}"#;
    let mesh = r#", "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]"#;
    assert!(loaded_bytes(&root(zeros, mesh)) >= 16_000_000_000);
    let primitive =
        r#"{"attributes": {"POSITION": 0, "NORMAL": 0}, "targets": [{}, {"POSITION": 0}]}"#;
    let uses = vec![primitive; 500].join(",");
    let mesh = format!(r#", "meshes": [{{"primitives": [{uses}]}}]"#);
    assert_eq!(
        loaded_bytes(&root(&positions(3, ""), &mesh)),
        500 * 3 * (32 + 96)
    );
    // Without normals there is a vertex for each index.
    let indices = r#", {"componentType": 5125, "count": 1000000, "type": "SCALAR"}"#;
    let mesh = r#", "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]"#;
    let all = format!("{}{indices}", positions(3, ""));
    assert!(loaded_bytes(&root(&all, mesh)) >= 32_000_000);
}
