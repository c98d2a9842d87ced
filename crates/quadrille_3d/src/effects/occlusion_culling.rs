//! Two-pass occlusion culling with a depth pyramid: [`OcclusionCulling`](crate::OcclusionCulling) of a camera.
//!
//! ```text
//! cull_3d             instances in the frustum that were visible in the previous frame
//! opaque_3d           draws them
//! depth_pyramid_3d    mip chain of farthest depths (Hi-Z)
//! cull_late           tests all instances in the frustum against the pyramid
//! opaque_late         draws those that are not occluded and not drawn yet
//! ```
//! In views with a prepass, depth is that of the prepass: `prepass_depth_pyramid` and `prepass_cull_late` follow its early
//! phase, and `prepass_late` draws its late one, all before `opaque_3d`.
//!
//! Previous visibility only selects which of the two passes draws an instance, so stale bits (after a cut, or for
//! reused instance indices) never hide anything visible. Lighting, blended instances and shadows are unaffected.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::ecs::{AccessList, DepthAttachment as _, PassUse, RenderStartup, access_kind};
use quadrille::prelude::{
    ComputePipeline, ComputePipelineDesc, GpuDevice, GpuShader, IndirectRead, Recorder, Render,
    StorageRead, StorageReadWrite, StorageWrite,
};

use crate::passes::cull::{CullPush, CullTables3d};
use crate::passes::draw::{DrawParams3d, Geometry3d, IndirectDraws, Lighting3d, SceneTargets3d};
use crate::pipelines::MAX_WORKGROUP_COUNT_X;
use crate::prepare::targets::{DepthPyramids3d, SceneDepths, pyramid_desc};
use crate::scene::buffers::{
    LateDrawArgs, LateVisibleInstances, Materials3d, PreviousVisibility, Views3d,
};
use crate::scene::frame::{InitialColor, Scene3d, ScenePass, View3d};
use crate::scene::prepass::DrawnPrepasses;
use crate::schedule::Pass3dSystems;

/// Adds the late phase of cameras with [`OcclusionCulling`](crate::OcclusionCulling).
pub(crate) struct OcclusionCullingPlugin;

impl Plugin for OcclusionCullingPlugin {
    fn build(&self, app: &mut App) {
        let passes = (depth_pyramid_3d, cull_late, opaque_late).chain();
        app.add_systems(RenderStartup, init_occlusion_culling)
            .add_systems(Render, passes.in_set(Pass3dSystems::OpaqueLate));
    }
}

fn init_occlusion_culling(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(OcclusionCullingPipelines::new(&gpu)?);
    Ok(())
}

/// The pipelines of [`depth_pyramid_3d`] and [`cull_late`].
#[derive(Resource)]
pub struct OcclusionCullingPipelines {
    /// The first level, of depths with one sample.
    from_single_sampled: ComputePipeline,
    from_multisampled: ComputePipeline,
    /// Each further level.
    downsample: ComputePipeline,
    cull_late: ComputePipeline,
}

impl OcclusionCullingPipelines {
    fn new(gpu: &GpuDevice) -> Result<Self> {
        let source = include_str!("../../shaders/depth_pyramid.wgsl");
        let pyramid = GpuShader::wgsl("quadrille_3d/depth_pyramid.wgsl", source)?;
        let source = include_str!("../../shaders/cull.wgsl");
        let cull = GpuShader::wgsl("quadrille_3d/cull.wgsl", source)?;
        let make = |shader, name, entry| {
            let desc = ComputePipelineDesc::of(name, shader);
            gpu.compute_pipeline(&ComputePipelineDesc { entry, ..desc })
        };
        Ok(Self {
            from_single_sampled: make(&pyramid, "from_single_sampled", "from_single_sampled")?,
            from_multisampled: make(&pyramid, "from_multisampled", "from_multisampled")?,
            downsample: make(&pyramid, "downsample", "downsample")?,
            cull_late: make(&cull, "3d cull late", "main_late")?,
        })
    }
}

