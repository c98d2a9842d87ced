//! Lists of a frame, each filled by one system.

use std::ops::Range;

use bevy_camera::MainPassResolutionOverride;
use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::{Mat4, UVec2, Vec2, Vec3};
use bevy_platform::collections::HashMap;
use quadrille::prelude::GpuImage;
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::meshes::PrimitiveKind;

use crate::components::order_independent_transparency::OrderIndependentTransparencySettings;
use crate::components::temporal_jitter::jitter_matrix;
use crate::scene::cull_view::CullViewRow;
use crate::scene::effect_cameras::EffectNeeds;
use crate::scene::keys::{BinKey, PipelineKey};
use crate::scene::prepass::PrepassNeeds;
use crate::scene::rows::{LightRow, LightTextureRow, ShadowViewRow, ViewRow};

/// Batches with one pipeline, drawn by one multi-draw indirect.
#[derive(Clone, Debug)]
pub(crate) struct BatchSet {
    pub(crate) pipeline: PipelineKey,
    /// Range in [`BatchOrder3d`](crate::resources::BatchOrder3d).
    pub(crate) batches: Range<u32>,
}

/// Batches of all meshes of the world, filled by `upload_meshes`.
///
/// Batch sets are retained, and rebuilt only when a batch is added or removed.
#[derive(Resource, Default)]
pub(crate) struct BatchList {
    pub(crate) batch_sets: Vec<BatchSet>,
    /// Number of batches.
    pub(crate) batches: u32,
    /// Rows of the instance table.
    pub(crate) instances: u32,
    /// Capacity of all batches in instances.
    pub(crate) batch_instances: u32,
}

impl BatchList {
    /// Batch sets of cameras: opaque and alpha mask.
    pub(crate) fn opaque_batch_sets(&self) -> impl Iterator<Item = &BatchSet> {
        let batch_sets = self
            .batch_sets
            .iter()
            .filter(|batch_set| !batch_set.batches.is_empty());
        batch_sets.filter(|batch_set| !batch_set.pipeline.blend_mode.is_transparent())
    }

    /// Batch sets that the opaque passes of a view draw: all but those that are drawn after them, or shaded from
    /// the G-buffer.
    pub(crate) fn opaque_batch_sets_of(
        &self,
        view: &QueuedView,
    ) -> impl Iterator<Item = &BatchSet> {
        let (is_apart, prepass) = (view.transmissive.is_apart, view.prepass);
        self.opaque_batch_sets()
            .filter(move |batch_set| !(is_apart && batch_set.pipeline.is_transmissive))
            .filter(move |batch_set| !prepass.defers(batch_set.pipeline))
    }

    /// Batch sets of shadow casters.
    pub(crate) fn shadow_batch_sets(&self) -> impl Iterator<Item = &BatchSet> {
        let batch_sets = self
            .batch_sets
            .iter()
            .filter(|batch_set| !batch_set.batches.is_empty());
        batch_sets.filter(|batch_set| batch_set.pipeline.primitive == PrimitiveKind::Triangles)
    }
}

/// Byte ranges in [`CustomMaterials3d`](crate::resources::CustomMaterials3d) of the rows of each material type, by
/// [`MaterialShader::Custom`](crate::scene::keys::MaterialShader::Custom).
#[derive(Resource, Default)]
pub(crate) struct MaterialRanges(pub(crate) HashMap<u32, Range<u64>>);

/// Queued view of a camera, without images.
#[derive(Clone, Debug)]
pub(crate) struct QueuedView {
    pub(crate) camera: Entity,
    /// Index in the list of views.
    pub(crate) row: u32,
    /// Index of its target in `CameraTargets`.
    pub(crate) target: u32,
    /// Ordering key of its passes across systems (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    /// Left, top, width and height in pixels of the target.
    pub(crate) viewport: [u32; 4],
    /// Width and height of its images: those of the viewport, of `MainPassResolutionOverride`, or that it is upscaled from.
    pub(crate) size: [u32; 2],
    /// Whether an effect upscales its color to the viewport's size.
    pub(crate) is_upscaled: bool,
    /// Offset of the sample positions in pixels (`TemporalJitter`); its row of views includes it.
    pub(crate) jitter: Vec2,
    /// World to clip space without the jitter.
    pub(crate) unjittered_clip_from_world: Mat4,
    /// Clear color of the whole target; `None`: load op LOAD.
    pub(crate) clear: Option<[f32; 4]>,
    /// Background color of the viewport; `None` keeps the target's contents.
    pub(crate) background: Option<[f32; 4]>,
    /// Whether the view replaces the target's contents, alpha included, instead of blending over them.
    pub(crate) replaces: bool,
    /// Whether front and back face culling are exchanged (`Camera::invert_culling`).
    pub(crate) inverts_culling: bool,
    /// Clear value of the depth.
    pub(crate) clear_depth: f32,
    /// Requested samples per pixel; images have fewer if memory is exhausted.
    pub(crate) wanted_samples: u32,
    /// Whether the camera has `Hdr`: its background is tone mapped.
    pub(crate) is_hdr: bool,
    pub(crate) effects: EffectNeeds,
    pub(crate) prepass: PrepassNeeds,
    /// Whether its shaders read depth for contact shadows.
    pub(crate) contact_shadows: bool,
    /// Whether the target is also in the table of textures that materials sample.
    pub(crate) samples_target: bool,
    /// Index in the list of culled views.
    pub(crate) cull_row: u32,
    /// Index of the late phase in the list of culled views.
    pub(crate) late_cull_row: Option<u32>,
    /// Render layers of the camera.
    pub(crate) layers: RenderLayers,
    /// Range of the list of transparent draws.
    pub(crate) transparent: Range<u32>,
    pub(crate) transmissive: TransmissiveDraws,
    /// Settings of order-independent transparency.
    pub(crate) oit: Option<OrderIndependentTransparencySettings>,
    /// Range of the list of transparent draws that order-independent transparency draws.
    pub(crate) order_independent: Range<u32>,
}

