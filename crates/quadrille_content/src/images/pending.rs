//! Image assets that came or changed, and are not uploaded yet.

use std::collections::VecDeque;

use bevy_asset::AssetId;
use bevy_image::Image as ImageAsset;
use bevy_platform::collections::{HashMap, HashSet};

use super::partial_upload::PartialUpload;

/// Images to be uploaded.
#[derive(Default)]
pub(super) struct PendingImages {
    /// Images that came or changed since the last frame.
    changed: Vec<AssetId<ImageAsset>>,
    /// Images that come within the budget, in the order in which they came; of what arrives in steps, the next
    /// step comes after the others.
    order: VecDeque<AssetId<ImageAsset>>,
    /// The same, to be looked up.
    queued: HashSet<AssetId<ImageAsset>>,
    /// Images of which a part is on the device.
    pub(super) in_progress: HashMap<AssetId<ImageAsset>, PartialUpload>,
}

impl PendingImages {
    /// Notes that an image has come or changed.
    pub(super) fn mark_changed(&mut self, id: AssetId<ImageAsset>) {
        // If each change restarted the upload, an image that changes in every frame would never be complete.
        if let Some(in_progress) = self.in_progress.get_mut(&id) {
            in_progress.is_stale = true;
        }
        self.changed.push(id);
    }

    /// Takes those that came or changed since the last call, each once.
    pub(super) fn take_changed(&mut self) -> Vec<AssetId<ImageAsset>> {
        let mut seen = HashSet::new();
        let mut changed = std::mem::take(&mut self.changed);
        changed.retain(|id| seen.insert(*id));
        changed
    }

    /// Queues an image, which comes within the budget.
    pub(super) fn queue(&mut self, id: AssetId<ImageAsset>) {
        if self.queued.insert(id) {
            self.order.push_back(id);
        }
    }

    /// The image that comes next within the budget.
    pub(super) fn first(&self) -> Option<AssetId<ImageAsset>> {
        self.order.front().copied()
    }

    /// How many images wait.
    pub(super) fn len(&self) -> usize {
        self.order.len() + self.changed.len()
    }

    /// Whether something of an image is left to do.
    pub(super) fn contains(&self, id: AssetId<ImageAsset>) -> bool {
        self.queued.contains(&id) || self.changed.contains(&id)
    }

    /// Notes that nothing of an image is left to do.
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

    /// Notes that a step of an image is done; all others come before the next.
    pub(super) fn requeue(&mut self, id: AssetId<ImageAsset>) {
        self.end(id);
        self.queue(id);
    }
}