/// Draw arguments and visible instances of [`cull_late`].
#[derive(SystemParam)]
pub struct LateCulled3d<'w> {
    args: IndirectRead<'w, LateDrawArgs>,
    visible_instances: StorageRead<'w, LateVisibleInstances>,
}

impl LateCulled3d<'_> {
    pub(crate) fn indirect_draws(&self) -> IndirectDraws<'_> {
        IndirectDraws {
            args: self.args.any(),
            visible_instances: self.visible_instances.any(),
        }
    }
}

/// Returns the views with occlusion culling, each with the index of its depth pyramid and its late row in the list of
/// culled views.
pub(crate) fn views_with_late_phase(
    scene: &Scene3d,
    filter: impl Fn(&View3d) -> bool,
) -> impl Iterator<Item = (&View3d, usize, u32)> {
    let views = scene.views.iter().filter(move |view| filter(view));
    views.filter_map(|view| {
        let late = view.late?;
        Some((view, late.pyramid as usize, late.cull_row))
    })
}

/// Depths and depth pyramids of views.
#[derive(SystemParam)]
pub struct PyramidParams3d<'w> {
    depths: AccessList<'w, SceneDepths, access_kind::Sampled>,
    levels: AccessList<'w, DepthPyramids3d, access_kind::Sampled>,
    pyramids: AccessList<'w, DepthPyramids3d, access_kind::StorageWrite>,
    pipelines: Res<'w, OcclusionCullingPipelines>,
}

/// Builds the depth pyramids (Hi-Z) by downsampling to the farthest depth: one pass in the plan per mip level of each
/// camera with [`OcclusionCulling`](crate::OcclusionCulling).
pub fn depth_pyramid_3d(
    mut recorder: Recorder,
    params: PyramidParams3d,
    (scene, prepasses): (Res<Scene3d>, Res<DrawnPrepasses>),
) {
    for view in views_with_late_phase(&scene, |view| !prepasses.contains(view.images)) {
        params.build(&mut recorder, view);
    }
}

/// As [`depth_pyramid_3d`], of the depths of prepasses.
pub(crate) fn prepass_depth_pyramid(
    mut recorder: Recorder,
    params: PyramidParams3d,
    (scene, prepasses): (Res<Scene3d>, Res<DrawnPrepasses>),
) {
    for view in views_with_late_phase(&scene, |view| prepasses.contains(view.images)) {
        params.build(&mut recorder, view);
    }
}

impl PyramidParams3d<'_> {
    fn build(&self, recorder: &mut Recorder, (view, at, _): (&View3d, usize, u32)) {
        let (Some(depth), Some(from), Some(to)) = (
            self.depths.get(view.images as usize),
            self.levels.get(at),
            self.pyramids.get(at),
        ) else {
            return;
        };
        let first = to.mip(0);
        let mut pass = recorder.pass_in_step(
            view.queued.step,
            "depth_pyramid_3d",
            &[depth.as_declared(), first.as_declared()],
        );
        let (pipeline, binding) = match view.samples {
            1 => (&self.pipelines.from_single_sampled, "depths"),
            _ => (&self.pipelines.from_multisampled, "multisampled_depths"),
        };
        pass.compute(pipeline)
            .bind(binding, &depth)
            .bind("level", &first)
            .dispatch_invocations(first.extent());
        let [width, height] = view.size();
        for level in 1..pyramid_desc([width, height]).mip_levels {
            let (from, to) = (from.mip(level - 1), to.mip(level));
            let mut pass = recorder.pass_in_step(
                view.queued.step,
                "depth_pyramid_3d",
                &[from.as_declared(), to.as_declared()],
            );
            pass.compute(&self.pipelines.downsample)
                .bind("previous_level", &from)
                .bind("level", &to)
                .dispatch_invocations(to.extent());
        }
    }
}

