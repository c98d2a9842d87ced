//! Film grain (AV1 specification, section 5.9.30). Names of fields are those of the specification.

use super::{Context, FrameHeader, INTER};
use crate::av1::bits::{Bits, Parsed};

/// Film grain parameters of a frame that has grain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grain {
    pub grain_seed: u16,
    pub update_grain: bool,
    pub film_grain_params_ref_idx: u8,
    /// Values and scalings of luma, and their number.
    pub y: Points<14>,
    pub chroma_scaling_from_luma: bool,
    pub cb: Points<10>,
    pub cr: Points<10>,
    pub grain_scaling_minus_8: u8,
    pub ar_coeff_lag: u8,
    pub ar_coeffs_y_plus_128: [u8; 24],
    pub ar_coeffs_cb_plus_128: [u8; 25],
    pub ar_coeffs_cr_plus_128: [u8; 25],
    pub ar_coeff_shift_minus_6: u8,
    pub grain_scale_shift: u8,
    /// `mult`, `luma_mult` and `offset` of Cb and Cr.
    pub mixes: [(u8, u8, u16); 2],
    pub overlap_flag: bool,
    pub clip_to_restricted_range: bool,
}

/// Points of a scaling function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Points<const N: usize> {
    pub count: u8,
    pub values: [u8; N],
    pub scalings: [u8; N],
}

impl<const N: usize> Default for Points<N> {
    fn default() -> Self {
        Self {
            count: 0,
            values: [0; N],
            scalings: [0; N],
        }
    }
}

impl<const N: usize> Points<N> {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        let mut points = Self {
            count: bits.f_8(4)?,
            ..Self::default()
        };
        if usize::from(points.count) > N {
            return Err(format!("its film grain has {} points", points.count));
        }
        for at in 0..usize::from(points.count) {
            points.values[at] = bits.f_8(8)?;
            points.scalings[at] = bits.f_8(8)?;
        }
        Ok(points)
    }
}

impl Grain {
    /// Parses `film_grain_params()` of a frame of a sequence with film grain; `None` if the frame has none.
    pub(super) fn parse(
        bits: &mut Bits<'_>,
        context: &Context<'_>,
        header: &FrameHeader,
    ) -> Parsed<Option<Self>> {
        if !bits.flag()? {
            return Ok(None);
        }
        let grain_seed = bits.f(16)? as u16;
        let update_grain = header.frame_type != INTER || bits.flag()?;
        if !update_grain {
            let index = bits.f_8(3)?;
            if !header.ref_frame_idx.contains(&index) {
                return Err("its film grain is that of no reference".to_owned());
            }
            let known = context.stored(index)?.grain;
            return Ok(known.map(|known| Self {
                grain_seed,
                update_grain,
                film_grain_params_ref_idx: index,
                ..known
            }));
        }
        let mut grain = Self {
            grain_seed,
            update_grain,
            ..Self::default()
        };
        grain.update(bits, context)?;
        Ok(Some(grain))
    }

    fn update(&mut self, bits: &mut Bits<'_>, context: &Context<'_>) -> Parsed<()> {
        let color = &context.sequence.color;
        self.y = Points::parse(bits)?;
        self.chroma_scaling_from_luma = bits.flag_if(!color.mono_chrome)?;
        let has_no_luma = color.subsampling == [true; 2] && self.y.count == 0;
        if !color.mono_chrome && !self.chroma_scaling_from_luma && !has_no_luma {
            self.cb = Points::parse(bits)?;
            self.cr = Points::parse(bits)?;
        }
        self.grain_scaling_minus_8 = bits.f_8(2)?;
        self.ar_coeff_lag = bits.f_8(2)?;
        let lag = usize::from(self.ar_coeff_lag);
        let mut count = 2 * lag * (lag + 1);
        if self.y.count > 0 {
            fill(bits, &mut self.ar_coeffs_y_plus_128[..count])?;
            count += 1;
        }
        if self.chroma_scaling_from_luma || self.cb.count > 0 {
            fill(bits, &mut self.ar_coeffs_cb_plus_128[..count])?;
        }
        if self.chroma_scaling_from_luma || self.cr.count > 0 {
            fill(bits, &mut self.ar_coeffs_cr_plus_128[..count])?;
        }
        self.ar_coeff_shift_minus_6 = bits.f_8(2)?;
        self.grain_scale_shift = bits.f_8(2)?;
        let counts = [self.cb.count, self.cr.count];
        for (mix, count) in self.mixes.iter_mut().zip(counts) {
            if count > 0 {
                *mix = (bits.f_8(8)?, bits.f_8(8)?, bits.f(9)? as u16);
            }
        }
        self.overlap_flag = bits.flag()?;
        self.clip_to_restricted_range = bits.flag()?;
        Ok(())
    }
}

fn fill(bits: &mut Bits<'_>, bytes: &mut [u8]) -> Parsed<()> {
    for byte in bytes {
        *byte = bits.f_8(8)?;
    }
    Ok(())
}
