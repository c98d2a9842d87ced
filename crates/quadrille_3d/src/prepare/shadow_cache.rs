//! Cached shadow maps: a tile keeps its contents until its view or a caster in it changes.
//!
//! All maps are drawn again where that is not certain: after a failed frame, with another image, after changes of meshes
//! or declarations, with passes of programs that write what maps are drawn from, for materials with shadow shaders of their
//! own, and, with alpha masks, after changes of materials and images.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::RetainedContents;
use quadrille::prelude::GpuBuffer;
use quadrille::sync::resource::ResourceId;
use quadrille_content::images::DeviceImages;

use crate::extract::instances::{InstanceStore, Slot};
use crate::extract::materials::MaterialStore;
use crate::pipelines::Pipelines3d;
use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas};
use crate::scene::buffers::{
    BatchInstances3d, BatchOrder3d, Batches3d, Bounds3d, CullLayers3d, CullViews3d, DrawArgs3d,
    Indices3d, Instances3d, Materials3d, ShadowViews3d, Vertices3d, VisibleInstances,
};
use crate::scene::cull_view::CullViewRow;
use crate::scene::lists::{BatchList, CullList, ShadowList, ShadowMapDraw, ShadowMapKind};
use crate::skin::SkinStore;

/// Pass of this crate that writes vertices; its jobs name the entities.
const SKINNING: &str = "skin_3d";

/// Passes of this crate that write culled draws and shadow maps, each frame that needs them.
const DRAWING: [&str; 2] = ["cull_3d", "shadow_3d"];

/// Contents of shadow maps.
#[derive(Resource, Default)]
pub struct ShadowCache {
    atlas: CachedImage,
    point_faces: CachedImage,
    shared: Option<SharedInputs>,
    /// [`RetainedContents::submitted_frames`] when `shadow_3d` ran last.
    recorded_at: Option<u64>,
}

/// Contents of an image of shadow maps.
#[derive(Default)]
struct CachedImage {
    /// View of each tile when it was drawn; `None`: undefined.
    tiles: Vec<Option<ShadowKey>>,
    image: Option<ResourceId>,
    load: ShadowLoad,
}

/// Load operation of the rendering to an image of shadow maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShadowLoad {
    /// All maps are drawn, which are most of the image.
    #[default]
    ClearAll,
    /// Some are drawn, or all are small; each clears its texels.
    ClearTiles,
    /// None is drawn: there is no rendering.
    Nothing,
}

/// State of a view that its shadow map depends on.
#[derive(Clone, Debug, PartialEq)]
struct ShadowKey {
    clip_from_world: [f32; 16],
    side: u32,
    clamps_depth: bool,
    cull_row: CullViewRow,
    /// Visibility bits of layer sets.
    layers: Vec<u32>,
}

/// State that all shadow maps depend on.
#[derive(Clone, Debug, PartialEq)]
struct SharedInputs {
    vertices: ResourceId,
    indices: ResourceId,
    mesh_contents: u64,
    declarations: u64,
    /// [`DeviceImages::changes`] with alpha masks.
    images: Option<u64>,
}

/// Inputs of shadow maps besides their views.
#[derive(SystemParam)]
pub(crate) struct ShadowInputs<'w, 's> {
    instances: Res<'w, InstanceStore>,
    materials: Res<'w, MaterialStore>,
    skins: Res<'w, SkinStore>,
    pipelines: Res<'w, Pipelines3d>,
    slots: Query<'w, 's, &'static Slot>,
    batches: Res<'w, BatchList>,
    images: Res<'w, DeviceImages>,
    retained: RetainedContents<'w>,
    atlas: Res<'w, ShadowAtlas>,
    point_faces: Res<'w, PointShadowFaces>,
    buffers: ShadowBuffers<'w>,
}

/// Buffers that shadow maps are drawn from.
#[derive(SystemParam)]
struct ShadowBuffers<'w> {
    vertices: Res<'w, Vertices3d>,
    indices: Res<'w, Indices3d>,
    instances: Res<'w, Instances3d>,
    bounds: Res<'w, Bounds3d>,
    materials: Res<'w, Materials3d>,
    batches: Res<'w, Batches3d>,
    order: Res<'w, BatchOrder3d>,
    batch_instances: Res<'w, BatchInstances3d>,
    cull_views: Res<'w, CullViews3d>,
    layers: Res<'w, CullLayers3d>,
    draw_args: Res<'w, DrawArgs3d>,
    visible_instances: Res<'w, VisibleInstances>,
    shadow_views: Res<'w, ShadowViews3d>,
}

