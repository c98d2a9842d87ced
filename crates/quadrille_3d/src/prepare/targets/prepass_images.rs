//! Images of the prepasses of views.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::prelude::{GpuImage, ImageDesc, ImageUsage};
use quadrille::vulkan::{Error, Format};
use quadrille_content::warnings::RateLimitedWarnings;

use super::{PreviousImages, take};
use crate::pipelines::Pipelines3d;
use crate::scene::formats::{DEPTH, GBUFFER, MOTION, NORMAL};
use crate::scene::frame::View3d;
use crate::scene::lists::QueuedView;
use crate::scene::prepass::{PrepassImages, SampledPrepass};

/// Copies of the depth after the prepass, of views with [`DepthPrepass`](crate::DepthPrepass), by
/// [`View3d::prepass_depth`], with the samples of the view. Reversed: 1 is near, 0 infinitely far. Placeholders for
/// shaders of materials follow them.
#[derive(Resource, Default, Deref)]
pub struct PrepassDepths3d(Vec<GpuImage>);

/// World normals of views with [`NormalPrepass`](crate::NormalPrepass), by [`View3d::prepass_normal`], with the samples of
/// the view: half of each component plus a half, and alpha 1 where a mesh is. Placeholders for shaders of materials
/// follow them.
#[derive(Resource, Default, Deref)]
pub struct PrepassNormals3d(Vec<GpuImage>);

/// Motion vectors of views with [`MotionVectorPrepass`](crate::MotionVectorPrepass), by [`View3d::prepass_motion_vectors`],
/// with the samples of the view: difference of texture coordinates since the previous frame, positive towards the right
/// and bottom; where no mesh is, that of the background at infinite distance. Placeholders for shaders of materials follow them.
#[derive(Resource, Default, Deref)]
pub struct PrepassMotionVectors3d(Vec<GpuImage>);

/// G-buffers of views with [`DeferredPrepass`](crate::DeferredPrepass), by [`View3d::gbuffer`]: one image of four 32-bit
/// words, packed and unpacked by the shader module `quadrille_3d::gbuffer`. Zero where no deferred surface is; under meshes
/// that are drawn forward without a prepass, or in the late phase of [`OcclusionCulling`](crate::OcclusionCulling), it may
/// have the surface behind them.
///
/// One image with integers costs 16 bytes per pixel, as bevy's, in one attachment: it needs no blending, and fits beside
/// normals and motion vectors in the four attachments that all devices have. The base color has 8 bits per channel with a
/// gamma of 2.2, so its error is below that of an 8-bit target. Normals have 16 bits per axis, which suffices for the
/// highlights of smooth surfaces. Emission needs a range and no sign, so its channels share an exponent. The remaining
/// word has metallic, occlusion, reflectance and flags.
#[derive(Resource, Default, Deref)]
pub struct GBuffers3d(Vec<GpuImage>);

/// Images of all prepasses.
#[derive(SystemParam)]
pub(crate) struct PrepassLists<'w> {
    gbuffers: ResMut<'w, GBuffers3d>,
    depths: ResMut<'w, PrepassDepths3d>,
    normals: ResMut<'w, PrepassNormals3d>,
    motion_vectors: ResMut<'w, PrepassMotionVectors3d>,
    pipelines: Res<'w, Pipelines3d>,
}

fn depth_desc(name: &str, size: [u32; 2], samples: u32) -> ImageDesc {
    let desc = ImageDesc {
        samples,
        ..ImageDesc::depth(name, size, DEPTH)
    };
    desc.with_usage(ImageUsage::TRANSFER_DST).transient()
}

fn color_desc(name: &str, size: [u32; 2], samples: u32, format: Format) -> ImageDesc {
    let desc = ImageDesc {
        samples,
        ..ImageDesc::color_target(name, size, format)
    };
    desc.transient()
}

/// Adds an image to a list, and returns its index.
fn push(list: &mut Vec<GpuImage>, image: GpuImage) -> u32 {
    list.push(image);
    list.len() as u32 - 1
}

