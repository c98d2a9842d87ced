//! Lists of a frame, each filled by one system.

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::Vec3;
use quadrille_content::PrimitiveKind;

use crate::components::tonemapping::Tonemapping;
use crate::scene::cull_view::CullViewRow;
use crate::scene::grading_row::GradingRow;
use crate::scene::keys::{BinKey, PipelineKey};
use crate::scene::rows::{LightRow, LightTextureRow, ShadowViewRow, ViewRow};
use crate::tables::table::List;

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

/// A view as its camera asks for it, before it has images.
#[derive(Clone, Debug)]
pub(crate) struct QueuedView {
    pub(crate) camera: Entity,
    /// Index in the list of views.
    pub(crate) row: u32,
    /// Index of its image in `CameraTargets`.
    pub(crate) target: u32,
    /// Step of its passes (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    /// Left, top, width and height in pixels of the target.
    pub(crate) viewport: [u32; 4],
    /// Color that the image is cleared with before.
    pub(crate) clear: Option<[f32; 4]>,
    /// Color behind the scene; none leaves the image as it is.
    pub(crate) background: Option<[f32; 4]>,
    /// The background replaces the image, alpha included, instead of being blended over it.
    pub(crate) replaces: bool,
    /// Front faces are culled where back faces otherwise are, and the other way round.
    pub(crate) inverts_culling: bool,
    /// Depth before anything is drawn.
    pub(crate) clear_depth: f32,
    /// Samples per pixel that the camera asks for; images have fewer where memory ends.
    pub(crate) wanted_samples: u32,
    pub(crate) tonemapping: Tonemapping,
    /// Its background is mapped as the scene is.
    pub(crate) is_hdr: bool,
    /// Index in the list of views that are culled for.
    pub(crate) cull_row: u32,
    /// Index in the same list of the late phase, which culls against the depth that the early phase drew.
    pub(crate) late_cull_row: Option<u32>,
    /// Render layers of the camera.
    pub(crate) layers: RenderLayers,
    /// Range of the list of transparent draws.
    pub(crate) transparent: Range<u32>,
}

/// Views of the frame, listed by `queue_views` and taken by `prepare_targets`: the index is [`QueuedView::row`].
#[derive(Resource, Default)]
pub(crate) struct QueuedViews(pub(crate) Vec<QueuedView>);

/// Rows of views in the order of [`QueuedViews`].
#[derive(Resource, Default)]
pub(crate) struct ViewRows {
    pub(crate) rows: List<ViewRow>,
    pub(crate) gradings: List<GradingRow>,
}

/// Lights of all views, view by view, and the images that they shine through.
#[derive(Resource, Default)]
pub(crate) struct LightLists {
    pub(crate) rows: List<LightRow>,
    pub(crate) textures: List<LightTextureRow>,
}

/// Image that a shadow map is a tile of.
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
    pub(crate) kind: ShadowMapKind,
    /// Place of its tile in the image.
    pub(crate) tile: u32,
    /// Casters before the near plane count, at the near plane.
    pub(crate) clamps_depth: bool,
    /// Place in [`CullList`]; none for a matrix that is not finite.
    pub(crate) cull_row: Option<u32>,
}

/// Transparent instances of one mesh that follow each other from back to front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransparentDraw {
    pub(crate) key: BinKey,
    /// Range of [`TransparentList::instances`].
    pub(crate) instances: Range<u32>,
}

/// Shadow maps, each with its row at the same place.
#[derive(Resource, Default)]
pub(crate) struct ShadowList {
    pub(crate) draws: Vec<ShadowMapDraw>,
    pub(crate) rows: List<ShadowViewRow>,
}

/// Views and shadow maps that batches are culled for.
#[derive(Resource, Default)]
pub(crate) struct CullList {
    pub(crate) rows: List<CullViewRow>,
    /// Bits of the layer sets that each row sees.
    pub(crate) layer_bits: List<u32>,
    /// Eye of the camera whose views are being listed: visibility ranges are measured from it.
    pub(crate) eye: [f32; 4],
    /// Number of rows that `cull_3d` culls for; rows of late phases follow.
    pub(crate) early_view_count: u32,
    /// Words of `PreviousVisibility`.
    pub(crate) visibility_words: u32,
}

