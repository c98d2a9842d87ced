//! A material type: its shaders, translated once for each state of its pipelines.

use bevy_asset::{AssetId, Assets, Handle};
use bevy_platform::collections::HashSet;
use quadrille::prelude::{GpuDevice, GpuShader};
use quadrille::vulkan::shader::ShaderDefVal;
use quadrille_content::materials::{
    BoundBinding, MaterialLayout, MaterialShaderForm, MaterialStage, translate_material,
};
use quadrille_content::shaders::Shader;

use super::{BoundState, CustomMaterial, MaterialDesc};
use crate::extract::materials::{MaterialRow, MaterialState};
use crate::pipelines::Pipelines3d;
use crate::pipelines::PrepassShaders;
use crate::pipelines::custom::{
    FORM, MaterialShaders, PREPASS_PIPELINE, PrepassSupport, SHADOW_FORM, SHADOW_PASS,
    ShadowShaders,
};
use crate::pipelines::material_desc::MaterialPipelineDesc;
use crate::scene::keys::MaterialShader;
use crate::scene::prepass::PrepassOutputs;
use crate::tables::mesh_vertex::MaterialLocations;
use crate::tables::textures::TextureSource;

/// Shader assets of a material type by stage; `None` for those of the renderer.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageShaders {
    pub(crate) vertex: Option<Handle<Shader>>,
    pub(crate) fragment: Option<Handle<Shader>>,
    pub(crate) prepass_vertex: Option<Handle<Shader>>,
    pub(crate) prepass_fragment: Option<Handle<Shader>>,
    /// Meshes are drawn in prepasses.
    pub(crate) enable_prepass: bool,
    /// The default of the fragment shader is standard shading.
    pub(crate) extends_standard: bool,
}

impl StageShaders {
    fn handles(&self) -> impl Iterator<Item = &Handle<Shader>> {
        let Self {
            vertex,
            fragment,
            prepass_vertex,
            prepass_fragment,
            ..
        } = self;
        let all = [vertex, fragment, prepass_vertex, prepass_fragment];
        all.into_iter().flatten()
    }
}

/// Shaders of a material type with one state of its pipelines.
struct Variant {
    pipeline: MaterialPipelineDesc,
    shaders: ShaderState,
}

/// Shaders of a material type.
enum ShaderState {
    /// A file is loading, or the shaders are not translated yet.
    Loading,
    /// Translated, with the number of their pipelines once they are created.
    Translated(Box<MaterialShaders>, Option<u32>),
    /// Unusable: their materials are drawn in the fallback color.
    Failed,
}

/// A material type.
pub(super) struct MaterialType {
    name: &'static str,
    shaders: StageShaders,
    /// A file cannot be loaded, or there is no fragment shader.
    is_unusable: bool,
    variants: Vec<Variant>,
}

impl MaterialType {
    pub(super) fn new(name: &'static str, shaders: StageShaders) -> Self {
        Self {
            name,
            is_unusable: shaders.fragment.is_none() && !shaders.extends_standard,
            shaders,
            variants: Vec::new(),
        }
    }

    pub(super) fn has_shader(&self, id: AssetId<Shader>) -> bool {
        self.shaders.handles().any(|handle| handle.id() == id)
    }

    /// Index of the shaders with this state of the pipelines, which are added if they are new.
    pub(super) fn variant(&mut self, pipeline: &MaterialPipelineDesc) -> usize {
        let known = self.variants.iter();
        let known = known.take_while(|it| it.pipeline != *pipeline).count();
        if known == self.variants.len() {
            let shaders = match self.is_unusable {
                true => ShaderState::Failed,
                false => ShaderState::Loading,
            };
            self.variants.push(Variant {
                pipeline: pipeline.clone(),
                shaders,
            });
        }
        known
    }

    /// Whether materials with these shaders can be drawn, in the fallback color at least.
    pub(super) fn is_ready(&self, variant: usize) -> bool {
        match self.variants[variant].shaders {
            ShaderState::Loading | ShaderState::Translated(_, None) => false,
            ShaderState::Translated(_, Some(_)) | ShaderState::Failed => true,
        }
    }

