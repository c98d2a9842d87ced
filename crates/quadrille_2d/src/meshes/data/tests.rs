use super::*;

#[test]
fn vertex_layout_matches_struct() {
    let layout = Vertex::layout();
    assert_eq!(layout.stride as usize, size_of::<Vertex>());
    assert_eq!(
        layout.attributes[2].offset as usize,
        std::mem::offset_of!(Vertex, color)
    );
}

#[test]
fn quad_uv_is_upright() {
    let quad = quad();
    let top_left = quad.vertices.iter().find(|v| v.uv == [0.0, 0.0]).unwrap();
    assert_eq!(top_left.position, [-0.5, 0.5, 0.0]);
}
