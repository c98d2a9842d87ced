//! Buffers and images in memory that other processes, libraries and devices share (sections "Device Memory" and
//! "External Memory Handle Types").
//!
//! A resource of the device is *exported* as a file descriptor, and a descriptor of somebody else is *imported*.
//! Memory of the host can be imported by its address, and a `VkBuffer` or `VkImage` that another library owns can be
//! wrapped. Contents and layout pass between the owners by the plan: see
//! [`States::import`](quadrille_sync::states::States::import) and [`Frame::gives`](quadrille_sync::frame::Frame::gives).

mod allocate;
mod binary;
mod buffers;
mod images;
mod modifiers;
mod peer;
mod semaphores;
mod shared_memory;
mod socket;
mod sync_fd;

use std::ffi::CStr;

use ash::{ext, khr, vk};

pub use binary::BinarySemaphore;
pub use peer::{PeerSide, PeerTimeline};
pub use shared_memory::{DrmModifier, MemoryLayout, PlaneLayout, SharedMemory};

use crate::device::Device;
use crate::error::Error;
use crate::instance::sharing::Sharing;

/// Kind of a file descriptor that names device memory (`VkExternalMemoryHandleTypeFlagBits`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryHandle {
    /// `OPAQUE_FD`: for the same driver and the same device, in another process or in another API such as CUDA.
    OpaqueFd,
    /// `DMA_BUF_EXT`: for other drivers and devices as well, such as compositors, cameras and video decoders. An image
    /// has a DRM format modifier, which tells its layout in memory.
    DmaBuf,
}

impl MemoryHandle {
    fn raw(self) -> vk::ExternalMemoryHandleTypeFlags {
        match self {
            Self::OpaqueFd => vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD,
            Self::DmaBuf => vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT,
        }
    }

    /// The extension that has it.
    fn extension(self) -> &'static CStr {
        match self {
            Self::OpaqueFd => khr::external_memory_fd::NAME,
            Self::DmaBuf => ext::external_memory_dma_buf::NAME,
        }
    }
}

/// An error about a resource with this name.
pub(crate) fn invalid(name: &str, problem: impl Into<String>) -> Error {
    Error::Invalid {
        name: name.to_owned(),
        problem: problem.into(),
    }
}

/// Checks that an extension is enabled.
pub(crate) fn need(device: &Device, name: &str, extension: &CStr) -> Result<(), Error> {
    let extension = extension.to_string_lossy();
    let mut enabled = device.info.extensions.iter();
    if enabled.any(|known| *known == *extension) {
        return Ok(());
    }
    let device = &device.info.name;
    Err(invalid(
        name,
        format!("it needs the extension {extension}, which the device `{device}` lacks"),
    ))
}

/// Checks the parts of a description that others cannot share.
fn check_shared(name: &str, sharing: Sharing, is_transient: bool) -> Result<(), Error> {
    if sharing == Sharing::Concurrent {
        return Err(invalid(
            name,
            "it is concurrent, and what leaves the device has one owner at a time; leave `sharing` at Sharing::Auto",
        ));
    }
    if is_transient {
        return Err(invalid(
            name,
            "it is transient, and its memory changes; describe it without `transient`",
        ));
    }
    Ok(())
}

/// Checks what the driver offers for a kind of handle.
fn check_features(
    name: &str,
    handle: &str,
    found: vk::ExternalMemoryFeatureFlags,
    wanted: vk::ExternalMemoryFeatureFlags,
    device: &Device,
) -> Result<(), Error> {
    if found.contains(wanted) {
        return Ok(());
    }
    let verb = if wanted == vk::ExternalMemoryFeatureFlags::EXPORTABLE {
        "exported"
    } else {
        "imported"
    };
    let device = &device.info.name;
    Err(invalid(
        name,
        format!(
            "the device `{device}` does not let it be {verb} as {handle}; choose another handle, fewer usages, or \
             a smaller image with one mip level, layer and sample"
        ),
    ))
}
