//! Video and sequence parameter sets (clauses 7.3.2.1 and 7.3.2.2). Names of fields are those of the specification.

pub(crate) mod lists;
pub(crate) mod picture;
pub(crate) mod reference_sets;
mod usability;

use super::bits::{Bits, Parsed};
use lists::ScalingLists;
use reference_sets::ReferenceSet;

/// Most pictures of a decoded picture buffer (clause A.4.2).
pub(crate) const MAX_DPB: u8 = 16;

/// `MaxLumaPs` of level 6.2 allows this width or height: `Sqrt(8 * MaxLumaPs)`.
const MAX_SIZE: u32 = 16_888;

/// Most entries of `lt_ref_pic_poc_lsb_sps`.
const MAX_LONG_TERM: u32 = 32;

/// Profile, tier and level of all layers (clause 7.3.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProfileTierLevel {
    pub tier: bool,
    pub profile_idc: u8,
    /// `general_profile_compatibility_flag`, of index 0 in the highest bit.
    pub compatible: u32,
    pub progressive_source: bool,
    pub interlaced_source: bool,
    pub non_packed_constraint: bool,
    pub frame_only_constraint: bool,
    pub level_idc: u8,
}

impl ProfileTierLevel {
    fn parse(bits: &mut Bits<'_>, max_sub_layers_minus1: u8) -> Parsed<Self> {
        // `general_profile_space`.
        bits.skip(2)?;
        let general = Self {
            tier: bits.flag()?,
            profile_idc: bits.u(5)? as u8,
            compatible: bits.u(32)?,
            progressive_source: bits.flag()?,
            interlaced_source: bits.flag()?,
            non_packed_constraint: bits.flag()?,
            frame_only_constraint: bits.flag()?,
            level_idc: {
                bits.skip(44)?;
                bits.u(8)? as u8
            },
        };
        let mut present = Vec::new();
        for _ in 0..max_sub_layers_minus1 {
            present.push((bits.flag()?, bits.flag()?));
        }
        if max_sub_layers_minus1 > 0 {
            bits.skip(2 * (8 - u32::from(max_sub_layers_minus1)))?;
        }
        for (profile, level) in present {
            bits.skip(u32::from(profile) * 88 + u32::from(level) * 8)?;
        }
        Ok(general)
    }

    /// The least capable profile that Vulkan knows and whose decoders can decode the stream.
    pub(crate) fn profile(&self) -> u8 {
        let is_compatible = |idc: &u8| self.compatible & (0x8000_0000 >> idc) != 0;
        let known = (1..=3).find(is_compatible);
        known.unwrap_or(self.profile_idc)
    }
}

/// Sizes of the decoded picture buffer, for each temporal sub-layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferSizes {
    pub max_dec_pic_buffering_minus1: [u8; 7],
    pub max_num_reorder_pics: [u8; 7],
    pub max_latency_increase_plus1: [u32; 7],
}

impl BufferSizes {
    /// Parses the sizes of all sub-layers, or of the highest one only.
    fn parse(bits: &mut Bits<'_>, highest: u8, all: bool) -> Parsed<Self> {
        let mut sizes = Self::default();
        let highest = usize::from(highest);
        let first = if all { 0 } else { highest };
        for layer in first..=highest {
            let most = bits.ue_8("max_dec_pic_buffering_minus1", MAX_DPB - 1)?;
            sizes.max_dec_pic_buffering_minus1[layer] = most;
            sizes.max_num_reorder_pics[layer] = bits.ue_8("max_num_reorder_pics", most)?;
            let latency = bits.ue("max_latency_increase_plus1", u32::MAX - 1)?;
            sizes.max_latency_increase_plus1[layer] = latency;
        }
        for layer in 0..first {
            sizes.max_dec_pic_buffering_minus1[layer] = sizes.max_dec_pic_buffering_minus1[first];
            sizes.max_num_reorder_pics[layer] = sizes.max_num_reorder_pics[first];
            sizes.max_latency_increase_plus1[layer] = sizes.max_latency_increase_plus1[first];
        }
        Ok(sizes)
    }
}

