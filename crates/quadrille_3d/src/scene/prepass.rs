//! Prepasses of views.

use bevy_ecs::prelude::*;

use crate::scene::keys::{PipelineKey, RendererMethod};

/// Prepasses that a camera asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrepassNeeds {
    /// `DepthPrepass`: depth is copied for readers.
    pub(crate) depth: bool,
    /// `NormalPrepass`.
    pub(crate) normal: bool,
    /// `MotionVectorPrepass`.
    pub(crate) motion: bool,
    /// The background has motion vectors.
    pub(crate) background_motion: bool,
    /// `DeferredPrepass` without multisampling.
    pub(crate) deferred: bool,
    /// `DefaultOpaqueRendererMethod` is deferred.
    pub(crate) defers_by_default: bool,
}

/// Outputs of prepass shaders beside depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PrepassOutputs {
    pub(crate) normal: bool,
    pub(crate) motion: bool,
    /// The G-buffer.
    pub(crate) deferred: bool,
}

impl PrepassOutputs {
    /// The outputs of materials that are not in the G-buffer.
    pub(crate) fn without_gbuffer(self) -> Self {
        Self {
            deferred: false,
            ..self
        }
    }

    /// Number of color attachments.
    pub(crate) fn count(self) -> u32 {
        u32::from(self.normal) + u32::from(self.motion) + u32::from(self.deferred)
    }
}

impl PrepassNeeds {
    /// Whether the camera has a prepass.
    pub(crate) fn any(self) -> bool {
        self.depth || self.normal || self.motion || self.deferred
    }

    pub(crate) fn outputs(self) -> PrepassOutputs {
        PrepassOutputs {
            normal: self.normal,
            motion: self.motion,
            deferred: self.deferred,
        }
    }

    /// Whether meshes with this key are shaded from the G-buffer.
    pub(crate) fn defers(self, key: PipelineKey) -> bool {
        let is_deferred = match key.renderer {
            RendererMethod::Auto => self.defers_by_default,
            RendererMethod::Forward => false,
            RendererMethod::Deferred => true,
        };
        self.deferred && is_deferred && key.fits_gbuffer()
    }
}

/// Indices of the images of a view's prepasses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrepassImages {
    /// Index in `PrepassDepths3d`.
    pub(crate) depth: Option<u32>,
    /// Index in `PrepassNormals3d`.
    pub(crate) normal: Option<u32>,
    /// Index in `PrepassMotionVectors3d`.
    pub(crate) motion: Option<u32>,
    /// Index in `GBuffers3d`.
    pub(crate) gbuffer: Option<u32>,
    /// Images for shaders of materials; `None` if no shader reads any.
    pub(crate) sampled: Option<SampledPrepass>,
}

/// Indices of the single-sampled and the multisampled image that shaders of materials read in a view. Placeholders stand
/// in for images that the view does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampledPrepass {
    pub(crate) depths: [u32; 2],
    pub(crate) normals: [u32; 2],
    pub(crate) motion_vectors: [u32; 2],
}

impl SampledPrepass {
    /// Images of a view with this number of samples, among `placeholders`.
    pub(crate) fn new(images: PrepassImages, samples: u32, placeholders: Self) -> Self {
        let with = |image: Option<u32>, [single, multi]: [u32; 2]| match (image, samples) {
            (None, _) => [single, multi],
            (Some(image), 1) => [image, multi],
            (Some(image), _) => [single, image],
        };
        Self {
            depths: with(images.depth, placeholders.depths),
            normals: with(images.normal, placeholders.normals),
            motion_vectors: with(images.motion, placeholders.motion_vectors),
        }
    }
}

/// Views whose prepass was recorded in this frame, by [`View3d::images`](crate::View3d::images).
#[derive(Resource, Default)]
pub struct DrawnPrepasses(Vec<u32>);

impl DrawnPrepasses {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn add(&mut self, images: u32) {
        self.0.push(images);
    }

    pub(crate) fn contains(&self, images: u32) -> bool {
        self.0.contains(&images)
    }
}

#[cfg(test)]
mod tests;
