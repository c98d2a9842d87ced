//! Code of graphics pipelines, and its variants by attachment formats.

use std::ffi::CString;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use ash::vk;

use super::attachments::AttachmentUse;
use super::capabilities::check_features;
use super::fixed::{PipelineState, StencilState};
use super::formats::Formats;
use super::interface::{Code, Interface};
use super::stages::{Stages, check_inputs};
use super::state::{Blend, ColorState, Cull, DepthState, PrimitiveTopology, VertexLayout};
use super::{Module, guarded, targets};
use crate::device::Device;
use crate::device::reload::Newest;
use crate::device::retire::Retired;
use crate::error::ShaderError;
use crate::instance::debug::c_string;
use crate::lock;
use crate::shader::{Constants, EntryPoint, GpuShader, Location, ShaderStage, check_constants};

/// Interface of a graphics pipeline for passes, shared by all its variants.
pub(crate) struct GraphicsInterface {
    pub common: Interface,
    /// Name of the entry point; empty for the only one.
    pub vertex_entry: String,
    /// As `vertex_entry`, for the fragment shader.
    pub fragment_entry: String,
    pub vertex_buffers: Vec<VertexLayout>,
    /// Required alignments of the vertex buffers' offsets, in bytes.
    pub vertex_alignments: Vec<u32>,
    pub topology: PrimitiveTopology,
    pub cull: Cull,
    pub blend: Blend,
    pub depth: Option<DepthState>,
    pub state: PipelineState,
    pub constants: Constants,
}

impl Deref for GraphicsInterface {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.common
    }
}

impl GraphicsInterface {
    fn rasterization(&self) -> vk::PipelineRasterizationStateCreateInfo<'static> {
        let state = &self.state;
        let bias = state.depth_bias.unwrap_or_default();
        vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(self.cull.to_vk())
            .front_face(state.front_face)
            .polygon_mode(state.polygon)
            .depth_clamp_enable(state.depth_clamp)
            .depth_bias_enable(state.depth_bias.is_some())
            .depth_bias_constant_factor(bias.constant)
            .depth_bias_slope_factor(bias.slope)
            .depth_bias_clamp(bias.clamp)
            .line_width(1.0)
    }

    fn depth_stencil(&self) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
        let (depth, state) = (self.depth, &self.state);
        let [near, far] = state.depth_bounds.unwrap_or([0.0, 1.0]);
        let [front, back] = state.stencil.map(StencilState::to_vk).unwrap_or_default();
        vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(depth.is_some())
            .depth_write_enable(depth.is_some_and(|depth| depth.write))
            .depth_compare_op(depth.map_or(vk::CompareOp::ALWAYS, |depth| depth.compare))
            .depth_bounds_test_enable(state.depth_bounds.is_some())
            .min_depth_bounds(near)
            .max_depth_bounds(far)
            .stencil_test_enable(state.stencil.is_some())
            .front(front)
            .back(back)
    }
}

/// Code of a graphics pipeline.
pub(crate) struct GraphicsCode {
    interface: Arc<GraphicsInterface>,
    /// The shaders with their constants unset.
    loaded: Loaded,
    /// The vertex shader with its constants set.
    vertex: (GpuShader, CString),
    fragment: Option<(GpuShader, CString)>,
    attachments: AttachmentUse,
    variants: OnceLock<Box<Variant>>,
}

/// The shaders of the stages, without their entry points.
#[derive(Clone)]
pub(super) struct Loaded {
    pub vertex: GpuShader,
    pub fragment: Option<GpuShader>,
}

impl Loaded {
    pub(super) fn shaders(&self) -> Vec<&GpuShader> {
        std::iter::once(&self.vertex)
            .chain(&self.fragment)
            .collect()
    }

    /// Sets the constants of the shaders.
    pub(super) fn specialized(
        &self,
        name: &str,
        [vertex, fragment]: [&str; 2],
        constants: &Constants,
    ) -> Result<Self, ShaderError> {
        check_constants(name, &self.shaders(), constants)?;
        let special =
            |shader: &GpuShader, stage, entry| shader.specialized(name, (stage, entry), constants);
        let of_fragment = |it| special(it, ShaderStage::Fragment, fragment);
        Ok(Self {
            vertex: special(&self.vertex, ShaderStage::Vertex, vertex)?,
            fragment: self.fragment.as_ref().map(of_fragment).transpose()?,
        })
    }
}

