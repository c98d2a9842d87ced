use super::*;
use crate::container::VideoStream;
use crate::h264::Parser;

#[test]
fn levels_are_indices_of_the_list_of_vulkan() {
    use vk::native as video;
    let known = [
        (10, video::StdVideoH264LevelIdc_STD_VIDEO_H264_LEVEL_IDC_1_0),
        (31, video::StdVideoH264LevelIdc_STD_VIDEO_H264_LEVEL_IDC_3_1),
        (52, video::StdVideoH264LevelIdc_STD_VIDEO_H264_LEVEL_IDC_5_2),
        (62, video::StdVideoH264LevelIdc_STD_VIDEO_H264_LEVEL_IDC_6_2),
    ];
    for (level_idc, expected) in known {
        assert_eq!(level(level_idc), expected);
    }
    assert_eq!(level(255), level(62));
}

#[test]
fn sets_of_a_clip_are_translated() {
    let clip = include_bytes!("../../../../assets/cropped.mp4");
    let stream = VideoStream::parse(clip.as_slice()).unwrap();
    let mut parser = Parser::default();
    parser.add_sets(stream.parameter_sets()).unwrap();
    let context = parser.context();
    let sets = Sets::new(context, context.sps().next().unwrap());
    let (sps, pps) = (&sets.sps[0], &sets.pps[0]);
    assert_eq!((sets.sps.len(), sets.pps.len()), (1, 1));
    assert_eq!(sps.profile_idc, 66);
    assert_eq!(sps.flags.frame_mbs_only_flag(), 1);
    assert_eq!(sps.flags.frame_cropping_flag(), 1);
    assert_eq!(sps.flags.vui_parameters_present_flag(), 0);
    assert_eq!(
        (
            sps.pic_width_in_mbs_minus1,
            sps.pic_height_in_map_units_minus1
        ),
        (9, 5)
    );
    // In units of two pixels.
    assert_eq!(
        (sps.frame_crop_right_offset, sps.frame_crop_bottom_offset),
        (5, 3)
    );
    assert_eq!(pps.flags.entropy_coding_mode_flag(), 0);
    assert_eq!(pps.flags.deblocking_filter_control_present_flag(), 1);
    assert!(sps.pScalingLists.is_null() && pps.pScalingLists.is_null());
}
