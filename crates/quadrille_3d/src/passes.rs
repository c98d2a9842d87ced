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

use crate::bins::Group;
use crate::clusters::LightMasks3d;
use crate::cull::{DRAW_BYTES, DrawArgs3d, Seen3d};
use crate::environment::Environments3d;
use crate::environment::maps::{Cubes3d, Volumes3d};
use crate::instances::{Indices3d, Instances3d, Vertices3d};
use crate::light_textures::LightTextures3d;
use crate::lightmap::Lightmaps3d;
use crate::lobe_tables::{BentLobes3d, Dfg3d};
use crate::material_row::Materials3d;
use crate::pipelines::Pipelines3d;
use crate::scene::{
    AtlasKind, Draw3d, Lights3d, PipelineKey, Scene3d, ShadowViews3d, Sorted3d, View3d, Views3d,
};
use crate::shadow_maps::{FaceShadows3d, FlatShadows3d, ShadowMaps, Tiles};
use crate::table::uniform_row;
use crate::targets::{SceneColors, SceneDepths, SceneSamples, scene_formats};
use crate::textures::Textures3d;

/// What the passes draw, and with what.
#[derive(SystemParam)]
pub struct Drawn3d<'w> {
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
    seen: StorageRead<'w, Seen3d>,
}

/// What light depends on.
#[derive(SystemParam)]
pub struct Lighting3d<'w> {
    views: Uniform<'w, Views3d>,
    materials: StorageRead<'w, Materials3d>,
    lights: StorageRead<'w, Lights3d>,
    shadow_views: Uniform<'w, ShadowViews3d>,
    flat_shadows: Sampled<'w, FlatShadows3d>,
    face_shadows: Sampled<'w, FaceShadows3d>,
    dfg: Sampled<'w, Dfg3d>,
    bent_lobes: Sampled<'w, BentLobes3d>,
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
    samples: AccessList<'w, SceneSamples, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
}

impl<'w> ViewTargets3d<'w> {
    /// The colours and the depth of a view, with all their samples, for passes that draw to them
    /// between [`Pass3dSystems::Behind`](crate::Pass3dSystems::Behind) and [`transparent_3d`].
    pub fn of(&self, view: &View3d) -> Option<(AnyAccess<'w>, AnyAccess<'w>)> {
        let at = view.images();
        Some((self.samples.get(at)?, self.depths.get(at)?))
    }
}

impl Drawn3d<'_> {
    /// Draws for a view what was found for one of the views that are culled for.
    pub(crate) fn draw_opaque(
        &self,
        rendering: &mut Rendering<'_>,
        (geometry, found): (&Geometry3d, &Found<'_>),
        lighting: &Lighting3d,
        (view, row): (&View3d, u32),
    ) {
        let formats = scene_formats(view.samples);
        for group in self.scene.opaque_groups() {
            let key = group.pipeline.of_view(view.inverts_culling);
            let Some(pipeline) = self.pipelines.meshes.get(key, &formats) else {
                continue;
            };
            rendering.pipeline(pipeline);
            geometry.bind(rendering);
            rendering.bind(1, &found.seen);
            lighting.bind(rendering, &self.pipelines, view);
            found.draw(rendering, self, row, group);
        }
    }
}

/// What says where meshes have holes.
#[derive(SystemParam)]
pub struct Holes3d<'w> {
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
pub(crate) struct Found<'a> {
    pub(crate) args: AnyAccess<'a>,
    pub(crate) seen: AnyAccess<'a>,
}

impl Culled3d<'_> {
    fn found(&self) -> Found<'_> {
        Found {
            args: self.args.any(),
            seen: self.seen.any(),
        }
    }
}

