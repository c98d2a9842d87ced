//! Contrast adaptive sharpening of cameras, after tone mapping.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::ColorAttachment as _;
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render, RenderStartup,
};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::camera_effect::{CameraEffect, CameraEffectPlugin, EffectFrame, EffectViews};
use crate::effects::fxaa::fxaa_3d;
use crate::prepare::view_colors::PostProcess;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};

/// Adds sharpening.
pub(crate) struct SharpeningPlugin;

impl Plugin for SharpeningPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<ContrastAdaptiveSharpening>::default())
            .register_type::<ContrastAdaptiveSharpening>()
            .add_systems(RenderStartup, init_sharpening)
            .add_systems(
                Render,
                (
                    warn_of_invalid_strength.in_set(Prepare3dSystems::Extract),
                    sharpen_3d
                        .in_set(ContrastAdaptiveSharpening::STAGE)
                        .after(fxaa_3d),
                ),
            );
    }
}

/// Contrast adaptive sharpening (CAS) of a 3D camera, with the fields and defaults of bevy's component. It regains
/// details that antialiasing of the finished picture, such as [`Fxaa`](crate::Fxaa), blurs.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ContrastAdaptiveSharpening {
    /// Whether the camera is sharpened.
    pub enabled: bool,
    /// Strength from 0 (none) to 1; clamped.
    pub sharpening_strength: f32,
    /// Whether noise is sharpened less. Film grain should rather be added after sharpening.
    pub denoise: bool,
}

impl Default for ContrastAdaptiveSharpening {
    fn default() -> Self {
        Self {
            enabled: true,
            sharpening_strength: 0.6,
            denoise: false,
        }
    }
}

impl CameraEffect for ContrastAdaptiveSharpening {
    type Uniform = Vec2;

    const STAGE: Pass3dSystems = Pass3dSystems::AfterTonemapping;

    fn is_enabled(&self, _is_hdr: bool) -> bool {
        // False if it is not a number.
        self.enabled && self.sharpening_strength > 0.0
    }

    /// Strength, and 1 if noise is sharpened less.
    fn uniform(&self, _: &EffectFrame) -> Vec2 {
        let strength = self.sharpening_strength.clamp(0.0, 1.0);
        Vec2::new(strength, f32::from(u8::from(self.denoise)))
    }
}

/// Warns of a strength that is not a number, when it is set.
fn warn_of_invalid_strength(
    cameras: Query<(Entity, &ContrastAdaptiveSharpening), Changed<ContrastAdaptiveSharpening>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (camera, sharpening) in &cameras {
        if sharpening.enabled && sharpening.sharpening_strength.is_nan() {
            warnings.warn_message(|| {
                let camera = entity_name(camera);
                format!(
                    "the camera {camera} is not sharpened: its sharpening_strength is NaN. Set a number from 0 to 1."
                )
            });
        }
    }
}

/// Pipeline of [`sharpen_3d`].
#[derive(Resource)]
pub struct SharpeningPipeline(GraphicsPipeline);

fn init_sharpening(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/sharpening.wgsl");
    let shader = GpuShader::wgsl("quadrille_3d/sharpening.wgsl", source)?;
    let desc = GraphicsPipelineDesc::of("sharpening", &shader);
    commands.insert_resource(SharpeningPipeline(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

/// Sharpens: one pass of the plan for each view with [`ContrastAdaptiveSharpening`].
pub fn sharpen_3d(
    mut recorder: Recorder,
    effects: EffectViews<ContrastAdaptiveSharpening>,
    mut post_process: PostProcess,
    pipeline: Res<SharpeningPipeline>,
) {
    for view in effects.iter() {
        let Some(color) = post_process.write(&view) else {
            continue;
        };
        let uses = [color.source, color.destination, effects.uniforms().any()];
        let uses = uses.map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "sharpen_3d", &uses);
        pass.render(color.destination.discard())
            .pipeline(&pipeline.0)
            .bind("picture", &color.source)
            .bind_bytes("settings", effects.uniforms(), view.uniform_bytes())
            .draw(0..3, 0..1);
    }
}
