//! The driver's pipeline cache, kept on disk between runs.
//!
//! Drivers check only the header of cache data; other corrupt data is undefined behavior
//! (VUID-VkPipelineCacheCreateInfo-initialData-00769). So the file has its own header and hash, and any mismatch
//! discards its contents. A complete new file replaces the old one by a rename, so several programs may write at once,
//! and a crash keeps the old file ([`crate::file`]).

use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

use ash::vk;

use crate::file;

/// Magic number of a file; the digit is the version of the format.
const MAGIC: &[u8; 8] = b"QUADRPC1";
/// Magic, vendor, device, driver version, UUID, length, hash.
const HEADER: usize = 8 + 4 + 4 + 4 + 16 + 8 + 8;
/// Prefix of file names.
const PREFIX: &str = "pipelines-";
/// Larger files are replaced without being read: no driver writes them.
const MAX_BYTES: u64 = 512 << 20;

/// The cache of a device.
pub(crate) struct PipelineCache {
    raw: vk::PipelineCache,
    file: Option<PathBuf>,
    identity: Identity,
    /// Hash of the file's contents when loaded: a cache without additions is not written again.
    loaded: u64,
}

/// Identity of the driver that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    vendor: u32,
    device: u32,
    driver: u32,
    uuid: [u8; 16],
}

impl PipelineCache {
    /// Opens the cache, with the data in the folder for this driver.
    pub(crate) fn open(
        device: &ash::Device,
        properties: &vk::PhysicalDeviceProperties,
        folder: Option<&Path>,
    ) -> Self {
        let identity = Identity {
            vendor: properties.vendor_id,
            device: properties.device_id,
            driver: properties.driver_version,
            uuid: properties.pipeline_cache_uuid,
        };
        let Identity {
            vendor, device: id, ..
        } = identity;
        let mut file =
            folder.map(|folder| folder.join(format!("{PREFIX}{vendor:04x}-{id:04x}.bin")));
        if let Some(folder) = folder {
            file::sweep(folder, PREFIX);
        }
        let data = match file.as_deref().map(|file| load(file, &identity)) {
            Some(Ok(data)) => data,
            Some(Err(error)) => {
                let file = file.take().unwrap_or_default();
                let file = file.display();
                tracing::warn!("{file} is no pipeline cache: {error}; pipelines are not cached");
                Vec::new()
            }
            None => Vec::new(),
        };
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data is empty, or exactly what this driver returned earlier.
        let raw = unsafe { device.create_pipeline_cache(&info, None) }.unwrap_or_else(|error| {
            tracing::warn!("vkCreatePipelineCache fails: {error}; pipelines are not cached");
            vk::PipelineCache::null()
        });
        Self {
            raw,
            file,
            identity,
            loaded: hash(&data),
        }
    }

    /// The handle; null if there is none.
    pub(crate) fn raw(&self) -> vk::PipelineCache {
        self.raw
    }

    /// Writes the cache to disk if it has additions.
    pub(crate) fn save(&self, device: &ash::Device) {
        let Some(file) = self
            .file
            .as_deref()
            .filter(|_| self.raw != vk::PipelineCache::null())
        else {
            return;
        };
        // SAFETY: the cache is of this device and alive.
        let data = match unsafe { device.get_pipeline_cache_data(self.raw) } {
            Ok(data) => data,
            Err(error) => return tracing::warn!("vkGetPipelineCacheData fails: {error}"),
        };
        if hash(&data) == self.loaded || data.is_empty() {
            return;
        }
        if let Err(error) = file::write_file(file, &encode(&self.identity, &data)) {
            tracing::warn!("{} cannot be written: {error}", file.display());
        }
    }

    /// Saves and destroys the cache.
    pub(crate) fn close(&self, device: &ash::Device) {
        self.save(device);
        // SAFETY: created from this device; no pipeline is being compiled any more.
        unsafe { device.destroy_pipeline_cache(self.raw, None) };
    }
}

/// Returns the cache's data in a file. Empty if the file is missing, too large, damaged or from another driver; it is
/// then rewritten.
///
/// # Errors
/// Returns the reason why the file cannot be used at all.
fn load(file: &Path, identity: &Identity) -> Result<Vec<u8>> {
    let name = file.display();
    let bytes = match file::read_file(file, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            tracing::warn!("{name} is no pipeline cache: {error}; it is replaced");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let data = decode(identity, &bytes).unwrap_or_else(|| {
        tracing::info!("{name} is of another driver or damaged; it is replaced");
        &[]
    });
    Ok(data.to_vec())
}

fn encode(identity: &Identity, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + data.len());
    bytes.extend_from_slice(MAGIC);
    for word in [identity.vendor, identity.device, identity.driver] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(&identity.uuid);
    bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&hash(data).to_le_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn decode<'a>(identity: &Identity, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (header, data) = bytes.split_at_checked(HEADER)?;
    (encode(identity, data)[..HEADER] == *header).then_some(data)
}

/// FNV-1a. Detects corruption, not attacks: an attacker with access to the file could replace the program as well.
fn hash(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
