//! Warnings of multisampled cameras, for effects that need one sample per pixel.

use bevy_ecs::prelude::*;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Warns of the cameras with several samples per pixel. `consequence` says what happens to a camera with this name and
/// number of samples, `component` is the one to remove.
pub(crate) fn warn_of_samples<'a>(
    cameras: impl IntoIterator<Item = (Entity, &'a Msaa)>,
    warnings: &RateLimitedWarnings,
    (component, consequence): (&str, impl Fn(&str, u32) -> String),
) {
    for (camera, msaa) in cameras {
        let samples = msaa.samples();
        if samples > 1 {
            warnings.warn_message(|| {
                let consequence = consequence(&entity_name(camera).to_string(), samples);
                format!("{consequence}. Add `Msaa::Off`, or remove `{component}`.")
            });
        }
    }
}
