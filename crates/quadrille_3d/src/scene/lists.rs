//! Lists of a frame, each filled by one system.

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use quadrille_content::PrimitiveKind;

use crate::components::tonemapping::Tonemapping;
use crate::scene::keys::PipelineKey;

/// The chunks that are drawn with one pipeline.
#[derive(Clone, Debug)]
pub(crate) struct BatchSet {
    pub(crate) pipeline: PipelineKey,
    /// Places among all chunks.
    pub(crate) batches: Range<u32>,
}

/// Batches of all meshes of the world, filled by `upload_meshes`.
///
/// Batch sets stay from frame to frame: they are listed again only when a batch comes or goes.
#[derive(Resource, Default)]
pub(crate) struct BatchList {
    pub(crate) batch_sets: Vec<BatchSet>,
    /// Number of batches.
    pub(crate) batches: u32,
    /// Room in the table of instances.
    pub(crate) instances: u32,
    /// Room for the instances of all batches.
    pub(crate) batch_instances: u32,
}

impl BatchList {
    /// Batch sets that cameras draw from the draws of `cull_3d`.
    pub(crate) fn opaque_batch_sets(&self) -> impl Iterator<Item = &BatchSet> {
        let batch_sets = self
            .batch_sets
            .iter()
            .filter(|batch_set| !batch_set.batches.is_empty());
        batch_sets.filter(|batch_set| !batch_set.pipeline.blend_mode.is_transparent())
    }

    /// Batch sets that cast shadows.
    pub(crate) fn shadow_batch_sets(&self) -> impl Iterator<Item = &BatchSet> {
        let batch_sets = self
            .batch_sets
            .iter()
            .filter(|batch_set| !batch_set.batches.is_empty());
        batch_sets.filter(|batch_set| batch_set.pipeline.primitive == PrimitiveKind::Triangles)
    }
}

/// A view as its camera asks for it, before it has images. The fields are those of [`View3d`](crate::View3d).
#[derive(Clone, Debug)]
pub(crate) struct QueuedView {
    pub(crate) camera: Entity,
    pub(crate) row: u32,
    pub(crate) target: u32,
    pub(crate) step: u32,
    pub(crate) viewport: [u32; 4],
    pub(crate) clear: Option<[f32; 4]>,
    pub(crate) background: Option<[f32; 4]>,
    pub(crate) replaces: bool,
    pub(crate) inverts_culling: bool,
    pub(crate) clear_depth: f32,
    /// Samples per pixel, if there is memory for so many.
    pub(crate) samples: u32,
    pub(crate) tonemapping: Tonemapping,
    pub(crate) is_hdr: bool,
    pub(crate) cull_row: u32,
    /// Place in the list of views that are culled for after what may hide others is drawn.
    pub(crate) late_cull_row: Option<u32>,
    pub(crate) layers: RenderLayers,
    pub(crate) transparent: Range<u32>,
}

/// Views of the frame, listed by `queue_views` and taken by `prepare_targets`: the index is [`QueuedView::row`].
#[derive(Resource, Default)]
pub(crate) struct QueuedViews(pub(crate) Vec<QueuedView>);

/// Values of views by [`View3d::row`](crate::View3d::row), which stays the same where a view without images is
/// left out.
pub(crate) struct ViewMap<T>(Vec<Option<T>>);

impl<T> Default for ViewMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ViewMap<T> {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn insert(&mut self, row: u32, value: T) {
        let at = row as usize;
        if at >= self.0.len() {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at] = Some(value);
    }

    pub(crate) fn get(&self, row: u32) -> Option<&T> {
        self.0.get(row as usize)?.as_ref()
    }
}
