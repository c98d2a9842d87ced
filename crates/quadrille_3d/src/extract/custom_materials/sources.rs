//! Sources of a material type's shaders, and their translation for one state of its pipelines.

use bevy_asset::{Assets, Handle};
use quadrille::prelude::GpuShader;
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    BoundBinding, MaterialLayout, MaterialShaderForm, MaterialStage, translate_material,
};
use quadrille_content::shaders::Shader;

use super::material_type::StageShaders;
use crate::pipelines::PrepassShaders;
use crate::pipelines::custom::{
    FORM, MaterialShaders, PREPASS_PIPELINE, PULLED_PRELUDE, PrepassSupport, SHADOW_FORM,
    SHADOW_PASS, STANDARD_MATERIAL_PRELUDE, ShadowShaders,
};
use crate::pipelines::material_desc::MaterialPipelineState;
use crate::scene::prepass::PrepassOutputs;
use crate::tables::mesh_vertex::MaterialLocations;

/// Sources of all stages.
pub(super) struct Sources {
    vertex: Option<Shader>,
    fragment: Shader,
    prepass_vertex: Option<Shader>,
    prepass_fragment: Option<Shader>,
    deferred_vertex: Option<Shader>,
    deferred_fragment: Option<Shader>,
    enable_prepass: bool,
    extends_standard: bool,
}

/// Shader defs of all materials: meshes may cross-fade.
const DEFS: [&str; 1] = ["VISIBILITY_RANGE_DITHER"];

/// Further shader defs of shaders for prepasses and shadow maps.
const PREPASS_DEFS: [&str; 3] = [
    PREPASS_PIPELINE,
    "DEPTH_PREPASS",
    "VERTEX_OUTPUT_INSTANCE_INDEX",
];

/// Declaration of the time in bevy's layout of bindings for prepasses, which shaders repeat: it has no module.
const PREPASS_GLOBALS: &str = "@group(0) @binding(1) var<uniform> globals: Globals;";

/// Import in its place.
const IMPORTED_GLOBALS: &str = "import bevy_pbr::render::mesh_view_bindings::globals;";

/// Further shader defs of prepasses with these outputs beside depth.
fn output_defs(outputs: PrepassOutputs) -> impl Iterator<Item = &'static str> {
    let defs = [
        (outputs != PrepassOutputs::default(), "PREPASS_FRAGMENT"),
        (outputs.deferred, "DEFERRED_PREPASS"),
        (outputs.normal, "NORMAL_PREPASS"),
        (outputs.motion, "MOTION_VECTOR_PREPASS"),
    ];
    let defs = defs.into_iter().filter(|(is_set, _)| *is_set);
    defs.map(|(_, def)| def)
}

impl Sources {
    /// `None` while one is loaded.
    pub(super) fn of(shaders: &StageShaders, assets: &Assets<Shader>) -> Option<Self> {
        let source = |handle: &Option<Handle<Shader>>| match handle {
            None => Some(None),
            Some(handle) => assets.get(handle).cloned().map(Some),
        };
        let standard = || {
            let source = include_str!("../../../shaders/material_fragment.wgsl");
            Shader::from_wgsl(source, "quadrille_3d/material_fragment.wgsl")
        };
        Some(Self {
            vertex: source(&shaders.vertex)?,
            fragment: source(&shaders.fragment)?.unwrap_or_else(standard),
            prepass_vertex: source(&shaders.prepass_vertex)?,
            prepass_fragment: source(&shaders.prepass_fragment)?,
            deferred_vertex: source(&shaders.deferred_vertex)?,
            deferred_fragment: source(&shaders.deferred_fragment)?,
            enable_prepass: shaders.enable_prepass,
            extends_standard: shaders.extends_standard,
        })
    }

