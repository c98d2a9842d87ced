//! Compute pipelines.

use std::ffi::CString;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use ash::vk;

use super::capabilities::check_features;
use super::current_code::CurrentCode;
use super::interface::{Code, Interface, Pipeline, implement_pipeline};
use super::{Module, guarded, names, reload_check};
use crate::device::Device;
use crate::device::reload::Newest;
use crate::device::retire::Retired;
use crate::error::ShaderError;
use crate::instance::debug::c_string;
use crate::lock;
use crate::shader::{Constant, Constants, EntryPoint, GpuShader, ShaderStage, check_constants};

/// Description of a compute pipeline.
#[derive(Clone, Debug)]
pub struct ComputePipelineDesc<'a> {
    /// Name in errors and debuggers.
    pub name: &'a str,
    /// The shader module.
    pub shader: &'a GpuShader,
    /// The entry point; empty for the only compute shader of the module.
    pub entry: &'a str,
    /// The values of `override` constants, by name.
    pub constants: Vec<(String, Constant)>,
    /// Names of variables that passes bind by, which the shaders must have.
    pub binds: Vec<&'a str>,
}

impl<'a> ComputePipelineDesc<'a> {
    /// Selects the only compute shader of a module.
    pub fn of(name: &'a str, shader: &'a GpuShader) -> Self {
        Self {
            name,
            shader,
            entry: "",
            constants: Vec::new(),
            binds: Vec::new(),
        }
    }

    /// Sets the entry point.
    pub fn entry(mut self, entry: &'a str) -> Self {
        self.entry = entry;
        self
    }

    /// Sets an `override` constant of the shader. A constant of an imported module may be qualified by the module's
    /// name: `noise::OCTAVES`.
    ///
    /// ```
    /// use quadrille_vulkan::pipeline::ComputePipelineDesc;
    /// use quadrille_vulkan::shader::GpuShader;
    /// let shader = GpuShader::wgsl("sum.wgsl", "
    ///     override SIZE: u32 = 64;
    ///     @compute @workgroup_size(SIZE) fn main() {}
    /// ")?;
    /// let desc = ComputePipelineDesc::of("sum", &shader).constant("SIZE", 256_u32);
    /// # drop(desc);
    /// # Ok::<(), quadrille_vulkan::ShaderError>(())
    /// ```
    pub fn constant(mut self, name: &str, value: impl Into<Constant>) -> Self {
        self.constants.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the name of a variable (or table array) that passes bind, as in `bind("heights", ..)`. If the shader has no
    /// such variable, creation fails with an error that suggests the closest name.
    pub fn binds(mut self, name: &'a str) -> Self {
        self.binds.push(name);
        self
    }
}

/// A compute pipeline. Clones are the same pipeline.
///
/// Its interface (bindings, push constants, workgroup size) never changes; hot reload replaces its code:
/// see [`Gpu::reload_shader`](crate::device::Gpu::reload_shader).
#[derive(Clone)]
pub struct ComputePipeline(Arc<Pipeline<ComputeCode>>);

/// Interface of a compute pipeline for passes.
pub(crate) struct ComputeInterface {
    common: Interface,
    /// Name of the entry point; empty for the only one.
    entry: String,
    constants: Constants,
    workgroup_size: [u32; 3],
}

impl Deref for ComputeInterface {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.common
    }
}

/// Code of a compute pipeline.
pub(crate) struct ComputeCode {
    interface: Arc<ComputeInterface>,
    /// The shader with its constants unset.
    shader: GpuShader,
    /// The shader with its constants set.
    special: GpuShader,
    entry: CString,
    compiled: OnceLock<Result<vk::Pipeline, ShaderError>>,
}

