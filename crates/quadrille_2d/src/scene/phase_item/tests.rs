use super::*;

#[test]
fn float_sort_key_orders_like_floats() {
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
    let bits = values.map(float_sort_key);
    assert!(bits.is_sorted(), "{bits:x?}");
}

#[test]
fn opaque_meshes_sort_before_transparent_at_equal_z() {
    let entities = World::new().spawn_batch([(); 10]).collect::<Vec<_>>();
    let item = |z, is_transparent, entity: usize, index| {
        let key = sort_key(z, is_transparent, entities[entity]);
        PhaseItem2d { key, index }
    };
    let mut items = [
        item(1.0, true, 1, 0),
        item(0.0, true, 2, 1),
        item(1.0, false, 9, 2),
        item(0.0, true, 1, 3),
    ];
    items.sort_unstable();
    assert_eq!(items.map(|item| item.index), [3, 1, 2, 0]);
}

#[test]
fn items_of_one_entity_keep_insertion_order() {
    let entity = World::new().spawn_empty().id();
    let key = sort_key(0.5, true, entity);
    let mut items = [4, 2, 3].map(|index| PhaseItem2d { key, index });
    items.sort_unstable();
    assert_eq!(items.map(|item| item.index), [2, 3, 4]);
}
