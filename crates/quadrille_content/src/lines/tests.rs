use super::*;

#[test]
fn the_layout_is_that_of_the_struct() {
    assert_eq!(Line::layout().stride as usize, size_of::<Line>());
}