impl Found<'_> {
    pub(crate) fn uses(&self) -> [PassUse; 2] {
        [self.args.as_declared(), self.seen.as_declared()]
    }

    /// Draws what a view sees of the chunks of a pipeline, which is bound.
    fn draw(&self, rendering: &mut Rendering<'_>, drawn: &Drawn3d, view: u32, group: &Group) {
        let most = drawn.gpu.limits().max_draw_indirect_count.max(1);
        let chunks = &group.chunks;
        for first in chunks.clone().step_by(most as usize) {
            let place = u64::from(view) * u64::from(drawn.scene.chunks) + u64::from(first);
            let count = most.min(chunks.end - first);
            rendering.draw_indexed_indirect(&self.args, place * DRAW_BYTES, count);
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
            self.flat_shadows.any().as_declared(),
            self.face_shadows.any().as_declared(),
            self.dfg.any().as_declared(),
            self.bent_lobes.any().as_declared(),
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
            .bind(6, &self.flat_shadows)
            .bind(7, &self.face_shadows)
            .sampler(8, &pipelines.shadow_sampler)
            .bind(9, &self.dfg)
            .bind(20, &self.bent_lobes)
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

/// The pass that draws all shadow maps: one rendering to [`FlatShadows3d`] and one to
/// [`FaceShadows3d`], whatever the number of lights.
pub fn shadow_3d(
    mut recorder: Recorder,
    meshes: (Geometry3d, Culled3d),
    lit: (Uniform<ShadowViews3d>, Holes3d),
    (flat, faces): (DepthTarget<FlatShadows3d>, DepthTarget<FaceShadows3d>),
    drawn: Drawn3d,
    maps: Res<ShadowMaps>,
    mut uses: Local<Vec<PassUse>>,
) {
    for kind in [AtlasKind::Flat, AtlasKind::Face] {
        let image = match kind {
            AtlasKind::Flat => flat.any(),
            AtlasKind::Face => faces.any(),
        };
        uses.clear();
        uses.extend([image.as_declared(), lit.0.any().as_declared()]);
        uses.push(lit.1.materials.any().as_declared());
        meshes.0.add_uses(&mut uses);
        let found = meshes.1.found();
        uses.extend(found.uses());
        let mut pass = recorder.pass("shadow_3d", &uses);
        let mut rendering = pass.render(image.layer(0).clear_depth(0.0));
        let tiles = maps.tiles(kind);
        let found = (&meshes.0, &found);
        draw_shadows(&mut rendering, tiles, kind, &drawn, found, &lit);
    }
}

/// Draws all shadow maps of an image, pipeline by pipeline.
fn draw_shadows(
    rendering: &mut Rendering<'_>,
    tiles: Tiles,
    kind: AtlasKind,
    drawn: &Drawn3d,
    (geometry, found): (&Geometry3d, &Found<'_>),
    (views, holes): &(Uniform<ShadowViews3d>, Holes3d),
) {
    let mut bound = None;
    for group in drawn.scene.shadow_groups() {
        let PipelineKey { cull, mix, .. } = group.pipeline;
        let has_holes = mix.has_holes();
        if bound != Some((cull, has_holes)) {
            rendering.pipeline(drawn.pipelines.shadow(cull, has_holes));
            geometry.bind(rendering);
            rendering.bind(1, &found.seen).bind(5, views);
            if has_holes {
                rendering.bind(3, &holes.materials);
                rendering.table(1, &holes.textures);
            }
            bound = Some((cull, has_holes));
        }
        for (row, shadow) in (0u32..).zip(&drawn.scene.shadows) {
            let (Some([left, top]), Some(view)) = (tiles.corner(shadow.tile), shadow.culled) else {
                continue;
            };
            if shadow.atlas != kind {
                continue;
            }
            let side = tiles.side;
            let push = [row, u32::from(shadow.clamps_depth)];
            rendering
                .viewport([left, top, side, side].map(|number| number as f32))
                .scissor([left, top, side, side])
                .push_bytes(bytemuck::bytes_of(&push));
            found.draw(rendering, drawn, view, group);
        }
    }
}

/// The pass that draws all that hides what is behind it, lit and in shadow: one pass of the plan
/// for each view.
pub fn opaque_3d(
    mut recorder: Recorder,
    (geometry, culled): (Geometry3d, Culled3d),
    lighting: Lighting3d,
    targets: ViewTargets3d,
    drawn: Drawn3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &drawn.scene.views {
        let Some((color, depth)) = targets.of(view) else {
            continue;
        };
        uses.clear();
        uses.extend([color.as_declared(), depth.as_declared()]);
        geometry.add_uses(&mut uses);
        let found = culled.found();
        uses.extend(found.uses());
        lighting.add_uses(&mut uses);
        let mut pass = recorder.pass_in_step(view.step, "opaque_3d", &uses);
        let attachments = (color.clear([0.0; 4]), depth.layer(0).clear_depth(view.far));
        let mut rendering = pass.render(attachments);
        drawn.draw_opaque(
            &mut rendering,
            (&geometry, &found),
            &lighting,
            (view, view.culled),
        );
    }
}

/// The pass that draws what is seen through, from back to front, and makes one sample of several:
/// one pass of the plan for each view that needs it.
pub fn transparent_3d(
    mut recorder: Recorder,
    (geometry, sorted): (Geometry3d, StorageRead<Sorted3d>),
    lighting: Lighting3d,
    targets: ViewTargets3d,
    resolved: AccessList<SceneColors, access_kind::ColorTarget>,
    drawn: Drawn3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in &drawn.scene.views {
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
        uses.push(sorted.any().as_declared());
        geometry.add_uses(&mut uses);
        lighting.add_uses(&mut uses);
        let mut attachment = color.keep();
        if view.samples > 1 {
            uses.push(resolved.as_declared());
            attachment = attachment.resolve_to(&resolved);
        }
        let mut pass = recorder.pass_in_step(view.step, "transparent_3d", &uses);
        let mut rendering = pass.render((attachment, depth.layer(0).keep_depth()));
        let draws =
            &drawn.scene.draws[view.transparent.start as usize..view.transparent.end as usize];
        let formats = scene_formats(view.samples);
        let mut bound: Option<PipelineKey> = None;
        for draw in draws {
            let key = draw.key.pipeline.of_view(view.inverts_culling);
            if bound != Some(key) {
                let Some(pipeline) = drawn.pipelines.meshes.get(key, &formats) else {
                    continue;
                };
                rendering.pipeline(pipeline);
                geometry.bind(&mut rendering);
                rendering.bind(1, &sorted);
                lighting.bind(&mut rendering, &drawn.pipelines, view);
                bound = Some(key);
            }
            draw_mesh(&mut rendering, draw);
        }
    }
}

fn draw_mesh(rendering: &mut Rendering<'_>, draw: &Draw3d) {
    let mesh = &draw.key.mesh;
    rendering.draw_indexed(
        mesh.first_index..mesh.first_index + mesh.index_count,
        mesh.base_vertex,
        draw.sorted.clone(),
    );
}
