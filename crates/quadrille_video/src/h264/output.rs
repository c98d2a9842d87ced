//! Output order of pictures (clause C.4): "bumping" by picture order count.

use h264_reader::nal::sps::{PicOrderCntType, SeqParameterSet};

/// Pictures that were decoded and not yet output.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputOrder {
    /// Order count and id.
    waiting: Vec<(i32, u64)>,
}

impl OutputOrder {
    /// Adds a decoded picture, and returns the pictures that are output, in order. All earlier pictures precede one
    /// that begins a new order.
    pub(crate) fn add(
        &mut self,
        sps: &SeqParameterSet,
        id: u64,
        counts: [i32; 2],
        is_first: bool,
    ) -> Vec<u64> {
        let mut output = if is_first { self.flush() } else { Vec::new() };
        self.waiting.push((counts[0].min(counts[1]), id));
        while self.waiting.len() > max_reordered(sps) {
            output.extend(self.take_first());
        }
        output
    }

    /// Returns all pictures in order.
    pub(crate) fn flush(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.take_first()).collect()
    }

    fn take_first(&mut self) -> Option<u64> {
        let waiting = self.waiting.iter().enumerate();
        let (at, _) = waiting.min_by_key(|(_, picture)| **picture)?;
        Some(self.waiting.remove(at).1)
    }
}

/// Number of pictures that may precede another one in decoding order and follow it in output order: as the sequence
/// parameter set states (clause E.2.1), or the capacity of the decoded picture buffer (clause A.3.1).
pub(crate) fn max_reordered(sps: &SeqParameterSet) -> usize {
    if sps.pic_order_cnt == PicOrderCntType::TypeTwo {
        return 0;
    }
    let restrictions = sps.vui_parameters.as_ref();
    let restrictions = restrictions.and_then(|vui| vui.bitstream_restrictions.as_ref());
    if let Some(known) = restrictions {
        return known.max_num_reorder_frames.min(16) as usize;
    }
    let mbs = (u64::from(sps.pic_width_in_mbs_minus1) + 1)
        * (u64::from(sps.pic_height_in_map_units_minus1) + 1);
    let limits = sps.level().limits();
    let frames = limits.map_or(16, |limits| u64::from(limits.max_dpb_mbs) / mbs);
    frames.clamp(1, 16) as usize
}