/// A pipeline variant for attachment formats: node of an append-only linked list, which is read without a
/// lock. Lists are short, since programs use few combinations of formats.
struct Variant {
    formats: Formats,
    compiled: OnceLock<Result<vk::Pipeline, ShaderError>>,
    next: OnceLock<Box<Variant>>,
}

impl Code for GraphicsCode {
    type Interface = GraphicsInterface;

    fn rebuild(&self, newest: &Newest<'_>) -> Result<Self, ShaderError> {
        let interface = &self.interface;
        let fragment = self.loaded.fragment.as_ref();
        let loaded = Loaded {
            vertex: newest(&self.loaded.vertex)?,
            fragment: fragment.map(newest).transpose()?,
        };
        let entries = [&*interface.vertex_entry, &*interface.fragment_entry];
        let special = loaded.specialized(interface.name(), entries, &interface.constants)?;
        let stages = Stages::find(&special, entries)?;
        check_features(self.device(), interface.name(), &special.shaders())?;
        check_inputs(interface.name(), &interface.vertex_buffers, &stages)?;
        interface.check(&stages.entry_points())?;
        let code = Self::new(interface, loaded, &stages);
        for variant in self.variants() {
            code.compiled(&variant.formats)?;
        }
        Ok(code)
    }
}

impl Deref for GraphicsCode {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.interface
    }
}

impl GraphicsCode {
    pub(super) fn new(
        interface: &Arc<GraphicsInterface>,
        loaded: Loaded,
        stages: &Stages<'_>,
    ) -> Self {
        let (vertex, entry) = stages.vertex;
        let outputs = stages.fragment.map_or(&[][..], |(_, entry)| &entry.outputs);
        Self {
            attachments: AttachmentUse::of(interface, outputs),
            interface: Arc::clone(interface),
            loaded,
            vertex: (vertex.clone(), c_string(&entry.name)),
            fragment: stages
                .fragment
                .map(|(shader, entry)| (shader.clone(), c_string(&entry.name))),
            variants: OnceLock::new(),
        }
    }

    /// Returns the alignment of the offset of each vertex buffer that it reads, in bytes.
    pub(crate) fn vertex_alignments(&self) -> &[u32] {
        &self.interface.vertex_alignments
    }

    /// Returns the stencil reference of the description; `None` without a stencil test.
    #[inline]
    pub(crate) fn stencil_reference(&self) -> Option<u8> {
        self.interface.state.stencil.map(|it| it.reference)
    }

    /// Returns the attachments that draws read and write.
    #[inline]
    pub(crate) fn attachments(&self) -> AttachmentUse {
        self.attachments
    }

    /// Whether draws may write depth, and stencil.
    #[inline]
    pub(crate) fn writes(&self) -> [bool; 2] {
        let (depth, stencil) = (self.interface.depth, self.interface.state.stencil);
        [
            depth.is_some_and(|depth| depth.write),
            stencil.is_some_and(|stencil| stencil.writes()),
        ]
    }

    /// Whether compilation for formats has ended, successfully or not.
    pub(super) fn is_ready(&self, formats: &Formats) -> bool {
        let mut variants = self.variants();
        let known = variants.find(|variant| variant.formats == *formats);
        known.is_some_and(|variant| variant.compiled.get().is_some())
    }

    fn variants(&self) -> impl Iterator<Item = &Variant> {
        std::iter::successors(self.variants.get(), |variant| variant.next.get())
            .map(|variant| &**variant)
    }

    /// Returns the pipeline for formats, and compiles it if necessary.
    pub(crate) fn compiled(&self, formats: &Formats) -> Result<vk::Pipeline, ShaderError> {
        let mut link = &self.variants;
        loop {
            let variant = link.get_or_init(|| {
                Box::new(Variant {
                    formats: *formats,
                    compiled: OnceLock::new(),
                    next: OnceLock::new(),
                })
            });
            if variant.formats == *formats {
                return variant
                    .compiled
                    .get_or_init(|| guarded(self.name(), || self.compile(formats)))
                    .clone();
            }
            link = &variant.next;
        }
    }

