//! Components of lens effects. bevy defines these in a crate that needs `wgpu`.

use bevy_asset::Handle;
use bevy_color::{Color, ColorToComponents as _};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Vec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille_content::warnings::{first_non_finite, is_finite};

/// Least intensity of lens effects that are drawn, as in bevy.
const LEAST_INTENSITY: f32 = 1e-4;

/// Chromatic aberration of a 3D camera: colored fringes that grow from the middle of the view outwards (Gjøl and Svendsen
/// 2016). Fields and defaults are those of bevy's component.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ChromaticAberration {
    /// 2D image whose middle row has the colors of a fringe, from outside to inside. `None`: red, green and blue.
    /// Without effect until the image is uploaded.
    pub color_lut: Option<Handle<Image>>,
    /// Length of the fringes, as a part of the distance to the middle of the view.
    pub intensity: f32,
    /// Largest number of samples per pixel; more are smoother and slower.
    pub max_samples: u32,
}

impl Default for ChromaticAberration {
    fn default() -> Self {
        Self {
            color_lut: None,
            intensity: 0.02,
            max_samples: 8,
        }
    }
}

impl ChromaticAberration {
    pub(super) fn is_enabled(&self) -> bool {
        self.intensity > LEAST_INTENSITY && self.invalid_field().is_none()
    }

    /// Describes the first field that is not finite.
    pub(super) fn invalid_field(&self) -> Option<String> {
        describe_non_finite(&[("intensity", &[self.intensity])])
    }
}

/// Radial lens distortion of a 3D camera (Brown 1966, without tangential terms). Fields and defaults are those of bevy's
/// component.
///
/// A point at a distance r from the center shows the picture at r * (1 + k1 r^2 + k2 r^4), in texture coordinates, with
/// k1 from `intensity` and `multiplier`, and k2 = k1 * `intensity` * `edge_curvature`.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct LensDistortion {
    /// Strength: positive is a barrel, negative a pincushion.
    pub intensity: f32,
    /// Magnification of the picture, to crop edges without contents.
    pub scale: f32,
    /// Factors of the strength in x and y.
    pub multiplier: Vec2,
    /// Center in texture coordinates.
    pub center: Vec2,
    /// Additional strength near the edges.
    pub edge_curvature: f32,
}

impl Default for LensDistortion {
    fn default() -> Self {
        Self {
            intensity: 0.5,
            scale: 1.0,
            multiplier: Vec2::ONE,
            center: Vec2::splat(0.5),
            edge_curvature: 0.0,
        }
    }
}

impl LensDistortion {
    pub(super) fn is_enabled(&self) -> bool {
        self.intensity.abs() > LEAST_INTENSITY && self.invalid_field().is_none()
    }

    /// Describes the first field that is not finite.
    pub(super) fn invalid_field(&self) -> Option<String> {
        describe_non_finite(&[
            ("intensity", &[self.intensity]),
            ("scale", &[self.scale]),
            ("multiplier", &self.multiplier.to_array()),
            ("center", &self.center.to_array()),
            ("edge_curvature", &[self.edge_curvature]),
        ])
    }
}

/// Vignette of a 3D camera: its picture fades to a color towards the edges. Fields and defaults are those of bevy's
/// component.
///
/// With the distance d from the center as a part of `radius`, the picture keeps a part of (1 - d^2)^`smoothness`.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Vignette {
    /// Strength from 0 (none) to 1.
    pub intensity: f32,
    /// Distance of the full color from the center, as a part of the view's size.
    pub radius: f32,
    /// Exponent of the falloff.
    pub smoothness: f32,
    /// Height of the shape by its width, less than 2; 1 is a circle.
    pub roundness: f32,
    /// Center in texture coordinates.
    pub center: Vec2,
    /// How far the shape follows the aspect ratio of the view: 0 is a circle, 1 an ellipse that fits it.
    pub edge_compensation: f32,
    /// Color at the edges.
    pub color: Color,
}

impl Default for Vignette {
    fn default() -> Self {
        Self {
            intensity: 1.0,
            radius: 0.75,
            smoothness: 5.0,
            roundness: 1.0,
            center: Vec2::splat(0.5),
            edge_compensation: 1.0,
            color: Color::BLACK,
        }
    }
}

impl Vignette {
    pub(super) fn is_enabled(&self) -> bool {
        self.intensity > LEAST_INTENSITY && self.invalid_field().is_none()
    }

    /// Describes the first field that is not finite.
    pub(super) fn invalid_field(&self) -> Option<String> {
        describe_non_finite(&[
            ("intensity", &[self.intensity]),
            ("radius", &[self.radius]),
            ("smoothness", &[self.smoothness]),
            ("roundness", &[self.roundness]),
            ("center", &self.center.to_array()),
            ("edge_compensation", &[self.edge_compensation]),
            ("color", &self.color.to_linear().to_f32_array()),
        ])
    }
}

fn describe_non_finite(fields: &[(&str, &[f32])]) -> Option<String> {
    let is_valid = fields.iter().all(|(_, numbers)| is_finite(numbers));
    (!is_valid).then(|| first_non_finite(fields))
}
