#[path = "../../../quadrille_content/tests/rows/check.rs"]
mod check;

use quadrille::rows::ShaderRow as _;

use crate::environment::EnvironmentRow;
use crate::extract::lightmaps::LightmapRow;
use crate::extract::materials::MaterialRow;
use crate::pipelines::publish_shader_modules;
use crate::scene::cull_view::{BoundsRow, CullViewRow};
use crate::scene::grading_row::GradingRow;
use crate::scene::rows::{
    BatchRow, FogRow, InstanceRow, LightRow, LightTextureRow, ShadowViewRow, ViewRow,
};
use crate::skin::dispatches::Job;
use crate::tables::mesh_vertex::Vertex;

#[test]
fn rows_are_laid_out_as_shaders_read_them() {
    publish_shader_modules().unwrap();
    let rows = [
        BatchRow::LAYOUT,
        BoundsRow::LAYOUT,
        CullViewRow::LAYOUT,
        EnvironmentRow::LAYOUT,
        FogRow::LAYOUT,
        GradingRow::LAYOUT,
        InstanceRow::LAYOUT,
        Job::LAYOUT,
        LightRow::LAYOUT,
        LightTextureRow::LAYOUT,
        LightmapRow::LAYOUT,
        MaterialRow::LAYOUT,
        ShadowViewRow::LAYOUT,
        Vertex::LAYOUT,
        ViewRow::LAYOUT,
    ];
    check::check(env!("CARGO_MANIFEST_DIR"), &rows);
}