    fn compile(&self, formats: &Formats) -> Result<vk::Pipeline, ShaderError> {
        let device = self.device();
        let error = |result| ShaderError::Compile {
            pipeline: self.name().to_owned(),
            result,
        };
        self.check_targets(formats)?;
        let vertex = Module::new(device, &self.vertex.0).map_err(error)?;
        let fragment = match &self.fragment {
            Some((shader, entry)) => Some((Module::new(device, shader).map_err(error)?, entry)),
            None => None,
        };
        let stage = |stage, module: &Module<'_>, entry| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module.raw)
                .name(entry)
        };
        let mut stages = vec![stage(vk::ShaderStageFlags::VERTEX, &vertex, &self.vertex.1)];
        if let Some((module, entry)) = &fragment {
            stages.push(stage(vk::ShaderStageFlags::FRAGMENT, module, entry));
        }
        let outputs = self.fragment_entry()?.map_or(&[][..], |it| &it.outputs);
        let blends = blends_for(device, &self.interface, formats.used_colors(), outputs);
        let pipeline = self.create(formats, &stages, &blends).map_err(error)?;
        device.names.name(pipeline, self.name());
        Ok(pipeline)
    }

    /// Returns the entry point of the fragment shader.
    fn fragment_entry(&self) -> Result<Option<&EntryPoint>, ShaderError> {
        let entry = &self.interface.fragment_entry;
        let fragment = self.fragment.as_ref();
        fragment
            .map(|(shader, _)| shader.entry_point(ShaderStage::Fragment, entry))
            .transpose()
    }

    /// Checks that the device can write the shaders' outputs to these formats.
    fn check_targets(&self, formats: &Formats) -> Result<(), ShaderError> {
        let (fragment, interface) = (self.fragment_entry()?, &self.interface);
        let tests = [
            (interface.depth.is_some(), vk::ImageAspectFlags::DEPTH),
            (
                interface.state.depth_bounds.is_some(),
                vk::ImageAspectFlags::DEPTH,
            ),
            (
                interface.state.stencil.is_some(),
                vk::ImageAspectFlags::STENCIL,
            ),
        ];
        let tests = tests.into_iter().filter(|test| test.0);
        let tests = tests.fold(vk::ImageAspectFlags::empty(), |all, test| all | test.1);
        let differing = differing(interface, formats.used_colors());
        let problem = targets::problem(self.device(), formats, fragment, tests).or(differing);
        match problem {
            None => Ok(()),
            Some(problem) => Err(ShaderError::Interface {
                label: self.name().to_owned(),
                problem,
            }),
        }
    }

    fn create(
        &self,
        formats: &Formats,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        blends: &[vk::PipelineColorBlendAttachmentState],
    ) -> Result<vk::Pipeline, vk::Result> {
        let interface = &*self.interface;
        let (buffers, attributes) = vertex_input(&interface.vertex_buffers);
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(interface.topology.to_vk());
        let viewports = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let state = &interface.state;
        let rasterization = interface.rasterization();
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::from_raw(formats.samples))
            .alpha_to_coverage_enable(state.alpha_to_coverage)
            .alpha_to_one_enable(state.alpha_to_one)
            .sample_shading_enable(state.sample_shading.is_some())
            .min_sample_shading(state.sample_shading.unwrap_or(0.0));
        let depth = interface.depth_stencil();
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .logic_op_enable(state.logic.is_some())
            .logic_op(state.logic.unwrap_or(vk::LogicOp::COPY))
            .attachments(blends);
        // The stencil reference is dynamic; encoding sets it for each pipeline with a stencil test.
        let states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::STENCIL_REFERENCE,
        ];
        let states = &states[..if state.stencil.is_some() { 3 } else { 2 }];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(states);
        let mut rendering = rendering_info(formats);
        let infos = [vk::GraphicsPipelineCreateInfo::default()
            .stages(stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewports)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(interface.layout().raw)
            .push_next(&mut rendering)];
        let device = interface.device();
        let cache = device.pipeline_cache.raw();
        // SAFETY: modules have these entry points, the layout has all their bindings, attributes cover the vertex
        // inputs, and the formats are those of existing attachments.
        unsafe { device.raw.create_graphics_pipelines(cache, &infos, None) }
            .map(|pipelines| pipelines[0])
            .map_err(|(_, result)| result)
    }
}

