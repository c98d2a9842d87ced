//! The passes that draw meshes, in their order: [`shadow_3d`], [`opaque_3d`], [`transparent_3d`].

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, DepthAttachment as _, PassUse, Rendering,
    access_kind,
};
use quadrille::prelude::{
    DepthTarget, GpuDevice, IndexRead, IndexType, IndirectRead, Recorder, Sampled, StorageRead,
    Table, Uniform, VertexRead,
};

use crate::bins::BatchSet;
use crate::brdf_luts::{DfgLut, LtcLut};
use crate::clusters::LightMasks3d;
use crate::cull::{DRAW_ARGS_BYTES, DrawArgs3d, VisibleInstances};
use crate::environment::Environments3d;
use crate::environment::maps::{Cubes3d, Volumes3d};
use crate::instances::{Indices3d, Instances3d, Vertices3d};
use crate::light_textures::LightTextures3d;
use crate::lightmap::Lightmaps3d;
use crate::material_row::Materials3d;
use crate::pipelines::Pipelines3d;
use crate::scene::{
    Lights3d, PipelineKey, Scene3d, ShadowMapKind, ShadowViews3d, TransparentDraw,
    TransparentInstances3d, View3d, Views3d,
};
use crate::shadow_maps::{PointShadowFaces, ShadowAtlas, ShadowMaps, TileGrid};
use crate::table::uniform_row;
use crate::targets::{SceneColors, SceneDepths, SceneMsaaColors, scene_formats};
use crate::textures::Textures3d;

/// What the passes draw, and with what.
#[derive(SystemParam)]
pub struct DrawParams3d<'w> {
    pub(crate) scene: Res<'w, Scene3d>,
    pub(crate) pipelines: Res<'w, Pipelines3d>,
    gpu: Res<'w, GpuDevice>,
}

/// The meshes that the passes draw.
#[derive(SystemParam)]
pub struct Geometry3d<'w> {
    vertices: VertexRead<'w, Vertices3d>,
    indices: IndexRead<'w, Indices3d>,
    instances: StorageRead<'w, Instances3d>,
}

/// What [`cull_3d`](crate::cull_3d) found: the draws of each view, and their instances.
#[derive(SystemParam)]
pub struct Culled3d<'w> {
    args: IndirectRead<'w, DrawArgs3d>,
    visible_instances: StorageRead<'w, VisibleInstances>,
}

/// What light depends on.
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

/// The images of views.
#[derive(SystemParam)]
pub struct ViewTargets3d<'w> {
    samples: AccessList<'w, SceneMsaaColors, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
}

impl<'w> ViewTargets3d<'w> {
    /// The colours and the depth of a view, with all their samples, for passes that draw to them
    /// between [`Pass3dSystems::OpaqueLate`](crate::Pass3dSystems::Behind) and [`transparent_3d`].
    pub fn of(&self, view: &View3d) -> Option<(AnyAccess<'w>, AnyAccess<'w>)> {
        let at = view.images();
        Some((self.samples.get(at)?, self.depths.get(at)?))
    }
}

impl DrawParams3d<'_> {
    /// Draws for a view what was found for one of the views that are culled for.
    pub(crate) fn draw_opaque(
        &self,
        rendering: &mut Rendering<'_>,
        (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
        lighting: &Lighting3d,
        (view, row): (&View3d, u32),
    ) {
        let formats = scene_formats(view.samples);
        for batch_set in self.scene.opaque_batch_sets() {
            let key = batch_set.pipeline.for_view(view.inverts_culling);
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

/// What says where meshes have holes.
#[derive(SystemParam)]
pub struct AlphaMaskParams3d<'w> {
    materials: StorageRead<'w, Materials3d>,
    textures: Table<'w, Textures3d>,
}

impl Geometry3d<'_> {
    pub(crate) fn add_uses(&self, uses: &mut Vec<PassUse>) {
        uses.extend([
            self.vertices.any().as_declared(),
            self.indices.any().as_declared(),
            self.instances.any().as_declared(),
        ]);
    }

    /// Binds it, once a pipeline is bound.
    fn bind(&self, rendering: &mut Rendering<'_>) {
        rendering
            .vertices(0, &self.vertices, 0)
            .indices(&self.indices, 0, IndexType::U32)
            .bind(0, &self.instances);
    }
}

/// Draws that the device found, and their instances.
pub(crate) struct IndirectDraws<'a> {
    pub(crate) args: AnyAccess<'a>,
    pub(crate) visible_instances: AnyAccess<'a>,
}

