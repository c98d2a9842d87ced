use super::*;

#[test]
fn bits_sort_as_floats_do() {
    let values = [
        f32::NEG_INFINITY,
        -7.5,
        -1e-30,
        0.0,
        1e-30,
        3.0,
        f32::INFINITY,
        f32::NAN,
    ];
    let bits = values.map(sortable);
    assert!(bits.is_sorted(), "{bits:x?}");
}

#[test]
fn opaque_meshes_come_first_at_their_z() {
    let item = |z: f32, is_transparent, index| Item {
        z: sortable(z),
        is_transparent,
        index,
        kind: Kind::Mesh,
        entity: Entity::PLACEHOLDER,
    };
    let mut items = [
        item(1.0, true, 1),
        item(0.0, true, 2),
        item(1.0, false, 9),
        item(0.0, true, 1),
    ];
    items.sort_unstable();
    let order = items.map(|item| item.index);
    assert_eq!(order, [1, 2, 9, 1]);
}
