//! Screen-space reflections of cameras (McGuire and Mara 2014), between the skybox and the transparent passes.
//!
//! ```text
//! prepass_3d          depth and G-buffer
//! opaque_3d, skybox_3d   lit surfaces; those that reflect without the specular light of environment maps
//! ssr lit color       their copy, with that light
//! ssr_3d              adds to surfaces that reflect what their rays hit, or that light
//! ```
//!
//! After the forward meshes and the skybox, unlike in bevy, so that these are reflected as well.

mod component;

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_platform::collections::HashMap;
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, PassUse, access_kind,
};
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render, RenderStartup,
};
use quadrille::vulkan::ShaderError;
use quadrille::vulkan::pipeline::Blend;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::RateLimitedWarnings;

pub use component::ScreenSpaceReflections;

use component::SsrUniform;

use crate::camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectView, EffectViews,
};
use crate::components::deferred::DeferredPrepass;
use crate::components::prepass::DepthPrepass;
use crate::effects::atmosphere::atmosphere_3d;
use crate::effects::needs::warn_of_need;
use crate::effects::skybox::skybox_3d;
use crate::passes::draw::{DrawParams3d, Lighting3d};
use crate::passes::opaque::world_from_clip;
use crate::pipelines::Pipelines3d;
use crate::pipelines::constants::lighting_constants;
use crate::prepare::pipelines::prepare_pipelines;
use crate::prepare::targets::{GBuffers3d, SceneColors, SceneDepths, prepare_targets};
use crate::prepare::view_colors::CurrentColors;
use crate::scene::frame::Scene3d;
use crate::scene::keys::{LightingFeatures, MaterialShader};
use crate::scene::lists::ViewRows;
use crate::scene::prepass::DrawnPrepasses;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds screen-space reflections.
pub(crate) struct SsrPlugin;

impl Plugin for SsrPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<ScreenSpaceReflections>::default())
            .register_type::<ScreenSpaceReflections>()
            .add_systems(RenderStartup, init_ssr)
            .add_systems(
                Render,
                (
                    warn_of_missing_needs.in_set(Prepare3dSystems::Extract),
                    mark_views
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_targets)
                        .before(prepare_pipelines),
                    prepare_ssr_pipelines
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_pipelines),
                    ssr_3d
                        .in_set(Pass3dSystems::Skybox)
                        .after(skybox_3d)
                        .before(atmosphere_3d),
                ),
            );
    }
}

impl CameraEffect for ScreenSpaceReflections {
    type Uniform = SsrUniform;

    // The second color image of the view has what reflections show.
    const STAGE: Pass3dSystems = Pass3dSystems::EarlyPostProcess;

    fn uniform(&self, _: &EffectFrame) -> SsrUniform {
        self.uniform()
    }
}

/// Pipelines of [`ssr_3d`] by features of lighting.
#[derive(Resource)]
pub struct SsrPipelines {
    shader: GpuShader,
    compiled: HashMap<LightingFeatures, SsrPipelinePair>,
    /// Features of the frame.
    features: LightingFeatures,
}

struct SsrPipelinePair {
    lit_color: GraphicsPipeline,
    reflections: GraphicsPipeline,
}

/// Creates the shader, and drops pipelines of a lost device.
fn init_ssr(mut commands: Commands) -> Result {
    let source = include_str!("../../shaders/ssr.wgsl");
    commands.insert_resource(SsrPipelines {
        shader: GpuShader::wgsl("quadrille_3d/ssr.wgsl", source)?,
        compiled: HashMap::default(),
        features: LightingFeatures::default(),
    });
    Ok(())
}

/// Components of a camera that reflections need.
type Needs = (
    Entity,
    &'static Msaa,
    Has<DepthPrepass>,
    Has<DeferredPrepass>,
);

/// Cameras whose reflections or samples changed.
type ChangedReflections = (
    With<Camera3d>,
    With<ScreenSpaceReflections>,
    Or<(Changed<ScreenSpaceReflections>, Changed<Msaa>)>,
);

