//! The last pass, [`gizmos_3d`]: lines of `bevy_gizmos` and wireframes.

use bevy_app::{App, Plugin};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::{Pod, Zeroable};
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, DepthAttachment as _, RenderStartup, access_kind,
};
use quadrille::prelude::{
    GpuDevice, GpuImage, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, ImageDesc, Recorder,
    Render, VertexRead,
};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::pipeline::{Blend, DepthState};
use quadrille_content::lines::{GizmoLineBatches, GizmoLines, Line};
use quadrille_content::views::{CameraTargets, composite_pipeline};
use quadrille_content::warnings::RateLimitedWarnings;

use crate::effects::wireframe::{
    WireframeDraw, WireframeGeometry3d, WireframePipelines, Wireframes, draw_wireframes,
};
use crate::passes::composite::draw_view;
use crate::prepare::targets::{SceneDepths, take};
use crate::scene::formats::COLOR;
use crate::scene::frame::{Scene3d, View3d};
use crate::scene::lists::{ViewMap, ViewRows};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds gizmos, including wireframes.
pub(crate) struct Gizmos3dPlugin;

impl Plugin for Gizmos3dPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<GizmoColors>()
            .init_resource::<GizmoMsaaColors>()
            .init_resource::<GizmoViews>()
            .add_systems(RenderStartup, init_gizmos)
            .add_systems(
                Render,
                (
                    prepare_gizmos.in_set(Prepare3dSystems::PrepareEffects),
                    gizmos_3d.in_set(Pass3dSystems::Gizmos),
                ),
            );
    }
}

/// Creates the pipelines, and drops the images of a lost device.
fn init_gizmos(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(GizmoPipelines3d::new(&gpu)?);
    commands.insert_resource(GizmoColors::default());
    commands.insert_resource(GizmoMsaaColors::default());
    Ok(())
}

/// Resolved lines per view: display-referred, premultiplied alpha.
#[derive(Resource, Default, Deref)]
pub struct GizmoColors(Vec<GpuImage>);

/// Lines per view with the samples of [`SceneDepths`]; for single-sampled views the images of [`GizmoColors`].
#[derive(Resource, Default, Deref)]
pub struct GizmoMsaaColors(Vec<GpuImage>);

/// Index in [`GizmoColors`] and [`GizmoMsaaColors`] by view, for views with lines.
#[derive(Resource, Default)]
pub(crate) struct GizmoViews(ViewMap<u32>);

/// Pipelines of [`gizmos_3d`].
#[derive(Resource)]
pub struct GizmoPipelines3d {
    lines: GraphicsPipeline,
    wireframes: WireframePipelines,
    composite: GraphicsPipeline,
}

impl GizmoPipelines3d {
    fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../shaders/gizmos.wgsl");
        let lines = GpuShader::wgsl("quadrille_3d/gizmos.wgsl", source)?;
        Ok(Self {
            wireframes: WireframePipelines::new(gpu)?,
            lines: gpu.graphics_pipeline(&GraphicsPipelineDesc {
                vertex_buffers: vec![Line::layout()],
                blend: Blend::Alpha,
                depth: Some(DepthState::GREATER),
                ..GraphicsPipelineDesc::of("3d gizmos", &lines)
            })?,
            composite: composite_pipeline(gpu, "3d gizmos composite", Blend::Premultiplied)?,
        })
    }
}

/// Creates or reuses the images of views with lines.
fn prepare_gizmos(
    (scene, wireframes): (Res<Scene3d>, Res<Wireframes>),
    sets: Res<GizmoLineBatches>,
    mut views: ResMut<GizmoViews>,
    (mut colors, mut samples): (ResMut<GizmoColors>, ResMut<GizmoMsaaColors>),
    gpu: Res<GpuDevice>,
    warnings: Res<RateLimitedWarnings>,
) {
    let mut old = (
        std::mem::take(&mut colors.0),
        std::mem::take(&mut samples.0),
    );
    views.0.clear();
    for view in &scene.views {
        if wireframes.seen_by(view).is_empty()
            && sets.visible_in(&view.queued.layers).next().is_none()
        {
            continue;
        }
        let [width, height] = view.size();
        let color = ImageDesc::color_target("3d gizmos", [width, height], COLOR).transient();
        let sampled = ImageDesc {
            samples: view.samples,
            ..ImageDesc::color_target("3d multisampled gizmos", [width, height], COLOR).transient()
        };
        let made = take(&gpu, &mut old.0, &color).and_then(|color| {
            let sampled = match view.samples {
                1 => color.clone(),
                _ => take(&gpu, &mut old.1, &sampled)?,
            };
            Ok((color, sampled))
        });
        match made {
            Ok((color, sampled)) => {
                views.0.insert(view.queued.row, colors.0.len() as u32);
                colors.0.push(color);
                samples.0.push(sampled);
            }
            Err(error) => warnings.warn_message(|| format!("gizmos in 3D are not drawn: {error}")),
        }
    }
}

