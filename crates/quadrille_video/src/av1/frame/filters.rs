//! Loop filter, CDEF and loop restoration (AV1 specification, sections 5.9.11, 5.9.19 and 5.9.20).

use crate::av1::bits::{Bits, Parsed};
use crate::av1::sequence::SequenceHeader;

/// Changes of the loop filter's level by reference name and by mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deltas {
    pub references: [i8; 8],
    pub modes: [i8; 2],
}

impl Default for Deltas {
    fn default() -> Self {
        Self {
            references: [1, 0, 0, 0, -1, 0, -1, -1],
            modes: [0, 0],
        }
    }
}

/// Deblocking filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopFilter {
    pub levels: [u8; 4],
    pub sharpness: u8,
    pub has_deltas: bool,
    pub updates_deltas: bool,
    /// `update_ref_delta` and `update_mode_delta`, a bit for each.
    pub updated: [u8; 2],
    pub deltas: Deltas,
}

impl LoopFilter {
    /// Parses `loop_filter_params()`, with the deltas of the primary reference frame.
    pub(super) fn parse(
        bits: &mut Bits<'_>,
        is_used: bool,
        is_gray: bool,
        previous: Option<Deltas>,
    ) -> Parsed<Self> {
        let mut filter = Self::default();
        if !is_used {
            return Ok(filter);
        }
        filter.deltas = previous.unwrap_or_default();
        filter.levels[0] = bits.f_8(6)?;
        filter.levels[1] = bits.f_8(6)?;
        if !is_gray && (filter.levels[0] > 0 || filter.levels[1] > 0) {
            filter.levels[2] = bits.f_8(6)?;
            filter.levels[3] = bits.f_8(6)?;
        }
        filter.sharpness = bits.f_8(3)?;
        filter.has_deltas = bits.flag()?;
        filter.updates_deltas = bits.flag_if(filter.has_deltas)?;
        if filter.updates_deltas {
            let Deltas { references, modes } = &mut filter.deltas;
            let lists: [&mut [i8]; 2] = [references, modes];
            for (list, updated) in lists.into_iter().zip(&mut filter.updated) {
                for (at, delta) in list.iter_mut().enumerate() {
                    if bits.flag()? {
                        *updated |= 1 << at;
                        *delta = bits.su(7)? as i8;
                    }
                }
            }
        }
        Ok(filter)
    }
}

/// Constrained directional enhancement filter. Secondary strengths are as coded: 3 means 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cdef {
    pub damping_minus_3: u8,
    pub bits: u8,
    /// Primary and secondary strengths of luma and of chroma.
    pub luma: [[u8; 8]; 2],
    pub chroma: [[u8; 8]; 2],
}

impl Cdef {
    pub(super) fn parse(bits: &mut Bits<'_>, is_gray: bool) -> Parsed<Self> {
        let mut cdef = Self {
            damping_minus_3: bits.f_8(2)?,
            bits: bits.f_8(2)?,
            ..Self::default()
        };
        for at in 0..1 << cdef.bits {
            cdef.luma[0][at] = bits.f_8(4)?;
            cdef.luma[1][at] = bits.f_8(2)?;
            if !is_gray {
                cdef.chroma[0][at] = bits.f_8(4)?;
                cdef.chroma[1][at] = bits.f_8(2)?;
            }
        }
        Ok(cdef)
    }
}

/// Loop restoration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restoration {
    /// `FrameRestorationType` of each plane: none, Wiener, self-guided, or switchable.
    pub types: [u8; 3],
    /// Binary logarithm of `LoopRestorationSize` of each plane; 0 without restoration.
    pub log2_sizes: [u8; 3],
}

impl Restoration {
    pub(super) fn parse(bits: &mut Bits<'_>, sequence: &SequenceHeader) -> Parsed<Self> {
        /// `Remap_Lr_Type`.
        const TYPES: [u8; 4] = [0, 3, 1, 2];
        let mut restoration = Self::default();
        let planes = if sequence.color.mono_chrome { 1 } else { 3 };
        for kind in &mut restoration.types[..planes] {
            *kind = TYPES[bits.f(2)? as usize];
        }
        if restoration.types == [0; 3] {
            return Ok(restoration);
        }
        let mut shift = bits.f_8(1)?;
        if sequence.use_128x128_superblock {
            shift += 1;
        } else if shift > 0 {
            shift += bits.f_8(1)?;
        }
        let has_chroma = restoration.types[1..] != [0; 2];
        let is_halved = sequence.color.subsampling == [true; 2] && has_chroma;
        let chroma = u8::from(bits.flag_if(is_halved)?);
        // `RESTORATION_TILESIZE_MAX` is 256.
        restoration.log2_sizes = [6 + shift, 6 + shift - chroma, 6 + shift - chroma];
        Ok(restoration)
    }
}
