//! Histories of cameras with effects or motion vectors.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;

/// Histories of this frame's cameras with effects or motion vectors.
#[derive(Resource, Default)]
pub(crate) struct CameraHistories(EntityHashMap<CameraHistory>);

/// View of a camera in this frame, and whether the previous frame is its history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CameraHistory {
    view: HistoryView,
    /// Count of submitted frames when the camera was last prepared; `None` for a new camera.
    prepared_at: Option<u64>,
    previous_clip_from_world: Mat4,
    has_advanced: bool,
    is_valid: bool,
    /// Whether the camera is in this frame.
    is_listed: bool,
}

/// Properties of a view whose change ends or moves its history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HistoryView {
    /// World to clip space without jitter, which is no motion.
    pub(crate) clip_from_world: Mat4,
    pub(crate) size: [u32; 2],
    /// Count of cuts.
    pub(crate) cut: u32,
}

impl CameraHistories {
    /// Removes all histories.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, camera: Entity) -> Option<&CameraHistory> {
        self.0.get(&camera)
    }

    /// Updates the histories to the views of a frame, after this number of submitted frames. Cameras that are not
    /// among them lose theirs.
    pub(crate) fn update(
        &mut self,
        views: impl Iterator<Item = (Entity, HistoryView)>,
        submitted: u64,
    ) {
        self.0.values_mut().for_each(|it| it.is_listed = false);
        for (camera, view) in views {
            self.0.entry(camera).or_default().update(view, submitted);
        }
        self.0.retain(|_, it| it.is_listed);
    }
}

impl CameraHistory {
    fn update(&mut self, view: HistoryView, submitted: u64) {
        let is_new = self.prepared_at.is_none();
        // A frame that was prepared but not submitted has written nothing: the history stays that of the one before.
        self.has_advanced = self.prepared_at.is_some_and(|at| submitted > at);
        self.prepared_at = Some(submitted);
        if self.has_advanced {
            self.previous_clip_from_world = self.view.clip_from_world;
            self.is_valid = true;
        }
        if is_new || (self.view.size, self.view.cut) != (view.size, view.cut) {
            self.is_valid = false;
        }
        self.view = view;
        self.is_listed = true;
    }

    pub(crate) fn clip_from_world(&self) -> Mat4 {
        self.view.clip_from_world
    }

    /// Matrix of the previous frame without jitter. Without a valid history it is that of this frame, which means no motion.
    pub(crate) fn previous_clip_from_world(&self) -> Mat4 {
        match self.is_valid {
            true => self.previous_clip_from_world,
            false => self.view.clip_from_world,
        }
    }

    /// Whether the images that the camera last wrote are submitted, and so become its history.
    pub(crate) fn has_advanced(&self) -> bool {
        self.has_advanced
    }

    /// Whether the previous frame is the history of this one. False in the first frame of a camera or its first effect,
    /// after a change of size, a cut and the loss of a device.
    pub(crate) fn is_valid(&self) -> bool {
        self.is_valid
    }
}

#[cfg(test)]
mod tests;
