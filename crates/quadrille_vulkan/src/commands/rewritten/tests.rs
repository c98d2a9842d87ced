use super::Rewritten;

/// An array with two inline items.
type Array = Rewritten<u32, 2>;

/// Clears the array and writes the items. Returns whether the contents are repeated.
fn write(array: &mut Array, items: &[u32]) -> bool {
    array.clear();
    items.iter().for_each(|item| array.push(*item));
    assert_eq!(**array, *items);
    array.is_repeated()
}

#[test]
fn equal_contents_are_repeated() {
    let mut array = Array::default();
    let reported = [
        &[1, 2, 3][..],
        &[1, 2, 3],
        &[1, 2],
        &[1, 2],
        &[1, 2, 3],
        &[1, 5, 3],
        &[1, 5, 3],
    ]
    .map(|items| write(&mut array, items));
    assert_eq!(reported, [false, true, false, true, false, false, true]);
}

#[test]
fn nothing_after_something_is_not_repeated() {
    let mut array = Array::default();
    assert!(write(&mut array, &[]), "it was empty");
    assert!(!write(&mut array, &[1]));
    assert!(!write(&mut array, &[]));
    assert!(write(&mut array, &[]));
}

#[test]
fn slices_are_compared_as_items_are() {
    let mut array = Array::default();
    for (items, repeated) in [
        (&[1, 2, 3][..], false),
        (&[1, 2, 3], true),
        (&[1, 2, 4], false),
    ] {
        array.clear();
        array.extend_from_slice(&items[..1]);
        array.extend_from_slice(&items[1..]);
        assert_eq!((&*array, array.is_repeated()), (items, repeated));
    }
    array.clear();
    array.extend_from_slice(&[1, 2]);
    assert!(!array.is_repeated(), "one less");
}
