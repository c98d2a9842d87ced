//! Ambient occlusion maps of views.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::{Error, Format};

use crate::prepare::targets::take;

/// Visibility of the sky of the pixels of views with
/// [`ScreenSpaceAmbientOcclusion`](crate::ScreenSpaceAmbientOcclusion): 1 is unoccluded.
#[derive(Resource, Default, Deref)]
pub struct AmbientOcclusionMaps3d(Vec<GpuImage>);

impl AmbientOcclusionMaps3d {
    /// Begins a frame. Returns the maps of the previous one, for reuse.
    pub(crate) fn take(&mut self) -> Vec<GpuImage> {
        std::mem::take(&mut self.0)
    }

    /// Adds the map of a view of this size; returns its index.
    pub(crate) fn add(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut Vec<GpuImage>,
        size: [u32; 2],
    ) -> Result<u32, Error> {
        let desc = ImageDesc::color_target("3d ambient occlusion", size, Format::R16_SFLOAT);
        self.0.push(take(gpu, previous, &desc.transient())?);
        Ok(self.0.len() as u32 - 1)
    }
}