    /// Numbers of the shaders that pipelines have.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.variants.iter().filter_map(|it| match it.shaders {
            ShaderState::Translated(_, number) => number,
            _ => None,
        })
    }

    /// Shaders of a variant that bind resources of each material by itself.
    pub(super) fn bound_shaders(&self, variant: usize) -> Option<&MaterialShaders> {
        match &self.variants[variant].shaders {
            ShaderState::Translated(shaders, Some(_)) => {
                (!shaders.bound.is_empty()).then_some(&**shaders)
            }
            _ => None,
        }
    }

    /// Whether any variant binds resources of each material by itself.
    pub(super) fn has_bound(&self) -> bool {
        (0..self.variants.len()).any(|variant| self.bound_shaders(variant).is_some())
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Pipelines of a new device have no shaders.
    pub(super) fn forget_device(&mut self) {
        for variant in &mut self.variants {
            if let ShaderState::Translated(_, number) = &mut variant.shaders {
                *number = None;
            }
        }
    }

    /// Marks the shaders as unusable, because a file cannot be loaded. Returns whether they were being loaded.
    pub(super) fn fail(&mut self, why: &str) -> bool {
        let is_loading = |it: &Variant| matches!(it.shaders, ShaderState::Loading);
        if self.is_unusable || !(self.variants.is_empty() || self.variants.iter().any(is_loading)) {
            return false;
        }
        self.warn_failed(why);
        self.is_unusable = true;
        for variant in self.variants.iter_mut().filter(|it| is_loading(it)) {
            variant.shaders = ShaderState::Failed;
        }
        true
    }

    /// Translates loaded and changed shaders. Removes the pipelines of the previous ones. Returns whether there are any.
    pub(super) fn translate(
        &mut self,
        (assets, changed): (&Assets<Shader>, &HashSet<AssetId<Shader>>),
        layout: &MaterialLayout,
        pipelines: &mut Pipelines3d,
    ) -> bool {
        let has_changed = self.shaders.handles().any(|it| changed.contains(&it.id()));
        self.is_unusable &= !has_changed;
        if self.is_unusable {
            return false;
        }
        let is_due = |it: &Variant| has_changed || matches!(it.shaders, ShaderState::Loading);
        if !self.variants.iter().any(is_due) {
            return false;
        }
        let Some(sources) = Sources::of(&self.shaders, assets) else {
            return false;
        };
        let mut failures: Vec<String> = Vec::new();
        for variant in self.variants.iter_mut().filter(|it| is_due(it)) {
            if let ShaderState::Translated(_, Some(number)) = variant.shaders {
                pipelines.meshes.remove_material_shader(number);
            }
            let prepass_vertex = pipelines.meshes.prepass_vertex();
            let translated =
                sources.translate(self.name, layout, &variant.pipeline, prepass_vertex);
            variant.shaders = match translated {
                Ok(shaders) => ShaderState::Translated(Box::new(shaders), None),
                Err(why) => {
                    failures.push(why);
                    ShaderState::Failed
                }
            };
        }
        // Most states fail alike.
        failures.dedup();
        failures.iter().for_each(|why| self.warn_failed(why));
        true
    }

    /// Passes new shaders to the pipelines, with the next numbers. Returns whether there are any.
    pub(super) fn add_to(
        &mut self,
        (gpu, pipelines): (&GpuDevice, &mut Pipelines3d),
        count: &mut u32,
    ) -> bool {
        let mut is_other = false;
        for variant in 0..self.variants.len() {
            let ShaderState::Translated(shaders, None) = &self.variants[variant].shaders else {
                continue;
            };
            is_other = true;
            *count += 1;
            let added = pipelines
                .meshes
                .add_material_shader(gpu, *count, (**shaders).clone());
            match (added, &mut self.variants[variant].shaders) {
                (Ok(()), ShaderState::Translated(_, number)) => *number = Some(*count),
                (Err(why), shaders) => {
                    *shaders = ShaderState::Failed;
                    self.warn_failed(&why);
                }
                (Ok(()), _) => {}
            }
        }
        is_other
    }

    /// Translates the shaders for prepasses with these outputs, if they are the material's own and not translated yet.
    pub(super) fn translate_prepasses(
        &self,
        assets: &Assets<Shader>,
        layout: &MaterialLayout,
        (gpu, pipelines): (&GpuDevice, &mut Pipelines3d),
        wanted: &[PrepassOutputs],
    ) {
        for variant in &self.variants {
            let ShaderState::Translated(shaders, Some(number)) = &variant.shaders else {
                continue;
            };
            for &outputs in wanted {
                let meshes = &mut pipelines.meshes;
                if !matches!(shaders.prepass, PrepassSupport::Own { .. })
                    || meshes.has_prepass_shaders(*number, outputs)
                {
                    continue;
                }
                let Some(sources) = Sources::of(&self.shaders, assets) else {
                    continue;
                };
                let mut translation = Translation {
                    material: self.name,
                    layout,
                    pipeline: &variant.pipeline,
                    bound: shaders.bound.clone(),
                };
                let translated = sources.translate_prepass(&mut translation, outputs);
                let translated = translated.and_then(|it| {
                    match translation.bound.len() == shaders.bound.len() {
                        true => Ok(it),
                        false => Err("it binds a resource that no other shader does".to_owned()),
                    }
                });
                let added = meshes.add_prepass_shaders(gpu, (*number, outputs), translated);
                if let Err(why) = added {
                    let name = self.name;
                    tracing::error!(
                        "meshes with the material `{name}` are not in prepasses, because its prepass shader cannot be \
                         used: {why}"
                    );
                }
            }
        }
    }

    fn warn_failed(&self, why: &str) {
        let name = self.name;
        tracing::error!(
            "meshes with the material `{name}` are drawn in magenta, because its shader cannot be used: {why}"
        );
    }

    /// Row in the table of all materials. A material with values or resources that cannot be drawn has the fallback color.
    pub(super) fn base_row(
        &self,
        material: &mut CustomMaterial,
        textures: &mut TextureSource,
    ) -> MaterialRow {
        let desc = &material.desc;
        let is_failed = matches!(self.variants[material.variant].shaders, ShaderState::Failed);
        if is_failed || material.bound == BoundState::Wrong {
            return MaterialRow::fallback();
        }
        let row = MaterialRow::custom(material.row, desc, textures);
        let Some(why) = row.invalid_value() else {
            return row;
        };
        let name = self.name;
        textures.warnings.warn_message(|| {
            format!(
                "meshes with a material `{name}` are drawn in magenta: {why}. Set finite values"
            )
        });
        material.state = MaterialState::fallback(desc.casts_shadows);
        MaterialRow::fallback()
    }

    /// State of a material of this type with this row in the table of all materials.
    pub(super) fn state(&self, variant: usize, index: u32, desc: &MaterialDesc) -> MaterialState {
        match &self.variants[variant].shaders {
            ShaderState::Translated(shaders, Some(number)) => {
                let shader = MaterialShader::Custom {
                    number: *number,
                    material: (!shaders.bound.is_empty()).then_some(index),
                };
                MaterialState::custom(desc, shader)
            }
            _ => MaterialState::fallback(desc.casts_shadows),
        }
    }
}

