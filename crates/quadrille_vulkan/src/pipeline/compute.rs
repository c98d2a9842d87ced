//! Compute pipelines.

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use ash::vk;

use super::layout::merge;
use super::{Module, PipelineLayout};
use crate::debug::c_string;
use crate::device::Device;
use crate::error::ShaderError;
use crate::lock;
use crate::retire::Retired;
use crate::shader::{Binding, Shader, ShaderStage};

/// A compute pipeline to make.
#[derive(Clone, Copy, Debug)]
pub struct ComputePipelineDesc<'a> {
    /// Its name in errors and debuggers.
    pub name: &'a str,
    /// The module.
    pub shader: &'a Shader,
    /// The entry point; empty for the only compute shader of the module.
    pub entry: &'a str,
}

impl<'a> ComputePipelineDesc<'a> {
    /// The only compute shader of a module.
    pub fn of(name: &'a str, shader: &'a Shader) -> Self {
        Self {
            name,
            shader,
            entry: "",
        }
    }

    /// The same with another entry point of the module.
    pub fn entry(mut self, entry: &'a str) -> Self {
        self.entry = entry;
        self
    }
}

/// A compute pipeline. Clones are the same pipeline.
#[derive(Clone)]
pub struct ComputePipeline(Arc<ComputeInner>);

struct ComputeInner {
    name: String,
    shader: Shader,
    entry: CString,
    workgroup_size: [u32; 3],
    bindings: Vec<Binding>,
    layout: Arc<PipelineLayout>,
    compiled: OnceLock<Result<vk::Pipeline, ShaderError>>,
    device: Arc<Device>,
}

impl ComputePipeline {
    /// The device that it was made from.
    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    /// Checks the interface and starts compiling.
    pub(crate) fn new(
        device: &Arc<Device>,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Self, ShaderError> {
        let entry = desc.shader.entry_point(ShaderStage::Compute, desc.entry)?;
        check_workgroup(device, desc, entry.workgroup_size)?;
        let (bindings, push_bytes) = merge(desc.name, &[entry])?;
        let stages = vk::ShaderStageFlags::COMPUTE;
        let layout = device
            .layouts
            .get(device, desc.name, &bindings, push_bytes, stages)?;
        let inner = Arc::new(ComputeInner {
            name: desc.name.to_owned(),
            shader: desc.shader.clone(),
            entry: c_string(&entry.name),
            workgroup_size: entry.workgroup_size,
            bindings,
            layout,
            compiled: OnceLock::new(),
            device: Arc::clone(device),
        });
        let job = Arc::downgrade(&inner);
        device.compiler.run(Box::new(move || {
            if let Some(inner) = job.upgrade() {
                // An error is kept for who asks for the pipeline.
                let _ = inner.compiled();
            }
        }));
        Ok(Self(inner))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What its shader touches.
    pub fn bindings(&self) -> &[Binding] {
        &self.0.bindings
    }

    /// Invocations of a workgroup in each direction.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.0.workgroup_size
    }

    /// Bytes of push constants.
    pub fn push_constant_bytes(&self) -> u32 {
        self.0.layout.push_bytes
    }

    /// Whether it is compiled, or has failed to.
    pub fn is_ready(&self) -> bool {
        self.0.compiled.get().is_some()
    }

    /// Compiles it now, or waits for the thread that does.
    ///
    /// # Errors
    /// [`ShaderError::Compile`] with what the driver says.
    pub fn wait(&self) -> Result<(), ShaderError> {
        self.compiled().map(|_| ())
    }

    /// The pipeline, compiled now if need be.
    pub(crate) fn compiled(&self) -> Result<vk::Pipeline, ShaderError> {
        self.0.compiled()
    }

    /// Its layout.
    pub(crate) fn layout(&self) -> &Arc<PipelineLayout> {
        &self.0.layout
    }
}

impl ComputeInner {
    fn compiled(&self) -> Result<vk::Pipeline, ShaderError> {
        self.compiled.get_or_init(|| self.compile()).clone()
    }

    fn compile(&self) -> Result<vk::Pipeline, ShaderError> {
        let device = &self.device;
        let error = |result| ShaderError::Compile {
            pipeline: self.name.clone(),
            result,
        };
        let module = Module::new(device, &self.shader).map_err(error)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(&self.entry);
        let infos = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout.raw)];
        let cache = device.pipeline_cache.raw();
        // SAFETY: the module has this entry point; the layout has all its bindings.
        let pipelines = unsafe { device.raw.create_compute_pipelines(cache, &infos, None) }
            .map_err(|(_, result)| error(result))?;
        device.names.name(pipelines[0], &self.name);
        Ok(pipelines[0])
    }
}

impl Drop for ComputeInner {
    fn drop(&mut self) {
        if let Some(Ok(pipeline)) = self.compiled.take() {
            lock(&self.device.dropped).push(Retired::Pipeline(pipeline));
        }
    }
}

impl PartialEq for ComputePipeline {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ComputePipeline {}

impl std::fmt::Debug for ComputePipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ComputePipeline({})", self.name())
    }
}

/// Compares the workgroup's size with the device's limits.
fn check_workgroup(
    device: &Device,
    desc: &ComputePipelineDesc<'_>,
    size: [u32; 3],
) -> Result<(), ShaderError> {
    let limits = &device.limits;
    let invocations: u64 = size.iter().map(|&length| u64::from(length)).product();
    let most = limits.max_compute_work_group_invocations;
    let too_long = (0..3).any(|at| size[at] > limits.max_compute_work_group_size[at]);
    if invocations <= u64::from(most) && !too_long {
        return Ok(());
    }
    let problem = format!(
        "its workgroup of {size:?} is above the device's limits of {most} invocations and {:?}",
        limits.max_compute_work_group_size
    );
    Err(ShaderError::Interface {
        label: desc.name.to_owned(),
        problem,
    })
}
