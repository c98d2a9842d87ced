//! Fast approximate antialiasing (Lottes 2009) of cameras, after tone mapping.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::{GpuDevice, Recorder, Render, RenderStartup};

use crate::camera_effect::{CameraEffect, CameraEffectPlugin, EffectFrame};
use crate::effects::full_screen::{FullScreenEffect, FullScreenPipeline};
use crate::effects::lens::display_lens_effects_3d;
use crate::schedule::Pass3dSystems;

/// Adds FXAA.
pub(crate) struct FxaaPlugin;

impl Plugin for FxaaPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<Fxaa>::default())
            .register_type::<Fxaa>()
            .add_systems(RenderStartup, init_fxaa)
            .add_systems(
                Render,
                fxaa_3d.in_set(Fxaa::STAGE).after(display_lens_effects_3d),
            );
    }
}

/// Fast approximate antialiasing (FXAA) of a 3D camera, with the fields and defaults of bevy's component. It blurs edges
/// of the finished picture; use it with `Msaa::Off`.
#[derive(Component, Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Fxaa {
    /// Whether the camera is antialiased.
    pub enabled: bool,
    /// Least local contrast of an edge, as a part of the largest luma around it. Higher sensitivity is smoother and
    /// slower; `Ultra` and `Extreme` blur details.
    pub edge_threshold: Sensitivity,
    /// Least local contrast of an edge in dark parts.
    pub edge_threshold_min: Sensitivity,
}

impl Default for Fxaa {
    fn default() -> Self {
        Self {
            enabled: true,
            edge_threshold: Sensitivity::High,
            edge_threshold_min: Sensitivity::High,
        }
    }
}

/// Sensitivity of [`Fxaa`], with the variants of bevy's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Hash, PartialEq)]
pub enum Sensitivity {
    /// Contrast of 0.25, in dark parts 0.0833.
    Low,
    /// Contrast of 0.166, in dark parts 0.0625.
    Medium,
    /// Contrast of 0.125, in dark parts 0.0312.
    High,
    /// Contrast of 0.063, in dark parts 0.0156.
    Ultra,
    /// Contrast of 0.031, in dark parts 0.0078.
    Extreme,
}

impl CameraEffect for Fxaa {
    type Uniform = Vec2;

    const STAGE: Pass3dSystems = Pass3dSystems::AfterTonemapping;

    fn is_enabled(&self, _is_hdr: bool) -> bool {
        self.enabled
    }

    /// Thresholds of contrast: part of the largest luma, and least.
    fn uniform(&self, _: &EffectFrame) -> Vec2 {
        let relative = [0.25, 0.166, 0.125, 0.063, 0.031];
        let least = [0.0833, 0.0625, 0.0312, 0.0156, 0.0078];
        Vec2::new(
            relative[self.edge_threshold as usize],
            least[self.edge_threshold_min as usize],
        )
    }
}

/// Smooths edges: one pass of the plan for each view with [`Fxaa`].
pub fn fxaa_3d(mut recorder: Recorder, effect: FullScreenEffect<Fxaa>) {
    effect.draw(&mut recorder, "fxaa_3d", "thresholds");
}

fn init_fxaa(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = (
        "quadrille_3d/fxaa.wgsl",
        include_str!("../../shaders/fxaa.wgsl"),
    );
    let pipeline = FullScreenPipeline::<Fxaa>::new(&gpu, "fxaa", shader)?;
    commands.insert_resource(pipeline);
    Ok(())
}
