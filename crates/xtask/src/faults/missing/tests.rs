use std::fs;

use super::NEEDED;
use crate::host::paths;

#[test]
fn every_needed_feature_is_hidden_once() {
    let path = paths::root().join("crates/quadrille_vulkan/src/instance/features.rs");
    let source = fs::read_to_string(path).expect("the source is there");
    let calls = source.split("need_feature(").skip(1);
    let names = calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split('"').next());
    let names: Vec<_> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(NEEDED.contains(&name), "add {name} to NEEDED");
    }
}
