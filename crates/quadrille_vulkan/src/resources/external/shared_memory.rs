//! Exported memory as data: a file descriptor, and what an importer has to know of it.

use std::os::fd::OwnedFd;

use super::{MemoryHandle, invalid};
use crate::error::Error;

/// Device memory as a file descriptor. Dropping it closes the descriptor; the memory lives as long as any user of it.
#[derive(Debug)]
pub struct SharedMemory {
    /// The descriptor, to be sent to the importer over a Unix socket (`SCM_RIGHTS`).
    pub fd: OwnedFd,
    /// Properties that the importer has to know.
    pub layout: MemoryLayout,
}

/// Properties of exported memory that an importer needs. Plain data: [`MemoryLayout::to_bytes`] and
/// [`MemoryLayout::from_bytes`] bring it to another process beside the descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLayout {
    /// The kind of the descriptor.
    pub handle: MemoryHandle,
    /// `VkMemoryAllocateInfo::allocationSize`, in bytes.
    pub bytes: u64,
    /// `VkMemoryAllocateInfo::memoryTypeIndex`; ignored for dma-bufs.
    pub memory_type: u32,
    /// Whether the memory is dedicated to the resource (`VkMemoryDedicatedAllocateInfo`).
    pub is_dedicated: bool,
    /// `VkPhysicalDeviceIDProperties::deviceUUID`. An opaque descriptor belongs to one device and driver.
    pub device: [u8; 16],
    /// `VkPhysicalDeviceIDProperties::driverUUID`.
    pub driver: [u8; 16],
    /// Hash of the description that the resource was made with. Opaque memory is imported with the same one.
    pub(super) description: u64,
    /// Layout of an image in a dma-buf.
    pub modifier: Option<DrmModifier>,
}

/// Layout of an image in memory: a DRM format modifier, with its memory planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrmModifier {
    /// The modifier, as in `drm_fourcc.h`; 0 is linear.
    pub modifier: u64,
    /// Its planes, at most four.
    pub planes: Vec<PlaneLayout>,
}

/// Layout of one memory plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLayout {
    /// First byte in the memory.
    pub offset: u64,
    /// Bytes from one row to the next.
    pub row_pitch: u64,
}

/// Hash of a description: FNV-1a over the bytes of its numbers (Fowler, Noll and Vo).
pub(super) fn description(numbers: &[u64]) -> u64 {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// First byte of the encoding.
const VERSION: u8 = 2;
/// Most memory planes of a modifier (`VK_IMAGE_ASPECT_MEMORY_PLANE_3_BIT_EXT` is the last).
const MOST_PLANES: usize = 4;

impl MemoryLayout {
    /// The layout of a dma-buf that another driver, device or library has exported. An image has a DRM format modifier.
    pub fn dma_buf(bytes: u64, modifier: Option<DrmModifier>) -> Self {
        Self {
            handle: MemoryHandle::DmaBuf,
            bytes,
            memory_type: 0,
            is_dedicated: false,
            device: [0; 16],
            driver: [0; 16],
            description: 0,
            modifier,
        }
    }

    /// Encodes it for [`MemoryLayout::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let handle = match self.handle {
            MemoryHandle::OpaqueFd => 0,
            MemoryHandle::DmaBuf => 1,
        };
        let mut bytes = vec![VERSION, handle, u8::from(self.is_dedicated)];
        bytes.extend(self.bytes.to_le_bytes());
        bytes.extend(self.memory_type.to_le_bytes());
        bytes.extend(self.device);
        bytes.extend(self.driver);
        bytes.extend(self.description.to_le_bytes());
        if let Some(DrmModifier { modifier, planes }) = &self.modifier {
            bytes.extend(modifier.to_le_bytes());
            for plane in planes.iter().take(MOST_PLANES) {
                bytes.extend(plane.offset.to_le_bytes());
                bytes.extend(plane.row_pitch.to_le_bytes());
            }
        }
        bytes
    }

    /// Decodes what [`MemoryLayout::to_bytes`] has encoded.
    ///
    /// # Errors
    /// The bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        decode(bytes).ok_or_else(|| {
            let count = bytes.len();
            let problem = format!(
                "{count} bytes are no encoded `MemoryLayout`; send those of `MemoryLayout::to_bytes`"
            );
            invalid("shared memory", problem)
        })
    }
}

fn decode(bytes: &[u8]) -> Option<MemoryLayout> {
    let (&[version, handle, dedicated], rest) = bytes.split_first_chunk::<3>()?;
    let (size, rest) = rest.split_first_chunk::<8>()?;
    let (memory_type, rest) = rest.split_first_chunk::<4>()?;
    let (device, rest) = rest.split_first_chunk::<16>()?;
    let (driver, rest) = rest.split_first_chunk::<16>()?;
    let (description, rest) = rest.split_first_chunk::<8>()?;
    let handle = match handle {
        0 => MemoryHandle::OpaqueFd,
        1 => MemoryHandle::DmaBuf,
        _ => return None,
    };
    let modifier = match rest.split_first_chunk::<8>() {
        None if rest.is_empty() => None,
        None => return None,
        Some((modifier, rest)) => {
            let (planes, []) = rest.as_chunks::<16>() else {
                return None;
            };
            if planes.len() > MOST_PLANES {
                return None;
            }
            let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
            let plane = |plane: &[u8; 16]| {
                Some(PlaneLayout {
                    offset: number(&plane[..8])?,
                    row_pitch: number(&plane[8..])?,
                })
            };
            Some(DrmModifier {
                modifier: u64::from_le_bytes(*modifier),
                planes: planes.iter().map(plane).collect::<Option<_>>()?,
            })
        }
    };
    (version == VERSION && dedicated < 2).then(|| MemoryLayout {
        handle,
        bytes: u64::from_le_bytes(*size),
        memory_type: u32::from_le_bytes(*memory_type),
        is_dedicated: dedicated == 1,
        device: *device,
        driver: *driver,
        description: u64::from_le_bytes(*description),
        modifier,
    })
}

#[cfg(test)]
#[path = "shared_memory_tests.rs"]
mod tests;
