#[path = "../../tests/rows/check.rs"]
mod check;

use quadrille::rows::ShaderRow as _;

use crate::instances::mesh_instance::Instance;
use crate::instances::node::NodeInstance;
use crate::meshes::data::Vertex;
use crate::pipelines::publish_shader_modules;
use crate::scene::material_view::MaterialViewRow;
use crate::tilemaps::chunk::{Chunk, PackedTileData};

#[test]
fn rows_are_laid_out_as_shaders_read_them() {
    publish_shader_modules().unwrap();
    let rows = [
        Chunk::LAYOUT,
        Instance::LAYOUT,
        MaterialViewRow::LAYOUT,
        NodeInstance::LAYOUT,
        PackedTileData::LAYOUT,
        Vertex::LAYOUT,
    ];
    check::check(env!("CARGO_MANIFEST_DIR"), &rows);
}
