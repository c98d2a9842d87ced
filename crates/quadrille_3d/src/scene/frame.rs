//! Views, shadow maps and draws of a frame.

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;

use crate::components::tonemapping::Tonemapping;
use crate::scene::cull_view::CullViewRow;
use crate::scene::grading_row::GradingRow;
use crate::scene::keys::BinKey;
use crate::scene::lists::QueuedView;
use crate::scene::rows::{LightRow, LightTextureRow, ShadowViewRow, ViewRow};
use crate::tables::table::List;

/// A 3D camera of the frame, by which passes find the images that it draws to.
#[derive(Clone, Debug)]
pub struct View3d {
    pub(crate) camera: Entity,
    /// Place in the list of views.
    pub(crate) row: u32,
    /// Place of its image in `CameraTargets`.
    pub(crate) target: u32,
    /// Step of its passes (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    pub(crate) viewport: [u32; 4],
    /// The colour that the image is cleared with before.
    pub(crate) clear: Option<[f32; 4]>,
    /// The colour behind the scene; none leaves what is there.
    pub(crate) background: Option<[f32; 4]>,
    /// The background replaces what is there, alpha included, instead of being blended over it.
    pub(crate) replaces: bool,
    /// Front faces are culled where back faces otherwise are, and the other way round.
    pub(crate) inverts_culling: bool,
    /// Depth before anything is drawn.
    pub(crate) clear_depth: f32,
    pub(crate) samples: u32,
    pub(crate) tonemapping: Tonemapping,
    /// Its background is mapped as the scene is.
    pub(crate) is_hdr: bool,
    /// Place of its images in `SceneColors` and the others.
    pub(crate) images: u32,
    /// Which of [`Scene3d::cull_rows`] it is.
    pub(crate) cull_row: u32,
    /// Its late phase, with [`OcclusionCulling`](crate::OcclusionCulling).
    pub(crate) late: Option<LateView>,
    /// What it sees.
    pub(crate) layers: RenderLayers,
    /// Of [`Scene3d::draws`].
    pub(crate) transparent: Range<u32>,
}

/// Late phase of a view: what is not hidden by what the early phase drew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateView {
    /// Place in the list of views that are culled for.
    pub(crate) cull_row: u32,
    /// Place in `DepthPyramids3d`.
    pub(crate) pyramid: u32,
}

impl View3d {
    /// View with images at this place, which have so many samples.
    pub(crate) fn new(view: QueuedView, samples: u32, images: u32, late: Option<LateView>) -> Self {
        Self {
            camera: view.camera,
            row: view.row,
            target: view.target,
            step: view.step,
            viewport: view.viewport,
            clear: view.clear,
            background: view.background,
            replaces: view.replaces,
            inverts_culling: view.inverts_culling,
            clear_depth: view.clear_depth,
            samples,
            tonemapping: view.tonemapping,
            is_hdr: view.is_hdr,
            images,
            cull_row: view.cull_row,
            late,
            layers: view.layers,
            transparent: view.transparent,
        }
    }

    /// The camera.
    pub fn camera(&self) -> Entity {
        self.camera
    }

    /// Its place in [`Views3d`](crate::Views3d): shaders import `quadrille_3d::scene::View`.
    pub fn row(&self) -> u32 {
        self.row
    }

    /// The place of its images in [`SceneColors`](crate::SceneColors),
    /// [`SceneMsaaColors`](crate::SceneMsaaColors) and [`SceneDepths`](crate::SceneDepths).
    pub fn images(&self) -> usize {
        self.images as usize
    }

    /// The place of its camera's target in [`CameraTargets`](crate::CameraTargets).
    pub fn target(&self) -> usize {
        self.target as usize
    }

    /// The step of its passes, for [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step): a pass that draws
    /// to the target of the view takes its turn among cameras with it.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Left, top, width and height in pixels of the target; the images of the view have this width
    /// and height, and begin at their own corner.
    pub fn viewport(&self) -> [u32; 4] {
        self.viewport
    }

    /// Samples per pixel of [`SceneMsaaColors`](crate::SceneMsaaColors) and
    /// [`SceneDepths`](crate::SceneDepths): 1 with [`Msaa::Off`](crate::Msaa).
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The linear colour that the target is to be cleared with before the view is shown on it;
    /// none if what is there stays.
    pub fn clear(&self) -> Option<[f32; 4]> {
        self.clear
    }
}

/// What the shadow maps of an image are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShadowMapKind {
    /// Cascades of directional lights, and spot lights.
    Atlas,
    /// Faces of point lights.
    PointFaces,
}

/// One shadow map.
#[derive(Clone, Debug)]
pub(crate) struct ShadowMapDraw {
    /// Which image it is in.
    pub(crate) kind: ShadowMapKind,
    /// Its tile of that.
    pub(crate) tile: u32,
    /// What lies before it casts shadows too.
    pub(crate) clamps_depth: bool,
    /// Which of [`Scene3d::cull_rows`] it is; none if it makes no sense.
    pub(crate) cull_row: Option<u32>,
}