/// Push constants of the line shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/gizmos.wgsl", "Push")]
pub(crate) struct LinesPush {
    clip_from_world: [f32; 16],
    size: [f32; 2],
    depth_bias: f32,
    perspective: f32,
}

/// Images of a view.
struct GizmoImages<'w> {
    color: AnyAccess<'w>,
    color_input: AnyAccess<'w>,
    samples: AnyAccess<'w>,
    depth: AnyAccess<'w>,
    target: AnyAccess<'w>,
}

/// Render targets of [`gizmos_3d`].
#[derive(bevy_ecs::system::SystemParam)]
pub struct GizmoTargets3d<'w> {
    colors: AccessList<'w, GizmoColors, access_kind::ColorTarget>,
    samples: AccessList<'w, GizmoMsaaColors, access_kind::ColorTarget>,
    color_input: AccessList<'w, GizmoColors, access_kind::Sampled>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
    targets: AccessList<'w, CameraTargets, access_kind::ColorTarget>,
    views: Res<'w, GizmoViews>,
    rows: Res<'w, ViewRows>,
    wireframes: Res<'w, Wireframes>,
}

impl<'w> GizmoTargets3d<'w> {
    fn of(&self, view: &View3d) -> Option<GizmoImages<'w>> {
        let at = *self.views.0.get(view.queued.row)? as usize;
        Some(GizmoImages {
            color: self.colors.get(at)?,
            color_input: self.color_input.get(at)?,
            samples: self.samples.get(at)?,
            depth: self.depths.get(view.images())?,
            target: self.targets.get(view.target())?,
        })
    }
}

/// Draws gizmo lines and wireframes ([`wireframe`](crate::wireframe)), depth-tested against the scene. It runs after
/// tone mapping, so that colors are display-referred: two passes in the plan per view with lines.
pub fn gizmos_3d(
    mut recorder: Recorder,
    (lines, edges): (VertexRead<GizmoLines>, WireframeGeometry3d),
    targets: GizmoTargets3d,
    scene: Res<Scene3d>,
    sets: Res<GizmoLineBatches>,
    pipelines: Res<GizmoPipelines3d>,
) {
    for view in scene.views() {
        if let Some(images) = targets.of(view) {
            draw_lines(
                &mut recorder,
                (view, &targets.rows),
                (&images, targets.wireframes.seen_by(view)),
                (&lines, &edges),
                &sets,
                &pipelines,
            );
            composite_over(&mut recorder, view, &images, &pipelines.composite);
        }
    }
}

fn draw_lines(
    recorder: &mut Recorder,
    (view, rows): (&View3d, &ViewRows),
    (images, wireframes): (&GizmoImages<'_>, &[WireframeDraw]),
    (lines, edges): (&VertexRead<GizmoLines>, &WireframeGeometry3d),
    sets: &GizmoLineBatches,
    pipelines: &GizmoPipelines3d,
) {
    let GizmoImages {
        color,
        samples,
        depth,
        ..
    } = images;
    let mut uses = vec![samples.as_declared(), depth.as_declared()];
    let has_lines = sets.visible_in(&view.queued.layers).next().is_some();
    uses.extend(has_lines.then(|| lines.any().as_declared()));
    if !wireframes.is_empty() {
        edges.add_uses(&mut uses);
    }
    let mut attachment = samples.clear([0.0; 4]);
    if view.samples > 1 {
        uses.push(color.as_declared());
        attachment = attachment.resolve_to(color);
    }
    let [width, height] = view.size();
    let mut pass = recorder.pass_in_step(view.queued.step, "gizmos_3d", &uses);
    let mut rendering = pass.render((attachment, depth.layer(0).keep_depth()));
    let clip_from_world = rows.rows[view.queued.row as usize].clip_from_world;
    let size = [width as f32, height as f32];
    draw_wireframes(
        &mut rendering,
        wireframes,
        edges,
        (clip_from_world, size),
        &pipelines.wireframes,
    );
    if has_lines {
        rendering.pipeline(&pipelines.lines).vertices(0, lines, 0);
    }
    for set in sets.visible_in(&view.queued.layers) {
        let push = LinesPush {
            clip_from_world,
            size,
            depth_bias: set.depth_bias,
            perspective: f32::from(u8::from(set.perspective)),
        };
        rendering
            .push_bytes(bytemuck::bytes_of(&push))
            .draw(0..6, set.lines.clone());
    }
}

/// Composites the lines of a view over its camera's target.
fn composite_over(
    recorder: &mut Recorder,
    view: &View3d,
    images: &GizmoImages<'_>,
    pipeline: &GraphicsPipeline,
) {
    let GizmoImages {
        color_input,
        target,
        ..
    } = images;
    let mut pass = recorder.pass_in_step(
        view.queued.step,
        "gizmos_3d",
        &[color_input.as_declared(), target.as_declared()],
    );
    let image = (color_input, view.size());
    draw_view(&mut pass.render(target.keep()), pipeline, image, view);
}
