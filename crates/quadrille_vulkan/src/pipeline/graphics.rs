//! Graphics pipelines, and their variants by attachment formats.

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use ash::vk;

use super::layout::merge;
use super::state::{Blend, Cull, DepthState, Topology, VertexLayout};
use super::{Module, PipelineLayout};
use crate::debug::c_string;
use crate::device::Device;
use crate::error::ShaderError;
use crate::lock;
use crate::rendering::Formats;
use crate::retire::Retired;
use crate::shader::{Binding, Shader, ShaderStage};

/// A graphics pipeline to make.
#[derive(Clone, Debug)]
pub struct GraphicsPipelineDesc<'a> {
    /// Its name in errors and debuggers.
    pub name: &'a str,
    /// The module and entry point of the vertex shader; an empty name is the only one.
    pub vertex: (&'a Shader, &'a str),
    /// The module and entry point of the fragment shader, likewise; `None` draws depth only.
    pub fragment: Option<(&'a Shader, &'a str)>,
    /// The vertex buffers by slot.
    pub vertex_buffers: Vec<VertexLayout>,
    /// How vertices form primitives.
    pub topology: Topology,
    /// Which triangles are not drawn.
    pub cull: Cull,
    /// How colours mix.
    pub blend: Blend,
    /// Depth test; `None` for none.
    pub depth: Option<DepthState>,
}

impl<'a> GraphicsPipelineDesc<'a> {
    /// The only vertex shader and the only fragment shader of a module, opaque, without depth
    /// test or vertex buffers.
    pub fn of(name: &'a str, shader: &'a Shader) -> Self {
        Self::new(name, (shader, ""), (shader, ""))
    }

    /// Opaque triangles of both faces without depth test or vertex buffers.
    pub fn new(
        name: &'a str,
        vertex: (&'a Shader, &'a str),
        fragment: (&'a Shader, &'a str),
    ) -> Self {
        Self {
            name,
            vertex,
            fragment: Some(fragment),
            vertex_buffers: Vec::new(),
            topology: Topology::default(),
            cull: Cull::default(),
            blend: Blend::default(),
            depth: None,
        }
    }
}

/// A graphics pipeline. Clones are the same pipeline.
///
/// How many samples and which formats it is compiled for follows from what it draws to.
#[derive(Clone)]
pub struct GraphicsPipeline(Arc<GraphicsInner>);

struct GraphicsInner {
    name: String,
    vertex: (Shader, CString),
    fragment: Option<(Shader, CString)>,
    vertex_buffers: Vec<VertexLayout>,
    topology: Topology,
    cull: Cull,
    blend: Blend,
    depth: Option<DepthState>,
    bindings: Vec<Binding>,
    layout: Arc<PipelineLayout>,
    variants: OnceLock<Box<Variant>>,
    device: Arc<Device>,
}

/// A pipeline for some formats: a link of a list that only grows, so that finding one takes no
/// lock. Lists are short: programs draw to few combinations of formats.
struct Variant {
    formats: Formats,
    compiled: OnceLock<Result<vk::Pipeline, ShaderError>>,
    next: OnceLock<Box<Variant>>,
}