/// Instances of one mesh that others are seen through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransparentDraw {
    pub(crate) key: BinKey,
    /// Of the list of what is drawn from back to front.
    pub(crate) transparent_instances: Range<u32>,
}

/// All that is drawn in a frame.
#[derive(Resource, Default)]
pub struct Scene3d {
    /// Of the camera whose views are listed: from where distances count.
    pub(crate) eye: [f32; 4],
    pub(crate) views: Vec<View3d>,
    pub(crate) draw_count: usize,
    pub(crate) shadows: Vec<ShadowMapDraw>,
    /// How many of [`Self::cull_rows`] `cull_3d` culls for; those that follow come later.
    pub(crate) early_view_count: u32,
    /// Words of `PreviousVisibility`.
    pub(crate) visibility_words: u32,
    /// Draws of what is seen through.
    pub(crate) draws: Vec<TransparentDraw>,
    pub(crate) view_rows: List<ViewRow>,
    /// A row for each view.
    pub(crate) gradings: List<GradingRow>,
    pub(crate) lights: List<LightRow>,
    pub(crate) light_textures: List<LightTextureRow>,
    pub(crate) shadow_rows: List<ShadowViewRow>,
    /// Cameras and shadow maps, for each of which chunks are culled.
    pub(crate) cull_rows: List<CullViewRow>,
    pub(crate) layer_bits: List<u32>,
    /// Places in the table of instances, draw by draw.
    pub(crate) transparent_instances: List<u32>,
}

impl Scene3d {
    /// Views of this frame in the order that they are drawn in, once [`Prepare3dSystems::Prepare`](crate::Prepare3dSystems) ran;
    /// before that, views of the frame before.
    pub fn views(&self) -> &[View3d] {
        &self.views
    }

    /// How many draws are recorded for the frame: one for each pipeline of each camera (two with
    /// [`OcclusionCulling`](crate::OcclusionCulling)) and each shadow map, whatever the number of meshes, and one for each mesh that others are seen
    /// through, or for several that follow each other from back to front.
    pub fn draws(&self) -> usize {
        self.draw_count
    }

    /// For how many views is culled before anything is drawn.
    pub(crate) fn early_view_count(&self) -> u32 {
        self.early_view_count
    }

    /// Adds what cameras with [`OcclusionCulling`](crate::OcclusionCulling) draw of what may be hidden, in a table with
    /// room for so many instances.
    pub(crate) fn add_late_phases(
        &mut self,
        views: &mut [QueuedView],
        instances: u32,
        occlusion_culling: impl Fn(Entity) -> bool,
    ) {
        let rows = &mut self.cull_rows.current;
        self.early_view_count = rows.len() as u32;
        let mut visibility_offset = 0;
        for view in views {
            if occlusion_culling(view.camera) {
                let late_cull_row =
                    rows[view.cull_row as usize].split_late_phase(visibility_offset, view.row);
                visibility_offset += instances.div_ceil(32);
                view.late_cull_row = Some(rows.len() as u32);
                rows.push(late_cull_row);
            }
        }
        self.visibility_words = visibility_offset;
    }

    /// How many shadow maps are drawn in the frame: one for a spot light, six for a point light,
    /// and for a directional light one for each cascade of each camera.
    pub fn shadow_maps(&self) -> usize {
        self.shadows.len()
    }

    pub(crate) fn begin(&mut self) {
        self.shadows.clear();
        self.draws.clear();
        self.view_rows.current.clear();
        self.gradings.current.clear();
        self.lights.current.clear();
        self.light_textures.current.clear();
        self.shadow_rows.current.clear();
        self.cull_rows.current.clear();
        self.layer_bits.current.clear();
        self.transparent_instances.current.clear();
    }

    /// Forgets what the device has.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.view_rows.mark_all_dirty();
        self.gradings.mark_all_dirty();
        self.lights.mark_all_dirty();
        self.light_textures.mark_all_dirty();
        self.shadow_rows.mark_all_dirty();
        self.cull_rows.mark_all_dirty();
        self.layer_bits.mark_all_dirty();
        self.transparent_instances.mark_all_dirty();
    }

    /// Adds a draw of what was seen since `first`, unless that is nothing, or lengthens the draw
    /// before, if `first_draw` is not after it.
    pub(crate) fn add(&mut self, drawn: &TransparentInstance, first_draw: usize) {
        let at = self.transparent_instances.current.len() as u32;
        self.transparent_instances.current.push(drawn.instance);
        match self.draws[first_draw..].last_mut() {
            Some(last) if last.key == drawn.key && last.transparent_instances.end == at => {
                last.transparent_instances.end = at + 1;
            }
            _ => self.draws.push(TransparentDraw {
                key: drawn.key,
                transparent_instances: at..at + 1,
            }),
        }
    }
}

/// How an entity is drawn that others are seen through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransparentInstance {
    /// Place in the table of instances.
    pub(crate) instance: u32,
    pub(crate) key: BinKey,
    /// The middle of its bounds in the world.
    pub(crate) center: Vec3,
    /// How much nearer it is sorted.
    pub(crate) sort_bias: f32,
}
