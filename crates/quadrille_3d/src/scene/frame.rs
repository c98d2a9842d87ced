//! Views of a frame, as passes find them.

use bevy_ecs::prelude::*;

use crate::scene::lists::QueuedView;
use crate::tables::table::uniform_row;

/// A 3D camera of the frame, by which passes find the images that it draws to.
#[derive(Clone, Debug)]
pub struct View3d {
    pub(crate) queued: QueuedView,
    /// Samples per pixel of its images.
    pub(crate) samples: u32,
    /// Index of its images in `SceneColors` and the others.
    pub(crate) images: u32,
    /// Its late phase, with [`OcclusionCulling`](crate::OcclusionCulling).
    pub(crate) late: Option<LateView>,
}

/// Late phase of a view: what is not hidden by what the early phase drew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateView {
    /// Index in the list of views that are culled for.
    pub(crate) cull_row: u32,
    /// Index in `DepthPyramids3d`.
    pub(crate) pyramid: u32,
}

impl View3d {
    /// The camera.
    pub fn camera(&self) -> Entity {
        self.queued.camera
    }

    /// Its index in [`Views3d`](crate::Views3d): shaders import `quadrille_3d::scene::View`.
    pub fn row(&self) -> u32 {
        self.queued.row
    }

    /// Range of its row in [`Views3d`](crate::Views3d), for `bind_bytes`.
    pub fn uniform_bytes(&self) -> std::ops::Range<u64> {
        uniform_row(self.queued.row)
    }

    /// The index of its images in [`SceneColors`](crate::SceneColors),
    /// [`SceneMsaaColors`](crate::SceneMsaaColors) and [`SceneDepths`](crate::SceneDepths).
    pub fn images(&self) -> usize {
        self.images as usize
    }

    /// The index of its camera's target in [`CameraTargets`](crate::CameraTargets).
    pub fn target(&self) -> usize {
        self.queued.target as usize
    }

    /// The step of its passes, for [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step): a pass that draws
    /// to the target of the view takes its turn among cameras with it.
    pub fn step(&self) -> u32 {
        self.queued.step
    }

    /// Left, top, width and height in pixels of the target; the images of the view have this width
    /// and height, and begin at their own corner.
    pub fn viewport(&self) -> [u32; 4] {
        self.queued.viewport
    }

    /// Samples per pixel of [`SceneMsaaColors`](crate::SceneMsaaColors) and
    /// [`SceneDepths`](crate::SceneDepths): 1 with [`Msaa::Off`](crate::Msaa).
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The linear colour that the target is to be cleared with before the view is shown on it;
    /// none if what is there stays.
    pub fn clear(&self) -> Option<[f32; 4]> {
        self.queued.clear
    }
}

/// Views of the frame, built by `prepare_targets`, with the numbers of draws and shadow maps.
#[derive(Resource, Default)]
pub struct Scene3d {
    pub(crate) views: Vec<View3d>,
    pub(crate) draw_count: usize,
    pub(crate) shadow_map_count: usize,
}

impl Scene3d {
    /// Views of this frame in the order that they are drawn in, once [`Prepare3dSystems::Prepare`](crate::Prepare3dSystems) ran;
    /// before that, views of the frame before.
    pub fn views(&self) -> &[View3d] {
        &self.views
    }

    /// Number of draws recorded for the frame: one for each pipeline of each camera (two with
    /// [`OcclusionCulling`](crate::OcclusionCulling)) and each shadow map, whatever the number of meshes, and one for each mesh that others are seen
    /// through, or for several that follow each other from back to front.
    pub fn draws(&self) -> usize {
        self.draw_count
    }

    /// Number of shadow maps drawn in the frame: one for a spot light, six for a point light,
    /// and for a directional light one for each cascade of each camera.
    pub fn shadow_maps(&self) -> usize {
        self.shadow_map_count
    }
}