/// Timing information of a video parameter set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    pub num_units_in_tick: u32,
    pub time_scale: u32,
    /// `num_ticks_poc_diff_one_minus1`, if the order count is proportional to time.
    pub ticks_per_count_minus1: Option<u32>,
}

impl Timing {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        let num_units_in_tick = bits.u(32)?;
        let time_scale = bits.u(32)?;
        let ticks_per_count_minus1 = match bits.flag()? {
            true => Some(bits.ue("num_ticks_poc_diff_one_minus1", u32::MAX - 1)?),
            false => None,
        };
        Ok(Self {
            num_units_in_tick,
            time_scale,
            ticks_per_count_minus1,
        })
    }
}

/// Video parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vps {
    pub id: u8,
    pub max_sub_layers_minus1: u8,
    pub temporal_id_nesting: bool,
    pub profile: ProfileTierLevel,
    pub sub_layer_ordering_info_present: bool,
    pub sizes: BufferSizes,
    pub timing: Option<Timing>,
}

impl Vps {
    pub(crate) fn parse(payload: &[u8]) -> Parsed<Self> {
        let mut bits = Bits::new(payload);
        let bits = &mut bits;
        let id = bits.u(4)? as u8;
        // Base layer flags and `vps_max_layers_minus1`.
        bits.skip(8)?;
        let max_sub_layers_minus1 = sub_layers(bits)?;
        let temporal_id_nesting = bits.flag()?;
        bits.skip(16)?;
        let profile = ProfileTierLevel::parse(bits, max_sub_layers_minus1)?;
        let sub_layer_ordering_info_present = bits.flag()?;
        let all = sub_layer_ordering_info_present;
        let sizes = BufferSizes::parse(bits, max_sub_layers_minus1, all)?;
        let max_layer_id = bits.u(6)?;
        let sets = bits.ue("vps_num_layer_sets_minus1", 1023)?;
        bits.skip(sets * (max_layer_id + 1))?;
        let timing = match bits.flag()? {
            true => Some(Timing::parse(bits)?),
            false => None,
        };
        // The rest has no influence on decoding.
        Ok(Self {
            id,
            max_sub_layers_minus1,
            temporal_id_nesting,
            profile,
            sub_layer_ordering_info_present,
            sizes,
            timing,
        })
    }
}

/// Sizes of coding and transform blocks of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockSizes {
    pub log2_min_coding_minus3: u8,
    pub log2_diff_max_min_coding: u8,
    pub log2_min_transform_minus2: u8,
    pub log2_diff_max_min_transform: u8,
    pub max_transform_hierarchy_depth_inter: u8,
    pub max_transform_hierarchy_depth_intra: u8,
}

impl BlockSizes {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        let sizes = Self {
            log2_min_coding_minus3: bits.ue_8("log2_min_luma_coding_block_size_minus3", 3)?,
            log2_diff_max_min_coding: bits.ue_8("log2_diff_max_min_luma_coding_block_size", 3)?,
            log2_min_transform_minus2: bits.ue_8("log2_min_luma_transform_block_size_minus2", 3)?,
            log2_diff_max_min_transform: bits
                .ue_8("log2_diff_max_min_luma_transform_block_size", 3)?,
            max_transform_hierarchy_depth_inter: bits
                .ue_8("max_transform_hierarchy_depth_inter", 4)?,
            max_transform_hierarchy_depth_intra: bits
                .ue_8("max_transform_hierarchy_depth_intra", 4)?,
        };
        let tree_block = sizes.log2_tree_block();
        // `CtbLog2SizeY` is 4 to 6, and transform blocks are smaller than coding blocks and at most of 32 samples.
        let transform = sizes.log2_min_transform_minus2 + 2;
        let largest = transform + sizes.log2_diff_max_min_transform;
        if !(4..=6).contains(&tree_block)
            || transform >= sizes.log2_min_coding_minus3 + 3
            || largest > tree_block.min(5)
        {
            return Err("its block sizes contradict each other".to_owned());
        }
        Ok(sizes)
    }

    /// Checks that pictures consist of whole coding blocks.
    fn check(&self, size: [u32; 2]) -> Parsed<()> {
        let smallest = 8_u32 << self.log2_min_coding_minus3;
        match size.iter().all(|&it| it > 0 && it.is_multiple_of(smallest)) {
            true => Ok(()),
            false => Err(format!(
                "its size of {}x{} is no multiple of {smallest}",
                size[0], size[1]
            )),
        }
    }

    /// `CtbLog2SizeY`.
    pub(crate) fn log2_tree_block(&self) -> u8 {
        self.log2_min_coding_minus3 + 3 + self.log2_diff_max_min_coding
    }
}