    /// Translates the shaders of all stages.
    pub(super) fn translate(
        &self,
        material: &str,
        layout: &MaterialLayout,
        pipeline: &MaterialPipelineState,
        prepass_vertex: &GpuShader,
    ) -> Result<MaterialShaders, String> {
        let mut translation = Translation {
            material,
            layout,
            pipeline,
            bound: Vec::new(),
        };
        let main = &mut translation;
        let fragment = main.stage((&self.fragment, MaterialStage::Fragment), &FORM, &[])?;
        let vertex = self.vertex.as_ref();
        let vertex = vertex.map(|it| main.stage((it, MaterialStage::Vertex), &FORM, &[]));
        let vertex = vertex.transpose()?;
        let shadow = self.translate_shadow(main, prepass_vertex)?;
        let is_own = vertex.is_some();
        let constants = [Some(&fragment), vertex.as_ref()];
        let constants: Vec<_> = constants.into_iter().flatten().collect();
        Ok(MaterialShaders {
            constants: pipeline.desc().constants(&constants)?,
            vertex,
            fragment,
            shadow,
            prepass: self.prepass_support(pipeline),
            is_deferred: self.deferred_fragment.is_some() && pipeline.fixed_state().fits_prepass(),
            state: pipeline.fixed_state(),
            vertex_layout: pipeline.vertex_layout(is_own, MaterialLocations::Forward),
            bound: translation.bound,
        })
    }

    /// Shaders that draw the material in prepasses.
    fn prepass_support(&self, pipeline: &MaterialPipelineState) -> PrepassSupport {
        let has_fragment = self.prepass_fragment.is_some();
        if !(self.enable_prepass && pipeline.fixed_state().fits_prepass()) {
            PrepassSupport::Absent
        } else if has_fragment || self.prepass_vertex.is_some() || self.vertex.is_some() {
            PrepassSupport::Own { has_fragment }
        } else {
            PrepassSupport::Standard {
                has_base: self.extends_standard,
            }
        }
    }

    /// Translates the shaders of prepasses with these outputs.
    pub(super) fn translate_prepass(
        &self,
        translation: &mut Translation<'_>,
        outputs: PrepassOutputs,
    ) -> Result<PrepassShaders, String> {
        let (own_vertex, own_fragment) = match outputs.deferred {
            true => {
                let vertex = self.deferred_vertex.as_ref();
                let vertex = vertex.or(self.prepass_vertex.as_ref());
                (vertex, self.deferred_fragment.as_ref())
            }
            false => (self.prepass_vertex.as_ref(), self.prepass_fragment.as_ref()),
        };
        let has_own_vertex = own_vertex.is_some() || self.vertex.is_none();
        let has_own_vertex = has_own_vertex || own_fragment.is_some();
        let (vertex_defs, locations) = match has_own_vertex {
            true => (&PREPASS_DEFS[..], MaterialLocations::Prepass),
            false => (&[][..], MaterialLocations::Forward),
        };
        let defs = vertex_defs.iter().copied().chain(output_defs(outputs));
        let defs: Vec<_> = defs.collect();
        let fallback = |source: &'static str, name| Shader::from_wgsl(source, name);
        let fragment = match own_fragment {
            Some(shader) => Some(shader.clone()),
            None if outputs != PrepassOutputs::default() => Some(fallback(
                include_str!("../../../shaders/material_prepass.wgsl"),
                "quadrille_3d/material_prepass.wgsl",
            )),
            None => None,
        };
        let fragment = fragment
            .map(|shader| translation.stage((&shader, MaterialStage::Fragment), &FORM, &defs));
        let fragment = fragment.transpose()?;
        let (vertex, is_own) = match (own_vertex, locations, &self.vertex) {
            (Some(shader), ..) | (None, MaterialLocations::Forward, Some(shader)) => {
                (shader.clone(), true)
            }
            _ => {
                let source = include_str!("../../../shaders/material_vertex.wgsl");
                (fallback(source, "quadrille_3d/material_vertex.wgsl"), false)
            }
        };
        let stage = match fragment {
            Some(_) => MaterialStage::Vertex,
            None => MaterialStage::VertexPosition,
        };
        let vertex = translation.stage((&vertex, stage), &FORM, &defs)?;
        Ok(PrepassShaders {
            vertex,
            fragment,
            vertex_layout: translation.pipeline.vertex_layout(is_own, locations),
        })
    }

