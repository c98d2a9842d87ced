//! Jitter of cameras with temporal effects: the offset of the samples of the frame.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille::prelude::Render;
use quadrille_content::cameras::Msaa;

use crate::components::temporal_jitter::TemporalJitter;
use crate::effects::taa::TemporalAntiAliasing;
use crate::effects::upscaling::TemporalUpscaling;
use crate::scene::effect_cameras::EffectCameras;
use crate::schedule::Prepare3dSystems;

/// Sets the jitter of cameras with temporal antialiasing or temporal upscaling.
pub(crate) struct JitterPlugin;

impl Plugin for JitterPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Render, update_jitter.in_set(Prepare3dSystems::Extract));
    }
}

/// Number of jitter offsets of temporal antialiasing: twice bevy's, of which the mean of still pictures is nearer to the
/// supersampled one.
const OFFSETS: u64 = 16;

/// Mean of the first [`OFFSETS`] elements of the Halton sequences with bases 2 and 3.
const MEAN: Vec2 = Vec2::new(241.0 / 512.0, 25.0 / 54.0);

/// Element of the Halton sequence (van der Corput in one dimension) with this base, from 0 to 1.
fn halton(mut index: u64, base: u64) -> f32 {
    let (mut fraction, mut value) = (1.0, 0.0);
    while index > 0 {
        fraction /= base as f32;
        value += fraction * (index % base) as f32;
        index /= base;
    }
    value
}

/// Element of the Halton sequences with bases 2 and 3, whose first elements cover a pixel evenly.
fn position(index: u64) -> Vec2 {
    Vec2::new(halton(index, 2), halton(index, 3))
}

/// Offset of the sample positions of a frame under temporal antialiasing.
fn antialiasing_offset(frame: u64) -> Vec2 {
    position(frame % OFFSETS + 1) - MEAN
}

/// Number of jitter offsets of upscaling: 8 samples for each pixel of the viewport (AMD FidelityFX Super Resolution 2).
fn upscaling_offsets(render_scale: f32) -> u64 {
    let pixels = render_scale
        .clamp(TemporalUpscaling::MIN_SCALE, 1.0)
        .powi(-2);
    (8.0 * pixels).round() as u64
}

/// Offset of the sample positions of a frame under upscaling. Its mean need not be zero, since samples are weighted by
/// their positions.
fn upscaling_offset(frame: u64, render_scale: f32) -> Vec2 {
    position(frame % upscaling_offsets(render_scale) + 1) - 0.5
}

/// Jitter of a camera, and what determines it.
type Jittered = (
    &'static mut TemporalJitter,
    &'static Msaa,
    Has<TemporalAntiAliasing>,
    Option<&'static TemporalUpscaling>,
);

/// Sets the jitter of cameras with a temporal effect, and removes that of others that had one.
fn update_jitter(
    mut cameras: Query<Jittered>,
    mut not_antialiased: RemovedComponents<TemporalAntiAliasing>,
    mut not_upscaled: RemovedComponents<TemporalUpscaling>,
    effects: Res<EffectCameras>,
) {
    for camera in not_antialiased.read().chain(not_upscaled.read()) {
        if let Ok((mut jitter, _, false, None)) = cameras.get_mut(camera) {
            jitter.offset = Vec2::ZERO;
        }
    }
    for (mut jitter, msaa, is_antialiased, upscaling) in &mut cameras {
        let frame = effects.submitted;
        jitter.offset = match (msaa, upscaling) {
            // The program's own jitter.
            (_, None) if !is_antialiased => continue,
            (Msaa::Off, None) => antialiasing_offset(frame),
            (Msaa::Off, Some(TemporalUpscaling { render_scale, .. })) if !render_scale.is_nan() => {
                upscaling_offset(frame, *render_scale)
            }
            _ => Vec2::ZERO,
        };
    }
}

#[cfg(test)]
mod tests;
