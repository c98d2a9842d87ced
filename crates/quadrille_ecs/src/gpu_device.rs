//! The device as a bevy resource.

use bevy_ecs::prelude::*;
use quadrille_vulkan::device::Gpu;

/// The device: creates buffers, images and pipelines. Dereferences to [`Gpu`](quadrille_vulkan::device::Gpu).
#[derive(Resource, bevy_derive::Deref, Clone)]
pub struct GpuDevice(Gpu);

impl GpuDevice {
    pub(crate) fn of(gpu: &Gpu) -> Self {
        Self(gpu.clone())
    }
}
