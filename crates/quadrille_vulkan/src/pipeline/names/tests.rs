use ash::vk;

use super::*;
use crate::shader::{BindingKind, TableKind};

#[test]
fn names_are_resolved_once_per_list() {
    static FIRST: [&str; 3] = ["lights", "textures", "lihgts"];
    static SECOND: [&str; 1] = ["lights"];
    let stages = vk::ShaderStageFlags::COMPUTE;
    let bindings = [Binding {
        binding: 5,
        name: "lights".to_owned(),
        kind: BindingKind::StorageBuffer,
        reads: true,
        writes: false,
        stages,
        least_bytes: 0,
        layout: Default::default(),
    }];
    let tables = [TableBinding {
        group: 2,
        binding: 1,
        name: "textures".to_owned(),
        kind: TableKind::Buffers,
        stages,
    }];
    let resolved = ResolvedNames::default();
    let first = resolved.get(&FIRST, &bindings, &tables);
    let known = [Variable::Binding(5), Variable::Table(2), Variable::Unknown];
    assert_eq!(first, known);
    let second = resolved.get(&SECOND, &bindings, &tables);
    assert_eq!(second, [Variable::Binding(5)]);
    // Empty bindings prove that the results come from the cache.
    for (names, found) in [(&FIRST[..], first), (&SECOND[..], second)] {
        assert!(std::ptr::eq(resolved.get(names, &[], &[]), found));
    }
}
