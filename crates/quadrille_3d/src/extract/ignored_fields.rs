//! Warnings about fields of bevy's lights that change a picture there and none here.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLight, PointLight, SpotLight};
use bevy_reflect::TypePath;
use bevy_reflect::structs::Struct;
use quadrille_content::{RateLimitedWarnings, entity_name};

/// Fields that are ignored, with their defaults: those of softness exist only with a feature of bevy_light.
const FIELDS: [&str; 3] = [
    "contact_shadows_enabled",
    "soft_shadows_enabled",
    "soft_shadow_size",
];

/// Fields that were warned about.
#[derive(Resource, Default)]
pub(crate) struct WarnedFields(Vec<&'static str>);

/// Watches lights by observers of insertion, so that nothing runs while they rest. A field that is set
/// in place later is not checked.
pub(crate) fn watch(app: &mut App) {
    app.init_resource::<WarnedFields>()
        .add_observer(check::<DirectionalLight>)
        .add_observer(check::<PointLight>)
        .add_observer(check::<SpotLight>);
}

/// Warns once of each field that has another value than its default.
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
                "`{kind}::{name}` of the light {light} is ignored: shadows are those of shadow maps, with edges as \
                 hard as the camera's `ShadowFilteringMethod` has them"
            )
        });
        if was_warned {
            warned.0.push(name);
        }
    }
}

/// Whether a field is there and has another value than its default.
fn differs(name: &str, value: &dyn Struct, default: &dyn Struct) -> bool {
    let (Some(value), Some(default)) = (value.field(name), default.field(name)) else {
        return false;
    };
    value.reflect_partial_eq(default) == Some(false)
}

#[cfg(test)]
mod tests;
