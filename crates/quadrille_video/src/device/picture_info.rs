//! Structures of one picture that the codecs chain to the commands of Vulkan Video.

mod av1;

use std::ffi::c_void;
use std::ptr;

use crate::api::vk;
use crate::coding::{CodedPicture, Reference, Syntax};
use crate::h265;

use vk::native::{
    StdVideoDecodeH264PictureInfo, StdVideoDecodeH264PictureInfoFlags,
    StdVideoDecodeH264ReferenceInfo, StdVideoDecodeH264ReferenceInfoFlags,
    StdVideoDecodeH265PictureInfo, StdVideoDecodeH265PictureInfoFlags,
    StdVideoDecodeH265ReferenceInfo, StdVideoDecodeH265ReferenceInfoFlags,
};

/// Chains of a picture and of the slots that it uses.
pub(super) struct Chains<'a> {
    /// For each reference, and last for the picture itself.
    pub slots: &'a [*const c_void],
    pub picture: *const c_void,
}

/// Calls a function with the chains of a picture whose slices begin at offsets.
pub(super) fn with_chains(picture: &CodedPicture, slices: &[u32], call: impl FnOnce(&Chains<'_>)) {
    match &picture.syntax {
        Syntax::H264 {
            frame_num,
            idr_pic_id,
        } => with_h264(picture, (*frame_num, *idr_pic_id), slices, call),
        Syntax::H265(syntax) => with_h265(picture, syntax, slices, call),
        Syntax::Av1(syntax) => av1::with(syntax, call),
    }
}

/// References of a picture, and itself as one.
fn references(picture: &CodedPicture, number: u16) -> impl Iterator<Item = Reference> + '_ {
    let own = Reference {
        slot: picture.slot,
        number,
        order_counts: picture.order_counts,
        is_long_term: false,
    };
    picture.references.iter().copied().chain([own])
}

fn with_h264(
    picture: &CodedPicture,
    (frame_num, idr_pic_id): (u16, u16),
    slices: &[u32],
    call: impl FnOnce(&Chains<'_>),
) {
    let std: Vec<_> = references(picture, frame_num)
        .map(|it| h264_reference(&it))
        .collect();
    let infos: Vec<_> = std
        .iter()
        .map(|it| vk::VideoDecodeH264DpbSlotInfoKHR::default().std_reference_info(it))
        .collect();
    let chains: Vec<_> = infos.iter().map(|it| ptr::from_ref(it).cast()).collect();
    let std_picture = h264_picture(picture, frame_num, idr_pic_id);
    let info = vk::VideoDecodeH264PictureInfoKHR::default()
        .std_picture_info(&std_picture)
        .slice_offsets(slices);
    call(&Chains {
        slots: &chains,
        picture: ptr::from_ref(&info).cast(),
    });
}

fn with_h265(
    picture: &CodedPicture,
    syntax: &h265::Syntax,
    slices: &[u32],
    call: impl FnOnce(&Chains<'_>),
) {
    let std: Vec<_> = references(picture, 0)
        .map(|it| h265_reference(&it))
        .collect();
    let infos: Vec<_> = std
        .iter()
        .map(|it| vk::VideoDecodeH265DpbSlotInfoKHR::default().std_reference_info(it))
        .collect();
    let chains: Vec<_> = infos.iter().map(|it| ptr::from_ref(it).cast()).collect();
    let std_picture = h265_picture(picture, syntax);
    let info = vk::VideoDecodeH265PictureInfoKHR::default()
        .std_picture_info(&std_picture)
        .slice_segment_offsets(slices);
    call(&Chains {
        slots: &chains,
        picture: ptr::from_ref(&info).cast(),
    });
}

fn h264_picture(
    picture: &CodedPicture,
    frame_num: u16,
    idr_pic_id: u16,
) -> StdVideoDecodeH264PictureInfo {
    StdVideoDecodeH264PictureInfo {
        flags: StdVideoDecodeH264PictureInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoDecodeH264PictureInfoFlags::new_bitfield_1(
                0,
                u32::from(picture.is_intra),
                u32::from(picture.is_refresh),
                0,
                u32::from(picture.is_reference),
                0,
            ),
            __bindgen_padding_0: [0; 3],
        },
        seq_parameter_set_id: picture.sps,
        pic_parameter_set_id: picture.pps,
        reserved1: 0,
        reserved2: 0,
        frame_num,
        idr_pic_id,
        PicOrderCnt: picture.order_counts,
    }
}

fn h264_reference(reference: &Reference) -> StdVideoDecodeH264ReferenceInfo {
    StdVideoDecodeH264ReferenceInfo {
        flags: StdVideoDecodeH264ReferenceInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoDecodeH264ReferenceInfoFlags::new_bitfield_1(
                0,
                0,
                u32::from(reference.is_long_term),
                0,
            ),
            __bindgen_padding_0: [0; 3],
        },
        FrameNum: reference.number,
        reserved: 0,
        PicOrderCnt: reference.order_counts,
    }
}

fn h265_picture(picture: &CodedPicture, syntax: &h265::Syntax) -> StdVideoDecodeH265PictureInfo {
    let [before, after, long_term] = syntax.references.lists;
    StdVideoDecodeH265PictureInfo {
        flags: StdVideoDecodeH265PictureInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoDecodeH265PictureInfoFlags::new_bitfield_1(
                u32::from(syntax.is_random_access),
                u32::from(syntax.is_idr),
                u32::from(picture.is_reference),
                u32::from(syntax.set_of_sequence),
            ),
            __bindgen_padding_0: [0; 3],
        },
        sps_video_parameter_set_id: syntax.vps,
        pps_seq_parameter_set_id: picture.sps,
        pps_pic_parameter_set_id: picture.pps,
        NumDeltaPocsOfRefRpsIdx: syntax.predicting,
        PicOrderCntVal: picture.order_counts[0],
        NumBitsForSTRefPicSetInSlice: syntax.set_bits,
        reserved: 0,
        RefPicSetStCurrBefore: before,
        RefPicSetStCurrAfter: after,
        RefPicSetLtCurr: long_term,
    }
}

fn h265_reference(reference: &Reference) -> StdVideoDecodeH265ReferenceInfo {
    StdVideoDecodeH265ReferenceInfo {
        flags: StdVideoDecodeH265ReferenceInfoFlags {
            _bitfield_align_1: [],
            _bitfield_1: StdVideoDecodeH265ReferenceInfoFlags::new_bitfield_1(
                u32::from(reference.is_long_term),
                0,
            ),
            __bindgen_padding_0: [0; 3],
        },
        PicOrderCntVal: reference.order_counts[0],
    }
}
