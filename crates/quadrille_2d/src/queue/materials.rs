//! Material shaders: creates pipelines of loaded ones.

use bevy_asset::{AssetEvent, AssetId, AssetLoadFailedEvent, Assets};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashSet;
use quadrille::prelude::GpuDevice;
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    MaterialImages, MaterialLayout, MaterialShaderForm, MaterialStage, translate_material,
};
use quadrille_content::shaders::Shader;

use crate::meshes::data::MATERIAL_INSTANCE_ATTRIBUTE;
use crate::pipelines::Pipelines2d;
use crate::pipelines::materials::{FIRST_IMAGE, MaterialPipelines, VariantId};
use crate::queue::bound_materials::content;
use crate::scene::material_pipeline::MaterialPipelineState;
use crate::scene::materials::{
    FragmentSource, MaterialKind, MaterialType, Materials2d, ShaderState, Variant,
};

/// Shader defs of meshes and sprites, by bevy's names: their vertices have these attributes.
const VERTEX_DEFS: [&str; 3] = ["VERTEX_POSITIONS", "VERTEX_UVS", "VERTEX_COLORS"];

/// A further shader def of their fragments: normals are those of the instance.
const FRAGMENT_DEFS: [&str; 1] = ["VERTEX_NORMALS"];

/// Functions of shaders of meshes and sprites. The fragment's instance is the row of its material.
const MESH_PRELUDE: &str = "
import quadrille_2d::vertex::{instances as quadrille_instances, view as quadrille_view};
fn quadrille_row(quadrille_index: u32) -> u32 { return quadrille_index; }
fn quadrille_vertex_index(instance_index: u32) -> u32 { return quadrille_instances[instance_index].material; }
fn quadrille_clip_position(position: vec4f, quadrille_index: u32) -> vec4f {
    // The view is pushed to each pipeline.
    _ = quadrille_view.clip_from_world[0];
    return position;
}
";

/// WGSL of vertex shaders that read attributes of programs. A batch has one mesh.
const PULLED_PRELUDE: &str = "
@group(0) @binding(6) var<storage, read> quadrille_mesh_attributes: array<u32>;
fn quadrille_attribute(quadrille_index: u32, quadrille_vertex: u32, quadrille_stride: u32) -> u32 {
    return quadrille_view.attribute_base + quadrille_vertex * quadrille_stride;
}
fn quadrille_word(quadrille_at: u32) -> u32 {
    return quadrille_mesh_attributes[quadrille_at];
}
";

/// Conventions of 2D shaders: a fragment knows its material's row, images are bindings, and instances are attributes.
fn form(kind: MaterialKind) -> MaterialShaderForm<'static> {
    let (group, prelude) = match kind {
        MaterialKind::Mesh | MaterialKind::Sprite => (2, MESH_PRELUDE),
        MaterialKind::Node => (
            1,
            "fn quadrille_row(quadrille_index: u32) -> u32 { return quadrille_index; }",
        ),
    };
    MaterialShaderForm {
        group,
        prelude,
        instance_index: MATERIAL_INSTANCE_ATTRIBUTE,
        rows_binding: 3,
        images: MaterialImages::Bound(FIRST_IMAGE),
        pulled: None,
        enter: "",
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
    let Materials2d {
        types,
        rows,
        are_bound_dirty,
        ..
    } = &mut *materials;
    let pipelines = &mut pipelines.materials;
    for ((index, of_type), rows) in (0..).zip(types).zip(rows) {
        let layout = rows.layout();
        of_type.prepare(layout, (&shaders, &changed), &failed, |variant| {
            pipelines.remove((index, variant));
            *are_bound_dirty = true;
        });
        for variant in 0..of_type.variants.len() as u32 {
            if !pipelines.contains((index, variant)) {
                add_pipelines(pipelines, &gpu, ((index, variant), of_type), layout);
            }
        }
    }
}

/// Adds the pipelines of a variant, or those of the fallback if its shaders are unusable.
fn add_pipelines(
    pipelines: &mut MaterialPipelines,
    gpu: &GpuDevice,
    (id, of_type): (VariantId, &mut MaterialType),
    layout: &MaterialLayout,
) {
    if let Err(why) = pipelines.add(gpu, id, of_type, layout) {
        of_type.warn_failed(&why);
        of_type.variants[id.1 as usize].shader = ShaderState::Failed;
        if let Err(why) = pipelines.add(gpu, id, of_type, layout) {
            tracing::error!(
                "the fallback of the material `{}` is not drawn: {why}",
                of_type.name
            );
        }
    }
}

