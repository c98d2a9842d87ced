use super::*;

#[test]
fn vertex_layout_matches_struct() {
    assert_eq!(
        NodeInstance::layout().stride as usize,
        size_of::<NodeInstance>()
    );
}
