use super::*;
use crate::av1::tests::{GRAIN, first_sequence};

#[test]
fn sequence_header_reaches_vulkan_with_its_colors() {
    let sequence = first_sequence(GRAIN);
    let sets = Sets::new(&sequence);
    sets.with(|header| {
        assert_eq!(
            (
                header.max_frame_width_minus_1,
                header.max_frame_height_minus_1
            ),
            (191, 143)
        );
        assert_eq!(header.flags.film_grain_params_present(), 1);
        assert_eq!(header.flags.enable_order_hint(), 1);
        assert_eq!(
            header.flags.enable_restoration(),
            u32::from(sequence.enable_restoration)
        );
        assert_eq!(header.order_hint_bits_minus_1, 6);
        // Pointers of the sets themselves.
        assert_eq!(header.pColorConfig, ptr::from_ref(&sets.color));
        assert!(header.pTimingInfo.is_null() == sequence.timing.is_none());
    });
    assert_eq!((sets.color.BitDepth, sets.color.subsampling_x), (8, 1));
    assert_eq!(sets.color.flags.color_range(), 0);
}

#[test]
fn structures_have_the_sizes_of_the_headers() {
    // VK_STD_vulkan_video_codec_av1_decode 1.0.0, on 64 bits.
    use vk::native::*;
    assert_eq!(size_of::<StdVideoAV1SequenceHeader>(), 40);
    assert_eq!(size_of::<StdVideoAV1ColorConfig>(), 24);
    assert_eq!(size_of::<StdVideoAV1TileInfo>(), 48);
    assert_eq!(size_of::<StdVideoDecodeAV1PictureInfo>(), 136);
    assert_eq!(size_of::<StdVideoDecodeAV1ReferenceInfo>(), 16);
    assert_eq!(size_of::<StdVideoAV1GlobalMotion>(), 200);
    assert_eq!(size_of::<StdVideoAV1Segmentation>(), 136);
}
