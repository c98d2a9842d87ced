//! Shared parameters of passes that draw meshes.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, PassUse, Rendering, access_kind};
use quadrille::prelude::{
    GpuDevice, IndexRead, IndexType, IndirectRead, Sampled, StorageRead, Table, Uniform, VertexRead,
};

use crate::environment::Environments3d;
use crate::environment::maps::{Cubes3d, Volumes3d};
use crate::pipelines::Pipelines3d;
use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas};
use crate::prepare::targets::{SceneDepths, SceneMsaaColors};
use crate::scene::buffers::{
    DrawArgs3d, Indices3d, Instances3d, LightMasks3d, LightTextures3d, Lightmaps3d, Lights3d,
    Materials3d, ShadowViews3d, Vertices3d, Views3d, VisibleInstances,
};
use crate::scene::cull_view::DRAW_ARGS_BYTES;
use crate::scene::formats::scene_formats;
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::lists::{BatchList, BatchSet, ShadowList, TransparentList};
use crate::tables::brdf_luts::{DfgLut, LtcLut};
use crate::tables::table::uniform_row;
use crate::tables::textures::Textures3d;

/// Views, lists and pipelines.
#[derive(SystemParam)]
pub struct DrawParams3d<'w> {
    pub(crate) scene: Res<'w, Scene3d>,
    pub(crate) batch_list: Res<'w, BatchList>,
    pub(crate) shadow_list: Res<'w, ShadowList>,
    pub(crate) transparent_list: Res<'w, TransparentList>,
    pub(crate) pipelines: Res<'w, Pipelines3d>,
    gpu: Res<'w, GpuDevice>,
}

/// Geometry: vertices, indices and instances.
#[derive(SystemParam)]
pub struct Geometry3d<'w> {
    vertices: VertexRead<'w, Vertices3d>,
    indices: IndexRead<'w, Indices3d>,
    instances: StorageRead<'w, Instances3d>,
}

/// Output of [`cull_3d`](crate::cull_3d): indirect draws of each view, and their instances.
#[derive(SystemParam)]
pub struct Culled3d<'w> {
    args: IndirectRead<'w, DrawArgs3d>,
    visible_instances: StorageRead<'w, VisibleInstances>,
}

/// Inputs of lighting.
#[derive(SystemParam)]
pub struct Lighting3d<'w> {
    views: Uniform<'w, Views3d>,
    materials: StorageRead<'w, Materials3d>,
    lights: StorageRead<'w, Lights3d>,
    shadow_views: Uniform<'w, ShadowViews3d>,
    shadow_atlas: Sampled<'w, ShadowAtlas>,
    point_shadow_faces: Sampled<'w, PointShadowFaces>,
    dfg: Sampled<'w, DfgLut>,
    ltc_lut: Sampled<'w, LtcLut>,
    light_masks: StorageRead<'w, LightMasks3d>,
    textures: Table<'w, Textures3d>,
    environments: StorageRead<'w, Environments3d>,
    cubes: Table<'w, Cubes3d>,
    volumes: Table<'w, Volumes3d>,
    lightmaps: StorageRead<'w, Lightmaps3d>,
    light_textures: StorageRead<'w, LightTextures3d>,
}

/// Color and depth images of views.
#[derive(SystemParam)]
pub struct ViewTargets3d<'w> {
    samples: AccessList<'w, SceneMsaaColors, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
}

impl<'w> ViewTargets3d<'w> {
    /// Returns the (multisampled) color and depth of a view, for passes that draw to them between
    /// [`Pass3dSystems::OpaqueLate`](crate::Pass3dSystems::OpaqueLate) and [`transparent_3d`](crate::transparent_3d).
    pub fn of(&self, view: &View3d) -> Option<(AnyAccess<'w>, AnyAccess<'w>)> {
        let at = view.images();
        Some((self.samples.get(at)?, self.depths.get(at)?))
    }
}

