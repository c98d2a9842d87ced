//! Buffers, images, samplers, query sets and tables, and what others share of them.

pub(crate) mod binary_state;
pub(crate) mod buffer;
pub(crate) mod compatible;
pub(crate) mod descriptor;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) mod external;
pub(crate) mod format;
pub(crate) mod generation;
pub(crate) mod handle;
pub(crate) mod image;
pub(crate) mod object;
pub(crate) mod query;
pub(crate) mod region;
pub(crate) mod sampler;
pub(crate) mod table;
pub(crate) mod texels;
pub(crate) mod timeline_semaphore;
pub(crate) mod usage;
pub(crate) mod view;

pub use binary_state::PendingSignal;
pub use buffer::{BufferDesc, BufferUsage, GpuBuffer};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub use external::{
    BinarySemaphore, DrmModifier, MemoryHandle, MemoryLayout, PeerSide, PeerTimeline, PlaneLayout,
    SharedMemory,
};
pub use format::{Block, block, texel_bytes};
pub use handle::Handle;
pub use image::{Extent, GpuImage, ImageDesc, ImageUsage};
pub use query::{QueryKind, QuerySet, QuerySetDesc, Statistics};
pub use region::ImageRegion;
pub use sampler::{Sampler, SamplerDesc};
pub use table::{
    BufferTable, BufferTableDesc, ImageTable, ImageTableDesc, ResourceTable, SharedTable,
    TableError, TableIndex, TableMember,
};
pub use timeline_semaphore::TimelineSemaphore;
pub use view::View;

pub use crate::device::memory::{Memory, MemoryUse};
pub use crate::instance::sharing::Sharing;
