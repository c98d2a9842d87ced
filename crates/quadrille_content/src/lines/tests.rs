#[path = "../../tests/rows/check.rs"]
mod check;

use quadrille::rows::ShaderRow as _;

use super::*;

#[test]
fn rows_are_laid_out_as_shaders_read_them() {
    publish_shader_modules().unwrap();
    check::check(env!("CARGO_MANIFEST_DIR"), &[Line::LAYOUT]);
    assert_eq!(Line::layout().stride as usize, size_of::<Line>());
}