impl ShadowBuffers<'_> {
    fn all(&self) -> [&GpuBuffer; 13] {
        [
            &self.vertices.0,
            &self.indices.0,
            &self.instances.0,
            &self.bounds.0,
            &self.materials.0,
            &self.batches.0,
            &self.order.0,
            &self.batch_instances.0,
            &self.cull_views.0,
            &self.layers.0,
            &self.draw_args.0,
            &self.visible_instances.0,
            &self.shadow_views.0,
        ]
    }
}

impl ShadowCache {
    /// How the image of these maps is drawn to in this frame.
    pub(crate) fn load(&self, kind: ShadowMapKind) -> ShadowLoad {
        match kind {
            ShadowMapKind::Atlas => self.atlas.load,
            ShadowMapKind::PointFaces => self.point_faces.load,
        }
    }

    /// Notes that `shadow_3d` has recorded what [`cache_shadow_maps`] decided.
    pub(crate) fn note_recorded(&mut self, retained: &RetainedContents<'_>) {
        self.recorded_at = Some(retained.submitted_frames());
    }
}

impl ShadowInputs<'_, '_> {
    fn has_alpha_mask(&self) -> bool {
        let mut sets = self.batches.shadow_batch_sets();
        sets.any(|set| set.pipeline.blend_mode.needs_alpha_mask())
    }

    /// Whether a caster has shadow shaders of its own: they may read the time, buffers and rows that change each frame.
    fn has_custom_shadow(&self) -> bool {
        let meshes = &self.pipelines.meshes;
        let mut sets = self.batches.shadow_batch_sets();
        sets.any(|set| meshes.custom_shadow(set.pipeline.shader).is_some())
    }

    /// Whether passes of programs may write buffers or images that shadow maps are drawn from.
    fn is_written_by_passes(&self, has_alpha_mask: bool) -> bool {
        let Some(written) = self.retained.written_resources() else {
            return true;
        };
        let of_3d = |pass: &str| pass.starts_with("quadrille_3d::");
        let buffers = self.buffers.all().map(GpuBuffer::id);
        let maps = [self.atlas.id(), self.point_faces.id()];
        for (pass, id) in written {
            let is_own = of_3d(pass) || pass == SKINNING || DRAWING.contains(&pass);
            if !is_own && (buffers.contains(&id) || maps.contains(&id)) {
                return true;
            }
            // Cameras draw to images that masks sample, too.
            if has_alpha_mask && self.materials.has_texture(id) {
                return true;
            }
        }
        false
    }

    fn shared(&self, has_alpha_mask: bool) -> SharedInputs {
        SharedInputs {
            vertices: self.buffers.vertices.id(),
            indices: self.buffers.indices.id(),
            mesh_contents: self.instances.meshes().contents(),
            declarations: self.retained.declaration_version(),
            images: has_alpha_mask.then(|| self.images.changes()),
        }
    }

    /// Whether a deformed caster of a view is computed again.
    fn has_deformed_caster(&self, view: &CullViewRow, layers: &[u32]) -> bool {
        let computed = self.skins.computed().iter();
        computed
            .filter_map(|&entity| self.slots.get(entity).ok())
            .any(|slot| self.instances.is_in_view(*slot, view, layers))
    }
}