/// Resources of [`cull_late`].
#[derive(SystemParam, PassBindings)]
pub struct LateCullParams3d<'w> {
    #[bind]
    cameras: StorageRead<'w, Views3d>,
    #[bind]
    materials: StorageRead<'w, Materials3d>,
    #[bind]
    draw_args: StorageWrite<'w, LateDrawArgs>,
    #[bind]
    visible_instances: StorageWrite<'w, LateVisibleInstances>,
    #[bind]
    visibility: StorageReadWrite<'w, PreviousVisibility>,
    tables: CullTables3d<'w>,
    pyramids: AccessList<'w, DepthPyramids3d, access_kind::Sampled>,
    pipelines: Res<'w, OcclusionCullingPipelines>,
}

/// Late phase of culling: tests all instances against the depth pyramid, and lists visible ones that
/// [`opaque_3d`](crate::systems::opaque_3d) did not draw. One pass in the plan per camera with
/// [`OcclusionCulling`](crate::OcclusionCulling).
pub fn cull_late(
    mut recorder: Recorder,
    params: LateCullParams3d,
    (scene, prepasses): (Res<Scene3d>, Res<DrawnPrepasses>),
    mut uses: Local<Vec<PassUse>>,
) {
    for view in views_with_late_phase(&scene, |view| !prepasses.contains(view.images)) {
        params.cull(&mut recorder, view, &mut uses);
    }
}

/// As [`cull_late`], of views with a prepass.
pub(crate) fn prepass_cull_late(
    mut recorder: Recorder,
    params: LateCullParams3d,
    (scene, prepasses): (Res<Scene3d>, Res<DrawnPrepasses>),
    mut uses: Local<Vec<PassUse>>,
) {
    for view in views_with_late_phase(&scene, |view| prepasses.contains(view.images)) {
        params.cull(&mut recorder, view, &mut uses);
    }
}

impl LateCullParams3d<'_> {
    fn cull(
        &self,
        recorder: &mut Recorder,
        (view, at, late_cull_row): (&View3d, usize, u32),
        uses: &mut Vec<PassUse>,
    ) {
        let batch_list = &*self.tables.batch_list;
        let Some(pyramid) = self.pyramids.get(at).filter(|_| batch_list.batches > 0) else {
            return;
        };
        uses.clear();
        self.tables.add_uses(uses);
        self.add_uses(uses);
        uses.push(pyramid.as_declared());
        let mut pass = recorder.pass_in_step(view.queued.step, "cull_late", uses);
        let mut compute = pass.compute(&self.pipelines.cull_late);
        compute
            .bind_all(&self.tables)
            .bind_all(self)
            .bind("pyramid", &pyramid)
            .push_bytes(bytemuck::bytes_of(&CullPush::new(
                batch_list,
                late_cull_row,
            )))
            .dispatch([
                batch_list.batches.min(MAX_WORKGROUP_COUNT_X),
                batch_list.batches.div_ceil(MAX_WORKGROUP_COUNT_X),
                1,
            ]);
    }
}

/// Draws the instances of [`cull_late`]: one pass in the plan per camera with
/// [`OcclusionCulling`](crate::OcclusionCulling).
pub fn opaque_late(
    mut recorder: Recorder,
    (geometry, indirect_draws): (Geometry3d, LateCulled3d),
    lighting: Lighting3d,
    targets: SceneTargets3d,
    draw_params: DrawParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for (view, _, late_cull_row) in views_with_late_phase(&draw_params.scene, |_| true) {
        let Some(images) = targets.of(view, ScenePass::OpaqueLate) else {
            continue;
        };
        uses.clear();
        images.add_color_uses(&mut uses);
        uses.push(images.depth.as_declared());
        geometry.add_uses(&mut uses);
        let indirect_draws = indirect_draws.indirect_draws();
        indirect_draws.add_uses(&mut uses);
        lighting.add_view_uses(view, &mut uses);
        let mut pass = recorder.pass_in_step(view.queued.step, "opaque_late", &uses);
        let attachments = (
            images.color(InitialColor::Keep),
            images.depth.layer(0).keep_depth(),
        );
        let mut rendering = pass.render(attachments);
        draw_params.draw_opaque(
            &mut rendering,
            (&geometry, &indirect_draws),
            &lighting,
            (view, late_cull_row),
        );
    }
}
