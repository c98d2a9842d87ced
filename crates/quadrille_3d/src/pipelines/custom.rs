//! Pipelines of materials with shaders of their own.

use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::pipeline::{
    Blend, ColorState, DepthState, Formats, PipelineState, PrimitiveTopology, VertexLayout,
};
use quadrille::vulkan::shader::{Constant, EntryPoint, ShaderStage};
use quadrille::vulkan::vk;
use quadrille_content::materials::{
    BoundBinding, BoundShaders, MATERIAL_VERTEX, MaterialImages, MaterialLayout,
    MaterialShaderForm, MaterialStage, blend_of, check_material_output, material_entry_point,
    translate_material,
};
use quadrille_content::meshes::PrimitiveKind;
use quadrille_content::shaders::Shader;
use wgpu_types::BlendState;

use super::constants::{lighting_constants, pbr_constants};
use super::material_inputs::{Inputs, MAIN_PASS, PREPASS_IMAGES, SHADOW_RESOURCES};
use super::meshes::{CompileResult, PipelineVariant, mesh_pipeline_desc, replace_covered_samples};
use super::to_cull;
use crate::scene::formats::SHADOW_FORMATS;
use crate::scene::keys::{
    BlendMode, CullMode, LightingFeatures, MaterialFeatures, MaterialShader, PipelineKey,
};

/// Shaders of cameras: textures are bindless, and a fragment knows its instance.
pub(crate) const FORM: MaterialShaderForm<'static> = MaterialShaderForm {
    group: 3,
    prelude: "
import quadrille_3d::constants::{
    IMAGE_MASK as quadrille_image_mask, MATERIAL_ROW_SHIFT as quadrille_row_shift, SAMPLER_SHIFT as quadrille_sampler_shift,
};
import quadrille_3d::scene::{
    instances as quadrille_instances, materials as quadrille_materials, samplers as quadrille_samplers,
    textures as quadrille_textures, visible_instances as quadrille_visible_instances,
};
fn quadrille_row(quadrille_index: u32) -> u32 {
    return quadrille_materials[quadrille_instances[quadrille_index].material].flags >> quadrille_row_shift;
}
fn quadrille_vertex_index(instance_index: u32) -> u32 {
    return quadrille_visible_instances[instance_index];
}
fn quadrille_clip_position(position: vec4f, quadrille_index: u32) -> vec4f {
    var quadrille_position = position;
    // A step of depth is at most 2^-23 of it.
    let quadrille_bias = quadrille_materials[quadrille_instances[quadrille_index].material].depth_bias;
    quadrille_position.z *= 1.0 + quadrille_bias / 8388608.0;
    return quadrille_position;
}
",
    instance_index: "@builtin(instance_index)",
    rows_binding: 24,
    images: MaterialImages::Bindless,
    pulled: None,
    enter: "",
};

/// WGSL of fragment shaders that read `bevy_pbr::render::pbr_bindings::material`.
pub(crate) const STANDARD_MATERIAL_PRELUDE: &str = "
import bevy_pbr::render::pbr_bindings::load_standard_material as quadrille_load_standard;
fn quadrille_enter(quadrille_index: u32) {
    quadrille_load_standard(quadrille_index);
}
";

/// WGSL of vertex shaders that read attributes of programs. All binding numbers are in use: these are also those of
/// multisampled normals and motion vectors of prepasses, which few such materials read.
pub(crate) const PULLED_PRELUDE: &str = "
@group(0) @binding(28) var<storage, read> quadrille_mesh_attributes: array<u32>;
@group(0) @binding(14) var<storage, read> quadrille_attribute_bases: array<u32>;
fn quadrille_attribute(quadrille_index: u32, quadrille_vertex: u32, quadrille_stride: u32) -> u32 {
    return quadrille_attribute_bases[quadrille_index] + quadrille_vertex * quadrille_stride;
}
fn quadrille_word(quadrille_at: u32) -> u32 {
    return quadrille_mesh_attributes[quadrille_at];
}
";

