//! A material type: its shaders, translated once for each state of its pipelines.

use bevy_asset::{AssetId, Assets, Handle};
use bevy_platform::collections::HashSet;
use quadrille::prelude::GpuDevice;
use quadrille_content::materials::MaterialLayout;
use quadrille_content::shaders::Shader;

use super::sources::{Sources, Translation};
use super::{BoundState, CustomMaterial, LayoutState, MaterialDesc};
use crate::extract::materials::{MaterialRow, MaterialState};
use crate::pipelines::Pipelines3d;
use crate::pipelines::custom::{MaterialShaders, PrepassSupport};
use crate::pipelines::material_desc::MaterialPipelineState;
use crate::scene::keys::{MaterialShader, RendererMethod};
use crate::scene::prepass::PrepassOutputs;
use crate::tables::textures::TextureSource;
use quadrille_content::meshes::{LayoutId, MeshLayout};

/// Shader assets of a material type by stage; `None` for those of the renderer.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageShaders {
    pub(crate) vertex: Option<Handle<Shader>>,
    pub(crate) fragment: Option<Handle<Shader>>,
    pub(crate) prepass_vertex: Option<Handle<Shader>>,
    pub(crate) prepass_fragment: Option<Handle<Shader>>,
    pub(crate) deferred_vertex: Option<Handle<Shader>>,
    /// `None`: meshes are drawn forward.
    pub(crate) deferred_fragment: Option<Handle<Shader>>,
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
            deferred_vertex,
            deferred_fragment,
            ..
        } = self;
        let main = [vertex, fragment];
        let prepass = [prepass_vertex, prepass_fragment];
        let all = [main, prepass, [deferred_vertex, deferred_fragment]];
        all.into_iter().flatten().flatten()
    }
}

/// Shaders of a material type with one state of its pipelines.
struct Variant {
    pipeline: MaterialPipelineState,
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
    /// Reasons for which meshes are not drawn, logged once.
    reasons: HashSet<String>,
}

impl MaterialType {
    pub(super) fn new(name: &'static str, shaders: StageShaders) -> Self {
        Self {
            name,
            is_unusable: shaders.fragment.is_none() && !shaders.extends_standard,
            shaders,
            variants: Vec::new(),
            reasons: HashSet::default(),
        }
    }

    /// Adds the state of a material for meshes of a layout.
    pub(super) fn add_layout(
        &mut self,
        material: &mut CustomMaterial,
        (id, layout): (LayoutId, &MeshLayout),
    ) {
        let variant = match material.desc.pipeline(layout) {
            Ok(pipeline) => Some(self.variant(&pipeline)),
            Err(why) => {
                let (name, why) = (self.name, why.to_string());
                if !self.reasons.contains(&why) {
                    tracing::error!(
                        "some meshes with the material `{name}` are not drawn: {why}. Insert the attribute"
                    );
                    self.reasons.insert(why);
                }
                None
            }
        };
        material.layouts.push(LayoutState {
            layout: id,
            variant,
            state: self.state(variant, material.index, &material.desc),
        });
    }

    /// Updates the states of a material.
    pub(super) fn refresh_layouts(&self, material: &mut CustomMaterial) {
        for layout in &mut material.layouts {
            layout.state = self.state(layout.variant, material.index, &material.desc);
        }
    }

    pub(super) fn has_shader(&self, id: AssetId<Shader>) -> bool {
        self.shaders.handles().any(|handle| handle.id() == id)
    }

    /// Index of the shaders with this state of the pipelines, which are added if they are new.
    fn variant(&mut self, pipeline: &MaterialPipelineState) -> usize {
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

    /// Shaders of a variant that bind resources of each material by itself, with their number.
    pub(super) fn bound_shaders(&self, variant: usize) -> Option<(u32, &MaterialShaders)> {
        match &self.variants[variant].shaders {
            ShaderState::Translated(shaders, Some(number)) => {
                (!shaders.bound.is_empty()).then_some((*number, &**shaders))
            }
            _ => None,
        }
    }

    /// Shaders of all variants of a material that bind resources by themselves, with their numbers.
    pub(super) fn all_bound_shaders(
        &self,
        material: &CustomMaterial,
    ) -> Vec<(u32, &MaterialShaders)> {
        let variants = material.layouts.iter().filter_map(|it| it.variant);
        let mut variants: Vec<_> = variants.collect();
        variants.sort_unstable();
        variants.dedup();
        let variants = variants.into_iter();
        variants
            .filter_map(|variant| self.bound_shaders(variant))
            .collect()
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
                let is_own = match outputs.deferred {
                    true => shaders.is_deferred,
                    false => matches!(shaders.prepass, PrepassSupport::Own { .. }),
                };
                if !is_own || meshes.has_prepass_shaders(*number, outputs) {
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
                    let stage = match outputs.deferred {
                        true => "deferred",
                        false => "prepass",
                    };
                    tracing::error!(
                        "meshes with the material `{name}` are not in prepasses, because its {stage} shader cannot be \
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
        let mut variants = material.layouts.iter().filter_map(|it| it.variant);
        let is_failed = variants.any(|it| matches!(self.variants[it].shaders, ShaderState::Failed));
        if is_failed {
            // One row serves meshes of all layouts.
            material.set_fallback();
        }
        if is_failed || material.bound == BoundState::Wrong {
            return MaterialRow::fallback();
        }
        let row = MaterialRow::custom(material.row, &material.desc, textures);
        let Some(why) = row.invalid_value() else {
            return row;
        };
        let name = self.name;
        textures.warnings.warn_message(|| {
            format!(
                "meshes with a material `{name}` are drawn in magenta: {why}. Set finite values"
            )
        });
        material.set_fallback();
        MaterialRow::fallback()
    }

    /// State of a material of this type with this row in the table of all materials.
    fn state(&self, variant: Option<usize>, index: u32, desc: &MaterialDesc) -> MaterialState {
        let variant = variant.map(|variant| &self.variants[variant]);
        match variant.map(|it| (&it.pipeline, &it.shaders)) {
            Some((pipeline, ShaderState::Translated(shaders, Some(number)))) => {
                let shader = MaterialShader::Custom {
                    number: *number,
                    material: (!shaders.bound.is_empty()).then_some(index),
                };
                let renderer = match shaders.is_deferred {
                    true => RendererMethod::new(desc.opaque_render_method),
                    false => RendererMethod::Forward,
                };
                MaterialState::custom(desc, pipeline.cull(), (shader, renderer))
            }
            _ => MaterialState::fallback(desc.casts_shadows),
        }
    }
}