/// Warns of cameras that lack what reflections need, when they are set up so.
fn warn_of_missing_needs(
    cameras: Query<Needs, ChangedReflections>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, msaa, has_depth, is_deferred) in &cameras {
        let need = match (is_deferred, has_depth) {
            // `DeferredPrepass` has a warning of its own.
            _ if msaa.samples() > 1 => continue,
            (true, true) => continue,
            (true, false) => "DepthPrepass",
            (false, _) => "DeferredPrepass",
        };
        let effect = ("screen-space reflections", need, "ScreenSpaceReflections");
        warn_of_need(&warnings, camera, effect);
    }
}

/// Marks the views whose lighting leaves specular light of environment maps to [`ssr_3d`].
fn mark_views(
    cameras: Query<&ScreenSpaceReflections>,
    (scene, colors): (Res<Scene3d>, Res<CurrentColors>),
    mut rows: ResMut<ViewRows>,
) {
    for view in &scene.views {
        let has_needs = view.gbuffer().is_some() && view.prepass.depth.is_some();
        if let Ok(reflections) = cameras.get(view.camera())
            && has_needs
            && colors.spare(view).is_some()
        {
            rows.rows[view.queued.row as usize].reflected_roughness =
                reflections.reflected_roughness();
        }
    }
}

/// Compiles missing pipelines for the lighting of the frame.
fn prepare_ssr_pipelines(
    mut ssr: ResMut<SsrPipelines>,
    (rows, pipelines): (Res<ViewRows>, Res<Pipelines3d>),
    gpu: Res<GpuDevice>,
) -> Result {
    if rows
        .rows
        .iter()
        .all(|row| row.reflected_roughness[1] == 0.0)
    {
        return Ok(());
    }
    let lighting = pipelines.deferred.lighting();
    let features = LightingFeatures {
        environments: lighting.environments,
        fog: lighting.fog,
        decals: lighting.decals,
        ambient_occlusion: lighting.ambient_occlusion,
        ..LightingFeatures::default()
    };
    ssr.features = features;
    if !ssr.compiled.contains_key(&features) {
        let pair = SsrPipelinePair::new(&gpu, &ssr.shader, features, pipelines.meshes.dfg_lut)?;
        ssr.compiled.insert(features, pair);
    }
    Ok(())
}

impl SsrPipelinePair {
    fn new(
        gpu: &GpuDevice,
        shader: &GpuShader,
        features: LightingFeatures,
        dfg_lut: bool,
    ) -> Result<Self, ShaderError> {
        let mut constants = lighting_constants(features);
        constants.push(("DFG_LUT".to_owned(), dfg_lut.into()));
        let occlusion = features.ambient_occlusion;
        constants.push(("HAS_AMBIENT_OCCLUSION".to_owned(), occlusion.into()));
        constants.retain(|(name, _)| shader.has_constant(name));
        let pipeline = |name, fragment, blend| {
            let stages = ((shader, "vertex_main"), (shader, fragment));
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                constants: constants.clone(),
                blend,
                ..GraphicsPipelineDesc::new(name, stages.0, stages.1)
            })
        };
        Ok(Self {
            lit_color: pipeline("ssr lit color", "lit_color_main", Blend::Opaque)?,
            // Alpha 0: added.
            reflections: pipeline("ssr", "reflection_main", Blend::Premultiplied)?,
        })
    }
}

/// Images of views with reflections.
#[derive(SystemParam)]
pub struct SsrImages3d<'w> {
    sampled: AccessList<'w, SceneColors, access_kind::Sampled>,
    drawn: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    copied: AccessList<'w, SceneColors, access_kind::TransferRead>,
    copies: AccessList<'w, SceneColors, access_kind::TransferWrite>,
    depths: AccessList<'w, SceneDepths, access_kind::Sampled>,
    gbuffers: AccessList<'w, GBuffers3d, access_kind::Sampled>,
    current: Res<'w, CurrentColors>,
}

/// Resources of [`ssr_3d`].
#[derive(SystemParam)]
pub struct SsrParams3d<'w> {
    effects: EffectViews<'w, ScreenSpaceReflections>,
    images: SsrImages3d<'w>,
    lighting: Lighting3d<'w>,
    draw_params: DrawParams3d<'w>,
    prepasses: Res<'w, DrawnPrepasses>,
    pipelines: Res<'w, SsrPipelines>,
    rows: Res<'w, ViewRows>,
}

