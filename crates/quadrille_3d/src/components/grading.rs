//! Color grading and dithering of 3D cameras, by bevy's names: bevy has these in crates that need
//! `wgpu`.

use std::ops::Range;

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Dithering: noise of less than one step of 8 bits that hides banding, with the names of
/// bevy's type. A 3D camera has it, unless it says otherwise; without tone mapping there is none.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum DebandDither {
    /// No dithering.
    #[default]
    Disabled,
    /// Dithering.
    Enabled,
}

/// Color grading before tone mapping (of saturation after it), bevy's component by name and
/// field. Ignored with [`Tonemapping::None`](crate::Tonemapping::None).
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
    /// Parameters of the whole picture.
    pub global: ColorGradingGlobal,
    /// Section of colors darker than [`ColorGradingGlobal::midtones_range`].
    pub shadows: ColorGradingSection,
    /// Section of colors within that range.
    pub midtones: ColorGradingSection,
    /// Section of colors brighter than it.
    pub highlights: ColorGradingSection,
}

/// Grading of the whole picture.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorGradingGlobal {
    /// Added to the exposure, in stops: 1 is twice as bright.
    pub exposure: f32,
    /// Moves the white point along x of CIE 1931: colours become redder above 0, bluer below.
    pub temperature: f32,
    /// Moves the white point along y of CIE 1931: colours become more magenta above 0, greener below.
    pub tint: f32,
    /// Turns the hue, in radians, from red to yellow to green.
    pub hue: f32,
    /// Saturation after tone mapping: 0 is grey, above 1 is more vivid.
    pub post_saturation: f32,
    /// Means of the channels at which midtones begin and end. Within 0.1
    /// to either side two sections blend.
    pub midtones_range: Range<f32>,
}

/// Grading of shadows, midtones or highlights: saturation, then contrast, then
/// `(colour * gain + lift)^(1 / gamma)`.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ColorGradingSection {
    /// 0 is grey, above 1 is more vivid.
    pub saturation: f32,
    /// Distance from middle grey, 0.5: below 1 colours come closer to it.
    pub contrast: f32,
    /// Above 1 the middle becomes brighter.
    pub gamma: f32,
    /// Factor.
    pub gain: f32,
    /// Offset.
    pub lift: f32,
}

impl Default for ColorGradingGlobal {
    /// No change; midtones are from 0.2 to 0.7.
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
    /// No change.
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
    /// The same for shadows, midtones and highlights.
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

    /// Shadows, midtones and highlights, in this order.
    pub fn all_sections(&self) -> impl Iterator<Item = &ColorGradingSection> {
        [&self.shadows, &self.midtones, &self.highlights].into_iter()
    }

    /// The same to be changed.
    pub fn all_sections_mut(&mut self) -> impl Iterator<Item = &mut ColorGradingSection> {
        [&mut self.shadows, &mut self.midtones, &mut self.highlights].into_iter()
    }
}