/// Shaders of shadow maps.
pub(crate) const SHADOW_FORM: MaterialShaderForm<'static> = MaterialShaderForm {
    prelude: "
import bevy_pbr::render::mesh_view_bindings::view as quadrille_view;
import quadrille_3d::constants::{
    IMAGE_MASK as quadrille_image_mask, MATERIAL_ROW_SHIFT as quadrille_row_shift, SAMPLER_SHIFT as quadrille_sampler_shift,
};
import quadrille_3d::scene::{
    instances as quadrille_instances, materials as quadrille_materials, samplers as quadrille_samplers,
    textures as quadrille_textures, visible_instances as quadrille_visible_instances,
};
import quadrille_3d::shadow_pass::{
    caster_position as quadrille_caster_position, clip_from_world as quadrille_clip_from_world,
};
fn quadrille_row(quadrille_index: u32) -> u32 {
    return quadrille_materials[quadrille_instances[quadrille_index].material].flags >> quadrille_row_shift;
}
fn quadrille_vertex_index(instance_index: u32) -> u32 {
    quadrille_view.clip_from_world = quadrille_clip_from_world();
    quadrille_view.unjittered_clip_from_world = quadrille_view.clip_from_world;
    return quadrille_visible_instances[instance_index];
}
fn quadrille_clip_position(position: vec4f, quadrille_index: u32) -> vec4f {
    return quadrille_caster_position(position);
}
",
    ..FORM
};

/// Shaders of a material type with one fixed state.
#[derive(Clone)]
pub(crate) struct MaterialShaders {
    /// `None`: the one of all materials.
    pub(crate) vertex: Option<GpuShader>,
    pub(crate) fragment: GpuShader,
    /// `None`: shadows are those of the whole surface.
    pub(crate) shadow: Option<ShadowShaders>,
    pub(crate) prepass: PrepassSupport,
    /// A shader writes the G-buffer.
    pub(crate) is_deferred: bool,
    pub(crate) state: FixedState,
    /// Attributes in the vertex buffer.
    pub(crate) vertex_layout: VertexLayout,
    /// Values of `override` constants.
    pub(crate) constants: Vec<(String, Constant)>,
    /// Bindings of each material by itself.
    pub(crate) bound: Vec<BoundBinding>,
}

impl MaterialShaders {
    fn all(&self) -> impl Iterator<Item = &GpuShader> {
        let shadow = self.shadow.as_ref();
        let of_shadow = shadow.map(|shadow| &shadow.vertex).into_iter();
        let of_shadow = of_shadow.chain(shadow.and_then(|shadow| shadow.fragment.as_ref()));
        let main = [Some(&self.fragment), self.vertex.as_ref()];
        main.into_iter().flatten().chain(of_shadow)
    }

    /// Whether the shaders import constants of the lighting.
    fn is_lit(&self) -> bool {
        let shaders = [Some(&self.fragment), self.vertex.as_ref()];
        let imports = |name: &str| {
            let mut shaders = shaders.into_iter().flatten();
            shaders.any(|it| it.imported_constant(MODULES, name).is_some())
        };
        let constants = lighting_constants(LightingFeatures::default());
        imports("HAS_AMBIENT_OCCLUSION") || constants.iter().any(|(name, _)| imports(name))
    }

    /// All stages, with the bindings of each material by itself.
    pub(crate) fn bound_shaders(&self) -> BoundShaders<'_> {
        BoundShaders {
            bindings: &self.bound,
            shaders: self.all().collect(),
        }
    }
}

/// Shaders that draw a material in prepasses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrepassSupport {
    /// The material is not in prepasses.
    Absent,
    /// Shaders of standard materials. `has_base`: with alpha mask and normal map of the standard material that is extended.
    Standard { has_base: bool },
    /// Shaders of the material, translated when a camera first needs them. `has_fragment`: one of them may discard.
    Own { has_fragment: bool },
}

