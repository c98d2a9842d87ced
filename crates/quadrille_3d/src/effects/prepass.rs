//! Prepasses: depth, normals and motion vectors before the opaque pass.
//!
//! ```text
//! prepass_3d          draws depth, normals, motion vectors and G-buffer; of views with occlusion culling, the early phase
//! prepass_late        late phase, of what the depth of the early one does not hide
//! copy_prepass_depths for readers
//! opaque_3d           begins with the depth, and passes the test where depth is equal; lights the G-buffer before
//! ```

mod background;
mod deferred;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, DepthAttachment as _, PassUse, Rendering, Table,
    access_kind,
};
use quadrille::prelude::{
    GpuDevice, Recorder, Render, RenderStartup, StorageRead, Uniform, Uploads,
};

use crate::camera_effect::ViewTransforms3d;
use crate::components::deferred::{DefaultOpaqueRendererMethod, DeferredPrepass};
use crate::components::prepass::{
    DepthPrepass, MotionVectorPrepass, NoBackgroundMotionVectors, NormalPrepass,
};
use crate::effects::contact_shadows::ContactShadowsPlugin;
use crate::effects::occlusion_culling::{
    LateCulled3d, prepass_cull_late, prepass_depth_pyramid, views_with_late_phase,
};
use crate::passes::draw::{
    Culled3d, DrawParams3d, Geometry3d, IndirectDraws, MaterialInputs3d, bind_samplers,
};
use crate::pipelines::{Pipelines3d, PrepassTarget};
use crate::prepare::targets::{
    GBuffers3d, PrepassDepths3d, PrepassMotionVectors3d, PrepassNormals3d, SceneDepths,
    prepare_targets,
};
use crate::scene::buffers::{Lightmaps3d, Materials3d, PreviousInstances3d, Views3d};
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::keys::{BlendMode, PipelineKey, RendererMethod};
use crate::scene::lists::BatchList;
use crate::scene::prepass::DrawnPrepasses;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
use crate::skin::PreviousPositions3d;
use crate::tables::table::{table_buffer, uniform_row};
use crate::tables::textures::Textures3d;

use background::BackgroundMotionPipelines;

/// Adds prepasses.
pub(crate) struct PrepassPlugin;

impl Plugin for PrepassPlugin {
    fn build(&self, app: &mut App) {
        let passes = (
            prepass_3d,
            prepass_depth_pyramid,
            prepass_cull_late,
            prepass_late,
            copy_prepass_depths,
        );
        app.add_plugins(ContactShadowsPlugin)
            .register_type::<DeferredPrepass>()
            .register_type::<DefaultOpaqueRendererMethod>()
            .register_type::<DepthPrepass>()
            .register_type::<NormalPrepass>()
            .register_type::<MotionVectorPrepass>()
            .register_type::<NoBackgroundMotionVectors>()
            .init_resource::<DefaultOpaqueRendererMethod>()
            .init_resource::<GBuffers3d>()
            .init_resource::<PrepassDepths3d>()
            .init_resource::<PrepassNormals3d>()
            .init_resource::<PrepassMotionVectors3d>()
            .init_resource::<DrawnPrepasses>()
            .add_systems(RenderStartup, init_prepass)
            .add_systems(
                Render,
                (
                    prepare_prepass_pipelines
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_targets),
                    deferred::warn_of_forward.in_set(Prepare3dSystems::Extract),
                    passes.chain().in_set(Pass3dSystems::Prepass),
                ),
            );
    }
}

/// Creates the table of previous transforms, and drops images of a lost device.
fn init_prepass(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
) -> Result {
    let previous = table_buffer(&gpu, "3d previous instances", 0)?;
    uploads.write_buffer(&previous, 0, &[0; 64]);
    commands.insert_resource(PreviousInstances3d(previous));
    commands.insert_resource(PrepassMotionVectors3d::default());
    commands.insert_resource(BackgroundMotionPipelines::new(&gpu)?);
    commands.insert_resource(GBuffers3d::default());
    commands.insert_resource(PrepassDepths3d::default());
    commands.insert_resource(PrepassNormals3d::default());
    Ok(())
}

