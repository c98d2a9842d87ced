//! Types of members of tables.

use quadrille_sync::access::Access;

use super::{BufferTableDesc, ImageTableDesc};
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::buffer::GpuBuffer;
use crate::resources::handle::Handle;
use crate::resources::image::GpuImage;
use crate::resources::sampler::Sampler;
use crate::shader::TableKind;

/// Type that a table can hold: images or buffers. Only [`GpuImage`] and [`GpuBuffer`] implement it.
pub trait TableMember: Clone + Into<Handle> + sealed::Member<Self::Desc> {
    /// The description of its tables.
    type Desc: Clone + std::fmt::Debug;

    /// Access by which passes read members, in shaders of any stage.
    const ACCESS: Access;
}

impl TableMember for GpuImage {
    type Desc = ImageTableDesc;

    const ACCESS: Access = Access::SampledAny;
}

impl TableMember for GpuBuffer {
    type Desc = BufferTableDesc;

    const ACCESS: Access = Access::StorageReadAny;
}

pub(super) mod sealed {
    use super::{Error, Gpu, Handle, TablePlan};

    pub trait Member<Desc>: Sized {
        /// Returns the member in a handle of its kind.
        fn of(handle: &Handle) -> Option<&Self>;

        /// Validates a description.
        fn plan(gpu: &Gpu, desc: &Desc) -> Result<TablePlan, Error>;
    }
}

/// Validated description of a table of any member type.
pub struct TablePlan {
    pub(super) name: String,
    pub(super) capacity: u32,
    pub(super) kind: TableKind,
    pub(super) access: Access,
    pub(super) samplers: Vec<Sampler>,
    pub(super) fallback: Handle,
    pub(super) fallback_contents: Vec<u8>,
}

impl sealed::Member<ImageTableDesc> for GpuImage {
    fn of(handle: &Handle) -> Option<&Self> {
        match handle {
            Handle::Image(image) => Some(image),
            Handle::Buffer(_) => None,
        }
    }

    fn plan(gpu: &Gpu, desc: &ImageTableDesc) -> Result<TablePlan, Error> {
        desc.check()?;
        Ok(TablePlan {
            name: desc.name.clone(),
            capacity: desc.capacity,
            kind: TableKind::Images(desc.image),
            access: Self::ACCESS,
            samplers: desc.samplers.clone(),
            fallback: Handle::Image(Self::new(&gpu.0, &desc.fallback())?),
            fallback_contents: desc.fallback_texels(),
        })
    }
}

impl sealed::Member<BufferTableDesc> for GpuBuffer {
    fn of(handle: &Handle) -> Option<&Self> {
        match handle {
            Handle::Buffer(buffer) => Some(buffer),
            Handle::Image(_) => None,
        }
    }

    fn plan(gpu: &Gpu, desc: &BufferTableDesc) -> Result<TablePlan, Error> {
        let fallback = Self::new(&gpu.0, &desc.fallback())?;
        Ok(TablePlan {
            name: desc.name.clone(),
            capacity: desc.capacity,
            kind: TableKind::Buffers,
            access: Self::ACCESS,
            samplers: Vec::new(),
            fallback_contents: vec![0; fallback.bytes() as usize],
            fallback: Handle::Buffer(fallback),
        })
    }
}
