//! Graphics pipelines.

use std::sync::Arc;

use ash::vk;

use super::capabilities::check_features;
use super::current_code::CurrentCode;
use super::fixed::{self, PipelineState};
use super::formats::Formats;
use super::graphics_code::{GraphicsCode, GraphicsInterface, Loaded};
use super::interface::{Interface, Pipeline, implement_pipeline};
use super::names;
use super::stages::{Stages, check_inputs};
use super::state::{Blend, Cull, DepthState, PrimitiveTopology, VertexLayout};
use super::vertices;
use crate::device::Device;
use crate::error::ShaderError;
use crate::shader::{Constant, GpuShader};

/// Description of a graphics pipeline.
#[derive(Clone, Debug)]
pub struct GraphicsPipelineDesc<'a> {
    /// Name in errors and debuggers.
    pub name: &'a str,
    /// The module and entry point of the vertex shader; an empty name selects the only one.
    pub vertex: (&'a GpuShader, &'a str),
    /// The module and entry point of the fragment shader, likewise; `None` draws depth only.
    pub fragment: Option<(&'a GpuShader, &'a str)>,
    /// The vertex buffers by slot.
    pub vertex_buffers: Vec<VertexLayout>,
    /// Primitive topology.
    pub topology: PrimitiveTopology,
    /// Face culling.
    pub cull: Cull,
    /// Blending of color attachments.
    pub blend: Blend,
    /// Depth test; `None` for none.
    pub depth: Option<DepthState>,
    /// Further fixed-function state.
    pub state: PipelineState,
    /// The values of `override` constants of both shaders, by name.
    pub constants: Vec<(String, Constant)>,
    /// Names of variables that passes bind by, which the shaders must have.
    pub binds: Vec<&'a str>,
}

impl<'a> GraphicsPipelineDesc<'a> {
    /// Selects the only vertex and the only fragment shader of a module; opaque, without depth test and vertex buffers.
    pub fn of(name: &'a str, shader: &'a GpuShader) -> Self {
        Self::new(name, (shader, ""), (shader, ""))
    }

    /// Draws opaque triangles of both faces, without depth test and vertex buffers.
    pub fn new(
        name: &'a str,
        vertex: (&'a GpuShader, &'a str),
        fragment: (&'a GpuShader, &'a str),
    ) -> Self {
        Self {
            name,
            vertex,
            fragment: Some(fragment),
            vertex_buffers: Vec::new(),
            topology: PrimitiveTopology::default(),
            cull: Cull::default(),
            blend: Blend::default(),
            depth: None,
            state: PipelineState::default(),
            constants: Vec::new(),
            binds: Vec::new(),
        }
    }

    /// Sets an `override` constant in each shader that declares one of this name, like
    /// [`ComputePipelineDesc::constant`](super::ComputePipelineDesc::constant).
    pub fn constant(mut self, name: &str, value: impl Into<Constant>) -> Self {
        self.constants.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the name of a variable (or table array) that passes bind, as in `bind("heights", ..)`. If the shaders
    /// have no such variable, creation fails with an error that suggests the closest name.
    pub fn binds(mut self, name: &'a str) -> Self {
        self.binds.push(name);
        self
    }
}

/// A graphics pipeline. Clones are the same pipeline.
///
/// A variant is compiled for each combination of sample count and attachment formats that it is used with. The
/// interface (bindings, push constants, vertex buffers) never changes; hot reload replaces its code:
/// see [`Gpu::reload_shader`](crate::device::Gpu::reload_shader).
#[derive(Clone)]
pub struct GraphicsPipeline(Arc<Pipeline<GraphicsCode>>);

impl GraphicsPipeline {
    /// Checks the interface.
    pub(crate) fn new(
        device: &Arc<Device>,
        desc: &GraphicsPipelineDesc<'_>,
    ) -> Result<Self, ShaderError> {
        let loaded = Loaded {
            vertex: desc.vertex.0.clone(),
            fragment: desc.fragment.map(|(shader, _)| shader.clone()),
        };
        let entries = [desc.vertex.1, desc.fragment.map_or("", |it| it.1)];
        let special = loaded.specialized(desc.name, entries, &desc.constants)?;
        let stages = Stages::find(&special, entries)?;
        check_features(device, desc.name, &special.shaders())?;
        check_inputs(desc.name, &desc.vertex_buffers, &stages)?;
        if let Some(problem) = vertices::problem(device, &desc.vertex_buffers) {
            return Err(ShaderError::Interface {
                label: desc.name.to_owned(),
                problem,
            });
        }
        let compare = desc.depth.map(|it| it.compare);
        let fragment = stages.fragment.map(|(_, entry)| entry);
        if let Some(problem) = fixed::problem(device, &desc.state, desc.blend, compare, fragment) {
            let pipeline = desc.name.to_owned();
            return Err(ShaderError::Pipeline { pipeline, problem });
        }
        let flags = vk::ShaderStageFlags::ALL_GRAPHICS;
        let common = Interface::new(device, desc.name, &stages.entry_points(), flags)?;
        names::check(desc.name, common.bindings(), common.tables(), &desc.binds)?;
        let interface = Arc::new(GraphicsInterface {
            common,
            vertex_entry: entries[0].to_owned(),
            fragment_entry: entries[1].to_owned(),
            vertex_buffers: desc.vertex_buffers.clone(),
            vertex_alignments: desc
                .vertex_buffers
                .iter()
                .map(vertices::alignment)
                .collect(),
            topology: desc.topology,
            cull: desc.cull,
            blend: desc.blend,
            depth: desc.depth,
            state: desc.state.clone(),
            constants: desc.constants.clone(),
        });
        let code = GraphicsCode::new(&interface, loaded.clone(), &stages);
        let code = CurrentCode::new(Arc::new(code));
        let inner = Arc::new(Pipeline { interface, code });
        device.reloads.follow(&inner, &loaded.shaders());
        Ok(Self(inner))
    }

    /// Starts compiling for formats in the background.
    pub fn prepare(&self, formats: &Formats) {
        let (job, formats) = (Arc::downgrade(&self.0.code.current()), *formats);
        self.0.interface.device().compiler.run(Box::new(move || {
            if let Some(code) = job.upgrade() {
                // An error is stored, and returned at the first use of the pipeline.
                let _ = code.compiled(&formats);
            }
        }));
    }

    /// Whether compilation for formats has ended, successfully or not.
    pub fn is_ready(&self, formats: &Formats) -> bool {
        self.0.code.current().is_ready(formats)
    }

    /// Compiles the pipeline for formats now, or waits for the thread that is compiling it.
    ///
    /// # Errors
    /// [`ShaderError::Compile`] with the driver's result.
    pub fn wait(&self, formats: &Formats) -> Result<(), ShaderError> {
        self.0.code.current().compiled(formats).map(|_| ())
    }

    /// Returns its code.
    #[inline]
    pub(crate) fn code(&self) -> &CurrentCode<GraphicsCode> {
        &self.0.code
    }
}

implement_pipeline!(GraphicsPipeline);