/// Decides which shadow maps are drawn in this frame. The others are neither culled for nor drawn.
pub(crate) fn cache_shadow_maps(
    mut shadows: ResMut<ShadowList>,
    mut cull: ResMut<CullList>,
    mut cache: ResMut<ShadowCache>,
    inputs: ShadowInputs,
) {
    let ShadowCache {
        atlas,
        point_faces,
        shared,
        recorded_at,
    } = &mut *cache;
    let frames = inputs.retained.submitted_frames();
    let took_effect = recorded_at.take().is_some_and(|at| at + 1 == frames);
    let has_alpha_mask = inputs.has_alpha_mask();
    let now = Some(inputs.shared(has_alpha_mask));
    let is_stale = shadows.draws.is_empty()
        || !took_effect
        || *shared != now
        || inputs.instances.caster_changes.is_any()
        || inputs.has_custom_shadow()
        || (has_alpha_mask && inputs.instances.has_changed_materials)
        || inputs.is_written_by_passes(has_alpha_mask);
    *shared = now;
    let ids = [inputs.atlas.id(), inputs.point_faces.id()];
    let texels = [inputs.atlas.extent(), inputs.point_faces.extent()]
        .map(|[width, height, _]| u64::from(width) * u64::from(height));
    for (image, id) in [&mut *atlas, &mut *point_faces].into_iter().zip(ids) {
        if is_stale || image.image != Some(id) {
            image.tiles.clear();
        }
        if !took_effect {
            image.image = None;
        }
    }
    let has_ranges = inputs.instances.has_ranges();
    let ShadowList { draws, rows } = &mut *shadows;
    for (draw, row) in draws.iter_mut().zip(rows.iter()) {
        let image = match draw.kind {
            ShadowMapKind::Atlas => &mut *atlas,
            ShadowMapKind::PointFaces => &mut *point_faces,
        };
        let view = (&row.clip_from_world, has_ranges);
        draw.is_drawn = image.update(draw, view, &cull, &inputs);
        if let Some(cull_row) = draw.cull_row.filter(|_| !draw.is_drawn) {
            cull.rows[cull_row as usize].disable();
        }
    }
    atlas.end(draws, ShadowMapKind::Atlas, (ids[0], texels[0]));
    point_faces.end(draws, ShadowMapKind::PointFaces, (ids[1], texels[1]));
}

impl CachedImage {
    /// Updates the key of a tile. Returns whether the tile must be drawn.
    fn update(
        &mut self,
        draw: &ShadowMapDraw,
        (clip_from_world, has_ranges): (&[f32; 16], bool),
        cull: &CullList,
        inputs: &ShadowInputs,
    ) -> bool {
        let at = draw.tile as usize;
        if at >= self.tiles.len() {
            self.tiles.resize(at + 1, None);
        }
        let tile = &mut self.tiles[at];
        let Some(cull_row) = draw.cull_row else {
            *tile = None;
            return true;
        };
        let row = cull.rows[cull_row as usize];
        let layers = inputs.instances.layer_bits(&row, cull);
        let view = row.without_frame_state(has_ranges);
        let is_same = tile.as_ref().is_some_and(|key| {
            key.clip_from_world == *clip_from_world
                && key.side == draw.side
                && key.clamps_depth == draw.clamps_depth
                && key.cull_row == view
                && key.layers == layers
        });
        if is_same
            && !inputs.instances.has_changed_caster(&view, layers)
            && !inputs.has_deformed_caster(&view, layers)
        {
            return false;
        }
        let mut kept_layers = tile.take().map(|key| key.layers).unwrap_or_default();
        kept_layers.clear();
        kept_layers.extend_from_slice(layers);
        *tile = Some(ShadowKey {
            clip_from_world: *clip_from_world,
            side: draw.side,
            clamps_depth: draw.clamps_depth,
            cull_row: view,
            layers: kept_layers,
        });
        true
    }

    /// Decides on the load operation for an image of `texels`, after all tiles of the frame.
    fn end(
        &mut self,
        draws: &[ShadowMapDraw],
        kind: ShadowMapKind,
        (id, texels): (ResourceId, u64),
    ) {
        let is_new = self.image.replace(id) != Some(id);
        let of_kind = || draws.iter().filter(|draw| draw.kind == kind);
        let drawn = || of_kind().filter(|draw| draw.is_drawn);
        let count = of_kind().count();
        let drawn_texels: u64 = drawn().map(|draw| u64::from(draw.side).pow(2)).sum();
        self.load = match drawn().count() {
            // A new image has no contents, and passes sample it.
            _ if is_new => ShadowLoad::ClearAll,
            0 => ShadowLoad::Nothing,
            drawn if drawn == count && 2 * drawn_texels > texels => ShadowLoad::ClearAll,
            _ => ShadowLoad::ClearTiles,
        };
        // Tiles are numbered in the order of the frame's maps; later ones are cleared or keep what no map names.
        self.tiles.truncate(count);
    }
}