impl Culled3d<'_> {
    fn indirect_draws(&self) -> IndirectDraws<'_> {
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

    /// Draws what a view sees of the chunks of a pipeline, which is bound.
    fn draw(
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
                u64::from(view) * u64::from(draw_params.scene.batches) + u64::from(first);
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

    /// Binds it as a view sees it, once a pipeline is bound.
    fn bind(&self, rendering: &mut Rendering<'_>, pipelines: &Pipelines3d, view: &View3d) {
        rendering
            .bind_bytes(2, &self.views, uniform_row(view.row))
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

/// The pass that draws all shadow maps: one rendering to [`ShadowAtlas`] and one to
/// [`PointShadowFaces`], whatever the number of lights.
pub fn shadow_3d(
    mut recorder: Recorder,
    meshes: (Geometry3d, Culled3d),
    shadow_params: (Uniform<ShadowViews3d>, AlphaMaskParams3d),
    (flat, faces): (DepthTarget<ShadowAtlas>, DepthTarget<PointShadowFaces>),
    draw_params: DrawParams3d,
    maps: Res<ShadowMaps>,
    mut uses: Local<Vec<PassUse>>,
) {
    for kind in [ShadowMapKind::Atlas, ShadowMapKind::PointFaces] {
        let image = match kind {
            ShadowMapKind::Atlas => flat.any(),
            ShadowMapKind::PointFaces => faces.any(),
        };
        uses.clear();
        uses.extend([image.as_declared(), shadow_params.0.any().as_declared()]);
        uses.push(shadow_params.1.materials.any().as_declared());
        meshes.0.add_uses(&mut uses);
        let indirect_draws = meshes.1.indirect_draws();
        uses.extend(indirect_draws.uses());
        let mut pass = recorder.pass("shadow_3d", &uses);
        let mut rendering = pass.render(image.layer(0).clear_depth(0.0));
        let tiles = maps.tiles(kind);
        let indirect_draws = (&meshes.0, &indirect_draws);
        draw_shadows(
            &mut rendering,
            tiles,
            kind,
            &draw_params,
            indirect_draws,
            &shadow_params,
        );
    }
}

/// Draws all shadow maps of an image, pipeline by pipeline.
fn draw_shadows(
    rendering: &mut Rendering<'_>,
    tiles: TileGrid,
    kind: ShadowMapKind,
    draw_params: &DrawParams3d,
    (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
    (views, alpha_mask): &(Uniform<ShadowViews3d>, AlphaMaskParams3d),
) {
    let mut bound = None;
    for batch_set in draw_params.scene.shadow_batch_sets() {
        let PipelineKey {
            cull, blend_mode, ..
        } = batch_set.pipeline;
        let needs_alpha_mask = blend_mode.needs_alpha_mask();
        if bound != Some((cull, needs_alpha_mask)) {
            rendering.pipeline(draw_params.pipelines.shadow(cull, needs_alpha_mask));
            geometry.bind(rendering);
            rendering
                .bind(1, &indirect_draws.visible_instances)
                .bind(5, views);
            if needs_alpha_mask {
                rendering.bind(3, &alpha_mask.materials);
                rendering.table(1, &alpha_mask.textures);
            }
            bound = Some((cull, needs_alpha_mask));
        }
        for (row, shadow) in (0u32..).zip(&draw_params.scene.shadows) {
            let (Some([left, top]), Some(view)) = (tiles.corner(shadow.tile), shadow.cull_row)
            else {
                continue;
            };
            if shadow.kind != kind {
                continue;
            }
            let side = tiles.side;
            let push = [row, u32::from(shadow.clamps_depth)];
            rendering
                .viewport([left, top, side, side].map(|number| number as f32))
                .scissor([left, top, side, side])
                .push_bytes(bytemuck::bytes_of(&push));
            indirect_draws.draw(rendering, draw_params, view, batch_set);
        }
    }
}

/// The pass that draws all that hides what is behind it, lit and in shadow: one pass of the plan
/// for each view.
pub fn opaque_3d(
    mut recorder: Recorder,
    (geometry, culled_draws): (Geometry3d, Culled3d),
    lighting: Lighting3d,
    targets: ViewTargets3d,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let Some((color, depth)) = targets.of(view) else {
            continue;
        };
        uses.clear();
        uses.extend([color.as_declared(), depth.as_declared()]);
        geometry.add_uses(&mut uses);
        let indirect_draws = culled_draws.indirect_draws();
        uses.extend(indirect_draws.uses());
        lighting.add_uses(&mut uses);
        let mut pass = recorder.pass_in_step(view.step, "opaque_3d", &uses);
        let attachments = (
            color.clear([0.0; 4]),
            depth.layer(0).clear_depth(view.clear_depth),
        );
        let mut rendering = pass.render(attachments);
        draw_params.draw_opaque(
            &mut rendering,
            (&geometry, &indirect_draws),
            &lighting,
            (view, view.cull_row),
        );
    }
}

/// The pass that draws what is seen through, from back to front, and makes one sample of several:
/// one pass of the plan for each view that needs it.
pub fn transparent_3d(
    mut recorder: Recorder,
    (geometry, transparent_instances): (Geometry3d, StorageRead<TransparentInstances3d>),
    lighting: Lighting3d,
    targets: ViewTargets3d,
    resolved: AccessList<SceneColors, access_kind::ColorTarget>,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &draw_params.scene.views {
        let (Some((color, depth)), Some(resolved)) =
            (targets.of(view), resolved.get(view.images()))
        else {
            continue;
        };
        if view.transparent.is_empty() && view.samples == 1 {
            continue;
        }
        uses.clear();
        uses.extend([color.as_declared(), depth.as_declared()]);
        uses.push(transparent_instances.any().as_declared());
        geometry.add_uses(&mut uses);
        lighting.add_uses(&mut uses);
        let mut attachment = color.keep();
        if view.samples > 1 {
            uses.push(resolved.as_declared());
            attachment = attachment.resolve_to(&resolved);
        }
        let mut pass = recorder.pass_in_step(view.step, "transparent_3d", &uses);
        let mut rendering = pass.render((attachment, depth.layer(0).keep_depth()));
        let draws = &draw_params.scene.draws
            [view.transparent.start as usize..view.transparent.end as usize];
        let formats = scene_formats(view.samples);
        let mut bound: Option<PipelineKey> = None;
        for draw in draws {
            let key = draw.key.pipeline.for_view(view.inverts_culling);
            if bound != Some(key) {
                let Some(pipeline) = draw_params.pipelines.meshes.get(key, &formats) else {
                    continue;
                };
                rendering.pipeline(pipeline);
                geometry.bind(&mut rendering);
                rendering.bind(1, &transparent_instances);
                lighting.bind(&mut rendering, &draw_params.pipelines, view);
                bound = Some(key);
            }
            draw_mesh(&mut rendering, draw);
        }
    }
}

fn draw_mesh(rendering: &mut Rendering<'_>, draw: &TransparentDraw) {
    let mesh = &draw.key.mesh;
    rendering.draw_indexed(
        mesh.first_index..mesh.first_index + mesh.index_count,
        mesh.base_vertex,
        draw.transparent_instances.clone(),
    );
}
