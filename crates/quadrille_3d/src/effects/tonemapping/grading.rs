//! Color grading and dithering of 3D cameras. bevy defines these components in crates that need `wgpu`.

use std::ops::Range;

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Dithering of a camera's output, by noise of less than one 8-bit step, against banding; bevy's type by name. Enabled
/// by default on 3D cameras. Ignored with [`Tonemapping::None`](crate::Tonemapping::None).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum DebandDither {
    /// No dithering.
    #[default]
    Disabled,
    /// Dithering.
    Enabled,
}

/// Color grading before tone mapping (post-saturation after it), with the fields of bevy's component. Ignored with
/// [`Tonemapping::None`](crate::Tonemapping::None).
///
/// ```
/// use quadrille_3d::prelude::*;
/// let warm = ColorGrading::with_identical_sections(
///     ColorGradingGlobal { temperature: 0.02, ..ColorGradingGlobal::default() },
///     ColorGradingSection { contrast: 1.1, ..ColorGradingSection::default() },
/// );
/// assert_eq!(warm.shadows, warm.highlights);
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ColorGrading {
    /// Parameters of the whole image.
    pub global: ColorGradingGlobal,
    /// Section of colors darker than [`ColorGradingGlobal::midtones_range`].
    pub shadows: ColorGradingSection,
    /// Section of colors within that range.
    pub midtones: ColorGradingSection,
    /// Section of colors brighter than it.
    pub highlights: ColorGradingSection,
}

/// Color grading of the whole image.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorGradingGlobal {
    /// Exposure offset in stops: 1 doubles the brightness.
    pub exposure: f32,
    /// White balance along x of CIE 1931: redder above 0, bluer below.
    pub temperature: f32,
    /// White balance along y of CIE 1931: more magenta above 0, greener below.
    pub tint: f32,
    /// Hue rotation in radians, from red to yellow to green.
    pub hue: f32,
    /// Saturation after tone mapping: 0 is gray, 1 unchanged.
    pub post_saturation: f32,
    /// Range of midtones, by the mean of the channels. Sections blend within 0.1 of its ends.
    pub midtones_range: Range<f32>,
}

/// Color grading of shadows, midtones or highlights: saturation, then contrast, then
/// `(color * gain + lift)^(1 / gamma)`.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorGradingSection {
    /// Saturation: 0 is gray, 1 unchanged.
    pub saturation: f32,
    /// Contrast around middle gray (0.5): below 1 is flatter.
    pub contrast: f32,
    /// Gamma: above 1 brightens the middle.
    pub gamma: f32,
    /// Factor.
    pub gain: f32,
    /// Offset.
    pub lift: f32,
}

impl Default for ColorGradingGlobal {
    /// Neutral grading; midtones from 0.2 to 0.7.
    fn default() -> Self {
        Self {
            exposure: 0.0,
            temperature: 0.0,
            tint: 0.0,
            hue: 0.0,
            post_saturation: 1.0,
            midtones_range: 0.2..0.7,
        }
    }
}

impl Default for ColorGradingSection {
    /// Neutral grading.
    fn default() -> Self {
        Self {
            saturation: 1.0,
            contrast: 1.0,
            gamma: 1.0,
            gain: 1.0,
            lift: 0.0,
        }
    }
}

impl ColorGrading {
    /// Uses one section for shadows, midtones and highlights.
    pub fn with_identical_sections(
        global: ColorGradingGlobal,
        section: ColorGradingSection,
    ) -> Self {
        Self {
            global,
            shadows: section,
            midtones: section,
            highlights: section,
        }
    }

    /// Iterates over shadows, midtones and highlights, in this order.
    pub fn all_sections(&self) -> impl Iterator<Item = &ColorGradingSection> {
        [&self.shadows, &self.midtones, &self.highlights].into_iter()
    }

    /// Iterates mutably over shadows, midtones and highlights, in this order.
    pub fn all_sections_mut(&mut self) -> impl Iterator<Item = &mut ColorGradingSection> {
        [&mut self.shadows, &mut self.midtones, &mut self.highlights].into_iter()
    }
}
