//! Picture order counts of frames (clause 8.2.1).

use h264_reader::nal::slice::{PicOrderCountLsb, SliceHeader};
use h264_reader::nal::sps::{PicOrderCntType, SeqParameterSet};

/// State of the derivation. Names are those of the specification.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderCounts {
    prev_msb: i64,
    prev_lsb: i64,
    prev_frame_num: i64,
    prev_frame_num_offset: i64,
}

impl OrderCounts {
    /// Derives the order counts of the top and bottom field of the next picture.
    pub(crate) fn next(
        &mut self,
        sps: &SeqParameterSet,
        slice: &SliceHeader,
        is_idr: bool,
        is_reference: bool,
    ) -> [i32; 2] {
        if is_idr {
            *self = Self::default();
        }
        let counts = match &sps.pic_order_cnt {
            PicOrderCntType::TypeZero {
                log2_max_pic_order_cnt_lsb_minus4: log2,
            } => self.type_0(4 + u32::from(*log2), slice, is_reference),
            PicOrderCntType::TypeOne {
                offset_for_non_ref_pic,
                offset_for_top_to_bottom_field,
                offsets_for_ref_frame,
                ..
            } => {
                let offset = self.frame_num_offset(sps, slice, is_idr);
                let expected = expected_count(
                    offset + i64::from(slice.frame_num),
                    offsets_for_ref_frame,
                    (!is_reference).then_some(*offset_for_non_ref_pic),
                );
                let deltas = match slice.pic_order_cnt_lsb {
                    Some(PicOrderCountLsb::FieldsDelta(deltas)) => deltas.map(i64::from),
                    _ => [0, 0],
                };
                let top = expected.saturating_add(deltas[0]);
                let bottom = i64::from(*offset_for_top_to_bottom_field) + deltas[1];
                let bottom = top.saturating_add(bottom);
                [top, bottom]
            }
            PicOrderCntType::TypeTwo => {
                let offset = self.frame_num_offset(sps, slice, is_idr);
                let count = 2 * (offset + i64::from(slice.frame_num));
                [count - i64::from(!is_reference && !is_idr); 2]
            }
        };
        // Conforming streams stay in this range.
        counts.map(|count| count as i32)
    }

    /// Counts from their transmitted low bits (clause 8.2.1.1).
    fn type_0(&mut self, log2: u32, slice: &SliceHeader, is_reference: bool) -> [i64; 2] {
        let max_lsb = 1_i64 << log2;
        let (lsb, delta) = match slice.pic_order_cnt_lsb {
            Some(PicOrderCountLsb::Frame(lsb)) => (i64::from(lsb), 0),
            Some(PicOrderCountLsb::FieldsAbsolute {
                pic_order_cnt_lsb,
                delta_pic_order_cnt_bottom,
            }) => (
                i64::from(pic_order_cnt_lsb),
                i64::from(delta_pic_order_cnt_bottom),
            ),
            _ => (0, 0),
        };
        let msb = if lsb < self.prev_lsb && self.prev_lsb - lsb >= max_lsb / 2 {
            self.prev_msb + max_lsb
        } else if lsb > self.prev_lsb && lsb - self.prev_lsb > max_lsb / 2 {
            self.prev_msb - max_lsb
        } else {
            self.prev_msb
        };
        if is_reference {
            (self.prev_msb, self.prev_lsb) = (msb, lsb);
        }
        [msb + lsb, msb + lsb + delta]
    }

    /// `FrameNumOffset` (clauses 8.2.1.2 and 8.2.1.3).
    fn frame_num_offset(
        &mut self,
        sps: &SeqParameterSet,
        slice: &SliceHeader,
        is_idr: bool,
    ) -> i64 {
        let frame_num = i64::from(slice.frame_num);
        let offset = if is_idr {
            0
        } else if self.prev_frame_num > frame_num {
            self.prev_frame_num_offset + (1_i64 << sps.log2_max_frame_num())
        } else {
            self.prev_frame_num_offset
        };
        (self.prev_frame_num, self.prev_frame_num_offset) = (frame_num, offset);
        offset
    }

    /// Continues behind a picture with `memory_management_control_operation` 5.
    pub(crate) fn reset(&mut self, counts: [i32; 2]) {
        let least = counts[0].min(counts[1]);
        *self = Self {
            prev_lsb: i64::from(counts[0]) - i64::from(least),
            ..Self::default()
        };
    }
}

/// `expectedPicOrderCnt` of clause 8.2.1.2.
fn expected_count(abs_frame_num: i64, offsets: &[i32], non_reference: Option<i32>) -> i64 {
    let length = offsets.len() as i64;
    let mut number = if length == 0 { 0 } else { abs_frame_num };
    if non_reference.is_some() && number > 0 {
        number -= 1;
    }
    let mut expected = 0;
    if number > 0 {
        let whole: i64 = offsets.iter().map(|&it| i64::from(it)).sum();
        let (cycles, rest) = ((number - 1) / length, (number - 1) % length);
        let part = offsets.iter().take(rest as usize + 1);
        let part: i64 = part.map(|&it| i64::from(it)).sum();
        // Conforming streams stay far below the limits.
        expected = cycles.saturating_mul(whole).saturating_add(part);
    }
    expected.saturating_add(non_reference.map_or(0, i64::from))
}
