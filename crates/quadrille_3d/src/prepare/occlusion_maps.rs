//! Ambient occlusion maps of views.

use std::ops::Deref;

use bevy_ecs::prelude::*;
use quadrille::prelude::GpuImage;

use crate::prepare::view_images::ViewImages;

/// Visibility of the sky of the pixels of views with
/// [`ScreenSpaceAmbientOcclusion`](crate::ScreenSpaceAmbientOcclusion): 1 is unoccluded.
#[derive(Resource, Default)]
pub struct AmbientOcclusionMaps3d(pub(crate) ViewImages);

impl Deref for AmbientOcclusionMaps3d {
    type Target = Vec<GpuImage>;

    fn deref(&self) -> &Vec<GpuImage> {
        &self.0
    }
}