impl MaterialType {
    /// Translates the shaders of new variants, and of all after a file has changed. Calls `changed_variant` for each.
    fn prepare(
        &mut self,
        layout: &MaterialLayout,
        (shaders, changed): (&Assets<Shader>, &HashSet<AssetId<Shader>>),
        failed: &[(AssetId<Shader>, String)],
        mut changed_variant: impl FnMut(u32),
    ) {
        let is_loading = |it: &Variant| matches!(it.shader, ShaderState::Loading);
        let has_changed = self.sources.handles().any(|it| changed.contains(&it.id()));
        self.is_unusable &= !has_changed;
        let has_file = |id| self.sources.handles().any(|it| it.id() == id);
        let failure = failed.iter().find(|it| has_file(it.0));
        if let Some((_, why)) = failure
            && !self.is_unusable
            && (self.variants.is_empty() || self.variants.iter().any(is_loading))
        {
            self.warn_failed(why);
            self.is_unusable = true;
        }
        let is_due = |it: &Variant| has_changed || is_loading(it);
        if !self.variants.iter().any(is_due) {
            return;
        }
        let sources = match self.is_unusable {
            true => None,
            false => match self.loaded(shaders) {
                Some(sources) => Some(sources),
                None => return,
            },
        };
        let mut failures: Vec<String> = Vec::new();
        let (name, kind) = (self.name, self.kind);
        let due = (0..).zip(&mut self.variants).filter(|(_, it)| is_due(it));
        for (index, variant) in due {
            let pipeline = &variant.pipeline;
            let translated = sources
                .as_ref()
                .map(|sources| sources.translate((name, kind), layout, pipeline));
            variant.shader = match translated {
                Some(Ok(shader)) => shader,
                Some(Err(why)) => {
                    failures.push(why);
                    ShaderState::Failed
                }
                None => ShaderState::Failed,
            };
            changed_variant(index);
        }
        // Most states fail alike.
        failures.dedup();
        failures.iter().for_each(|why| self.warn_failed(why));
    }

    /// Sources of both stages; `None` while one is loaded.
    fn loaded(&self, assets: &Assets<Shader>) -> Option<LoadedShaders> {
        let vertex = match &self.sources.vertex {
            Some(handle) => Some(assets.get(handle)?.clone()),
            None => None,
        };
        let fragment = match &self.sources.fragment {
            FragmentSource::Asset(handle) => assets.get(handle)?.clone(),
            FragmentSource::Default(shader) => shader.clone(),
        };
        Some(LoadedShaders { vertex, fragment })
    }

    fn warn_failed(&self, why: &str) {
        let content = content(self.kind);
        tracing::error!(
            "{content} with the material `{}` are drawn in magenta, because its shader cannot be used: {why}",
            self.name
        );
    }
}

/// Sources of both stages of a material type.
struct LoadedShaders {
    vertex: Option<Shader>,
    fragment: Shader,
}

impl LoadedShaders {
    /// Translates both stages with further shader defs.
    fn translate(
        &self,
        (material, kind): (&str, MaterialKind),
        layout: &MaterialLayout,
        pipeline: &MaterialPipelineState,
    ) -> Result<ShaderState, String> {
        let form = MaterialShaderForm {
            pulled: pipeline.pulled().map(|pulled| (pulled, PULLED_PRELUDE)),
            ..form(kind)
        };
        let mut bound = Vec::new();
        let mut translate = |shader, stage, of_stage: &[&'static str]| {
            let of_kind = match kind {
                MaterialKind::Mesh | MaterialKind::Sprite => [&VERTEX_DEFS, of_stage].concat(),
                MaterialKind::Node => Vec::new(),
            };
            let of_kind = of_kind.into_iter().map(ShaderDefVal::from);
            let own = match stage {
                MaterialStage::Fragment => pipeline.fragment_defs(),
                _ => &pipeline.desc.vertex.shader_defs,
            };
            let defs: Vec<_> = of_kind.chain(own.iter().cloned()).collect();
            translate_material(material, (shader, stage), layout, &form, &defs, &mut bound)
        };
        let vertex = self.vertex.as_ref();
        let vertex = vertex.map(|it| translate(it, MaterialStage::Vertex, &[]));
        let vertex = vertex.transpose()?;
        let fragment = translate(&self.fragment, MaterialStage::Fragment, &FRAGMENT_DEFS)?;
        Ok(ShaderState::translated((vertex, fragment), layout, bound))
    }
}