/// Prepares the pipelines that the prepasses of the frame need.
fn prepare_prepass_pipelines(
    (scene, batches): (Res<Scene3d>, Res<BatchList>),
    mut drawn: ResMut<DrawnPrepasses>,
    mut pipelines: ResMut<Pipelines3d>,
    gpu: Res<GpuDevice>,
) -> Result {
    drawn.clear();
    for view in with_prepass(&scene) {
        let keys = batches.opaque_batch_sets();
        let keys = keys.filter_map(|batch_set| key_in_prepass(view, batch_set.pipeline));
        pipelines.meshes.prepare_prepass(&gpu, keys, target(view))?;
    }
    Ok(())
}

fn with_prepass(scene: &Scene3d) -> impl Iterator<Item = &View3d> {
    let views = scene.views.iter();
    views.filter(|view| view.queued.prepass.any())
}

fn target(view: &View3d) -> PrepassTarget {
    PrepassTarget {
        outputs: view.queued.prepass.outputs(),
        samples: view.samples,
    }
}

/// Key of a pipeline for a view; `None` if its meshes are not in the prepass. Alpha to coverage may cover other samples
/// in another pass, so depth of it could leave holes.
fn key_in_prepass(view: &View3d, key: PipelineKey) -> Option<PipelineKey> {
    let is_covered = key.blend_mode == BlendMode::AlphaToCoverage && view.queued.wanted_samples > 1;
    let is_apart = view.queued.transmissive.is_apart && key.is_transmissive;
    let renderer = match view.queued.prepass.defers(key) {
        true => RendererMethod::Deferred,
        false => RendererMethod::Auto,
    };
    let key = PipelineKey { renderer, ..key };
    (!is_covered && !is_apart).then(|| key.for_view(view.queued.inverts_culling))
}

/// Inputs of prepass shaders beside geometry.
#[derive(SystemParam, PassBindings)]
pub struct PrepassInputs3d<'w> {
    #[declared]
    views: Uniform<'w, Views3d>,
    #[bind]
    materials: StorageRead<'w, Materials3d>,
    #[bind]
    textures: Table<'w, Textures3d>,
    #[bind]
    lightmaps: StorageRead<'w, Lightmaps3d>,
    #[bind]
    previous_instances: StorageRead<'w, PreviousInstances3d>,
    #[bind]
    previous_positions: StorageRead<'w, PreviousPositions3d>,
    #[declared]
    transforms: Uniform<'w, ViewTransforms3d>,
    material_inputs: MaterialInputs3d<'w>,
}

/// Depth, normals, motion vectors and G-buffers of views, to draw to.
#[derive(SystemParam)]
pub struct PrepassTargets3d<'w> {
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
    normals: AccessList<'w, PrepassNormals3d, access_kind::ColorTarget>,
    motion_vectors: AccessList<'w, PrepassMotionVectors3d, access_kind::ColorTarget>,
    gbuffers: AccessList<'w, GBuffers3d, access_kind::ColorTarget>,
}

impl<'w> PrepassTargets3d<'w> {
    /// Normals, motion vectors and G-buffer of a view.
    fn colors(&self, view: &View3d) -> [Option<AnyAccess<'w>>; 3] {
        [
            view.prepass_normal().and_then(|at| self.normals.get(at)),
            view.prepass_motion_vectors()
                .and_then(|at| self.motion_vectors.get(at)),
            view.gbuffer().and_then(|at| self.gbuffers.get(at)),
        ]
    }
}

/// Phase of a prepass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Begins with cleared images.
    First,
    Late,
}

/// Resources of a phase.
struct PhaseDraws<'a, 'w> {
    phase: Phase,
    geometry: &'a Geometry3d<'w>,
    indirect_draws: IndirectDraws<'a>,
    inputs: &'a PrepassInputs3d<'w>,
    targets: &'a PrepassTargets3d<'w>,
    draw_params: &'a DrawParams3d<'w>,
    /// In the first phase.
    background: Option<&'a BackgroundMotionPipelines>,
}

