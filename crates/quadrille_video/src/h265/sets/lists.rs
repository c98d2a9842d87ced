//! Scaling lists (clauses 7.3.4 and 7.4.5), complete with default and predicted ones.

use super::super::bits::{Bits, Parsed};

/// Lists by size of the blocks and matrix, in the order of coefficients in the stream (up-right diagonal).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalingLists {
    pub of_4: [[u8; 16]; 6],
    /// Lists of blocks of 8, 16 and 32 samples.
    pub larger: [[[u8; 64]; 6]; 3],
    /// DC coefficients of blocks of 16 and 32 samples.
    pub dc: [[u8; 6]; 2],
}

/// Table 7-6: intra, then inter.
const DEFAULT: [[u8; 64]; 2] = [
    [
        16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17, 16, 17, 16, 17, 18, 17, 18, 18, 17, 18, 21, 19,
        20, 21, 20, 19, 21, 24, 22, 22, 24, 24, 22, 22, 24, 25, 25, 27, 30, 27, 25, 25, 29, 31, 35,
        35, 31, 29, 36, 41, 44, 41, 36, 47, 54, 54, 47, 65, 70, 65, 88, 88, 115,
    ],
    [
        16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17, 17, 17, 17, 17, 18, 18, 18, 18, 18, 18, 20, 20,
        20, 20, 20, 20, 20, 24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 28, 28, 28,
        28, 28, 28, 33, 33, 33, 33, 33, 41, 41, 41, 41, 54, 54, 54, 71, 71, 91,
    ],
];

impl Default for ScalingLists {
    /// Lists that hold where scaling lists are enabled and not transmitted.
    fn default() -> Self {
        let matrices = [0, 0, 0, 1, 1, 1].map(|kind: usize| DEFAULT[kind]);
        Self {
            of_4: [[16; 16]; 6],
            larger: [matrices; 3],
            dc: [[16; 6]; 2],
        }
    }
}

impl ScalingLists {
    pub(super) fn parse(bits: &mut Bits<'_>, chroma_format_idc: u8) -> Parsed<Self> {
        let mut lists = Self::default();
        for size in 0..4_usize {
            let step = if size == 3 { 3 } else { 1 };
            for matrix in (0..6).step_by(step) {
                if bits.flag()? {
                    lists.parse_list(bits, size, matrix)?;
                } else {
                    let max = (matrix / step) as u32;
                    let delta = bits.ue("scaling_list_pred_matrix_id_delta", max)? as usize;
                    lists.predict(size, matrix, delta * step);
                }
            }
        }
        // Chroma blocks of 32 samples exist in 4:4:4 only.
        if chroma_format_idc == 3 {
            for matrix in [1, 2, 4, 5] {
                lists.larger[2][matrix] = lists.larger[1][matrix];
                lists.dc[1][matrix] = lists.dc[0][matrix];
            }
        }
        Ok(lists)
    }

    fn parse_list(&mut self, bits: &mut Bits<'_>, size: usize, matrix: usize) -> Parsed<()> {
        let mut next = 8_i16;
        if size > 1 {
            next = bits.se("scaling_list_dc_coef_minus8", -7..=247)? + 8;
            self.dc[size - 2][matrix] = next as u8;
        }
        let list: &mut [u8] = match size {
            0 => &mut self.of_4[matrix],
            _ => &mut self.larger[size - 1][matrix],
        };
        for coefficient in list {
            let delta = bits.se("scaling_list_delta_coef", -128..=127)?;
            next = (next + delta + 256) % 256;
            *coefficient = next as u8;
        }
        Ok(())
    }

    /// Takes another list of the same size: of an earlier matrix, or the default one.
    fn predict(&mut self, size: usize, matrix: usize, delta: usize) {
        let lists = match delta {
            0 => Self::default(),
            _ => self.clone(),
        };
        let from = matrix.saturating_sub(delta);
        match size {
            0 => self.of_4[matrix] = lists.of_4[from],
            _ => self.larger[size - 1][matrix] = lists.larger[size - 1][from],
        }
        if size > 1 {
            self.dc[size - 2][matrix] = lists.dc[size - 2][from];
        }
    }
}
