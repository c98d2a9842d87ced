//! Warnings of cameras that lack what an effect needs.

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

/// Warns of a camera that has no `effect` for lack of `need`. `component` is the one to remove.
pub(crate) fn warn_of_need(
    warnings: &RateLimitedWarnings,
    camera: Entity,
    (effect, need, component): (&str, &str, &str),
) {
    warnings.warn_message(|| {
        let camera = entity_name(camera);
        format!("the camera {camera} has no {effect}. Add `{need}`, or remove `{component}`.")
    });
}

/// Component that an effect lacks which needs one sample per pixel and a prepass; `None` if it lacks none.
pub(crate) fn missing_need(
    msaa: Msaa,
    (has_prepass, prepass): (bool, &'static str),
) -> Option<&'static str> {
    match msaa {
        Msaa::Off => (!has_prepass).then_some(prepass),
        _ => Some("Msaa::Off"),
    }
}
