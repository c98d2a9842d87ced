//! Storage buffers of materials on the device.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille::material::ShaderBuffer;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::warnings::RateLimitedWarnings;

/// Minimum bytes of a buffer: that of an array element of any WGSL type but structs and matrices.
const MIN_BYTES: u64 = 16;

/// Buffers of [`ShaderBuffer`] assets on the device. A changed asset of the same size keeps its buffer.
#[derive(Resource, Default)]
pub struct ShaderBuffers {
    buffers: HashMap<AssetId<ShaderBuffer>, GpuBuffer>,
    /// Number of buffers that were created or removed.
    changes: u64,
    /// Buffers are created again, since they belong to a lost device.
    is_dirty: bool,
}

impl ShaderBuffers {
    /// Returns the buffer of an asset, once it is uploaded.
    pub fn get(&self, id: impl Into<AssetId<ShaderBuffer>>) -> Option<&GpuBuffer> {
        self.buffers.get(&id.into())
    }

    /// Number of buffers that were created or removed so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

/// Marks all buffers for upload to a new device.
pub(crate) fn mark_shader_buffers_dirty(mut buffers: ResMut<ShaderBuffers>) {
    buffers.is_dirty = true;
}

/// Uploads added and changed assets.
pub(crate) fn upload_shader_buffers(
    mut events: MessageReader<AssetEvent<ShaderBuffer>>,
    assets: Res<Assets<ShaderBuffer>>,
    mut buffers: ResMut<ShaderBuffers>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
    warnings: Res<RateLimitedWarnings>,
) {
    let mut upload = |buffers: &mut ShaderBuffers, id, asset: &ShaderBuffer| {
        if let Err(error) = buffers.upload(id, asset, &gpu, &mut uploads) {
            let bytes = asset.data.len();
            warnings.warn_message(|| {
                format!("a `ShaderBuffer` of {bytes} bytes is not there for shaders: {error}")
            });
        }
    };
    if buffers.is_dirty {
        let buffers = &mut *buffers;
        events.clear();
        buffers.is_dirty = false;
        buffers.buffers.clear();
        buffers.changes += 1;
        for (id, asset) in assets.iter() {
            upload(buffers, id, asset);
        }
        return;
    }
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(asset) = assets.get(id) {
                    upload(&mut buffers, id, asset);
                }
            }
            AssetEvent::Removed { id } => {
                let removed = buffers.buffers.remove(&id);
                buffers.changes += u64::from(removed.is_some());
            }
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
}

impl ShaderBuffers {
    fn upload(
        &mut self,
        id: AssetId<ShaderBuffer>,
        asset: &ShaderBuffer,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
    ) -> Result<(), Error> {
        // Copies are of whole words.
        let mut data = asset.data.clone();
        data.resize(data.len().next_multiple_of(4).max(MIN_BYTES as usize), 0);
        let bytes = data.len() as u64;
        let known = self.buffers.get(&id);
        let buffer = match known.filter(|it| it.bytes() == bytes) {
            Some(known) => known.clone(),
            None => {
                let buffer = gpu.create_buffer(&BufferDesc::storage("shader buffer", bytes))?;
                self.changes += 1;
                self.buffers.insert(id, buffer.clone());
                buffer
            }
        };
        uploads.write_buffer(&buffer, 0, &data);
        Ok(())
    }
}
