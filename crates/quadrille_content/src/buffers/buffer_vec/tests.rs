use super::*;

/// Marks a changed list as uploaded.
fn uploaded(list: &mut RawBufferVec<u32>) {
    assert!(!list.is_unchanged());
    list.is_uploaded = true;
}

#[test]
fn equal_rebuild_is_not_uploaded_again() {
    let mut list = RawBufferVec::default();
    assert!(list.is_unchanged(), "nothing to upload");
    list.extend([1, 2, 3]);
    uploaded(&mut list);
    assert!(list.is_unchanged());
    list.clear();
    list.extend([1, 2, 3]);
    assert!(list.is_unchanged());
    list.clear();
    list.extend([1, 2]);
    uploaded(&mut list);
    assert_eq!(**list, [1, 2], "values stay readable");
}

#[test]
fn rebuild_is_compared_with_contents_of_buffer_alone() {
    let mut list = RawBufferVec::default();
    list.push(1);
    uploaded(&mut list);
    list.clear();
    list.push(2);
    uploaded(&mut list);
    // Back to the first values, which the buffer no longer contains.
    list[0] = 1;
    uploaded(&mut list);
    // Two rebuilds without an upload between them.
    list.clear();
    list.push(5);
    list.clear();
    list.push(1);
    assert!(list.is_unchanged());
}

#[test]
fn lost_contents_are_uploaded_again() {
    let mut list = RawBufferVec::default();
    list.push(1);
    uploaded(&mut list);
    list.mark_all_dirty();
    uploaded(&mut list);
    list.mark_all_dirty();
    list.clear();
    list.push(1);
    uploaded(&mut list);
}
