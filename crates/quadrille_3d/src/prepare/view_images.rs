//! Images of the views that need one.

use bevy_derive::Deref;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::Error;

use crate::prepare::targets::take;
use crate::scene::frame::View3d;
use crate::scene::lists::ViewMap;

/// Images of views, at most one for each.
#[derive(Default, Deref)]
pub(crate) struct ViewImages {
    #[deref]
    images: Vec<GpuImage>,
    /// Image index by view.
    by_view: ViewMap<u32>,
}

impl ViewImages {
    /// Begins a frame. Returns the images of the previous one, for reuse.
    pub(crate) fn begin(&mut self) -> Vec<GpuImage> {
        self.by_view.clear();
        std::mem::take(&mut self.images)
    }

    /// Adds the image of a view: one of the previous frame, or a new one.
    pub(crate) fn add(
        &mut self,
        gpu: &GpuDevice,
        previous: &mut Vec<GpuImage>,
        (view, desc): (&View3d, &ImageDesc),
    ) -> Result<(), Error> {
        let image = take(gpu, previous, desc)?;
        self.by_view.insert(view.row(), self.images.len() as u32);
        self.images.push(image);
        Ok(())
    }

    /// Index of the image of a view.
    pub(crate) fn index(&self, view: &View3d) -> Option<usize> {
        Some(*self.by_view.get(view.row())? as usize)
    }
}