/// Transmissive meshes of a view.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmissiveDraws {
    /// Whether they are drawn after what is opaque: the camera has
    /// [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission).
    pub(crate) is_apart: bool,
    /// Whether transmissive meshes, anywhere in the world, read the color behind them. It is scene-referred then, whether
    /// or not the view sees one of them, so that the picture does not change when one comes into view.
    pub(crate) reads_color: bool,
    /// Ranges of the list of transparent draws, back to front.
    pub(crate) steps: Vec<Range<u32>>,
}

impl TransmissiveDraws {
    /// Whether the view sees transmissive meshes that read the color behind them.
    pub(crate) fn needs_background(&self) -> bool {
        self.reads_color && !self.steps.is_empty()
    }
}

impl QueuedView {
    /// Whether colors are scene-referred with the background, for effects or transmission.
    pub(crate) fn needs_scene_color(&self) -> bool {
        self.effects.scene_color || self.transmissive.reads_color
    }

    /// Matrix that adds the jitter to clip space.
    pub(crate) fn clip_from_unjittered(&self) -> Mat4 {
        jitter_matrix(self.jitter, UVec2::from_array(self.size))
    }

    /// Width and height of its color after upscaling, if it is upscaled.
    pub(crate) fn output_size(&self) -> [u32; 2] {
        let [_, _, width, height] = self.viewport;
        match self.is_upscaled {
            true => [width, height],
            false => self.size,
        }
    }

    /// Whether its color is scaled to the viewport bilinearly.
    pub(crate) fn is_scaled(&self) -> bool {
        let [_, _, width, height] = self.viewport;
        self.output_size() != [width, height]
    }

    /// Whether its viewport is all of a target with one mip level and layer.
    pub(crate) fn covers(&self, target: &GpuImage) -> bool {
        let desc = target.desc();
        let [width, height, _] = desc.extent;
        self.viewport == [0, 0, width, height] && (desc.mip_levels, desc.array_layers) == (1, 1)
    }

    /// Difference of mip levels between its images and its color after upscaling: negative for finer levels.
    pub(crate) fn upscaling_mip_bias(&self) -> f32 {
        let [size, output] =
            [self.size, self.output_size()].map(|size| UVec2::from(size).as_vec2());
        (size / output).max_element().log2()
    }
}

/// Size of the images of a view: that of its viewport, of `MainPassResolutionOverride` within it, or a fraction of its
/// width and height, which is upscaled.
pub(crate) fn view_size(
    [_, _, width, height]: [u32; 4],
    resolution: Option<&MainPassResolutionOverride>,
    render_scale: Option<f32>,
) -> [u32; 2] {
    let whole = UVec2::new(width, height);
    let size = match (resolution, render_scale) {
        (Some(size), _) => size.0,
        (None, Some(scale)) => (whole.as_vec2() * scale).round().as_uvec2(),
        (None, None) => whole,
    };
    size.max(UVec2::ONE).min(whole).to_array()
}

/// Queued views of the frame, from `queue_views` to `prepare_targets`, by [`QueuedView::row`].
#[derive(Resource, Default)]
pub(crate) struct QueuedViews(pub(crate) Vec<QueuedView>);

/// Rows of views in the order of [`QueuedViews`].
#[derive(Resource, Default)]
pub(crate) struct ViewRows {
    pub(crate) rows: RawBufferVec<ViewRow>,
}

/// Lights of all views, grouped by view, and their light textures.
#[derive(Resource, Default)]
pub(crate) struct LightLists {
    pub(crate) rows: RawBufferVec<LightRow>,
    pub(crate) textures: RawBufferVec<LightTextureRow>,
    /// Rows of lights with `VolumetricLight`, each with the camera of its view.
    pub(crate) volumetric: Vec<(Entity, LightRow)>,
}