/// A transparent entity that a view sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransparentInstance {
    /// Place in the table of instances.
    pub(crate) instance: u32,
    pub(crate) key: BinKey,
    /// Center of its bounds in the world.
    pub(crate) center: Vec3,
    /// Distance by which it is sorted nearer.
    pub(crate) sort_bias: f32,
}

/// Transparent draws from back to front, view by view.
#[derive(Resource, Default)]
pub(crate) struct TransparentList {
    pub(crate) draws: Vec<TransparentDraw>,
    /// Places in the table of instances, draw by draw.
    pub(crate) instances: List<u32>,
}

impl TransparentList {
    /// Adds an instance: to the last draw, if that has the same mesh and pipeline and is not before `first_draw`,
    /// else with a draw of its own.
    pub(crate) fn add(&mut self, drawn: &TransparentInstance, first_draw: usize) {
        let at = self.instances.current.len() as u32;
        self.instances.current.push(drawn.instance);
        match self.draws[first_draw..].last_mut() {
            Some(last) if last.key == drawn.key && last.instances.end == at => {
                last.instances.end = at + 1;
            }
            _ => self.draws.push(TransparentDraw {
                key: drawn.key,
                instances: at..at + 1,
            }),
        }
    }
}

/// Lists of a frame, filled by `queue_views` and uploaded by `upload_scene`.
#[derive(SystemParam)]
pub(crate) struct SceneLists<'w> {
    pub(crate) views: ResMut<'w, QueuedViews>,
    pub(crate) rows: ResMut<'w, ViewRows>,
    pub(crate) lights: ResMut<'w, LightLists>,
    pub(crate) shadows: ResMut<'w, ShadowList>,
    pub(crate) cull: ResMut<'w, CullList>,
    pub(crate) transparent: ResMut<'w, TransparentList>,
}

impl SceneLists<'_> {
    /// Empties the lists for a new frame.
    pub(crate) fn begin(&mut self) {
        self.views.0.clear();
        self.rows.rows.current.clear();
        self.rows.gradings.current.clear();
        self.lights.rows.current.clear();
        self.lights.textures.current.clear();
        self.shadows.draws.clear();
        self.shadows.rows.current.clear();
        self.cull.rows.current.clear();
        self.cull.layer_bits.current.clear();
        self.transparent.draws.clear();
        self.transparent.instances.current.clear();
    }

    /// Forgets what the device has.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.rows.mark_all_dirty();
        self.rows.gradings.mark_all_dirty();
        self.lights.rows.mark_all_dirty();
        self.lights.textures.mark_all_dirty();
        self.shadows.rows.mark_all_dirty();
        self.cull.rows.mark_all_dirty();
        self.cull.layer_bits.mark_all_dirty();
        self.transparent.instances.mark_all_dirty();
    }

    /// Adds the late phases of cameras with [`OcclusionCulling`](crate::OcclusionCulling), in a table with room for
    /// so many instances.
    pub(crate) fn add_late_phases(
        &mut self,
        instances: u32,
        occlusion_culling: impl Fn(Entity) -> bool,
    ) {
        let cull = &mut *self.cull;
        let rows = &mut cull.rows.current;
        cull.early_view_count = rows.len() as u32;
        let mut visibility_offset = 0;
        for view in &mut self.views.0 {
            if occlusion_culling(view.camera) {
                let late_cull_row =
                    rows[view.cull_row as usize].split_late_phase(visibility_offset, view.row);
                visibility_offset += instances.div_ceil(32);
                view.late_cull_row = Some(rows.len() as u32);
                rows.push(late_cull_row);
            }
        }
        cull.visibility_words = visibility_offset;
    }
}

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