impl ComputePipeline {
    /// Checks the interface and starts compiling.
    pub(crate) fn new(
        device: &Arc<Device>,
        desc: &ComputePipelineDesc<'_>,
    ) -> Result<Self, ShaderError> {
        let special = specialized(desc.name, desc.shader, desc.entry, &desc.constants)?;
        let entry = special.entry_point(ShaderStage::Compute, desc.entry)?;
        check_workgroup(device, desc, entry.workgroup_size)?;
        check_features(device, desc.name, &[&special])?;
        let stages = vk::ShaderStageFlags::COMPUTE;
        let common = Interface::new(device, desc.name, &[entry], stages)?;
        names::check(desc.name, common.bindings(), common.tables(), &desc.binds)?;
        let interface = Arc::new(ComputeInterface {
            common,
            entry: desc.entry.to_owned(),
            constants: desc.constants.clone(),
            workgroup_size: entry.workgroup_size,
        });
        let code = Arc::new(ComputeCode::new(&interface, desc.shader, &special, entry));
        let job = Arc::downgrade(&code);
        device.compiler.run(Box::new(move || {
            if let Some(code) = job.upgrade() {
                // An error is stored, and returned at the first use of the pipeline.
                let _ = code.compiled();
            }
        }));
        let code = CurrentCode::new(code);
        let inner = Arc::new(Pipeline { interface, code });
        device.reloads.follow(&inner, &[desc.shader]);
        Ok(Self(inner))
    }

    /// Size of a workgroup in x, y and z.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.0.interface.workgroup_size
    }

    /// Whether compilation has ended, successfully or not.
    pub fn is_ready(&self) -> bool {
        self.0.code.current().compiled.get().is_some()
    }

    /// Compiles the pipeline now, or waits for the thread that is compiling it.
    ///
    /// # Errors
    /// [`ShaderError::Compile`] with the driver's result.
    pub fn wait(&self) -> Result<(), ShaderError> {
        self.0.code.current().compiled().map(|_| ())
    }

    /// Returns its code.
    #[inline]
    pub(crate) fn code(&self) -> &CurrentCode<ComputeCode> {
        &self.0.code
    }
}

impl Code for ComputeCode {
    type Interface = ComputeInterface;

    fn rebuild(&self, newest: &Newest<'_>) -> Result<Self, ShaderError> {
        let interface = &self.interface;
        let shader = newest(&self.shader)?;
        let (name, constants) = (interface.name(), &interface.constants);
        let special = specialized(name, &shader, &interface.entry, constants)?;
        let entry = special.entry_point(ShaderStage::Compute, &interface.entry)?;
        interface.check(&[entry])?;
        check_features(interface.device(), name, &[&special])?;
        let sizes = [interface.workgroup_size, entry.workgroup_size];
        reload_check::check_workgroup(interface.name(), sizes)?;
        let code = Self::new(interface, &shader, &special, entry);
        code.compiled()?;
        Ok(code)
    }
}

impl Deref for ComputeCode {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.interface
    }
}

impl ComputeCode {
    fn new(
        interface: &Arc<ComputeInterface>,
        shader: &GpuShader,
        special: &GpuShader,
        entry: &EntryPoint,
    ) -> Self {
        Self {
            interface: Arc::clone(interface),
            shader: shader.clone(),
            special: special.clone(),
            entry: c_string(&entry.name),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the pipeline, and compiles it if necessary.
    pub(crate) fn compiled(&self) -> Result<vk::Pipeline, ShaderError> {
        self.compiled
            .get_or_init(|| guarded(self.name(), || self.compile()))
            .clone()
    }

    fn compile(&self) -> Result<vk::Pipeline, ShaderError> {
        let device = self.device();
        let error = |result| ShaderError::Compile {
            pipeline: self.name().to_owned(),
            result,
        };
        let module = Module::new(device, &self.special).map_err(error)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(&self.entry);
        let infos = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout().raw)];
        let cache = device.pipeline_cache.raw();
        // SAFETY: the module has this entry point; the layout has all its bindings.
        let pipelines = unsafe { device.raw.create_compute_pipelines(cache, &infos, None) }
            .map_err(|(_, result)| error(result))?;
        device.names.name(pipelines[0], self.name());
        Ok(pipelines[0])
    }
}

impl Drop for ComputeCode {
    fn drop(&mut self) {
        let compiled = self.compiled.take();
        if let Some(Ok(pipeline)) = compiled {
            lock(&self.device().dropped).push(Retired::Pipeline(pipeline));
        }
    }
}

implement_pipeline!(ComputePipeline);

/// Sets the constants of a shader.
fn specialized(
    name: &str,
    shader: &GpuShader,
    entry: &str,
    constants: &Constants,
) -> Result<GpuShader, ShaderError> {
    check_constants(name, &[shader], constants)?;
    shader.specialized(name, (ShaderStage::Compute, entry), constants)
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