/// Shaders of a material's shadow casters.
#[derive(Clone)]
pub(crate) struct ShadowShaders {
    pub(crate) vertex: GpuShader,
    pub(crate) fragment: Option<GpuShader>,
    pub(crate) vertex_layout: VertexLayout,
    pub(crate) cull: CullMode,
}

/// Fixed state of a material's pipelines, where it differs from what key and mesh tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FixedState {
    pub(crate) topology: Option<PrimitiveTopology>,
    pub(crate) polygon: vk::PolygonMode,
    pub(crate) depth_compare: Option<vk::CompareOp>,
    pub(crate) depth_write: Option<bool>,
    /// Blending with the color target, in the place of that of the alpha mode.
    pub(crate) blend: Option<BlendState>,
}

impl FixedState {
    /// Whether depths of a prepass leave what is drawn later as it is: that writes depth, and passes the test where depth
    /// is equal.
    pub(crate) fn fits_prepass(self) -> bool {
        let compare = self.depth_compare;
        self.depth_write != Some(false)
            && compare.is_none_or(|compare| compare == vk::CompareOp::GREATER_OR_EQUAL)
    }

    /// Changes a pipeline of cameras.
    pub(super) fn apply(self, desc: &mut GraphicsPipelineDesc<'_>) {
        if let Some(topology) = self.topology {
            desc.topology = topology;
        }
        desc.state.polygon = self.polygon;
        if let Some(depth) = &mut desc.depth {
            depth.compare = self.depth_compare.unwrap_or(depth.compare);
            depth.write = self.depth_write.unwrap_or(depth.write);
        }
    }
}

/// Path of the modules whose constants are set: programs may have some of the same names.
pub(super) const MODULES: &str = "quadrille_3d";

/// Shaders and shadow pipelines of all materials.
pub(crate) struct CustomPipelines {
    /// Vertex shader of materials without one.
    vertex: GpuShader,
    /// Vertex shader of shadow casters that have a fragment shader alone.
    prepass_vertex: GpuShader,
    shaders: HashMap<u32, MaterialShaders>,
    /// Shaders that import the lighting, whose pipelines are specialized for that of the frame.
    lit: HashSet<u32>,
    shadows: HashMap<u32, GraphicsPipeline>,
}

/// Shader def of shaders that draw to shadow maps.
pub(crate) const SHADOW_PASS: &str = "QUADRILLE_SHADOW_PASS";

/// bevy's shader def of shaders for prepasses and shadow maps.
pub(crate) const PREPASS_PIPELINE: &str = "PREPASS_PIPELINE";

impl CustomPipelines {
    /// Translates the vertex shaders of materials without one.
    ///
    /// # Errors
    /// A module of these paths was published with another source.
    pub(super) fn new() -> Result<Self, String> {
        let shader = Shader::from_wgsl(
            include_str!("../../shaders/material_vertex.wgsl"),
            "quadrille_3d/material_vertex.wgsl",
        );
        let layout = MaterialLayout::new(Vec::new());
        let translate = |form, defs: &[_]| {
            let shader = (&shader, MaterialStage::Vertex);
            translate_material("all", shader, &layout, form, defs, &mut Vec::new())
        };
        Ok(Self {
            vertex: translate(&FORM, &[])?,
            prepass_vertex: translate(
                &SHADOW_FORM,
                &[SHADOW_PASS.into(), PREPASS_PIPELINE.into()],
            )?,
            shaders: HashMap::default(),
            lit: HashSet::default(),
            shadows: HashMap::default(),
        })
    }

    /// The vertex shader of shadow casters that have a fragment shader alone.
    pub(crate) fn prepass_vertex(&self) -> &GpuShader {
        &self.prepass_vertex
    }

