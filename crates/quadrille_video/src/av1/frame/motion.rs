//! Global motion (AV1 specification, sections 5.9.24 to 5.9.29).

use crate::av1::bits::{Bits, Parsed};

/// `WARPEDMODEL_PREC_BITS`.
const PRECISION: u32 = 16;

const IDENTITY: u8 = 0;
const TRANSLATION: u8 = 1;
const ROTZOOM: u8 = 2;
const AFFINE: u8 = 3;

/// Global motion by reference name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Motion {
    pub types: [u8; 8],
    pub params: [[i32; 6]; 8],
}

impl Default for Motion {
    fn default() -> Self {
        let one = 1 << PRECISION;
        Self {
            types: [IDENTITY; 8],
            params: [[0, 0, one, 0, 0, one]; 8],
        }
    }
}

impl Motion {
    /// Parses `global_motion_params()`, with the parameters of the primary reference frame.
    pub(crate) fn parse(bits: &mut Bits<'_>, previous: &Self, is_precise: bool) -> Parsed<Self> {
        let mut motion = Self::default();
        for name in 1..8 {
            let kind = if !bits.flag()? {
                IDENTITY
            } else if bits.flag()? {
                ROTZOOM
            } else if bits.flag()? {
                TRANSLATION
            } else {
                AFFINE
            };
            motion.types[name] = kind;
            let params = &mut motion.params[name];
            let known = &previous.params[name];
            let mut read = |index: usize| param(bits, (kind, index), known[index], is_precise);
            if kind >= ROTZOOM {
                params[2] = read(2)?;
                params[3] = read(3)?;
                (params[4], params[5]) = match kind {
                    AFFINE => (read(4)?, read(5)?),
                    _ => (-params[3], params[2]),
                };
            }
            if kind >= TRANSLATION {
                params[0] = read(0)?;
                params[1] = read(1)?;
            }
        }
        Ok(motion)
    }
}

/// `read_global_param()`.
fn param(
    bits: &mut Bits<'_>,
    (kind, index): (u8, usize),
    previous: i32,
    is_precise: bool,
) -> Parsed<i32> {
    let coarse = u32::from(!is_precise);
    let (magnitude, precision) = match (index, kind) {
        (0 | 1, TRANSLATION) => (9 - coarse, 3 - coarse),
        (0 | 1, _) => (12, 6),
        _ => (12, 15),
    };
    let difference = PRECISION - precision;
    let is_scale = index % 3 == 2;
    let round = if is_scale { 1 << PRECISION } else { 0 };
    let center = if is_scale { 1 << precision } else { 0 };
    let most = 1_i32 << magnitude;
    let reference = (previous >> difference) - center;
    let value = signed_subexp(bits, -most, most + 1, reference)?;
    Ok((value << difference) + round)
}

/// `decode_signed_subexp_with_ref()`.
fn signed_subexp(bits: &mut Bits<'_>, low: i32, high: i32, reference: i32) -> Parsed<i32> {
    let most = high - low;
    let reference = reference - low;
    let code = subexp(bits, most)?;
    let value = if reference << 1 <= most {
        inverse_recenter(reference, code)
    } else {
        most - 1 - inverse_recenter(most - 1 - reference, code)
    };
    Ok(value + low)
}

/// `decode_subexp()`.
fn subexp(bits: &mut Bits<'_>, symbols: i32) -> Parsed<i32> {
    let (mut round, mut begin) = (0_u32, 0_i32);
    loop {
        let length = if round > 0 { 3 + round - 1 } else { 3 };
        let step = 1_i32 << length;
        if symbols <= begin + 3 * step {
            return Ok(bits.ns((symbols - begin) as u32)? as i32 + begin);
        }
        if !bits.flag()? {
            return Ok(bits.f(length)? as i32 + begin);
        }
        round += 1;
        begin += step;
    }
}

fn inverse_recenter(reference: i32, code: i32) -> i32 {
    if code > 2 * reference {
        code
    } else if code & 1 == 1 {
        reference - ((code + 1) >> 1)
    } else {
        reference + (code >> 1)
    }
}
