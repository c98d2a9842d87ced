//! Material shaders: creates pipelines of loaded ones.

use std::borrow::Cow;

use bevy_asset::{AssetEvent, AssetId, AssetLoadFailedEvent, Assets};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashSet;
use quadrille::prelude::GpuDevice;
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    MaterialImages, MaterialLayout, MaterialShaderForm, MaterialStage, translate_material,
};
use quadrille_content::shaders::Shader;

use crate::pipelines::Pipelines2d;
use crate::pipelines::materials::{FIRST_IMAGE, MaterialPipelines};
use crate::scene::materials::{MaterialKind, MaterialType, Materials2d, ShaderSource, ShaderState};

/// Shader defs of meshes and sprites, by bevy's names: their vertices have these attributes.
static MESH_DEFS: [ShaderDefVal; 4] = [
    ShaderDefVal::Bool(Cow::Borrowed("VERTEX_POSITIONS"), true),
    ShaderDefVal::Bool(Cow::Borrowed("VERTEX_NORMALS"), true),
    ShaderDefVal::Bool(Cow::Borrowed("VERTEX_UVS"), true),
    ShaderDefVal::Bool(Cow::Borrowed("VERTEX_COLORS"), true),
];

/// Conventions of 2D shaders: a fragment knows its material's row, and images are bindings.
fn form(kind: MaterialKind) -> MaterialShaderForm {
    MaterialShaderForm {
        group: match kind {
            MaterialKind::Mesh | MaterialKind::Sprite => 2,
            MaterialKind::Node => 1,
        },
        prelude: "fn quadrille_row(quadrille_index: u32) -> u32 { return quadrille_index; }",
        rows_binding: 3,
        images: MaterialImages::Bound(FIRST_IMAGE),
    }
}

/// Passes loaded and changed shaders to the pipelines.
pub(crate) fn prepare_material_shaders(
    mut materials: ResMut<Materials2d>,
    mut pipelines: ResMut<Pipelines2d>,
    shaders: Res<Assets<Shader>>,
    mut events: MessageReader<AssetEvent<Shader>>,
    mut failures: MessageReader<AssetLoadFailedEvent<Shader>>,
    gpu: Res<GpuDevice>,
) {
    let changed = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    let changed: HashSet<_> = changed.collect();
    let failed = failures.read();
    let failed: Vec<_> = failed.map(|it| (it.id, it.error.to_string())).collect();
    let Materials2d { types, rows, .. } = &mut *materials;
    let pipelines = &mut pipelines.materials;
    for ((index, of_type), rows) in (0..).zip(types).zip(rows) {
        let layout = rows.layout();
        if of_type.prepare(layout, (&shaders, &changed), &failed) {
            pipelines.remove(index);
        }
        if !pipelines.contains(index) {
            add_pipelines(pipelines, &gpu, (index, of_type), layout);
        }
    }
}

/// Adds the pipelines of a type, or those of the fallback if its shader is unusable.
fn add_pipelines(
    pipelines: &mut MaterialPipelines,
    gpu: &GpuDevice,
    (index, of_type): (u32, &mut MaterialType),
    layout: &MaterialLayout,
) {
    if let Err(why) = pipelines.add(gpu, index, of_type, layout) {
        of_type.fail(&why);
        if let Err(why) = pipelines.add(gpu, index, of_type, layout) {
            tracing::error!(
                "the fallback of the material `{}` is not drawn: {why}",
                of_type.name
            );
        }
    }
}

impl MaterialType {
    /// Translates the shader if it was loaded or changed. Returns whether it has changed.
    fn prepare(
        &mut self,
        layout: &MaterialLayout,
        (shaders, changed): (&Assets<Shader>, &HashSet<AssetId<Shader>>),
        failed: &[(AssetId<Shader>, String)],
    ) -> bool {
        let is_loading = matches!(self.shader, ShaderState::Loading);
        let shader = match &self.source {
            ShaderSource::Asset(handle) => {
                let id = handle.id();
                let failure = failed.iter().find(|it| it.0 == id);
                if let Some((_, why)) = failure.filter(|_| is_loading) {
                    self.fail(why);
                    return true;
                }
                let is_due = is_loading || changed.contains(&id);
                shaders.get(handle).filter(|_| is_due)
            }
            ShaderSource::Default(shader) => Some(shader).filter(|_| is_loading),
        };
        let Some(shader) = shader else {
            return false;
        };
        let defs = match self.kind {
            MaterialKind::Mesh | MaterialKind::Sprite => MESH_DEFS.as_slice(),
            MaterialKind::Node => &[],
        };
        let shader = (shader, MaterialStage::Fragment);
        let form = form(self.kind);
        // Images are bound in their order.
        let bound = &mut Vec::new();
        match translate_material(self.name, shader, layout, &form, defs, bound) {
            Ok(translated) => self.shader = ShaderState::Translated(translated),
            Err(why) => self.fail(&why),
        }
        true
    }

    fn fail(&mut self, why: &str) {
        let content = match self.kind {
            MaterialKind::Mesh => "2D meshes",
            MaterialKind::Sprite => "sprites",
            MaterialKind::Node => "nodes",
        };
        tracing::error!(
            "{content} with the material `{}` are drawn in magenta, because its shader cannot be used: {why}",
            self.name
        );
        self.shader = ShaderState::Failed;
    }
}
