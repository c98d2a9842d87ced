//! Reference pictures: marking (clause 8.2.5) and the slots that hold them.

use h264_reader::nal::slice::{DecRefPicMarking, MemoryManagementControlOperation, SliceHeader};
use h264_reader::nal::sps::SeqParameterSet;

use crate::coding::{MAX_SLOTS, Reference};

/// Frame that is marked as used for reference.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// `None` for a frame that fills a gap and has no picture.
    slot: Option<usize>,
    frame_num: i64,
    /// `LongTermFrameIdx`.
    long_term: Option<u32>,
    order_counts: [i32; 2],
}

/// Frames that are marked as used for reference. At most 16, so that one of 17 slots is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    frames: Vec<Frame>,
    /// `PrevRefFrameNum`; `None` before the first picture.
    prev_frame_num: Option<i64>,
}

impl References {
    /// Forgets all frames.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// References with a picture.
    pub(crate) fn list(&self) -> Vec<Reference> {
        let frames = self.frames.iter();
        let references = frames.filter_map(|frame| {
            let number = frame.long_term.map_or(frame.frame_num, i64::from);
            Some(Reference {
                slot: frame.slot?,
                number: number as u16,
                order_counts: frame.order_counts,
                is_long_term: frame.long_term.is_some(),
            })
        });
        references.collect()
    }

    /// A slot that holds no reference.
    pub(crate) fn free_slot(&self) -> usize {
        let is_free = |slot: &usize| self.frames.iter().all(|it| it.slot != Some(*slot));
        (0..MAX_SLOTS).find(is_free).unwrap_or(0)
    }

    /// Fills a gap of frame numbers with frames that have no picture (clause 8.2.5.2). Streams that do not allow gaps
    /// have lost pictures then, and go on likewise.
    pub(crate) fn fill_gap(&mut self, sps: &SeqParameterSet, frame_num: u16) {
        let max = 1_i64 << sps.log2_max_frame_num();
        let Some(previous) = self.prev_frame_num else {
            return;
        };
        let frame_num = i64::from(frame_num);
        if frame_num == previous || frame_num == (previous + 1) % max {
            return;
        }
        let missing = (frame_num - previous - 1).rem_euclid(max);
        // Earlier ones slide out of the window at once.
        let kept = missing.min(MAX_SLOTS as i64);
        for back in (1..=kept).rev() {
            let number = (frame_num - back).rem_euclid(max);
            self.slide(sps, number);
            self.frames.push(Frame {
                slot: None,
                frame_num: number,
                long_term: None,
                order_counts: [0, 0],
            });
            self.prev_frame_num = Some(number);
        }
    }

    /// Marks the current picture and earlier ones. Returns whether it resets the order of pictures
    /// (`memory_management_control_operation` 5).
    pub(crate) fn mark(
        &mut self,
        sps: &SeqParameterSet,
        slice: &SliceHeader,
        is_reference: bool,
        slot: usize,
        order_counts: [i32; 2],
    ) -> bool {
        let frame_num = i64::from(slice.frame_num);
        if !is_reference {
            return false;
        }
        self.prev_frame_num = Some(frame_num);
        let mut current = Frame {
            slot: Some(slot),
            frame_num,
            long_term: None,
            order_counts,
        };
        let mut resets = false;
        match &slice.dec_ref_pic_marking {
            Some(DecRefPicMarking::Idr {
                long_term_reference_flag: true,
                ..
            }) => current.long_term = Some(0),
            Some(DecRefPicMarking::Adaptive(operations)) => {
                for operation in operations {
                    resets |= self.apply_mmco(sps, operation, &mut current);
                }
                if resets {
                    let least = order_counts[0].min(order_counts[1]);
                    current.frame_num = 0;
                    current.order_counts = order_counts.map(|it| it.wrapping_sub(least));
                    self.prev_frame_num = Some(0);
                }
                // Conforming streams leave room for the current picture.
                while self.frames.len() >= max_frames(sps) {
                    self.frames.remove(0);
                }
            }
            _ => self.slide(sps, frame_num),
        }
        self.frames.push(current);
        resets
    }

    /// Removes short-term references until there is room for one frame (clause 8.2.5.3).
    fn slide(&mut self, sps: &SeqParameterSet, frame_num: i64) {
        while self.frames.len() >= max_frames(sps) {
            let frames = self.frames.iter().enumerate();
            let short = frames.filter(|(_, frame)| frame.long_term.is_none());
            let oldest = short.min_by_key(|(_, frame)| wrapped(sps, frame.frame_num, frame_num));
            let at = oldest.map_or(0, |(at, _)| at);
            self.frames.remove(at);
        }
    }

    /// Carries out one operation (clause 8.2.5.4). Returns whether it is operation 5.
    fn apply_mmco(
        &mut self,
        sps: &SeqParameterSet,
        operation: &MemoryManagementControlOperation,
        current: &mut Frame,
    ) -> bool {
        use MemoryManagementControlOperation as Operation;
        let now = current.frame_num;
        let short = |frame: &Frame, difference_minus1: u32| {
            frame.long_term.is_none()
                && wrapped(sps, frame.frame_num, now) == now - i64::from(difference_minus1) - 1
        };
        match *operation {
            Operation::ShortTermUnusedForRef {
                difference_of_pic_nums_minus1: difference,
            } => self.frames.retain(|frame| !short(frame, difference)),
            Operation::LongTermUnusedForRef { long_term_pic_num } => {
                self.remove_long_term(long_term_pic_num);
            }
            Operation::ShortTermUsedForLongTerm {
                difference_of_pic_nums_minus1: difference,
                long_term_frame_idx,
            } => {
                self.remove_long_term(long_term_frame_idx);
                let mut frames = self.frames.iter_mut();
                if let Some(frame) = frames.find(|frame| short(frame, difference)) {
                    frame.long_term = Some(long_term_frame_idx);
                }
            }
            Operation::MaxUsedLongTermFrameRef {
                max_long_term_frame_idx_plus1: end,
            } => self
                .frames
                .retain(|frame| frame.long_term.is_none_or(|index| index < end)),
            Operation::AllRefPicturesUnused => {
                self.frames.clear();
                return true;
            }
            Operation::CurrentUsedForLongTerm {
                long_term_frame_idx,
            } => {
                self.remove_long_term(long_term_frame_idx);
                current.long_term = Some(long_term_frame_idx);
            }
        }
        false
    }

    fn remove_long_term(&mut self, index: u32) {
        self.frames.retain(|frame| frame.long_term != Some(index));
    }
}

/// `Max(max_num_ref_frames, 1)`, at most the slots of the decoded picture buffer but for the current picture.
fn max_frames(sps: &SeqParameterSet) -> usize {
    (sps.max_num_ref_frames as usize).clamp(1, MAX_SLOTS - 1)
}

/// `FrameNumWrap` (clause 8.2.4.1): frame numbers above the current one are of the last cycle.
fn wrapped(sps: &SeqParameterSet, frame_num: i64, current: i64) -> i64 {
    if frame_num > current {
        frame_num - (1_i64 << sps.log2_max_frame_num())
    } else {
        frame_num
    }
}
