//! Frames that later ones may refer to (AV1 specification, sections 7.20 and 7.21).

use std::sync::Arc;

use super::frame::filters::Deltas;
use super::frame::grain::Grain;
use super::frame::motion::Motion;
use super::frame::quantization::Features;
use super::frame::{FrameHeader, FrameSize};

/// Slots of the decoded picture buffer: eight stored frames, and the one that is decoded.
pub(crate) const SLOTS: usize = 9;

/// Facts about a frame that devices need of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReferenceInfo {
    pub frame_type: u8,
    /// `RefFrameSignBias`, a bit for each reference name.
    pub sign_bias: u8,
    pub order_hint: u8,
    /// `SavedOrderHints` by reference name.
    pub order_hints: [u8; 8],
    pub disable_frame_end_update_cdf: bool,
    pub segmentation_enabled: bool,
}

impl ReferenceInfo {
    pub(crate) fn new(header: &FrameHeader) -> Self {
        Self {
            frame_type: header.frame_type,
            sign_bias: header.sign_bias,
            order_hint: header.order_hint,
            order_hints: header.order_hints,
            disable_frame_end_update_cdf: header.disable_frame_end_update_cdf,
            segmentation_enabled: header.segmentation.is_enabled,
        }
    }
}

/// Stored frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Id of its picture.
    pub id: u64,
    /// Slot that holds it.
    pub slot: usize,
    pub info: ReferenceInfo,
    pub size: FrameSize,
    pub motion: Motion,
    pub deltas: Deltas,
    pub features: Features,
    pub grain: Option<Grain>,
    /// Whether a later frame header may show it.
    pub is_showable: bool,
}

/// Stored frames by the indices that frame headers use.
pub(crate) type StoredFrames = [Option<Arc<Stored>>; 8];

/// A slot that holds no stored frame.
pub(crate) fn free_slot(stored: &StoredFrames) -> usize {
    let is_free = |slot: &usize| stored.iter().flatten().all(|it| it.slot != *slot);
    (0..SLOTS).find(is_free).unwrap_or(0)
}