/// Adds reflections to deferred surfaces: a copy or a draw of their color and a draw of the plan for each view with
/// [`ScreenSpaceReflections`].
pub fn ssr_3d(mut recorder: Recorder, params: SsrParams3d, mut uses: Local<Vec<PassUse>>) {
    for view in params.effects.iter() {
        params.record(&mut recorder, &view, &mut uses);
    }
}

/// Surfaces of a view, to sample.
#[derive(Clone, Copy)]
struct Surfaces<'w> {
    depth: AnyAccess<'w>,
    gbuffer: AnyAccess<'w>,
}

impl<'w> SsrParams3d<'w> {
    fn record(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        uses: &mut Vec<PassUse>,
    ) -> Option<()> {
        let row = self.rows.rows.get(view.row() as usize)?;
        let pipelines = self.pipelines.compiled.get(&self.pipelines.features)?;
        // Others are drawn without a G-buffer.
        let is_marked = row.reflected_roughness[1] > 0.0;
        if !(is_marked && self.prepasses.contains(view.images)) {
            return None;
        }
        let images = &self.images;
        let surfaces = Surfaces {
            depth: images.depths.get(view.images())?,
            gbuffer: images.gbuffers.get(view.gbuffer()?)?,
        };
        let (at, spare) = (view.images(), images.current.spare(view)?);
        let (color, lit_color) = (images.sampled.get(at)?, images.sampled.get(spare)?);
        if row.environment_count == 0 {
            let (from, to) = (images.copied.get(at)?, images.copies.get(spare)?);
            let copies = [from, to].map(|it| it.as_declared());
            let mut pass = recorder.pass_in_step(view.step(), "ssr lit color", &copies);
            pass.transfer().copy_image(&from, &to);
        } else {
            let target = images.drawn.get(spare)?;
            let draw = Draw {
                name: "ssr lit color",
                pipeline: &pipelines.lit_color,
                images: [target, color],
                attachment: target.discard(),
            };
            self.draw(recorder, view, uses, (draw, surfaces));
        }
        let target = images.drawn.get(at)?;
        let draw = Draw {
            name: "ssr_3d",
            pipeline: &pipelines.reflections,
            images: [target, lit_color],
            attachment: target.keep(),
        };
        self.draw(recorder, view, uses, (draw, surfaces));
        Some(())
    }

    /// Records a pass that covers a view.
    fn draw(
        &self,
        recorder: &mut Recorder,
        view: &EffectView,
        uses: &mut Vec<PassUse>,
        (draw, surfaces): (Draw<'_, 'w>, Surfaces<'w>),
    ) {
        let uniforms = self.effects.uniforms();
        let [_, lit_color] = draw.images;
        uses.clear();
        self.lighting.add_view_uses(view, uses);
        uses.extend(draw.images.map(|it| it.as_declared()));
        uses.extend([surfaces.depth, surfaces.gbuffer, uniforms.any()].map(|it| it.as_declared()));
        let mut pass = recorder.pass_in_step(view.step(), draw.name, uses);
        let mut rendering = pass.render(draw.attachment);
        rendering
            .pipeline(draw.pipeline)
            .bind("gbuffer", &surfaces.gbuffer)
            .bind("scene_depths", &surfaces.depth)
            .bind("lit_color", &lit_color);
        if rendering.uses("settings") {
            rendering.bind_bytes("settings", uniforms, view.uniform_bytes());
        }
        let of_view = (&**view, MaterialShader::Standard);
        self.lighting
            .bind(&mut rendering, &self.draw_params, of_view);
        rendering
            .push_bytes(bytemuck::bytes_of(&world_from_clip(view)))
            .draw(0..3, 0..1);
    }
}

/// Pass that covers a view.
struct Draw<'a, 'w> {
    name: &'static str,
    pipeline: &'a GraphicsPipeline,
    /// Color to draw to, and to sample.
    images: [AnyAccess<'w>; 2],
    attachment: Attachment,
}