/// Sources of all stages.
struct Sources {
    vertex: Option<Shader>,
    fragment: Shader,
    prepass_vertex: Option<Shader>,
    prepass_fragment: Option<Shader>,
    enable_prepass: bool,
    extends_standard: bool,
}

/// Shader defs of all materials: meshes have all attributes, and may cross-fade.
const DEFS: [&str; 8] = [
    "VISIBILITY_RANGE_DITHER",
    "VERTEX_POSITIONS",
    "VERTEX_NORMALS",
    "VERTEX_UVS",
    "VERTEX_UVS_A",
    "VERTEX_UVS_B",
    "VERTEX_TANGENTS",
    "VERTEX_COLORS",
];

/// Further shader defs of shaders for prepasses and shadow maps.
const PREPASS_DEFS: [&str; 3] = [
    PREPASS_PIPELINE,
    "DEPTH_PREPASS",
    "VERTEX_OUTPUT_INSTANCE_INDEX",
];

/// Further shader defs of prepasses with these outputs beside depth.
fn output_defs(outputs: PrepassOutputs) -> impl Iterator<Item = &'static str> {
    let defs = [
        (outputs.normal || outputs.motion, "PREPASS_FRAGMENT"),
        (outputs.normal, "NORMAL_PREPASS"),
        (outputs.motion, "MOTION_VECTOR_PREPASS"),
    ];
    let defs = defs.into_iter().filter(|(is_set, _)| *is_set);
    defs.map(|(_, def)| def)
}

