#[path = "../../tests/rows/check.rs"]
mod check;

use quadrille::rows::ShaderRow as _;

use crate::effects::atmosphere::row::AtmosphereRow;
use crate::effects::auto_exposure::ExposurePush;
use crate::effects::bloom::BloomPush;
use crate::effects::gizmos::LinesPush;
use crate::effects::lens::LensPush;
use crate::effects::tonemapping::row::GradingRow;
use crate::effects::tonemapping::{TonemapPush, publish_shader_modules as publish_tonemapping};
use crate::effects::volumetric_fog::row::FogVolumeRow;
use crate::effects::wireframe::draw::WireframePush;
use crate::environment::EnvironmentRow;
use crate::environment::filter::FilterPush;
use crate::environment::sky::SkyboxPush;
use crate::extract::lightmaps::LightmapRow;
use crate::extract::materials::MaterialRow;
use crate::passes::cull::CullPush;
use crate::passes::shadow::ShadowPush;
use crate::pipelines::publish_shader_modules;
use crate::scene::cull_view::{BoundsRow, CullViewRow};
use crate::scene::decals::DecalRow;
use crate::scene::rows::{
    BatchRow, FogRow, InstanceRow, LightRow, LightTextureRow, MaterialGradingRow, MaterialViewRow,
    PreviousInstanceRow, ShadowViewRow, ViewRow, ViewTransformsRow,
};
use crate::skin::dispatches::Job;
use crate::tables::mesh_vertex::Vertex;

#[test]
fn rows_are_laid_out_as_shaders_read_them() {
    quadrille_content::lines::publish_shader_modules().unwrap();
    publish_shader_modules().unwrap();
    publish_tonemapping().unwrap();
    let rows = [
        AtmosphereRow::LAYOUT,
        BatchRow::LAYOUT,
        BloomPush::LAYOUT,
        BoundsRow::LAYOUT,
        CullPush::LAYOUT,
        CullViewRow::LAYOUT,
        DecalRow::LAYOUT,
        EnvironmentRow::LAYOUT,
        ExposurePush::LAYOUT,
        FilterPush::LAYOUT,
        FogRow::LAYOUT,
        FogVolumeRow::LAYOUT,
        GradingRow::LAYOUT,
        InstanceRow::LAYOUT,
        Job::LAYOUT,
        LensPush::LAYOUT,
        LightRow::LAYOUT,
        LightTextureRow::LAYOUT,
        LightmapRow::LAYOUT,
        LinesPush::LAYOUT,
        MaterialGradingRow::LAYOUT,
        MaterialRow::LAYOUT,
        MaterialViewRow::LAYOUT,
        PreviousInstanceRow::LAYOUT,
        ShadowPush::LAYOUT,
        ShadowViewRow::LAYOUT,
        SkyboxPush::LAYOUT,
        TonemapPush::LAYOUT,
        Vertex::LAYOUT,
        ViewRow::LAYOUT,
        ViewTransformsRow::LAYOUT,
        WireframePush::LAYOUT,
    ];
    check::check(env!("CARGO_MANIFEST_DIR"), &rows);
}
