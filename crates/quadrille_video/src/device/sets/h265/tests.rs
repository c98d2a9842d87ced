use super::*;
use crate::container::VideoStream;

#[test]
fn levels_are_indices_of_the_list_of_vulkan() {
    use vk::native as video;
    let known = [
        (30, video::StdVideoH265LevelIdc_STD_VIDEO_H265_LEVEL_IDC_1_0),
        (93, video::StdVideoH265LevelIdc_STD_VIDEO_H265_LEVEL_IDC_3_1),
        (
            156,
            video::StdVideoH265LevelIdc_STD_VIDEO_H265_LEVEL_IDC_5_2,
        ),
        (
            186,
            video::StdVideoH265LevelIdc_STD_VIDEO_H265_LEVEL_IDC_6_2,
        ),
    ];
    for (level_idc, expected) in known {
        assert_eq!(level(level_idc), expected);
    }
    assert_eq!(level(255), level(186));
}

#[test]
fn sets_of_a_clip_are_translated() {
    let clip = include_bytes!("../../../../assets/radl.h265");
    let stream = VideoStream::parse(clip.as_slice()).unwrap();
    let mut parser = h265::Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    let sets = Sets::new(parser.sets(), 0).unwrap();
    assert!(Sets::new(parser.sets(), 1).is_none());
    assert_eq!((sets.vps.len(), sets.sps.len(), sets.pps.len()), (1, 1, 1));
    let (sps, pps) = (&sets.sps[0], &sets.pps[0]);
    assert_eq!(
        (
            sps.pic_width_in_luma_samples,
            sps.pic_height_in_luma_samples
        ),
        (152, 152)
    );
    // In units of two pixels.
    assert_eq!(
        (sps.conf_win_right_offset, sps.conf_win_bottom_offset),
        (1, 1)
    );
    assert_eq!(sps.flags.conformance_window_flag(), 1);
    assert_eq!(sps.flags.scaling_list_enabled_flag(), 1);
    assert_eq!(sps.flags.vui_parameters_present_flag(), 0);
    // Default lists are given in full.
    assert_eq!(sps.flags.sps_scaling_list_data_present_flag(), 1);
    assert!(!sps.pScalingLists.is_null() && pps.pScalingLists.is_null());
    assert!(!sps.pProfileTierLevel.is_null() && !sps.pDecPicBufMgr.is_null());
    assert_eq!(pps.flags.sign_data_hiding_enabled_flag(), 1);
    assert_eq!(pps.flags.tiles_enabled_flag(), 0);
    assert_eq!(pps.flags.uniform_spacing_flag(), 1);
    assert_eq!(sets.memory.profiles[0].general_profile_idc, 1);
}

#[test]
fn tiles_of_equal_size_have_their_sizes() {
    let mut tiles = Tiles {
        columns_minus1: 2,
        rows_minus1: 1,
        sizes_minus1: None,
        loop_filter_across: true,
    };
    let (widths, heights) = tile_sizes(Some(&tiles), [10, 7]);
    assert_eq!(widths[..3], [2, 2, 0]);
    assert_eq!(heights[..2], [2, 0]);
    tiles.sizes_minus1 = Some([vec![4, 1], vec![5]]);
    let (widths, heights) = tile_sizes(Some(&tiles), [10, 7]);
    assert_eq!(widths[..3], [4, 1, 0]);
    assert_eq!(heights[..2], [5, 0]);
    assert_eq!(tile_sizes(None, [10, 7]), ([0; 19], [0; 21]));
}

#[test]
fn reference_sets_have_differences_of_neighbours() {
    let set = reference_set(&ReferenceSet {
        before: vec![(-1, true), (-4, false), (-6, true)],
        after: vec![(2, true)],
    });
    assert_eq!((set.num_negative_pics, set.num_positive_pics), (3, 1));
    assert_eq!(set.delta_poc_s0_minus1[..4], [0, 2, 1, 0]);
    assert_eq!(set.used_by_curr_pic_s0_flag, 0b101);
    assert_eq!(set.delta_poc_s1_minus1[..2], [1, 0]);
    assert_eq!(set.used_by_curr_pic_s1_flag, 1);
}
