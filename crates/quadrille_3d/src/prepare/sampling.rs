//! Sample positions and mip levels of views.

use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::components::mip_bias::MipBias;
use crate::components::temporal_jitter::TemporalJitter;

/// Returns the jitter of a camera in pixels: none, with a warning, if it leaves the pixel or is not finite.
pub(crate) fn valid_jitter(
    warnings: &RateLimitedWarnings,
    camera: Entity,
    jitter: Option<&TemporalJitter>,
) -> Vec2 {
    let offset = jitter.map_or(Vec2::ZERO, |jitter| jitter.offset);
    if offset.abs().cmple(Vec2::splat(0.5)).all() {
        return offset;
    }
    warnings.warn_message(|| {
        let camera = entity_name(camera);
        format!(
            "the `TemporalJitter` of the camera {camera} is ignored: its offset is {offset} pixels. Set both parts to \
             values from -0.5 to 0.5."
        )
    });
    Vec2::ZERO
}

/// Returns the bias of mip levels of a camera: none, with a warning, if it is not finite.
pub(crate) fn valid_mip_bias(
    warnings: &RateLimitedWarnings,
    camera: Entity,
    bias: Option<&MipBias>,
) -> f32 {
    let bias = bias.map_or(0.0, |bias| bias.0);
    if bias.is_finite() {
        return bias.clamp(-MAX_MIP_BIAS, MAX_MIP_BIAS);
    }
    warnings.warn_message(|| {
        let camera = entity_name(camera);
        format!(
            "the `MipBias` of the camera {camera} is ignored: it is {bias}. Set a finite number."
        )
    });
    0.0
}

/// Bias beyond which no image has a level.
const MAX_MIP_BIAS: f32 = 16.0;
