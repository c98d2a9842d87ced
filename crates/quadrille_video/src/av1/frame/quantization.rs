//! Quantization and segmentation (AV1 specification, sections 5.9.12 and 5.9.14).

use crate::av1::bits::{Bits, Parsed};
use crate::av1::sequence::ColorConfig;

/// Quantizer indices and matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quantization {
    pub base_q_idx: u8,
    pub y_dc: i8,
    pub diff_uv_delta: bool,
    pub u_dc: i8,
    pub u_ac: i8,
    pub v_dc: i8,
    pub v_ac: i8,
    /// `qm_y`, `qm_u` and `qm_v`, if `using_qmatrix`.
    pub matrices: Option<[u8; 3]>,
}

impl Quantization {
    pub(super) fn parse(bits: &mut Bits<'_>, color: &ColorConfig) -> Parsed<Self> {
        let mut quantization = Self {
            base_q_idx: bits.f_8(8)?,
            y_dc: delta(bits)?,
            ..Self::default()
        };
        if !color.mono_chrome {
            quantization.diff_uv_delta = bits.flag_if(color.separate_uv_delta_q)?;
            quantization.u_dc = delta(bits)?;
            quantization.u_ac = delta(bits)?;
            (quantization.v_dc, quantization.v_ac) = match quantization.diff_uv_delta {
                true => (delta(bits)?, delta(bits)?),
                false => (quantization.u_dc, quantization.u_ac),
            };
        }
        if bits.flag()? {
            let [y, u] = [bits.f_8(4)?, bits.f_8(4)?];
            let v = match color.separate_uv_delta_q {
                true => bits.f_8(4)?,
                false => u,
            };
            quantization.matrices = Some([y, u, v]);
        }
        Ok(quantization)
    }

    /// `CodedLossless`: all segments are lossless.
    pub(super) fn is_lossless(&self, segmentation: &Segmentation) -> bool {
        let deltas = [self.y_dc, self.u_dc, self.u_ac, self.v_dc, self.v_ac];
        let features = &segmentation.features;
        let index = |segment: usize| {
            let is_active = segmentation.is_enabled && features.enabled[segment] & 1 == 1;
            let change = if is_active {
                features.data[segment][0]
            } else {
                0
            };
            (i16::from(self.base_q_idx) + change).clamp(0, 255)
        };
        deltas == [0; 5] && (0..8).all(|segment| index(segment) == 0)
    }
}

/// `read_delta_q()`.
fn delta(bits: &mut Bits<'_>) -> Parsed<i8> {
    match bits.flag()? {
        true => Ok(bits.su(7)? as i8),
        false => Ok(0),
    }
}

/// Features of the segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// A bit for each feature.
    pub enabled: [u8; 8],
    pub data: [[i16; 8]; 8],
}

/// Segmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segmentation {
    pub is_enabled: bool,
    pub update_map: bool,
    pub temporal_update: bool,
    pub update_data: bool,
    pub features: Features,
}

impl Segmentation {
    /// Parses `segmentation_params()`, with the features of the primary reference frame.
    pub(super) fn parse(bits: &mut Bits<'_>, previous: Option<&Features>) -> Parsed<Self> {
        let mut segmentation = Self {
            is_enabled: bits.flag()?,
            ..Self::default()
        };
        if !segmentation.is_enabled {
            return Ok(segmentation);
        }
        if let Some(previous) = previous {
            segmentation.features = *previous;
            segmentation.update_map = bits.flag()?;
            segmentation.temporal_update = bits.flag_if(segmentation.update_map)?;
            segmentation.update_data = bits.flag()?;
        } else {
            segmentation.update_map = true;
            segmentation.update_data = true;
        }
        if segmentation.update_data {
            segmentation.features = Features::parse(bits)?;
        }
        Ok(segmentation)
    }
}

impl Features {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        /// Bits and largest value of each feature (`Segmentation_Feature_Bits`, `Segmentation_Feature_Max`).
        const LIMITS: [(u32, i16); 8] = [
            (8, 255),
            (6, 63),
            (6, 63),
            (6, 63),
            (6, 63),
            (3, 7),
            (0, 0),
            (0, 0),
        ];
        let mut features = Self::default();
        for segment in 0..8 {
            for (feature, (length, most)) in LIMITS.into_iter().enumerate() {
                if !bits.flag()? {
                    continue;
                }
                features.enabled[segment] |= 1 << feature;
                features.data[segment][feature] = match feature {
                    0..=4 => bits.su(1 + length)?.clamp(-most, most),
                    _ => (bits.f(length)? as i16).min(most),
                };
            }
        }
        Ok(features)
    }
}
