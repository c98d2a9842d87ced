//! Warnings about unsupported fields of bevy's lights.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLight, PointLight, SpotLight};
use bevy_reflect::TypePath;
use bevy_reflect::structs::Struct;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Ignored fields; those for soft shadows exist only with a feature of `bevy_light`.
const FIELDS: [&str; 2] = ["soft_shadows_enabled", "soft_shadow_size"];

/// Already reported fields.
#[derive(Resource, Default)]
pub(crate) struct WarnedFields(Vec<&'static str>);

/// Checks lights by observers of insertion, so that unchanged lights cost nothing. Later changes in place are not
/// checked.
pub(crate) fn watch(app: &mut App) {
    app.init_resource::<WarnedFields>()
        .add_observer(check::<DirectionalLight>)
        .add_observer(check::<PointLight>)
        .add_observer(check::<SpotLight>);
}

/// Warns once per field that differs from its default.
fn check<L: Component + Struct + Default + TypePath>(
    added: On<Insert<L>>,
    lights: Query<&L>,
    warnings: Res<RateLimitedWarnings>,
    mut warned: ResMut<WarnedFields>,
) {
    let Ok(light) = lights.get(added.entity) else {
        return;
    };
    if warned.0.len() == FIELDS.len() {
        return;
    }
    let default = L::default();
    for name in FIELDS {
        if warned.0.contains(&name) || !differs(name, light, &default) {
            continue;
        }
        let was_warned = warnings.try_warn_message(|| {
            let (kind, light) = (L::short_type_path(), entity_name(added.entity));
            format!(
                "`{kind}::{name}` of the light {light} is ignored: shadows are plain shadow maps, filtered by \
                 the camera's `ShadowFilteringMethod`"
            )
        });
        if was_warned {
            warned.0.push(name);
        }
    }
}

/// Whether a field exists and differs from its default.
fn differs(name: &str, value: &dyn Struct, default: &dyn Struct) -> bool {
    let (Some(value), Some(default)) = (value.field(name), default.field(name)) else {
        return false;
    };
    value.reflect_partial_eq(default) == Some(false)
}

#[cfg(test)]
mod tests;