impl DrawParams3d<'_> {
    /// Records the indirect draws of a culled view (`cull_row`) for a view.
    pub(crate) fn draw_opaque(
        &self,
        rendering: &mut Rendering<'_>,
        (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
        lighting: &Lighting3d,
        (view, row): (&View3d, u32),
    ) {
        let formats = scene_formats(view.samples);
        for batch_set in self.batch_list.opaque_batch_sets() {
            let key = batch_set.pipeline.for_view(view.queued.inverts_culling);
            let Some(pipeline) = self.pipelines.meshes.get(key, &formats) else {
                continue;
            };
            rendering.pipeline(pipeline);
            geometry.bind(rendering);
            rendering.bind(1, &indirect_draws.visible_instances);
            lighting.bind(rendering, &self.pipelines, view);
            indirect_draws.draw(rendering, self, row, batch_set);
        }
    }
}

impl Geometry3d<'_> {
    pub(crate) fn add_uses(&self, uses: &mut Vec<PassUse>) {
        uses.extend([
            self.vertices.any().as_declared(),
            self.indices.any().as_declared(),
            self.instances.any().as_declared(),
        ]);
    }

    /// Binds the geometry. A pipeline must be bound.
    pub(crate) fn bind(&self, rendering: &mut Rendering<'_>) {
        rendering
            .vertices(0, &self.vertices, 0)
            .indices(&self.indices, 0, IndexType::U32)
            .bind(0, &self.instances);
    }
}

/// Indirect draws and their instances.
pub(crate) struct IndirectDraws<'a> {
    pub(crate) args: AnyAccess<'a>,
    pub(crate) visible_instances: AnyAccess<'a>,
}

impl Culled3d<'_> {
    pub(crate) fn indirect_draws(&self) -> IndirectDraws<'_> {
        IndirectDraws {
            args: self.args.any(),
            visible_instances: self.visible_instances.any(),
        }
    }
}

impl IndirectDraws<'_> {
    pub(crate) fn uses(&self) -> [PassUse; 2] {
        [
            self.args.as_declared(),
            self.visible_instances.as_declared(),
        ]
    }

    /// Draws a batch set for a culled view. The pipeline must be bound.
    pub(crate) fn draw(
        &self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d,
        view: u32,
        batch_set: &BatchSet,
    ) {
        let most = draw_params.gpu.limits().max_draw_indirect_count.max(1);
        let batches = &batch_set.batches;
        for first in batches.clone().step_by(most as usize) {
            let first_draw =
                u64::from(view) * u64::from(draw_params.batch_list.batches) + u64::from(first);
            let count = most.min(batches.end - first);
            rendering.draw_indexed_indirect(&self.args, first_draw * DRAW_ARGS_BYTES, count);
        }
    }
}

impl Lighting3d<'_> {
    pub(crate) fn add_uses(&self, uses: &mut Vec<PassUse>) {
        uses.extend([
            self.views.any().as_declared(),
            self.materials.any().as_declared(),
            self.lights.any().as_declared(),
            self.shadow_views.any().as_declared(),
            self.shadow_atlas.any().as_declared(),
            self.point_shadow_faces.any().as_declared(),
            self.dfg.any().as_declared(),
            self.ltc_lut.any().as_declared(),
            self.light_masks.any().as_declared(),
            self.environments.any().as_declared(),
            self.lightmaps.any().as_declared(),
            self.light_textures.any().as_declared(),
        ]);
    }

    /// Binds the lighting inputs for a view. A pipeline must be bound.
    pub(crate) fn bind(
        &self,
        rendering: &mut Rendering<'_>,
        pipelines: &Pipelines3d,
        view: &View3d,
    ) {
        rendering
            .bind_bytes(2, &self.views, uniform_row(view.queued.row))
            .bind(3, &self.materials)
            .bind(4, &self.lights)
            .bind(5, &self.shadow_views)
            .bind(6, &self.shadow_atlas)
            .bind(7, &self.point_shadow_faces)
            .sampler(8, &pipelines.shadow_sampler)
            .bind(9, &self.dfg)
            .bind(20, &self.ltc_lut)
            .sampler(19, &pipelines.clamped_sampler)
            .bind(10, &self.light_masks)
            .bind(16, &self.environments)
            .bind(17, &self.lightmaps)
            .bind(18, &self.light_textures)
            .table(1, &self.textures)
            .table(2, &self.cubes)
            .table(3, &self.volumes);
    }
}