    /// Adds shaders. `standard` is the one of standard materials, with whose resources meshes are drawn.
    pub(super) fn add(
        &mut self,
        gpu: &GpuDevice,
        number: u32,
        shaders: MaterialShaders,
        (standard, dfg_lut): (&GpuShader, bool),
    ) -> Result<(), String> {
        let bound = &shaders.bound;
        let inputs = Inputs {
            standard: Some(standard),
            known: &MAIN_PASS,
            bound,
        };
        if let Some(vertex) = &shaders.vertex {
            inputs.check_resources(entry(vertex, ShaderStage::Vertex))?;
        }
        let fragment = entry(&shaders.fragment, ShaderStage::Fragment);
        inputs.check_resources(fragment)?;
        if writes_color(&shaders.fragment) {
            check_material_output(&shaders.fragment)?;
        }
        if let Some(shadow) = &shaders.shadow {
            let inputs = Inputs {
                standard: None,
                known: &SHADOW_RESOURCES,
                bound,
            };
            inputs.check_resources(entry(&shadow.vertex, ShaderStage::Vertex))?;
            if let Some(fragment) = &shadow.fragment {
                inputs.check_resources(entry(fragment, ShaderStage::Fragment))?;
            }
        }
        let mut shaders = shaders;
        shaders.vertex.get_or_insert_with(|| self.vertex.clone());
        let key = PipelineKey {
            renderer: crate::scene::keys::RendererMethod::Auto,
            primitive: PrimitiveKind::Triangles,
            cull: CullMode::Back,
            blend_mode: BlendMode::Opaque,
            features: MaterialFeatures::Base,
            is_transmissive: false,
            shader: MaterialShader::Custom {
                number,
                material: None,
            },
        };
        let variant = PipelineVariant::new(key, LightingFeatures::default(), false);
        let compiled = shaders.compile(gpu, variant, dfg_lut);
        compiled.map_err(|error| error.to_string())?;
        if let Some(shadow) = &shaders.shadow {
            let pipeline = shadow
                .compile(gpu, &shaders.constants)
                .map_err(|error| error.to_string())?;
            self.shadows.insert(number, pipeline);
        }
        if shaders.is_lit() {
            self.lit.insert(number);
        }
        self.shaders.insert(number, shaders);
        Ok(())
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.shaders.remove(&number);
        self.lit.remove(&number);
        self.shadows.remove(&number);
    }

    pub(super) fn get(&self, number: u32) -> Option<MaterialShaders> {
        self.shaders.get(&number).cloned()
    }

    /// The shaders with this number.
    pub(super) fn find(&self, number: u32) -> Option<&MaterialShaders> {
        self.shaders.get(&number)
    }

    /// Whether shaders import the lighting.
    pub(super) fn is_lit(&self, number: u32) -> bool {
        self.lit.contains(&number)
    }

    pub(super) fn shadow(&self, shader: MaterialShader) -> Option<&GraphicsPipeline> {
        match shader {
            MaterialShader::Standard => None,
            MaterialShader::Custom { number, .. } => self.shadows.get(&number),
        }
    }

    /// Whether a shader's fragments replace the color of the target, without blending.
    pub(super) fn replaces_color(&self, number: u32) -> bool {
        let Some(shaders) = self.shaders.get(&number) else {
            return false;
        };
        let blend = shaders.state.blend;
        blend.is_none_or(|blend| blend == BlendState::REPLACE) && writes_color(&shaders.fragment)
    }

    pub(super) fn reads_views(&self) -> bool {
        let shaders = self.shaders.values().flat_map(MaterialShaders::all);
        reads_any(shaders, &["view", "globals"])
    }

    pub(super) fn reads_prepass(&self) -> bool {
        let shaders = self.shaders.values();
        let main = shaders.flat_map(|it| [Some(&it.fragment), it.vertex.as_ref()]);
        reads_any(main.flatten(), &PREPASS_IMAGES)
    }
}

