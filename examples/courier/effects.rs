//! Effects of the camera, as the settings have them.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    Bloom, ContrastAdaptiveSharpening, DeferredPrepass, Fxaa, MipBias, MotionBlur,
    MotionVectorPrepass, ScreenSpaceAmbientOcclusion, ScreenSpaceReflections, Smaa,
    TemporalAntiAliasing, TemporalJitter, TemporalUpscaling, Vignette,
};

use crate::player::{FollowCamera, play};
use crate::quality::Quality;
use crate::settings::{Antialiasing, Settings, Switch};
use crate::sky;

/// Adds the effects.
pub(crate) struct EffectsPlugin;

impl Plugin for EffectsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, apply.after(play));
    }
}

/// Returns reflections in wet streets. Without frames to average, rough asphalt would be noise: puddles alone reflect then.
fn reflections(is_temporal: bool) -> ScreenSpaceReflections {
    ScreenSpaceReflections {
        min_perceptual_roughness: 0.0..0.0,
        max_perceptual_roughness: match is_temporal {
            true => 0.12..0.26,
            false => 0.1..0.18,
        },
        // Lamps and signs are thin: short steps find them.
        linear_steps: 48,
        thickness: 1.2,
        edge_fadeout: 0.0..0.06,
        ..ScreenSpaceReflections::default()
    }
}

/// Effects of a camera that are on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown(Antialiasing, [bool; Switch::ALL.len()]);

/// Adds components of effects to the camera, and removes them. Other settings leave their history as it is.
pub(crate) fn apply(
    mut commands: Commands,
    (settings, quality): (Res<Settings>, Res<Quality>),
    camera: Single<Entity, With<FollowCamera>>,
    mut applied: Local<Option<Shown>>,
) {
    let wanted = Shown(
        settings.antialiasing,
        Switch::ALL.map(|it| settings.has(it)),
    );
    if applied.replace(wanted) == Some(wanted) {
        return;
    }
    let mut camera = commands.entity(*camera);
    // Prepasses and jitter come with the effects.
    camera.remove::<(Bloom, DistanceFog, Fxaa, Smaa, Vignette, MotionBlur)>();
    camera.remove::<(TemporalAntiAliasing, TemporalUpscaling)>();
    camera.remove::<(TemporalJitter, MipBias)>();
    camera.remove::<(ContrastAdaptiveSharpening, ScreenSpaceAmbientOcclusion)>();
    camera.remove::<(ScreenSpaceReflections, DeferredPrepass)>();
    camera.remove::<(DepthPrepass, NormalPrepass, MotionVectorPrepass)>();
    let is_temporal = matches!(
        settings.antialiasing,
        Antialiasing::Taa | Antialiasing::Upscaling
    );
    let needs_one_sample =
        is_temporal || settings.has(Switch::Occlusion) || settings.has(Switch::Reflections);
    camera.insert(match needs_one_sample {
        true => Msaa::Off,
        false => quality.msaa(),
    });
    match settings.antialiasing {
        Antialiasing::Off => {}
        Antialiasing::Fxaa => {
            camera.insert(Fxaa::default());
        }
        Antialiasing::Smaa => {
            camera.insert(Smaa::default());
        }
        Antialiasing::Taa => {
            camera.insert(TemporalAntiAliasing::default());
        }
        Antialiasing::Upscaling => {
            camera.insert(TemporalUpscaling::BALANCED);
        }
    }
    for switch in Switch::ALL.into_iter().filter(|it| settings.has(*it)) {
        match switch {
            Switch::Bloom => camera.insert(Bloom {
                intensity: 0.22,
                ..Bloom::NATURAL
            }),
            Switch::Fog => camera.insert(sky::fog()),
            Switch::Occlusion => camera.insert(ScreenSpaceAmbientOcclusion::default()),
            Switch::Reflections => camera.insert(reflections(is_temporal)),
            Switch::MotionBlur => camera.insert(MotionBlur {
                shutter_angle: 0.5,
                samples: 4,
            }),
            Switch::Sharpening => camera.insert(ContrastAdaptiveSharpening {
                sharpening_strength: 0.4,
                ..ContrastAdaptiveSharpening::default()
            }),
            Switch::Vignette => camera.insert(Vignette {
                intensity: 0.35,
                ..Vignette::default()
            }),
        };
    }
}
