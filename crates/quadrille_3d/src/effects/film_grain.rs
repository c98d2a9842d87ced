//! Film grain of cameras, after tone mapping and sharpening.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::prelude::{GpuDevice, Recorder, Render, RenderStartup, ShaderType};
use quadrille_content::warnings::{first_non_finite, is_finite};

use crate::camera_effect::{CameraEffect, CameraEffectPlugin, EffectFrame};
use crate::effects::full_screen::{FullScreenEffect, FullScreenPipeline};
use crate::effects::sharpening::sharpen_3d;
use crate::schedule::Pass3dSystems;

/// Adds film grain.
pub(crate) struct FilmGrainPlugin;

impl Plugin for FilmGrainPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(CameraEffectPlugin::<FilmGrain>::default())
            .register_type::<FilmGrain>()
            .add_systems(RenderStartup, init_film_grain)
            .add_systems(
                Render,
                film_grain_3d.in_set(FilmGrain::STAGE).after(sharpen_3d),
            );
    }
}

/// Film grain of a 3D camera: noise of a normal distribution, another in each frame, on the square root of display-referred
/// color, which is near to how bright it looks.
///
/// Grain hides the bands of smooth gradients. bevy has no such component.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct FilmGrain {
    /// Standard deviation of the square root of a color, which ranges from 0 to 1.
    pub intensity: f32,
    /// Diameter of a grain in pixels; at least 1.
    pub size: f32,
    /// Share of the grain that bright and dark tones lose, from 0 to 1, as film does: at 1 black and white have none.
    pub response: f32,
}

impl Default for FilmGrain {
    fn default() -> Self {
        Self {
            intensity: 0.03,
            size: 1.5,
            response: 0.8,
        }
    }
}

/// Uniform of the shader.
#[derive(ShaderType)]
pub struct FilmGrainUniform {
    intensity: f32,
    size: f32,
    response: f32,
    seed: u32,
}

impl CameraEffect for FilmGrain {
    type Uniform = FilmGrainUniform;

    const STAGE: Pass3dSystems = Pass3dSystems::AfterTonemapping;

    fn is_enabled(&self, _is_hdr: bool) -> bool {
        self.intensity > 0.0
    }

    fn invalid_setting(&self) -> Option<String> {
        let fields: [(&str, &[f32]); 3] = [
            ("intensity", &[self.intensity]),
            ("size", &[self.size]),
            ("response", &[self.response]),
        ];
        let is_valid = fields.iter().all(|(_, numbers)| is_finite(numbers));
        (!is_valid).then(|| first_non_finite(&fields))
    }

    fn uniform(&self, frame: &EffectFrame) -> FilmGrainUniform {
        FilmGrainUniform {
            intensity: self.intensity,
            size: self.size.max(1.0),
            response: self.response.clamp(0.0, 1.0),
            seed: frame.index,
        }
    }
}

/// Adds grain: one pass of the plan for each view with [`FilmGrain`].
pub fn film_grain_3d(mut recorder: Recorder, effect: FullScreenEffect<FilmGrain>) {
    effect.draw(&mut recorder, "film_grain_3d", "grain");
}

fn init_film_grain(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = (
        "quadrille_3d/film_grain.wgsl",
        include_str!("../../shaders/film_grain.wgsl"),
    );
    let pipeline = FullScreenPipeline::<FilmGrain>::new(&gpu, "film grain", shader)?;
    commands.insert_resource(pipeline);
    Ok(())
}
