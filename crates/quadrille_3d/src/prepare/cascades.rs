//! Cascades of directional lights.

use bevy_ecs::prelude::*;
use bevy_light::CascadeShadowConfig;
use bevy_light::cascade::Cascade;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::constants::MAX_CASCADES;

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