impl PhaseDraws<'_, '_> {
    /// Records one pass of a view, with the draws of a row in the list of culled views. Returns whether it has its images.
    fn record(
        &self,
        recorder: &mut Recorder,
        (view, cull_row): (&View3d, u32),
        uses: &mut Vec<PassUse>,
    ) -> bool {
        let Some(depth) = self.targets.depths.get(view.images()) else {
            return false;
        };
        // In the order of `prepass_formats`.
        let colors = self.targets.colors(view);
        uses.clear();
        uses.push(depth.as_declared());
        uses.extend(colors.iter().flatten().map(AnyAccess::as_declared));
        self.geometry.add_uses(uses);
        self.indirect_draws.add_uses(uses);
        self.inputs.material_inputs.add_camera_uses(uses);
        self.inputs.add_uses(uses);
        let (name, depth) = match self.phase {
            Phase::First => (
                "prepass_3d",
                depth.layer(0).clear_depth(view.queued.clear_depth),
            ),
            Phase::Late => ("prepass_late", depth.layer(0).keep_depth()),
        };
        let colors = colors.iter().flatten().map(|image| match self.phase {
            Phase::First => image.clear([0.0; 4]),
            Phase::Late => image.keep(),
        });
        let mut attachments = colors.fuse();
        let mut next = || attachments.next();
        let mut pass = recorder.pass_in_step(view.step(), name, uses);
        let mut rendering = match (next(), next(), next()) {
            (None, _, _) => pass.render(depth),
            (Some(first), None, _) => pass.render((first, depth)),
            (Some(first), Some(second), None) => pass.render(([first, second], depth)),
            (Some(first), Some(second), Some(third)) => {
                pass.render(([first, second, third], depth))
            }
        };
        self.draw(&mut rendering, view, cull_row);
        if let Some(background) = self.background {
            background.draw(&mut rendering, view, &self.inputs.transforms);
        }
        true
    }

    fn draw(&self, rendering: &mut Rendering<'_>, view: &View3d, cull_row: u32) {
        let pipelines = &self.draw_params.pipelines.meshes;
        let later = view.pipeline_target();
        let with_keys = || {
            let batch_sets = self.draw_params.batch_list.opaque_batch_sets();
            batch_sets.filter_map(|it| Some((key_in_prepass(view, it.pipeline)?, it)))
        };
        let is_deferred = |key: &PipelineKey| key.renderer == RendererMethod::Deferred;
        // Deferred surfaces last: the G-buffer has none behind forward ones then.
        let forward = with_keys().filter(|(key, _)| !is_deferred(key));
        let deferred = with_keys().filter(|(key, _)| is_deferred(key));
        for (key, batch_set) in forward.chain(deferred) {
            // Depth of a mesh that is not drawn yet would hide what is behind it.
            let (Some(pipeline), Some(_)) = (
                pipelines.prepass(key, target(view)),
                pipelines.get(key, &later),
            ) else {
                continue;
            };
            rendering.pipeline(pipeline);
            self.geometry.bind_used(rendering);
            rendering
                .bind_used(&self.indirect_draws)
                .bind_used(self.inputs);
            bind_samplers(rendering, ["textures", "samplers"], &self.inputs.textures);
            let row = view.queued.row;
            if rendering.uses("camera") {
                rendering.bind_bytes("camera", &self.inputs.views, uniform_row(row));
            }
            if rendering.uses("motion_view") {
                let bytes = view.transforms_bytes();
                rendering.bind_bytes("motion_view", &self.inputs.transforms, bytes);
            }
            let of_material = (key.shader, Some(row));
            let inputs = &self.inputs.material_inputs;
            inputs.bind(rendering, self.draw_params, of_material);
            self.indirect_draws
                .draw(rendering, self.draw_params, cull_row, batch_set);
        }
    }
}