    /// Translates the shaders of shadow casters; `None` if they are those of all materials.
    fn translate_shadow(
        &self,
        translation: &mut Translation<'_>,
        prepass_vertex: &GpuShader,
    ) -> Result<Option<ShadowShaders>, String> {
        let fragment = self.prepass_fragment.as_ref();
        let defs = [&PREPASS_DEFS[..], &[SHADOW_PASS]].concat();
        let fragment = fragment.map(|shader| {
            translation.stage((shader, MaterialStage::Fragment), &SHADOW_FORM, &defs)
        });
        let fragment = fragment.transpose()?;
        let stage = match fragment {
            Some(_) => MaterialStage::Vertex,
            None => MaterialStage::VertexPosition,
        };
        let pipeline = translation.pipeline;
        let (vertex, vertex_layout) = match (&self.prepass_vertex, &self.vertex, &fragment) {
            (Some(shader), ..) => {
                let vertex = translation.stage((shader, stage), &SHADOW_FORM, &defs)?;
                let layout = pipeline.vertex_layout(true, MaterialLocations::Prepass);
                (vertex, layout)
            }
            (None, _, Some(_)) => (prepass_vertex.clone(), MaterialLocations::Prepass.layout()),
            (None, Some(shader), None) => {
                let vertex = translation.stage((shader, stage), &SHADOW_FORM, &[SHADOW_PASS])?;
                let layout = pipeline.vertex_layout(true, MaterialLocations::Forward);
                (vertex, layout)
            }
            (None, None, None) => return Ok(None),
        };
        Ok(Some(ShadowShaders {
            vertex,
            fragment,
            vertex_layout,
            cull: pipeline.cull(),
        }))
    }
}

/// Translation of the shaders of one state.
pub(super) struct Translation<'a> {
    pub(super) material: &'a str,
    pub(super) layout: &'a MaterialLayout,
    pub(super) pipeline: &'a MaterialPipelineState,
    pub(super) bound: Vec<BoundBinding>,
}

impl Translation<'_> {
    /// Translates a stage with further shader defs.
    fn stage(
        &mut self,
        shader: (&Shader, MaterialStage),
        form: &MaterialShaderForm<'_>,
        defs: &[&'static str],
    ) -> Result<GpuShader, String> {
        let in_prepass = defs.contains(&PREPASS_PIPELINE);
        let defs = DEFS.iter().chain(defs).copied().map(ShaderDefVal::from);
        let own = match shader.1 {
            MaterialStage::Fragment => self.pipeline.fragment_defs(),
            MaterialStage::Vertex | MaterialStage::VertexPosition => self.pipeline.vertex_defs(),
        };
        let defs: Vec<_> = defs.chain(own.iter().cloned()).collect();
        let (material, layout) = (self.material, self.layout);
        let pulled = self.pipeline.pulled();
        let form = MaterialShaderForm {
            pulled: pulled.map(|pulled| (pulled, PULLED_PRELUDE)),
            enter: match shader.0.source.contains("pbr_bindings") {
                true => STANDARD_MATERIAL_PRELUDE,
                false => "",
            },
            ..*form
        };
        let (asset, stage) = shader;
        if in_prepass && asset.source.contains(PREPASS_GLOBALS) {
            let mut asset = asset.clone();
            asset.source = asset
                .source
                .replace(PREPASS_GLOBALS, IMPORTED_GLOBALS)
                .into();
            let shader = (&asset, stage);
            return translate_material(material, shader, layout, &form, &defs, &mut self.bound);
        }
        translate_material(material, shader, layout, &form, &defs, &mut self.bound)
    }
}
