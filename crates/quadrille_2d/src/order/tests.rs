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
    let entities = World::new().spawn_batch([(); 10]).collect::<Vec<_>>();
    let item = |z, is_transparent, entity: usize, place| {
        Item::new(z, is_transparent, entities[entity], place)
    };
    let mut items = [
        item(1.0, true, 1, 0),
        item(0.0, true, 2, 1),
        item(1.0, false, 9, 2),
        item(0.0, true, 1, 3),
    ];
    items.sort_unstable();
    assert_eq!(items.map(|item| item.place), [3, 1, 2, 0]);
}

#[test]
fn things_of_one_entity_stay_in_the_order_in_which_they_were_found() {
    let entity = World::new().spawn_empty().id();
    let mut items = [4, 2, 3].map(|place| Item::new(0.5, true, entity, place));
    items.sort_unstable();
    assert_eq!(items.map(|item| item.place), [2, 3, 4]);
}