/// Draws depth, normals with [`NormalPrepass`], motion vectors with [`MotionVectorPrepass`] and the G-buffer with
/// [`DeferredPrepass`], of opaque and alpha mask meshes: one pass in the plan per view with a prepass.
pub fn prepass_3d(
    mut recorder: Recorder,
    (geometry, culled): (Geometry3d, Culled3d),
    (inputs, targets): (PrepassInputs3d, PrepassTargets3d),
    draw_params: DrawParams3d,
    mut drawn: ResMut<DrawnPrepasses>,
    background: Res<BackgroundMotionPipelines>,
    mut uses: Local<Vec<PassUse>>,
) {
    let draws = PhaseDraws {
        phase: Phase::First,
        geometry: &geometry,
        indirect_draws: culled.indirect_draws(),
        inputs: &inputs,
        targets: &targets,
        draw_params: &draw_params,
        background: Some(&background),
    };
    for view in with_prepass(&draw_params.scene) {
        let row = view.queued.cull_row;
        if draws.record(&mut recorder, (view, row), &mut uses) {
            drawn.add(view.images);
        }
    }
}

/// Draws the instances of [`prepass_cull_late`]: one pass in the plan per camera with a prepass and
/// [`OcclusionCulling`](crate::OcclusionCulling).
pub(crate) fn prepass_late(
    mut recorder: Recorder,
    (geometry, culled): (Geometry3d, LateCulled3d),
    (inputs, targets): (PrepassInputs3d, PrepassTargets3d),
    draw_params: DrawParams3d,
    drawn: Res<DrawnPrepasses>,
    mut uses: Local<Vec<PassUse>>,
) {
    let draws = PhaseDraws {
        phase: Phase::Late,
        geometry: &geometry,
        indirect_draws: culled.indirect_draws(),
        inputs: &inputs,
        targets: &targets,
        draw_params: &draw_params,
        background: None,
    };
    for (view, _, late_cull_row) in
        views_with_late_phase(&draw_params.scene, |view| drawn.contains(view.images))
    {
        draws.record(&mut recorder, (view, late_cull_row), &mut uses);
    }
}

/// Depths of prepasses: to copy to, and to clear.
type CopiedDepths<'w> = (
    AccessList<'w, PrepassDepths3d, access_kind::TransferWrite>,
    AccessList<'w, PrepassDepths3d, access_kind::DepthTarget>,
);

/// Copies the depth of views with [`DepthPrepass`], and clears the placeholders that shaders of materials read. The plan
/// has these passes only if another reads their results.
pub(crate) fn copy_prepass_depths(
    mut recorder: Recorder,
    depths: AccessList<SceneDepths, access_kind::TransferRead>,
    (copies, cleared): CopiedDepths,
    normals: AccessList<PrepassNormals3d, access_kind::ColorTarget>,
    all_motion_vectors: AccessList<PrepassMotionVectors3d, access_kind::ColorTarget>,
    (scene, drawn): (Res<Scene3d>, Res<DrawnPrepasses>),
) {
    for view in scene
        .views()
        .iter()
        .filter(|view| drawn.contains(view.images))
    {
        let copy = view.prepass_depth().and_then(|at| copies.get(at));
        if let (Some(from), Some(to)) = (depths.get(view.images()), copy) {
            let uses = [from.as_declared(), to.as_declared()];
            recorder
                .pass_in_step(view.step(), "copy prepass depth", &uses)
                .transfer()
                .copy_image(&from, &to);
        }
    }
    let Some(first) = scene
        .views()
        .first()
        .filter(|view| view.prepass.sampled.is_some())
    else {
        return;
    };
    let views = || scene.views().iter();
    let of_views = views()
        .filter(|view| view.prepass_depth().is_some())
        .count();
    for at in of_views..cleared.len() {
        if let Some(image) = cleared.get(at) {
            let uses = [image.as_declared()];
            let mut pass = recorder.pass_in_step(first.step(), "clear prepass depth", &uses);
            pass.render(image.layer(0).clear_depth(0.0));
        }
    }
    let with_normals = views().filter(|view| view.prepass_normal().is_some());
    let normals = (with_normals.count()..normals.len()).filter_map(|at| normals.get(at));
    let with_motion = views().filter(|view| view.prepass_motion_vectors().is_some());
    let motion_vectors = with_motion.count()..all_motion_vectors.len();
    let motion_vectors = motion_vectors.filter_map(|at| all_motion_vectors.get(at));
    for image in normals.chain(motion_vectors) {
        let uses = [image.as_declared()];
        let mut pass = recorder.pass_in_step(first.step(), "clear prepass colors", &uses);
        pass.render(image.clear([0.0; 4]));
    }
}
