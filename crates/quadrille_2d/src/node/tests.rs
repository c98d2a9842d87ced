use super::*;

#[test]
fn the_layout_is_that_of_the_struct() {
    assert_eq!(Node::layout().stride as usize, size_of::<Node>());
}