/// Whether a fragment shader returns anything. As in bevy, one that does not writes depth alone.
fn writes_color(fragment: &GpuShader) -> bool {
    let entry = entry(fragment, ShaderStage::Fragment);
    entry.is_some_and(|entry| !entry.outputs.is_empty())
}

/// State of a color target that stays as it is: outputs that a shader does not write are undefined.
fn masked_color() -> ColorState {
    ColorState::new(Blend::Opaque).with_mask(vk::ColorComponentFlags::empty())
}

/// Whether a shader reads a resource with one of these names.
pub(super) fn reads_any<'a>(shaders: impl Iterator<Item = &'a GpuShader>, names: &[&str]) -> bool {
    let entries = shaders.flat_map(|shader| shader.entry_points());
    let mut bindings = entries.flat_map(|entry| &entry.bindings);
    bindings.any(|it| names.contains(&&*it.name))
}

/// The entry point of a stage that is drawn with.
pub(super) fn entry(shader: &GpuShader, stage: ShaderStage) -> Option<&EntryPoint> {
    let name = match stage {
        ShaderStage::Vertex => MATERIAL_VERTEX,
        _ => material_entry_point(shader),
    };
    let mut entries = shader.entry_points().iter();
    entries.find(|it| it.stage == stage && (name.is_empty() || it.name == name))
}

impl MaterialShaders {
    /// Compiles the pipeline of a variant. The vertex shader is known by now.
    pub(super) fn compile(
        &self,
        gpu: &GpuDevice,
        variant: PipelineVariant,
        dfg_lut: bool,
    ) -> CompileResult {
        let fragment = &self.fragment;
        let vertex = self.vertex.as_ref().unwrap_or(fragment);
        let shaders = [fragment, vertex];
        let constants = pbr_constants((variant.key, variant.lighting), dfg_lut, variant.maps_tones);
        let constants = constants.into_iter().filter_map(|(name, value)| {
            let mut shaders = shaders.iter();
            let imported = shaders.find_map(|it| it.imported_constant(MODULES, &name))?;
            Some((imported.to_owned(), value))
        });
        let desc = GraphicsPipelineDesc {
            constants: constants.chain(self.constants.iter().cloned()).collect(),
            ..GraphicsPipelineDesc::new(
                "3d material",
                (vertex, MATERIAL_VERTEX),
                (fragment, material_entry_point(fragment)),
            )
        };
        let mut desc = GraphicsPipelineDesc {
            vertex_buffers: vec![self.vertex_layout.clone()],
            ..mesh_pipeline_desc(variant.key, desc)
        };
        self.state.apply(&mut desc);
        match self.state.blend {
            Some(blend) => desc.blend = blend_of(blend),
            None => replace_covered_samples(gpu, variant.key, &mut desc),
        }
        if !writes_color(fragment) {
            desc.state.colors = vec![masked_color()];
        }
        gpu.graphics_pipeline(&desc)
    }
}

impl ShadowShaders {
    fn compile(&self, gpu: &GpuDevice, constants: &[(String, Constant)]) -> CompileResult {
        let fragment = self.fragment.as_ref();
        let has = |name: &str| {
            let mut all = fragment.into_iter().chain([&self.vertex]);
            all.any(|shader| shader.has_constant(name))
        };
        let constants = constants.iter().filter(|(name, _)| has(name));
        let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc {
            fragment: fragment.map(|shader| (shader, material_entry_point(shader))),
            constants: constants.cloned().collect(),
            vertex_buffers: vec![self.vertex_layout.clone()],
            cull: to_cull(self.cull),
            depth: Some(DepthState::GREATER),
            state: PipelineState::default(),
            ..GraphicsPipelineDesc::new(
                "3d material shadow",
                (&self.vertex, MATERIAL_VERTEX),
                (&self.vertex, ""),
            )
        })?;
        for depth in SHADOW_FORMATS {
            pipeline.prepare(&Formats {
                depth,
                ..Formats::default()
            });
        }
        Ok(pipeline)
    }
}