impl Drop for GraphicsCode {
    fn drop(&mut self) {
        let mut link = self.variants.take();
        while let Some(mut variant) = link {
            if let Some(Ok(pipeline)) = variant.compiled.take() {
                lock(&self.device().dropped).push(Retired::Pipeline(pipeline));
            }
            link = variant.next.take();
        }
    }
}

fn rendering_info(formats: &Formats) -> vk::PipelineRenderingCreateInfo<'_> {
    let aspects = match formats.depth {
        vk::Format::UNDEFINED => vk::ImageAspectFlags::empty(),
        format => crate::resources::format::aspects(format),
    };
    let if_has = |aspect| {
        if aspects.contains(aspect) {
            formats.depth
        } else {
            vk::Format::UNDEFINED
        }
    };
    vk::PipelineRenderingCreateInfo::default()
        .view_mask(formats.view_mask)
        .color_attachment_formats(formats.used_colors())
        .depth_attachment_format(if_has(vk::ImageAspectFlags::DEPTH))
        .stencil_attachment_format(if_has(vk::ImageAspectFlags::STENCIL))
}

/// Describes attachments with different blend state on a device without `independentBlend`.
fn differing(interface: &GraphicsInterface, colors: &[vk::Format]) -> Option<String> {
    let device = interface.device();
    let own = &interface.state.colors;
    if device.core.independent_blend == vk::TRUE || own.is_empty() {
        return None;
    }
    let state_of = |at: usize| {
        own.get(at)
            .copied()
            .unwrap_or(ColorState::new(interface.blend))
    };
    let differs = (1..colors.len()).any(|at| state_of(at) != state_of(0));
    differs.then(|| {
        let device = &device.info.name;
        format!(
            "its color attachments mix in ways of their own, which takes the feature \
             independentBlend, which the device `{device}` lacks"
        )
    })
}

/// Returns the blend state of each color attachment. Integer formats do not blend, some devices cannot blend other
/// formats, and those without `independentBlend` blend all attachments or none. Attachments without a shader output
/// have write mask 0; otherwise they would become undefined (section "Fragment Output Interface").
fn blends_for(
    device: &Device,
    interface: &GraphicsInterface,
    colors: &[vk::Format],
    outputs: &[Location],
) -> Vec<vk::PipelineColorBlendAttachmentState> {
    let can_blend = |&format: &vk::Format| crate::resources::image::can_blend(device, format);
    let all_can = device.core.independent_blend == vk::TRUE || colors.iter().all(can_blend);
    let own = &interface.state.colors;
    let masked_of = |(location, format): (u32, &vk::Format)| {
        let state = own.get(location as usize).copied();
        let state = state.unwrap_or(ColorState::new(interface.blend));
        let blend = if all_can && can_blend(format) {
            state.blend
        } else {
            Blend::Opaque
        };
        let mask = if targets::is_written(outputs, location) {
            state.mask
        } else {
            vk::ColorComponentFlags::empty()
        };
        blend.to_vk().color_write_mask(mask)
    };
    (0..).zip(colors).map(masked_of).collect()
}

fn vertex_input(
    layouts: &[VertexLayout],
) -> (
    Vec<vk::VertexInputBindingDescription>,
    Vec<vk::VertexInputAttributeDescription>,
) {
    let mut buffers = Vec::with_capacity(layouts.len());
    let mut attributes = Vec::new();
    for (binding, layout) in (0..).zip(layouts) {
        let input_rate = if layout.per_instance {
            vk::VertexInputRate::INSTANCE
        } else {
            vk::VertexInputRate::VERTEX
        };
        buffers.push(vk::VertexInputBindingDescription {
            binding,
            stride: layout.stride,
            input_rate,
        });
        attributes.extend(layout.attributes.iter().map(|attribute| {
            vk::VertexInputAttributeDescription {
                location: attribute.location,
                binding,
                format: attribute.format,
                offset: attribute.offset,
            }
        }));
    }
    (buffers, attributes)
}
