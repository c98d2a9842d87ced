//! Cascades of directional lights.

use bevy_ecs::prelude::*;
use bevy_light::CascadeShadowConfig;
use bevy_light::cascade::Cascade;
use bevy_math::Mat4;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::constants::MAX_CASCADES;

/// Whether depths of 16 bits are precise enough for a cascade: their steps are at most half of the bias of receivers, in
/// world units. Perspective maps are not: almost all of their steps are near the light.
pub(crate) fn has_precision_of_16_bits(clip_from_world: &Mat4, depth_bias: f32) -> bool {
    let depth_per_unit = clip_from_world.row(2).truncate().length();
    let step = 1.0 / (f32::from(u16::MAX) * depth_per_unit);
    2.0 * step <= depth_bias
}

/// Returns the number of a light's cascades that are drawn, with a warning if there are others: the farthest ones beyond
/// the maximum, or all if a number is not finite.
pub(crate) fn drawn_cascades(
    warnings: &RateLimitedWarnings,
    light: Entity,
    config: &CascadeShadowConfig,
    cascades: &[Cascade],
) -> u32 {
    let count = cascades.len();
    if count as u32 > MAX_CASCADES {
        warnings.warn_message(|| {
            let light = entity_name(light);
            format!(
                "the light {light} has {count} cascades, and the nearest {MAX_CASCADES} are drawn; build its \
                 `CascadeShadowConfig` with at most {MAX_CASCADES}"
            )
        });
    }
    let drawn = (count as u32).min(MAX_CASCADES);
    let are_finite = cascades
        .iter()
        .take(drawn as usize)
        .all(|it| it.clip_from_world.is_finite() && it.texel_size.is_finite());
    let numbers = [config.overlap_proportion, config.minimum_distance];
    if are_finite && is_finite(&config.bounds) && is_finite(&numbers) {
        return drawn;
    }
    warnings.warn(
        format_args!("the shadow of the light {}", entity_name(light)),
        || {
            first_non_finite(&[
                ("`CascadeShadowConfig::bounds`", &config.bounds),
                ("overlap and minimum distance", &numbers),
            ])
        },
    );
    0
}

#[cfg(test)]
mod tests;
