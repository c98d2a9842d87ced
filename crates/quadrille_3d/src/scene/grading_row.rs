//! Color grading as shaders read it.

use bevy_math::{Mat3, Vec2, Vec3};
use bytemuck::{Pod, Zeroable};

use crate::components::grading::{ColorGrading, ColorGradingSection, DebandDither};
use crate::components::tonemapping::Tonemapping;
use crate::tables::table::UNIFORM_BYTES;

/// A [`ColorGrading`] with the method of tone mapping, as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct GradingRow {
    /// The columns of the matrix that moves the white point, padded.
    balance: [[f32; 4]; 3],
    /// For shadows, midtones and highlights, as the next four.
    saturation: [f32; 3],
    /// A factor.
    exposure: f32,
    contrast: [f32; 3],
    hue: f32,
    /// Exponents: one over gamma.
    exponent: [f32; 3],
    post_saturation: f32,
    gain: [f32; 3],
    /// [`ROTATES_HUE`] and others.
    flags: u32,
    lift: [f32; 3],
    /// Place of the [`Tonemapping`] in its list.
    pub(crate) method: u32,
    midtones: [f32; 2],
    /// Up to [`UNIFORM_BYTES`].
    unused: [f32; 30],
}

const _: () = assert!(size_of::<GradingRow>() == UNIFORM_BYTES as usize);

const ROTATES_HUE: u32 = 1;
const HAS_WHITE_BALANCE: u32 = 2;
const HAS_SECTIONAL_GRADING: u32 = 4;
const HAS_DITHER: u32 = 8;

impl GradingRow {
    /// None if a number is not finite.
    pub(crate) fn new(
        grading: &ColorGrading,
        method: Tonemapping,
        dither: DebandDither,
    ) -> Option<Self> {
        let global = &grading.global;
        let each = |field: fn(&ColorGradingSection) -> f32| {
            [&grading.shadows, &grading.midtones, &grading.highlights].map(field)
        };
        let plain = ColorGradingSection::default();
        let moves_white = global.temperature != 0.0 || global.tint != 0.0;
        let has_sections = grading.all_sections().any(|section| *section != plain);
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let row = Self {
            balance: balance(global.temperature, global.tint)
                .to_cols_array_2d()
                .map(|[x, y, z]| [x, y, z, 0.0]),
            saturation: each(|section| section.saturation),
            exposure: global.exposure.exp2(),
            contrast: each(|section| section.contrast),
            hue: global.hue,
            exponent: each(|section| 1.0 / section.gamma),
            post_saturation: global.post_saturation,
            gain: each(|section| section.gain),
            flags: flag(global.hue != 0.0, ROTATES_HUE)
                | flag(moves_white, HAS_WHITE_BALANCE)
                | flag(has_sections, HAS_SECTIONAL_GRADING)
                | flag(dither == DebandDither::Enabled, HAS_DITHER),
            lift: each(|section| section.lift),
            method: method as u32,
            midtones: [global.midtones_range.start, global.midtones_range.end],
            unused: [0.0; 30],
        };
        let sections = [
            row.saturation,
            row.contrast,
            row.exponent,
            row.gain,
            row.lift,
        ];
        let rest = [row.exposure, row.hue, row.post_saturation];
        [
            row.balance.as_flattened(),
            sections.as_flattened(),
            &rest,
            &row.midtones,
        ]
        .iter()
        .all(|numbers| quadrille_content::is_finite(numbers))
        .then_some(row)
    }
}

/// From the colours of a white point that is moved in CIE 1931 to those of D65: the matrix of linear
/// sRGB colours, by cone responses and with bevy's numbers.
fn balance(temperature: f32, tint: f32) -> Mat3 {
    let white = lms_of(D65 + Vec2::new(-temperature, tint));
    LMS_TO_RGB * Mat3::from_diagonal(lms_of(D65) / white) * LMS_TO_RGB.inverse()
}

/// The standard illuminant in CIE 1931.
const D65: Vec2 = Vec2::new(0.31272, 0.32903);

/// From cone responses, 1 each for white, to linear sRGB.
const LMS_TO_RGB: Mat3 = Mat3::from_cols(
    Vec3::new(4.06305, -0.40791, -0.011_881_2),
    Vec3::new(-2.93241, 1.40437, -0.048_653_2),
    Vec3::new(-0.130_646, 0.003_536_3, 1.060_534_4),
);

/// Cone responses to a colour of CIE 1931 of luminance 1, by the matrix of CAM16.
fn lms_of(xy: Vec2) -> Vec3 {
    let xyz = Vec3::new(xy.x, xy.y, 1.0 - xy.x - xy.y) / xy.y;
    Vec3::new(
        Vec3::new(0.401_288, 0.650_173, -0.051_461).dot(xyz),
        Vec3::new(-0.250_268, 1.204_414, 0.045_854).dot(xyz),
        Vec3::new(-0.002_079, 0.048_952, 0.953_127).dot(xyz),
    )
}
