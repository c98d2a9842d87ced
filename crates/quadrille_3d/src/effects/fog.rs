//! Distance fog of cameras, which the shaders of meshes apply; with volumetric fog.

mod component;

use bevy_app::{App, Plugin};
use bevy_color::{Color, ColorToComponents as _};
use bevy_ecs::prelude::*;
use quadrille::prelude::Render;
use quadrille::vulkan::shader::ShaderModule;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

pub use component::{DistanceFog, FogFalloff};

use crate::constants::{FOG_ATMOSPHERIC, FOG_EXPONENTIAL, FOG_EXPONENTIAL_SQUARED, FOG_LINEAR};
use crate::effects::volumetric_fog::VolumetricFogPlugin;
use crate::prepare::views::queue_views;
use crate::scene::lists::{QueuedViews, ViewRows};
use crate::scene::rows::FogRow;
use crate::schedule::Prepare3dSystems;

/// Adds fog.
pub(crate) struct FogPlugin;

impl Plugin for FogPlugin {
    fn build(&self, app: &mut App) {
        let module = ShaderModule::new("quadrille_3d::fog", include_str!("../../shaders/fog.wgsl"));
        if let Err(error) = module.publish() {
            tracing::error!("shader module of fog: {error}");
        }
        app.register_type::<DistanceFog>()
            .add_plugins(VolumetricFogPlugin)
            .add_systems(
                Render,
                queue_fog.in_set(Prepare3dSystems::Queue).after(queue_views),
            );
    }
}

/// Sets the fog of views; none, with a warning, if a value is not finite.
fn queue_fog(
    views: Res<QueuedViews>,
    mut rows: ResMut<ViewRows>,
    cameras: Query<&DistanceFog>,
    warnings: Res<RateLimitedWarnings>,
) {
    for view in &views.0 {
        let (Ok(fog), Some(row)) = (
            cameras.get(view.camera),
            rows.rows.get_mut(view.row as usize),
        ) else {
            continue;
        };
        let fog = fog_row(fog);
        if is_finite(bytemuck::cast_slice(std::slice::from_ref(&fog))) {
            row.fog = fog;
            continue;
        }
        warnings.warn(
            format_args!("the fog of the camera {}", entity_name(view.camera)),
            || {
                first_non_finite(&[
                    ("color", &fog.color),
                    ("directional_light_color", &fog.light_color),
                    ("falloff", &fog.falloff),
                    ("inscattering and exponent", &fog.inscattering),
                ])
            },
        );
    }
}

fn fog_row(fog: &DistanceFog) -> FogRow {
    let linear = |color: Color| color.to_linear().to_f32_array();
    let exponent = fog.directional_light_exponent;
    let (falloff, [r, g, b]) = match fog.falloff {
        FogFalloff::Linear { start, end } => ([start, end, 0.0, FOG_LINEAR], [0.0; 3]),
        FogFalloff::Exponential { density } => ([density, 0.0, 0.0, FOG_EXPONENTIAL], [0.0; 3]),
        FogFalloff::ExponentialSquared { density } => {
            ([density, 0.0, 0.0, FOG_EXPONENTIAL_SQUARED], [0.0; 3])
        }
        FogFalloff::Atmospheric {
            extinction,
            inscattering,
        } => (
            extinction.extend(FOG_ATMOSPHERIC).to_array(),
            inscattering.to_array(),
        ),
    };
    FogRow {
        color: linear(fog.color),
        light_color: linear(fog.directional_light_color),
        falloff,
        inscattering: [r, g, b, exponent],
    }
}

#[cfg(test)]
mod tests;