impl Sources {
    /// `None` while one is loaded.
    fn of(shaders: &StageShaders, assets: &Assets<Shader>) -> Option<Self> {
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
            enable_prepass: shaders.enable_prepass,
            extends_standard: shaders.extends_standard,
        })
    }

    /// Translates the shaders of all stages.
    fn translate(
        &self,
        material: &str,
        layout: &MaterialLayout,
        pipeline: &MaterialPipelineDesc,
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
        Ok(MaterialShaders {
            vertex,
            fragment,
            shadow,
            prepass: self.prepass_support(pipeline),
            state: pipeline.fixed_state(),
            constants: pipeline.constants.clone(),
            bound: translation.bound,
        })
    }

    /// Shaders that draw the material in prepasses.
    fn prepass_support(&self, pipeline: &MaterialPipelineDesc) -> PrepassSupport {
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
    fn translate_prepass(
        &self,
        translation: &mut Translation<'_>,
        outputs: PrepassOutputs,
    ) -> Result<PrepassShaders, String> {
        let has_own_vertex = self.prepass_vertex.is_some() || self.vertex.is_none();
        let has_own_vertex = has_own_vertex || self.prepass_fragment.is_some();
        let (vertex_defs, locations) = match has_own_vertex {
            true => (&PREPASS_DEFS[..], MaterialLocations::Prepass),
            false => (&[][..], MaterialLocations::Forward),
        };
        let defs = vertex_defs.iter().copied().chain(output_defs(outputs));
        let defs: Vec<_> = defs.collect();
        let fallback = |source: &'static str, name| Shader::from_wgsl(source, name);
        let fragment = match &self.prepass_fragment {
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
        let vertex = match (&self.prepass_vertex, locations, &self.vertex) {
            (Some(shader), ..) | (None, MaterialLocations::Forward, Some(shader)) => shader.clone(),
            _ => fallback(
                include_str!("../../../shaders/material_vertex.wgsl"),
                "quadrille_3d/material_vertex.wgsl",
            ),
        };
        let stage = match fragment {
            Some(_) => MaterialStage::Vertex,
            None => MaterialStage::VertexPosition,
        };
        let vertex = translation.stage((&vertex, stage), &FORM, &defs)?;
        Ok(PrepassShaders {
            vertex,
            fragment,
            locations,
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
        let (vertex, locations) = match (&self.prepass_vertex, &self.vertex, &fragment) {
            (Some(shader), ..) => {
                let vertex = translation.stage((shader, stage), &SHADOW_FORM, &defs)?;
                (vertex, MaterialLocations::Prepass)
            }
            (None, _, Some(_)) => (prepass_vertex.clone(), MaterialLocations::Prepass),
            (None, Some(shader), None) => {
                let vertex = translation.stage((shader, stage), &SHADOW_FORM, &[SHADOW_PASS])?;
                (vertex, MaterialLocations::Forward)
            }
            (None, None, None) => return Ok(None),
        };
        Ok(Some(ShadowShaders {
            vertex,
            fragment,
            locations,
            cull: translation.pipeline.cull(),
        }))
    }
}

/// Translation of the shaders of one state.
struct Translation<'a> {
    material: &'a str,
    layout: &'a MaterialLayout,
    pipeline: &'a MaterialPipelineDesc,
    bound: Vec<BoundBinding>,
}

impl Translation<'_> {
    /// Translates a stage with further shader defs.
    fn stage(
        &mut self,
        shader: (&Shader, MaterialStage),
        form: &MaterialShaderForm,
        defs: &[&'static str],
    ) -> Result<GpuShader, String> {
        let defs = DEFS.iter().chain(defs).copied().map(ShaderDefVal::from);
        let own = self.pipeline.shader_defs.iter().cloned();
        let defs: Vec<_> = defs.chain(own).collect();
        let (material, layout) = (self.material, self.layout);
        translate_material(material, shader, layout, form, &defs, &mut self.bound)
    }
}
