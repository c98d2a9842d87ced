//! Pipelines: compiled in the background, with layouts from reflection and a cache on disk.
//!
//! Binding is by push descriptors in set 0. There are no descriptor pools, sets or lifetimes to manage, and every bind
//! names its resource, so that it can be checked against the declarations of the pass. Sets from 1 on are those of
//! tables ([`ImageTable`](crate::resources::ImageTable), [`BufferTable`](crate::resources::BufferTable)), which have one layout for images
//! and one for buffers, regardless of their contents.
//!
//! A graphics pipeline is compiled for given attachment formats at its first use with them
//! ([`GraphicsPipeline::prepare`] does it beforehand), so users never repeat formats.
//!
//! A pipeline has an `interface`, which never changes, and `code`, which hot reload replaces (`reload_check` checks the
//! new code against the interface).

mod attachments;
mod capabilities;
mod compute;
mod current_code;
mod fixed;
mod formats;
mod graphics;
mod graphics_code;
mod interface;
mod names;
mod needs;
mod reload_check;
mod stages;
mod state;
mod targets;
mod vertices;

pub(crate) use attachments::AttachmentUse;
pub(crate) use capabilities::LOCAL_READ;
pub use compute::{ComputePipeline, ComputePipelineDesc};
pub use fixed::{DepthBias, PipelineState, StencilFace, StencilState};
pub use formats::Formats;
pub use graphics::{GraphicsPipeline, GraphicsPipelineDesc};
pub use names::{Variable, variable_hint};
pub use needs::{BindingNeeds, Needs};
pub use state::{
    Blend, BlendEquation, ColorState, Cull, DepthState, PrimitiveTopology, VertexAttribute,
    VertexLayout,
};

pub(crate) use compute::ComputeCode;
pub(crate) use current_code::CurrentCode;
pub(crate) use formats::MAX_COLORS;
pub(crate) use graphics_code::GraphicsCode;
pub(crate) use vertices::MAX_BUFFERS;

use std::borrow::Cow;

use ash::vk;

use crate::deep_stack;
use crate::device::Device;
use crate::device::time_limit::scheduled::Compiling;
use crate::error::ShaderError;
use crate::shader::{GpuShader, for_tables};

/// Calls the driver's compiler on a stack that is large enough for the deepest shader. A panic is converted to an
/// error, which is stored like any other, so that the pipeline is not compiled again each frame.
fn guarded<T: Send>(
    pipeline: &str,
    compile: impl FnOnce() -> Result<T, ShaderError> + Send,
) -> Result<T, ShaderError> {
    let _compiling = Compiling::begin();
    deep_stack::run(compile).unwrap_or_else(|reason| {
        Err(ShaderError::Pipeline {
            pipeline: pipeline.to_owned(),
            problem: format!("compiling it {reason}"),
        })
    })
}

/// A shader module that exists while a pipeline is compiled.
struct Module<'a> {
    raw: vk::ShaderModule,
    device: &'a Device,
}

impl<'a> Module<'a> {
    fn new(device: &'a Device, shader: &GpuShader) -> Result<Self, vk::Result> {
        let mut entries = shader.entry_points().iter();
        let words = if entries.any(|entry| !entry.tables.is_empty()) {
            Cow::Owned(for_tables(shader.words(), !device.unchecked_tables))
        } else {
            Cow::Borrowed(shader.words())
        };
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words were validated by naga or checked and reflected; a driver may still
        // reject them with an error.
        let raw = unsafe { device.raw.create_shader_module(&info, None) }?;
        device.names.name(raw, shader.label());
        Ok(Self { raw, device })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: created from this device; pipelines do not need their modules after creation.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) };
    }
}
