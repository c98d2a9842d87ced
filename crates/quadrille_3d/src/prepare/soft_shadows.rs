//! Sizes of lights for soft shadows (PCSS).

use bevy_reflect::FromReflect;
use bevy_reflect::structs::Struct;

/// Returns the size of a point or spot light for soft shadows: its radius.
pub(crate) fn soft_size(light: &dyn Struct, radius: f32) -> f32 {
    match soft_field(light, "soft_shadows_enabled") {
        Some(true) => radius,
        _ => 0.0,
    }
}

/// Returns a field of a light for soft shadows. bevy_light has it behind its feature `experimental_pbr_pcss`, which any
/// package may enable.
pub(crate) fn soft_field<T: FromReflect + Copy>(light: &dyn Struct, name: &str) -> Option<T> {
    light.field(name)?.try_downcast_ref::<T>().copied()
}
