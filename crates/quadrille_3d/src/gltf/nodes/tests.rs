use bevy_gltf::gltf::json::{Root, deserialize};

use super::check;

fn root(nodes: &str, scenes: &str) -> Root {
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{nodes}], "scenes": [{scenes}],
            "meshes": [{{"primitives": [{{"attributes": {{}}}}], "extras": "{}"}}]}}"#,
        "x".repeat(1000)
    );
    deserialize::from_str(&text).unwrap()
}

/// Chain of nodes, each a child of the previous one a number of times.
fn row(count: usize, times: usize) -> Root {
    let nodes = (1..=count).map(|child| match child {
        _ if child == count => "{}".to_owned(),
        _ => format!(r#"{{"children": {:?}}}"#, vec![child; times]),
    });
    let nodes: Vec<_> = nodes.collect();
    root(&nodes.join(","), r#"{"nodes": [0]}"#)
}

#[test]
fn node_nesting_is_limited() {
    assert!(check(&row(256, 1), 256).is_ok());
    let error = check(&row(257, 1), 256).unwrap_err();
    let expected =
        "node 256 is nested more than 256 deep, the limit that `GltfLimits::node_depth` sets";
    assert_eq!(error, expected);
    // Deeper than any recursion could handle.
    assert!(check(&row(100_000, 1), 256).is_err());
    // The order in the file does not matter, nor whether a scene shows them.
    let nodes = r#"{"name": "leaf"}, {"children": [0]}, {"children": [1]}"#;
    let error = check(&root(nodes, ""), 2).unwrap_err();
    assert!(
        error.starts_with("node 0, `leaf`, is nested more than 2 deep"),
        "{error}"
    );
}

#[test]
fn node_cycles_are_refused() {
    for nodes in [
        r#"{"children": [0]}"#,
        r#"{"children": [1]}, {"children": [2]}, {"children": [1]}"#,
    ] {
        let error = check(&root(nodes, r#"{"nodes": [0]}"#), 256).unwrap_err();
        assert!(error.contains("is its own descendant"), "{error}");
    }
}

/// Nodes are spawned and counted once per path.
#[test]
fn spawned_nodes_are_counted() {
    let bytes = |root: &Root| check(root, 256).unwrap();
    assert!(bytes(&row(30, 2)) >= 1 << 39);
    assert_eq!(bytes(&row(200, 2)), u64::MAX);
    assert!(bytes(&row(30, 1)) < 200_000);
    // One scene per node.
    let scenes = vec![r#"{"nodes": [0]}"#; 1000].join(",");
    assert!(bytes(&root("{}", &scenes)) >= 1_000_000);
    // The extras of the mesh are copied to each entity.
    let nodes = vec![r#"{"mesh": 0}"#; 100].join(",");
    let all: Vec<usize> = (0..100).collect();
    assert!(bytes(&root(&nodes, &format!(r#"{{"nodes": {all:?}}}"#))) >= 300_000);
    // Each spawned node stores the names of its path.
    let name = "n".repeat(10_000);
    let children: Vec<usize> = (1..=100).collect();
    let leaves = vec!["{}"; 100].join(",");
    let nodes = format!(r#"{{"name": "{name}", "children": {children:?}}}, {leaves}"#);
    assert!(bytes(&root(&nodes, r#"{"nodes": [0]}"#)) >= 1_000_000);
}