/// Image of a shadow map's tile.
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
    /// Tile index.
    pub(crate) tile: u32,
    /// Side of the map in texels, at most that of a tile.
    pub(crate) side: u32,
    /// Whether casters in front of the near plane are clamped to it (pancaking).
    pub(crate) clamps_depth: bool,
    /// Index in [`CullList`]; `None` for a non-finite matrix.
    pub(crate) cull_row: Option<u32>,
    /// Whether it is drawn in this frame; otherwise its tile keeps the contents of an earlier one.
    pub(crate) is_drawn: bool,
}

impl ShadowMapDraw {
    /// Shadow map in a tile, with its side, before `add_shadow` culls its casters and the cache finds out whether it is up
    /// to date.
    pub(crate) fn new(kind: ShadowMapKind, (tile, side): (u32, u32)) -> Self {
        Self {
            kind,
            tile,
            side,
            clamps_depth: false,
            cull_row: None,
            is_drawn: true,
        }
    }
}

/// Draw of consecutive transparent instances with one mesh and pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransparentDraw {
    pub(crate) key: BinKey,
    /// Range of [`TransparentList::instances`].
    pub(crate) instances: Range<u32>,
}

/// Shadow maps and their rows, by equal index.
#[derive(Resource, Default)]
pub(crate) struct ShadowList {
    pub(crate) draws: Vec<ShadowMapDraw>,
    pub(crate) rows: RawBufferVec<ShadowViewRow>,
}

/// Views and shadow maps that batches are culled for.
#[derive(Resource, Default)]
pub(crate) struct CullList {
    pub(crate) rows: RawBufferVec<CullViewRow>,
    /// Visibility bits of layer sets, per row.
    pub(crate) layer_bits: RawBufferVec<u32>,
    /// Eye of the camera that is being queued, the origin of visibility ranges.
    pub(crate) eye: [f32; 4],
    /// Number of rows of `cull_3d`; rows of late phases follow.
    pub(crate) early_view_count: u32,
    /// Words of `PreviousVisibility`.
    pub(crate) visibility_words: u32,
}

/// Visible transparent or transmissive instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransparentInstance {
    /// Instance index.
    pub(crate) instance: u32,
    pub(crate) key: BinKey,
    /// Center of its bounds in world space.
    pub(crate) center: Vec3,
    /// Sort bias towards the camera.
    pub(crate) sort_bias: f32,
    /// Order at equal depth. Instance indices depend on the order of insertion.
    pub(crate) entity_index: u32,
}

/// Transparent and transmissive draws, grouped by view, back to front.
#[derive(Resource, Default)]
pub(crate) struct TransparentList {
    pub(crate) draws: Vec<TransparentDraw>,
    /// Instance indices, grouped by draw.
    pub(crate) instances: RawBufferVec<u32>,
}

impl TransparentList {
    /// Adds an instance to the last draw if mesh and pipeline are equal and the draw is not before `first_draw`, else
    /// to a new draw.
    pub(crate) fn add(&mut self, drawn: &TransparentInstance, first_draw: usize) {
        let at = self.instances.len() as u32;
        self.instances.push(drawn.instance);
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

impl TransparentList {
    /// Adds sorted instances with new draws, whose range it returns. The first numbers are distances.
    pub(crate) fn add_all(&mut self, sorted: &[(f32, TransparentInstance)]) -> Range<u32> {
        let first = self.draws.len();
        for (_, drawn) in sorted {
            self.add(drawn, first);
        }
        first as u32..self.draws.len() as u32
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
    /// Clears the lists for a new frame.
    pub(crate) fn begin(&mut self) {
        self.views.0.clear();
        self.rows.rows.clear();
        self.lights.rows.clear();
        self.lights.textures.clear();
        self.lights.volumetric.clear();
        self.shadows.draws.clear();
        self.shadows.rows.clear();
        self.cull.rows.clear();
        self.cull.layer_bits.clear();
        self.transparent.draws.clear();
        self.transparent.instances.clear();
    }

    /// Marks all lists for re-upload (after a lost device).
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.rows.mark_all_dirty();
        self.lights.rows.mark_all_dirty();
        self.lights.textures.mark_all_dirty();
        self.shadows.rows.mark_all_dirty();
        self.cull.rows.mark_all_dirty();
        self.cull.layer_bits.mark_all_dirty();
        self.transparent.instances.mark_all_dirty();
    }

    /// Adds the late phases of cameras with [`OcclusionCulling`](crate::OcclusionCulling), for an instance table with
    /// this number of rows.
    pub(crate) fn add_late_phases(
        &mut self,
        instances: u32,
        occlusion_culling: impl Fn(Entity) -> bool,
    ) {
        let cull = &mut *self.cull;
        let rows = &mut cull.rows;
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

/// Map by [`View3d::row`](crate::View3d::row), which is stable when views without images are skipped.
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

#[cfg(test)]
mod tests;