impl PrepassLists<'_> {
    /// Returns the depths of the previous frame, for reuse.
    pub(super) fn take_depths(&mut self) -> Vec<GpuImage> {
        std::mem::take(&mut self.depths.0)
    }

    /// Returns the G-buffers of the previous frame, for reuse.
    pub(super) fn take_gbuffers(&mut self) -> Vec<GpuImage> {
        std::mem::take(&mut self.gbuffers.0)
    }

    /// Returns the normals of the previous frame, for reuse.
    pub(super) fn take_normals(&mut self) -> Vec<GpuImage> {
        std::mem::take(&mut self.normals.0)
    }

    /// Returns the motion vectors of the previous frame, for reuse.
    pub(super) fn take_motion_vectors(&mut self) -> Vec<GpuImage> {
        std::mem::take(&mut self.motion_vectors.0)
    }

    /// Adds the images of a view.
    pub(super) fn add(
        &mut self,
        previous: &mut PreviousImages<'_>,
        view: &QueuedView,
        samples: u32,
    ) -> Result<PrepassImages, Error> {
        let [width, height] = view.size;
        let size = [width, height];
        let gpu = previous.gpu;
        let reuse = |is_needed: bool, unused: &mut Vec<GpuImage>, desc: ImageDesc| match is_needed {
            true => take(gpu, unused, &desc).map(Some),
            false => Ok(None),
        };
        let needs = view.prepass;
        let gbuffer = color_desc("3d gbuffer", size, samples, GBUFFER);
        let depth = depth_desc("3d prepass depth", size, samples);
        let normal = color_desc("3d prepass normals", size, samples, NORMAL);
        let motion = color_desc("3d prepass motion vectors", size, samples, MOTION);
        let gbuffer = reuse(needs.deferred, &mut previous.gbuffers, gbuffer)?;
        let depth = reuse(needs.depth, &mut previous.prepass_depths, depth)?;
        let normal = reuse(needs.normal, &mut previous.prepass_normals, normal)?;
        let motion = reuse(needs.motion, &mut previous.prepass_motion_vectors, motion)?;
        Ok(PrepassImages {
            gbuffer: gbuffer.map(|image| push(&mut self.gbuffers.0, image)),
            depth: depth.map(|image| push(&mut self.depths.0, image)),
            normal: normal.map(|image| push(&mut self.normals.0, image)),
            motion: motion.map(|image| push(&mut self.motion_vectors.0, image)),
            sampled: None,
        })
    }

    /// Adds placeholders, and sets the images that shaders of materials read, if any does.
    pub(super) fn add_sampled(
        &mut self,
        views: &mut [View3d],
        previous: &mut PreviousImages<'_>,
        warnings: &RateLimitedWarnings,
    ) {
        if views.is_empty() || !self.pipelines.meshes.reads_prepass() {
            return;
        }
        match self.add_placeholders(previous) {
            Ok(placeholders) => {
                for view in views {
                    let sampled = SampledPrepass::new(view.prepass, view.samples, placeholders);
                    view.prepass.sampled = Some(sampled);
                }
            }
            Err(error) => warnings.warn_message(|| {
                format!("materials that read images of prepasses are not drawn: {error}")
            }),
        }
    }

    fn add_placeholders(
        &mut self,
        previous: &mut PreviousImages<'_>,
    ) -> Result<SampledPrepass, Error> {
        let mut placeholders = SampledPrepass {
            depths: [0; 2],
            normals: [0; 2],
            motion_vectors: [0; 2],
        };
        for (at, samples) in [1, PLACEHOLDER_SAMPLES].into_iter().enumerate() {
            let desc = depth_desc("3d no prepass depth", [1, 1], samples);
            let depth = take(previous.gpu, &mut previous.prepass_depths, &desc)?;
            placeholders.depths[at] = push(&mut self.depths.0, depth);
            let desc = color_desc("3d no prepass normals", [1, 1], samples, NORMAL);
            let normals = take(previous.gpu, &mut previous.prepass_normals, &desc)?;
            placeholders.normals[at] = push(&mut self.normals.0, normals);
            let desc = color_desc("3d no prepass motion vectors", [1, 1], samples, MOTION);
            let unused = &mut previous.prepass_motion_vectors;
            let motion_vectors = take(previous.gpu, unused, &desc)?;
            placeholders.motion_vectors[at] = push(&mut self.motion_vectors.0, motion_vectors);
        }
        Ok(placeholders)
    }
}

/// Samples of multisampled placeholders.
const PLACEHOLDER_SAMPLES: u32 = 4;
