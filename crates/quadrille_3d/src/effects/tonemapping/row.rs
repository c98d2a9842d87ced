//! Rows of color grading and tone mapping.

use bevy_math::{Mat3, Vec2, Vec3};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

use super::component::Tonemapping;
use super::grading::{ColorGrading, ColorGradingSection, DebandDither};
use crate::constants::{HAS_DITHER, HAS_SECTIONAL_GRADING, HAS_WHITE_BALANCE, ROTATES_HUE};
use crate::tables::table::UNIFORM_BYTES;

/// [`ColorGrading`] and tone mapping method for shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/grading.wgsl", "Grading")]
pub(crate) struct GradingRow {
    /// Columns of the white balance matrix, padded.
    balance: [[f32; 4]; 3],
    /// Saturation of shadows, midtones and highlights; the next four fields likewise.
    saturation: [f32; 3],
    /// Linear exposure factor.
    exposure: f32,
    contrast: [f32; 3],
    hue: f32,
    /// 1 / gamma.
    exponent: [f32; 3],
    post_saturation: f32,
    gain: [f32; 3],
    /// Bit flags such as [`ROTATES_HUE`].
    flags: u32,
    lift: [f32; 3],
    /// Discriminant of [`Tonemapping`].
    method: u32,
    midtones: [f32; 2],
    /// Padding to [`UNIFORM_BYTES`].
    unused: [f32; 2],
    unused_1: [[f32; 4]; 7],
}

const _: () = assert!(size_of::<GradingRow>() == UNIFORM_BYTES as usize);

impl GradingRow {
    /// Returns `None` if a value is not finite.
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
        // An infinite exposure, temperature or gamma can give finite factors, and a black picture.
        let [shadows, midtones, highlights] = each(|section| section.gamma);
        let given = [global.exposure, global.temperature, global.tint];
        let mut given = given.into_iter().chain([shadows, midtones, highlights]);
        if !given.all(f32::is_finite) {
            return None;
        }
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
            unused: [0.0; 2],
            unused_1: [[0.0; 4]; 7],
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
        .all(|numbers| quadrille_content::warnings::is_finite(numbers))
        .then_some(row)
    }
}

/// White balance matrix for linear sRGB: chromatic adaptation in LMS from D65 to a white point shifted in CIE 1931,
/// with bevy's constants.
fn balance(temperature: f32, tint: f32) -> Mat3 {
    let white = lms_of(D65 + Vec2::new(-temperature, tint));
    LMS_TO_RGB * Mat3::from_diagonal(lms_of(D65) / white) * LMS_TO_RGB.inverse()
}

/// Standard illuminant D65 in CIE 1931.
const D65: Vec2 = Vec2::new(0.31272, 0.32903);

/// LMS to linear sRGB; white is (1, 1, 1) in LMS.
const LMS_TO_RGB: Mat3 = Mat3::from_cols(
    Vec3::new(4.06305, -0.40791, -0.011_881_2),
    Vec3::new(-2.93241, 1.40437, -0.048_653_2),
    Vec3::new(-0.130_646, 0.003_536_3, 1.060_534_4),
);

/// LMS of a CIE 1931 chromaticity at luminance 1, by the CAM16 matrix.
fn lms_of(xy: Vec2) -> Vec3 {
    let xyz = Vec3::new(xy.x, xy.y, 1.0 - xy.x - xy.y) / xy.y;
    Vec3::new(
        Vec3::new(0.401_288, 0.650_173, -0.051_461).dot(xyz),
        Vec3::new(-0.250_268, 1.204_414, 0.045_854).dot(xyz),
        Vec3::new(-0.002_079, 0.048_952, 0.953_127).dot(xyz),
    )
}