impl GraphicsPipeline {
    /// The device that it was made from.
    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    /// Checks the interface.
    pub(crate) fn new(
        device: &Arc<Device>,
        desc: &GraphicsPipelineDesc<'_>,
    ) -> Result<Self, ShaderError> {
        let vertex = desc
            .vertex
            .0
            .entry_point(ShaderStage::Vertex, desc.vertex.1)?;
        check_inputs(desc, &vertex.inputs)?;
        let mut entry_points = vec![vertex];
        let mut fragment = None;
        if let Some((shader, entry)) = desc.fragment {
            let entry = shader.entry_point(ShaderStage::Fragment, entry)?;
            entry_points.push(entry);
            fragment = Some((shader.clone(), c_string(&entry.name)));
        }
        let (bindings, push_bytes) = merge(desc.name, &entry_points)?;
        let stages = vk::ShaderStageFlags::ALL_GRAPHICS;
        let layout = device
            .layouts
            .get(device, desc.name, &bindings, push_bytes, stages)?;
        Ok(Self(Arc::new(GraphicsInner {
            name: desc.name.to_owned(),
            vertex: (desc.vertex.0.clone(), c_string(&vertex.name)),
            fragment,
            vertex_buffers: desc.vertex_buffers.clone(),
            topology: desc.topology,
            cull: desc.cull,
            blend: desc.blend,
            depth: desc.depth,
            bindings,
            layout,
            variants: OnceLock::new(),
            device: Arc::clone(device),
        })))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What its shaders touch.
    pub fn bindings(&self) -> &[Binding] {
        &self.0.bindings
    }

    /// Bytes of push constants.
    pub fn push_constant_bytes(&self) -> u32 {
        self.0.layout.push_bytes
    }

    /// Starts compiling for formats in the background.
    pub fn prepare(&self, formats: &Formats) {
        let (job, formats) = (Arc::downgrade(&self.0), *formats);
        self.0.device.compiler.run(Box::new(move || {
            if let Some(inner) = job.upgrade() {
                // An error is kept for who asks for the pipeline.
                let _ = inner.compiled(&formats);
            }
        }));
    }

    /// Whether it is compiled for formats, or has failed to.
    pub fn is_ready(&self, formats: &Formats) -> bool {
        let mut link = self.0.variants.get();
        while let Some(variant) = link {
            if variant.formats == *formats {
                return variant.compiled.get().is_some();
            }
            link = variant.next.get();
        }
        false
    }

    /// Compiles it for formats now, or waits for the thread that does.
    ///
    /// # Errors
    /// [`ShaderError::Compile`] with what the driver says.
    pub fn wait(&self, formats: &Formats) -> Result<(), ShaderError> {
        self.compiled(formats).map(|_| ())
    }

    /// The pipeline for formats, compiled now if need be.
    pub(crate) fn compiled(&self, formats: &Formats) -> Result<vk::Pipeline, ShaderError> {
        self.0.compiled(formats)
    }

    /// Its layout.
    pub(crate) fn layout(&self) -> &Arc<PipelineLayout> {
        &self.0.layout
    }

    /// How many vertex buffers it reads.
    pub(crate) fn vertex_buffer_count(&self) -> usize {
        self.0.vertex_buffers.len()
    }
}

impl GraphicsInner {
    fn compiled(&self, formats: &Formats) -> Result<vk::Pipeline, ShaderError> {
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
                    .get_or_init(|| self.compile(formats))
                    .clone();
            }
            link = &variant.next;
        }
    }

    fn compile(&self, formats: &Formats) -> Result<vk::Pipeline, ShaderError> {
        let device = &self.device;
        let error = |result| ShaderError::Compile {
            pipeline: self.name.clone(),
            result,
        };
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
        let pipeline = self.create(formats, &stages).map_err(error)?;
        device.names.name(pipeline, &self.name);
        Ok(pipeline)
    }

    fn create(
        &self,
        formats: &Formats,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    ) -> Result<vk::Pipeline, vk::Result> {
        let (buffers, attributes) = vertex_input(&self.vertex_buffers);
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(self.topology.to_vk());
        let viewports = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(self.cull.to_vk())
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::from_raw(formats.samples));
        let depth = self
            .depth
            .filter(|_| formats.depth != vk::Format::UNDEFINED);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(depth.is_some())
            .depth_write_enable(depth.is_some_and(|depth| depth.write))
            .depth_compare_op(depth.map_or(vk::CompareOp::ALWAYS, |depth| depth.compare));
        let blends: Vec<_> = formats
            .used_colors()
            .iter()
            .map(|&format| blend_for(self.blend, format))
            .collect();
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default()
            .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
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
            .layout(self.layout.raw)
            .push_next(&mut rendering)];
        let device = &self.device;
        let cache = device.pipeline_cache.raw();
        // SAFETY: modules have these entry points, the layout has all their bindings, vertex
        // inputs are covered by attributes, and formats are those of existing attachments.
        unsafe { device.raw.create_graphics_pipelines(cache, &infos, None) }
            .map(|pipelines| pipelines[0])
            .map_err(|(_, result)| result)
    }
}

impl Drop for GraphicsInner {
    fn drop(&mut self) {
        let mut link = self.variants.take();
        while let Some(mut variant) = link {
            if let Some(Ok(pipeline)) = variant.compiled.take() {
                lock(&self.device.dropped).push(Retired::Pipeline(pipeline));
            }
            link = variant.next.take();
        }
    }
}

impl PartialEq for GraphicsPipeline {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GraphicsPipeline {}

impl std::fmt::Debug for GraphicsPipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "GraphicsPipeline({})", self.name())
    }
}

fn rendering_info(formats: &Formats) -> vk::PipelineRenderingCreateInfo<'_> {
    let aspects = match formats.depth {
        vk::Format::UNDEFINED => vk::ImageAspectFlags::empty(),
        format => crate::format::aspects(format),
    };
    let if_has = |aspect| {
        if aspects.contains(aspect) {
            formats.depth
        } else {
            vk::Format::UNDEFINED
        }
    };
    vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(formats.used_colors())
        .depth_attachment_format(if_has(vk::ImageAspectFlags::DEPTH))
        .stencil_attachment_format(if_has(vk::ImageAspectFlags::STENCIL))
}

/// Integer formats cannot blend.
fn blend_for(blend: Blend, format: vk::Format) -> vk::PipelineColorBlendAttachmentState {
    let blend = if crate::format::is_integer(format) {
        Blend::Opaque
    } else {
        blend
    };
    blend.to_vk()
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
        let input_rate = match layout.per_instance {
            true => vk::VertexInputRate::INSTANCE,
            false => vk::VertexInputRate::VERTEX,
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

/// Every input of the vertex shader needs an attribute.
fn check_inputs(desc: &GraphicsPipelineDesc<'_>, inputs: &[u32]) -> Result<(), ShaderError> {
    let has = |location: &&u32| {
        let mut attributes = desc
            .vertex_buffers
            .iter()
            .flat_map(|layout| &layout.attributes);
        !attributes.any(|attribute| attribute.location == **location)
    };
    match inputs.iter().find(has) {
        None => Ok(()),
        Some(location) => Err(ShaderError::Interface {
            label: desc.name.to_owned(),
            problem: format!(
                "{} reads @location({location}), which no vertex buffer has",
                desc.vertex.1
            ),
        }),
    }
}
