//! Warnings about fields of bevy's lights that change a picture there and none here.

use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLight, PointLight, SpotLight};
use bevy_reflect::structs::Struct;
use quadrille_content::{Complaints, named};

/// Fields that are ignored, with their defaults: those of softness exist only with a feature of bevy_light.
const FIELDS: [&str; 3] = [
    "contact_shadows_enabled",
    "soft_shadows_enabled",
    "soft_shadow_size",
];

/// Lights of one kind that changed.
type Changed3d<'w, 's, L> = Query<'w, 's, (Entity, &'static L), Changed<L>>;

/// Warns once of each field that has another value than its default.
pub(crate) fn warn_of_fields(
    directional: Changed3d<DirectionalLight>,
    points: Changed3d<PointLight>,
    spots: Changed3d<SpotLight>,
    complaints: Res<Complaints>,
    mut told: Local<Vec<&'static str>>,
) {
    if told.len() == FIELDS.len() {
        return;
    }
    let mut check = |light: Entity, kind: &str, value: &dyn Struct, default: &dyn Struct| {
        for name in FIELDS {
            if told.contains(&name) || !differs(name, value, default) {
                continue;
            }
            let was_told = complaints.try_say(|| {
                let light = named(light);
                format!(
                    "`{kind}::{name}` of the light {light} is ignored: shadows are those of shadow maps, with edges \
                     as hard as the camera's `ShadowFilteringMethod` has them"
                )
            });
            if was_told {
                told.push(name);
            }
        }
    };
    for (entity, light) in &directional {
        check(
            entity,
            "DirectionalLight",
            light,
            &DirectionalLight::default(),
        );
    }
    for (entity, light) in &points {
        check(entity, "PointLight", light, &PointLight::default());
    }
    for (entity, light) in &spots {
        check(entity, "SpotLight", light, &SpotLight::default());
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
