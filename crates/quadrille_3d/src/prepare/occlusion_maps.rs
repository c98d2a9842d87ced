//! Ambient occlusion maps of views.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::{Error, Format};

use crate::prepare::targets::take;
use crate::scene::frame::View3d;
use crate::scene::lists::ViewMap;

/// Visibility of the sky of the pixels of views with
/// [`ScreenSpaceAmbientOcclusion`](crate::ScreenSpaceAmbientOcclusion): 1 is unoccluded.
#[derive(Resource, Default, Deref)]
pub struct AmbientOcclusionMaps3d {
    #[deref]
    images: Vec<GpuImage>,
    /// Image index by view.
    by_view: ViewMap<u32>,
}

impl AmbientOcclusionMaps3d {
    /// Begins a frame. Returns the maps of the previous one, for reuse.
    pub(crate) fn take(&mut self) -> Vec<GpuImage> {
        self.by_view.clear();
        std::mem::take(&mut self.images)
    }

    /// Adds the map of a view.
    pub(crate) fn add(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut Vec<GpuImage>,
        view: &View3d,
    ) -> Result<(), Error> {
        let desc = ImageDesc::color_target("3d ambient occlusion", view.size(), Format::R16_SFLOAT);
        let image = take(gpu, previous, &desc.transient())?;
        self.by_view.insert(view.row(), self.images.len() as u32);
        self.images.push(image);
        Ok(())
    }

    /// Index of the map of a view.
    pub(crate) fn index(&self, view: &View3d) -> Option<usize> {
        Some(*self.by_view.get(view.row())? as usize)
    }
}
