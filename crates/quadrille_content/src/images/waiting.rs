//! Image assets that came or changed, and are not uploaded yet.

use std::collections::VecDeque;

use bevy_asset::AssetId;
use bevy_image::Image as ImageAsset;
use bevy_platform::collections::{HashMap, HashSet};

use super::arriving::Arriving;

/// Images to be uploaded.
#[derive(Default)]
pub(super) struct Waiting {
    /// Images that came or changed since the last frame.
    fresh: Vec<AssetId<ImageAsset>>,
    /// Images that come within the budget, in the order in which they came; of what arrives in steps, the next
    /// step comes after the others.
    order: VecDeque<AssetId<ImageAsset>>,
    /// The same, to be looked up.
    listed: HashSet<AssetId<ImageAsset>>,
    /// Images of which a part is on the device.
    pub(super) begun: HashMap<AssetId<ImageAsset>, Arriving>,
}

impl Waiting {
    /// Notes that an image has come or changed.
    pub(super) fn put(&mut self, id: AssetId<ImageAsset>) {
        // If each change restarted the upload, an image that changes in every frame would never be complete.
        if let Some(begun) = self.begun.get_mut(&id) {
            begun.is_stale = true;
        }
        self.fresh.push(id);
    }

    /// Takes those that came or changed since the last call, each once.
    pub(super) fn take_fresh(&mut self) -> Vec<AssetId<ImageAsset>> {
        let mut seen = HashSet::new();
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.retain(|id| seen.insert(*id));
        fresh
    }

    /// Queues an image, which comes within the budget.
    pub(super) fn queue(&mut self, id: AssetId<ImageAsset>) {
        if self.listed.insert(id) {
            self.order.push_back(id);
        }
    }

    /// The image that comes next within the budget.
    pub(super) fn first(&self) -> Option<AssetId<ImageAsset>> {
        self.order.front().copied()
    }

    /// How many images wait.
    pub(super) fn len(&self) -> usize {
        self.order.len() + self.fresh.len()
    }

    /// Whether something of an image is left to do.
    pub(super) fn has(&self, id: AssetId<ImageAsset>) -> bool {
        self.listed.contains(&id) || self.fresh.contains(&id)
    }

    /// Notes that nothing of an image is left to do.
    pub(super) fn end(&mut self, id: AssetId<ImageAsset>) {
        self.begun.remove(&id);
        if self.listed.remove(&id) {
            match self.order.front() {
                Some(first) if *first == id => {
                    self.order.pop_front();
                }
                _ => self.order.retain(|other| *other != id),
            }
        }
    }

    /// Notes that a step of an image is done; all others come before the next.
    pub(super) fn end_step(&mut self, id: AssetId<ImageAsset>) {
        self.end(id);
        self.queue(id);
    }
}
