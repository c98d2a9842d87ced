//! Contrast adaptive sharpening of cameras, after tone mapping.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::{GpuDevice, Recorder, Render, RenderStartup};

use crate::camera_effect::{CameraEffect, CameraEffectPlugin, EffectFrame};
use crate::effects::full_screen::{FullScreenEffect, FullScreenPipeline};
use crate::effects::fxaa::fxaa_3d;
use crate::schedule::Pass3dSystems;

/// Adds sharpening.
pub(crate) struct SharpeningPlugin;

impl Plugin for SharpeningPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<ContrastAdaptiveSharpening>::default())
            .register_type::<ContrastAdaptiveSharpening>()
            .add_systems(RenderStartup, init_sharpening)
            .add_systems(
                Render,
                sharpen_3d
                    .in_set(ContrastAdaptiveSharpening::STAGE)
                    .after(fxaa_3d),
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
        self.enabled && self.sharpening_strength > 0.0
    }

    fn invalid_setting(&self) -> Option<String> {
        let is_invalid = self.enabled && self.sharpening_strength.is_nan();
        is_invalid.then(|| "its `sharpening_strength` is NaN. Set a number from 0 to 1.".to_owned())
    }

    /// Strength, and 1 if noise is sharpened less.
    fn uniform(&self, _: &EffectFrame) -> Vec2 {
        let strength = self.sharpening_strength.clamp(0.0, 1.0);
        Vec2::new(strength, f32::from(u8::from(self.denoise)))
    }
}

/// Sharpens: one pass of the plan for each view with [`ContrastAdaptiveSharpening`].
pub fn sharpen_3d(mut recorder: Recorder, effect: FullScreenEffect<ContrastAdaptiveSharpening>) {
    effect.draw(&mut recorder, "sharpen_3d", "settings");
}

fn init_sharpening(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = (
        "quadrille_3d/sharpening.wgsl",
        include_str!("../../shaders/sharpening.wgsl"),
    );
    let pipeline =
        FullScreenPipeline::<ContrastAdaptiveSharpening>::new(&gpu, "sharpening", shader)?;
    commands.insert_resource(pipeline);
    Ok(())
}
