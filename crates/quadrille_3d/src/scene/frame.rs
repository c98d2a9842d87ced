//! Views of a frame, for passes.

use bevy_ecs::prelude::*;

use crate::scene::lists::QueuedView;
use crate::tables::table::uniform_row;

/// View of a 3D camera in this frame, with the indices of its images.
#[derive(Clone, Debug)]
pub struct View3d {
    pub(crate) queued: QueuedView,
    /// Actual samples per pixel.
    pub(crate) samples: u32,
    /// Index of its images in `SceneColors` and the others.
    pub(crate) images: u32,
    /// Late phase of [`OcclusionCulling`](crate::OcclusionCulling).
    pub(crate) late: Option<LateView>,
}

/// Late phase of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateView {
    /// Index in the list of culled views.
    pub(crate) cull_row: u32,
    /// Index in `DepthPyramids3d`.
    pub(crate) pyramid: u32,
}

impl View3d {
    /// Camera entity.
    pub fn camera(&self) -> Entity {
        self.queued.camera
    }

    /// Index in [`Views3d`](crate::Views3d); shaders import `quadrille_3d::scene::View`.
    pub fn row(&self) -> u32 {
        self.queued.row
    }

    /// Byte range of its row in [`Views3d`](crate::Views3d), for `bind_bytes`.
    pub fn uniform_bytes(&self) -> std::ops::Range<u64> {
        uniform_row(self.queued.row)
    }

    /// Index of its images in [`SceneColors`](crate::SceneColors),
    /// [`SceneMsaaColors`](crate::SceneMsaaColors) and [`SceneDepths`](crate::SceneDepths).
    pub fn images(&self) -> usize {
        self.images as usize
    }

    /// Index of its target in [`CameraTargets`](crate::CameraTargets).
    pub fn target(&self) -> usize {
        self.queued.target as usize
    }

    /// Ordering key of its passes for [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step), by which
    /// passes that draw to its target keep the order of cameras.
    pub fn step(&self) -> u32 {
        self.queued.step
    }

    /// Left, top, width and height in pixels of the target. The images of the view have this width and height, without
    /// the offset.
    pub fn viewport(&self) -> [u32; 4] {
        self.queued.viewport
    }

    /// Samples per pixel of [`SceneMsaaColors`](crate::SceneMsaaColors) and
    /// [`SceneDepths`](crate::SceneDepths): 1 with [`Msaa::Off`](crate::Msaa).
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Linear clear color of the target; `None`: load op LOAD.
    pub fn clear(&self) -> Option<[f32; 4]> {
        self.queued.clear
    }
}

/// Views of the frame, built by `prepare_targets`, with counts of draws and shadow maps.
#[derive(Resource, Default)]
pub struct Scene3d {
    pub(crate) views: Vec<View3d>,
    pub(crate) draw_count: usize,
    pub(crate) shadow_map_count: usize,
}

impl Scene3d {
    /// Views of this frame in draw order. Before [`Prepare3dSystems::Prepare`](crate::Prepare3dSystems), those of the
    /// previous frame.
    pub fn views(&self) -> &[View3d] {
        &self.views
    }

    /// Number of draw commands of the frame: one per pipeline and camera (two with
    /// [`OcclusionCulling`](crate::OcclusionCulling)) or shadow map, regardless of the number of meshes, and one per
    /// batch of consecutive transparent instances.
    pub fn draws(&self) -> usize {
        self.draw_count
    }

    /// Number of shadow maps of the frame: one per spot light, six per point light, and one per cascade and camera of a
    /// directional light.
    pub fn shadow_maps(&self) -> usize {
        self.shadow_map_count
    }
}
