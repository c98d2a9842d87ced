//! Picture parameter sets (clause 7.3.2.3).

use super::super::bits::{Bits, Parsed};
use super::Sps;
use super::lists::ScalingLists;

/// Most columns and rows of tiles (table A.8).
pub(crate) const MAX_TILES: [u32; 2] = [20, 22];

/// Tiles of pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub columns_minus1: u8,
    pub rows_minus1: u8,
    /// Width of all columns but the last and height of all rows but the last, in coding tree blocks, less one; `None`
    /// if they have equal sizes.
    pub sizes_minus1: Option<[Vec<u16>; 2]>,
    pub loop_filter_across: bool,
}

impl Tiles {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        let columns_minus1 = bits.ue("num_tile_columns_minus1", MAX_TILES[0] - 1)?;
        let rows_minus1 = bits.ue("num_tile_rows_minus1", MAX_TILES[1] - 1)?;
        let uniform = bits.flag()?;
        let mut sizes = |count: u32| -> Parsed<Vec<u16>> {
            let sizes = (0..count).map(|_| bits.ue("tile size", 2047).map(|it| it as u16));
            sizes.collect()
        };
        let sizes_minus1 = match uniform {
            true => None,
            false => Some([sizes(columns_minus1)?, sizes(rows_minus1)?]),
        };
        Ok(Self {
            columns_minus1: columns_minus1 as u8,
            rows_minus1: rows_minus1 as u8,
            sizes_minus1,
            loop_filter_across: bits.flag()?,
        })
    }

    /// Whether all tiles have space in a picture of a size in coding tree blocks.
    fn fit(&self, size: [u32; 2]) -> bool {
        let counts = [self.columns_minus1, self.rows_minus1];
        (0..2).all(|axis| {
            let least = match &self.sizes_minus1 {
                Some(sizes) => sizes[axis].iter().map(|&it| u32::from(it) + 1).sum(),
                None => u32::from(counts[axis]),
            };
            least < size[axis]
        })
    }
}

/// Deblocking of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deblocking {
    pub override_enabled: bool,
    pub disabled: bool,
    pub beta_offset_div2: i8,
    pub tc_offset_div2: i8,
}

impl Deblocking {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        let mut control = Self {
            override_enabled: bits.flag()?,
            disabled: bits.flag()?,
            ..Self::default()
        };
        if !control.disabled {
            control.beta_offset_div2 = bits.se("pps_beta_offset_div2", -6..=6)? as i8;
            control.tc_offset_div2 = bits.se("pps_tc_offset_div2", -6..=6)? as i8;
        }
        Ok(control)
    }
}

/// Picture parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pps {
    pub id: u8,
    pub sps: u8,
    pub dependent_slice_segments_enabled: bool,
    pub output_flag_present: bool,
    pub num_extra_slice_header_bits: u8,
    pub sign_data_hiding_enabled: bool,
    pub cabac_init_present: bool,
    pub default_active_minus1: [u8; 2],
    pub init_qp_minus26: i8,
    pub constrained_intra_pred: bool,
    pub transform_skip_enabled: bool,
    /// `diff_cu_qp_delta_depth`, if differences are enabled.
    pub cu_qp_delta_depth: Option<u8>,
    pub cb_qp_offset: i8,
    pub cr_qp_offset: i8,
    pub slice_chroma_qp_offsets_present: bool,
    pub weighted_pred: bool,
    pub weighted_bipred: bool,
    pub transquant_bypass_enabled: bool,
    pub entropy_coding_sync_enabled: bool,
    pub tiles: Option<Tiles>,
    pub loop_filter_across_slices_enabled: bool,
    pub deblocking: Option<Deblocking>,
    pub scaling_lists: Option<Box<ScalingLists>>,
    pub lists_modification_present: bool,
    pub log2_parallel_merge_level_minus2: u8,
    pub slice_header_extension_present: bool,
    /// Whether it has an extension that changes decoding.
    pub has_extension: bool,
}

impl Pps {
    pub(crate) fn parse(payload: &[u8]) -> Parsed<Self> {
        let mut bits = Bits::new(payload);
        let bits = &mut bits;
        // Fields are read in the order of the stream.
        let has_tiles;
        Ok(Self {
            id: bits.ue_8("pps_pic_parameter_set_id", 63)?,
            sps: bits.ue_8("pps_seq_parameter_set_id", 15)?,
            dependent_slice_segments_enabled: bits.flag()?,
            output_flag_present: bits.flag()?,
            num_extra_slice_header_bits: bits.u(3)? as u8,
            sign_data_hiding_enabled: bits.flag()?,
            cabac_init_present: bits.flag()?,
            default_active_minus1: [
                bits.ue_8("num_ref_idx_l0_default_active_minus1", 14)?,
                bits.ue_8("num_ref_idx_l1_default_active_minus1", 14)?,
            ],
            init_qp_minus26: bits.se("init_qp_minus26", -74..=25)? as i8,
            constrained_intra_pred: bits.flag()?,
            transform_skip_enabled: bits.flag()?,
            cu_qp_delta_depth: match bits.flag()? {
                true => Some(bits.ue_8("diff_cu_qp_delta_depth", 3)?),
                false => None,
            },
            cb_qp_offset: bits.se("pps_cb_qp_offset", -12..=12)? as i8,
            cr_qp_offset: bits.se("pps_cr_qp_offset", -12..=12)? as i8,
            slice_chroma_qp_offsets_present: bits.flag()?,
            weighted_pred: bits.flag()?,
            weighted_bipred: bits.flag()?,
            transquant_bypass_enabled: bits.flag()?,
            entropy_coding_sync_enabled: {
                has_tiles = bits.flag()?;
                bits.flag()?
            },
            tiles: match has_tiles {
                true => Some(Tiles::parse(bits)?),
                false => None,
            },
            loop_filter_across_slices_enabled: bits.flag()?,
            deblocking: match bits.flag()? {
                true => Some(Deblocking::parse(bits)?),
                false => None,
            },
            scaling_lists: match bits.flag()? {
                // Other chroma formats than 4:2:0 are refused with the sequence.
                true => Some(Box::new(ScalingLists::parse(bits, 1)?)),
                false => None,
            },
            lists_modification_present: bits.flag()?,
            log2_parallel_merge_level_minus2: bits.ue_8("log2_parallel_merge_level_minus2", 4)?,
            slice_header_extension_present: bits.flag()?,
            has_extension: bits.flag()? && bits.u(4)? != 0,
        })
    }

    /// Checks it against its sequence. The error is a text.
    pub(crate) fn check(&self, sps: &Sps) -> Parsed<()> {
        if self.has_extension {
            return Err("it has an extension of the main profile".to_owned());
        }
        let depth = self.cu_qp_delta_depth.unwrap_or(0);
        if depth > sps.blocks.log2_diff_max_min_coding {
            return Err(format!("`diff_cu_qp_delta_depth` is {depth}"));
        }
        if self.log2_parallel_merge_level_minus2 + 2 > sps.blocks.log2_tree_block() {
            return Err("its merge level is larger than a coding tree block".to_owned());
        }
        let least = -26 - 6 * i16::from(sps.bit_depth_luma_minus8);
        if i16::from(self.init_qp_minus26) < least {
            return Err(format!("`init_qp_minus26` is {}", self.init_qp_minus26));
        }
        let size = sps.size_in_tree_blocks();
        if self.tiles.as_ref().is_some_and(|tiles| !tiles.fit(size)) {
            return Err(format!("its tiles exceed {}x{} blocks", size[0], size[1]));
        }
        Ok(())
    }
}