/// Blocks of uncompressed samples of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pcm {
    pub bit_depth_luma_minus1: u8,
    pub bit_depth_chroma_minus1: u8,
    pub log2_min_coding_minus3: u8,
    pub log2_diff_max_min_coding: u8,
    pub loop_filter_disabled: bool,
}

impl Pcm {
    fn parse(bits: &mut Bits<'_>) -> Parsed<Self> {
        Ok(Self {
            bit_depth_luma_minus1: bits.u(4)? as u8,
            bit_depth_chroma_minus1: bits.u(4)? as u8,
            log2_min_coding_minus3: bits.ue_8("log2_min_pcm_luma_coding_block_size_minus3", 2)?,
            log2_diff_max_min_coding: bits
                .ue_8("log2_diff_max_min_pcm_luma_coding_block_size", 2)?,
            loop_filter_disabled: bits.flag()?,
        })
    }
}

/// Color description and frame rate of a sequence (clause E.2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usability {
    pub full_range: bool,
    pub matrix_coefficients: Option<u8>,
    pub interlaced: bool,
    pub num_units_in_tick: u32,
    pub time_scale: u32,
}

/// Sequence parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sps {
    pub vps: u8,
    pub max_sub_layers_minus1: u8,
    pub temporal_id_nesting: bool,
    pub profile: ProfileTierLevel,
    pub id: u8,
    pub chroma_format_idc: u8,
    pub size: [u32; 2],
    /// Left, right, top and bottom offset in units of chroma samples.
    pub window: Option<[u32; 4]>,
    pub bit_depth_luma_minus8: u8,
    pub bit_depth_chroma_minus8: u8,
    pub log2_max_lsb_minus4: u8,
    pub sub_layer_ordering_info_present: bool,
    pub sizes: BufferSizes,
    pub blocks: BlockSizes,
    pub scaling_list_enabled: bool,
    pub scaling_lists: Option<Box<ScalingLists>>,
    pub amp_enabled: bool,
    pub sample_adaptive_offset_enabled: bool,
    pub pcm: Option<Pcm>,
    pub reference_sets: Vec<ReferenceSet>,
    /// Low bits of the order counts of long-term references, and whether the current picture uses them.
    pub long_term: Option<Vec<(u32, bool)>>,
    pub temporal_mvp_enabled: bool,
    pub strong_intra_smoothing_enabled: bool,
    pub usability: Option<Usability>,
    /// Whether it has an extension that changes decoding.
    pub has_extension: bool,
}

