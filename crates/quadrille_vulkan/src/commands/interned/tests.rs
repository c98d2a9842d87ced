use std::sync::Arc;

use super::Interned;

#[test]
fn each_object_once() {
    let mut interned = Interned::<i32>::default();
    assert_eq!(
        [7, 8, 7, 8, 9].map(|object| interned.index(&object)),
        [0, 1, 0, 1, 2]
    );
    assert_eq!([interned[0], interned[1], interned[2]], [7, 8, 9]);
}

#[test]
fn the_same_again_counts_no_reference() {
    let object = Arc::new(1);
    let mut interned = Interned::<Arc<i32>>::default();
    interned.index(&object);
    interned.clear();
    assert_eq!(Arc::strong_count(&object), 2, "kept for the next recording");
    interned.index(&object);
    assert_eq!(Arc::strong_count(&object), 2, "found in place");
}

#[test]
fn unused_objects_are_dropped() {
    let [old, new] = [Arc::new(1), Arc::new(2)];
    let mut interned = Interned::<Arc<i32>>::default();
    interned.index(&old);
    interned.clear();
    interned.index(&new);
    assert_eq!(Arc::strong_count(&old), 1, "replaced");
    interned.clear();
    interned.clear();
    assert_eq!(
        Arc::strong_count(&new),
        1,
        "not used by the recording between"
    );
}
