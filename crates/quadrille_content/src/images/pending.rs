//! Image assets with pending uploads.

use std::collections::VecDeque;

use bevy_asset::AssetId;
use bevy_image::Image as ImageAsset;
use bevy_platform::collections::{HashMap, HashSet};

use super::partial_upload::PartialUpload;

/// Queue of image uploads.
#[derive(Default)]
pub(super) struct PendingImages {
    /// Images that were added or changed since the last frame.
    changed: Vec<AssetId<ImageAsset>>,
    /// Upload queue within the budget, first come first served. An image with further streaming steps is requeued
    /// at the end.
    order: VecDeque<AssetId<ImageAsset>>,
    /// Set of the images in `order`.
    queued: HashSet<AssetId<ImageAsset>>,
    /// Partial uploads.
    pub(super) in_progress: HashMap<AssetId<ImageAsset>, PartialUpload>,
}

impl PendingImages {
    /// Marks an image as added or changed.
    pub(super) fn mark_changed(&mut self, id: AssetId<ImageAsset>) {
        // An upload in progress is finished first. If each change restarted it, an image that changes in every
        // frame would never be complete.
        if let Some(in_progress) = self.in_progress.get_mut(&id) {
            in_progress.is_stale = true;
        }
        self.changed.push(id);
    }

    /// Takes the images that were added or changed since the last call, deduplicated.
    pub(super) fn take_changed(&mut self) -> Vec<AssetId<ImageAsset>> {
        let mut seen = HashSet::new();
        let mut changed = std::mem::take(&mut self.changed);
        changed.retain(|id| seen.insert(*id));
        changed
    }

    /// Queues an image for upload within the budget.
    pub(super) fn queue(&mut self, id: AssetId<ImageAsset>) {
        if self.queued.insert(id) {
            self.order.push_back(id);
        }
    }

    /// Returns the next image in the queue.
    pub(super) fn first(&self) -> Option<AssetId<ImageAsset>> {
        self.order.front().copied()
    }

    /// Number of images with a pending upload.
    pub(super) fn len(&self) -> usize {
        self.order.len() + self.changed.len()
    }

    /// Whether an image has a pending upload.
    pub(super) fn contains(&self, id: AssetId<ImageAsset>) -> bool {
        self.queued.contains(&id) || self.changed.contains(&id)
    }

    /// Removes an image from the queue.
    pub(super) fn end(&mut self, id: AssetId<ImageAsset>) {
        self.in_progress.remove(&id);
        if self.queued.remove(&id) {
            match self.order.front() {
                Some(first) if *first == id => {
                    self.order.pop_front();
                }
                _ => self.order.retain(|other| *other != id),
            }
        }
    }

    /// Moves an image to the end of the queue, after a streaming step.
    pub(super) fn requeue(&mut self, id: AssetId<ImageAsset>) {
        self.end(id);
        self.queue(id);
    }
}