impl Sps {
    pub(crate) fn parse(payload: &[u8]) -> Parsed<Self> {
        let mut bits = Bits::new(payload);
        let bits = &mut bits;
        let vps = bits.u(4)? as u8;
        let max_sub_layers_minus1 = sub_layers(bits)?;
        let temporal_id_nesting = bits.flag()?;
        let profile = ProfileTierLevel::parse(bits, max_sub_layers_minus1)?;
        let id = bits.ue_8("sps_seq_parameter_set_id", 15)?;
        let chroma_format_idc = bits.ue_8("chroma_format_idc", 3)?;
        if chroma_format_idc == 3 {
            // `separate_colour_plane_flag`.
            bits.skip(1)?;
        }
        let size = [
            bits.ue("pic_width_in_luma_samples", MAX_SIZE)?,
            bits.ue("pic_height_in_luma_samples", MAX_SIZE)?,
        ];
        let window = match bits.flag()? {
            true => Some(window(bits)?),
            false => None,
        };
        let bit_depth_luma_minus8 = bits.ue_8("bit_depth_luma_minus8", 8)?;
        let bit_depth_chroma_minus8 = bits.ue_8("bit_depth_chroma_minus8", 8)?;
        let log2_max_lsb_minus4 = bits.ue_8("log2_max_pic_order_cnt_lsb_minus4", 12)?;
        let all = bits.flag()?;
        let sizes = BufferSizes::parse(bits, max_sub_layers_minus1, all)?;
        let blocks = BlockSizes::parse(bits)?;
        blocks.check(size)?;
        let scaling_list_enabled = bits.flag()?;
        let scaling_lists = match scaling_list_enabled && bits.flag()? {
            true => Some(Box::new(ScalingLists::parse(bits, chroma_format_idc)?)),
            false => None,
        };
        let most = sizes.max_dec_pic_buffering_minus1[usize::from(max_sub_layers_minus1)];
        // Fields are read in the order of the stream.
        Ok(Self {
            vps,
            max_sub_layers_minus1,
            temporal_id_nesting,
            profile,
            id,
            chroma_format_idc,
            size,
            window,
            bit_depth_luma_minus8,
            bit_depth_chroma_minus8,
            log2_max_lsb_minus4,
            sub_layer_ordering_info_present: all,
            sizes,
            blocks,
            scaling_list_enabled,
            scaling_lists,
            amp_enabled: bits.flag()?,
            sample_adaptive_offset_enabled: bits.flag()?,
            pcm: match bits.flag()? {
                true => Some(Pcm::parse(bits)?),
                false => None,
            },
            reference_sets: reference_sets::parse_all(bits, most)?,
            long_term: long_term(bits, u32::from(log2_max_lsb_minus4) + 4)?,
            temporal_mvp_enabled: bits.flag()?,
            strong_intra_smoothing_enabled: bits.flag()?,
            usability: match bits.flag()? {
                true => Some(Usability::parse(bits, max_sub_layers_minus1)?),
                false => None,
            },
            // Range, multilayer, 3D and screen content extension; data of other ones is ignored (clause 7.4.3.2.1).
            has_extension: bits.flag()? && bits.u(4)? != 0,
        })
    }

    /// Bits of `slice_pic_order_cnt_lsb`.
    pub(crate) fn log2_max_lsb(&self) -> u32 {
        u32::from(self.log2_max_lsb_minus4) + 4
    }

    /// `sps_max_dec_pic_buffering_minus1` of the highest sub-layer: most references of a picture.
    pub(crate) fn max_references(&self) -> u8 {
        self.sizes.max_dec_pic_buffering_minus1[usize::from(self.max_sub_layers_minus1)]
    }

    /// Width and height in coding tree blocks.
    pub(crate) fn size_in_tree_blocks(&self) -> [u32; 2] {
        let block = 1_u32 << self.blocks.log2_tree_block();
        self.size.map(|it| it.div_ceil(block))
    }

    /// Pictures per second, if it is stated.
    pub(crate) fn rate(&self) -> Option<f64> {
        let usability = self.usability.as_ref()?;
        rate(usability.num_units_in_tick, usability.time_scale)
    }
}

/// Pictures per second within reason.
pub(crate) fn rate(num_units_in_tick: u32, time_scale: u32) -> Option<f64> {
    let rate = f64::from(time_scale) / f64::from(num_units_in_tick);
    Some(rate).filter(|it| (0.01..=1000.0).contains(it))
}

/// `sps_max_sub_layers_minus1`, at most 6.
fn sub_layers(bits: &mut Bits<'_>) -> Parsed<u8> {
    match bits.u(3)? {
        7 => Err("it has 8 temporal sub-layers, more than 7".to_owned()),
        layers => Ok(layers as u8),
    }
}

fn window(bits: &mut Bits<'_>) -> Parsed<[u32; 4]> {
    let mut window = [0; 4];
    for offset in &mut window {
        *offset = bits.ue("conf_win_offset", MAX_SIZE)?;
    }
    Ok(window)
}

fn long_term(bits: &mut Bits<'_>, log2_max_lsb: u32) -> Parsed<Option<Vec<(u32, bool)>>> {
    if !bits.flag()? {
        return Ok(None);
    }
    let count = bits.ue("num_long_term_ref_pics_sps", MAX_LONG_TERM)?;
    let entries = (0..count).map(|_| Ok((bits.u(log2_max_lsb)?, bits.flag()?)));
    entries.collect::<Parsed<Vec<_>>>().map(Some)
}
