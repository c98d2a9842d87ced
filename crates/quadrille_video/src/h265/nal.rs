//! Types of NAL units (clause 7.4.2.2).

/// `nal_unit_type` and `TemporalId` of a unit of the base layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub id: u8,
    pub temporal_id: u8,
}

pub(crate) const VPS: u8 = 32;
pub(crate) const SPS: u8 = 33;
pub(crate) const PPS: u8 = 34;
/// End of a sequence and of the stream.
const ENDS: [u8; 2] = [36, 37];

impl Kind {
    /// Splits a unit into its kind and payload; `None` if it is broken or of another layer.
    pub(crate) fn split(unit: &[u8]) -> Option<(Self, &[u8])> {
        let (&[first, second], payload) = unit.split_first_chunk::<2>()?;
        let layer = ((first & 1) << 5) | (second >> 3);
        let is_base = first & 0x80 == 0 && layer == 0;
        let id = (first >> 1) & 0x3f;
        let temporal_id = (second & 7).checked_sub(1)?;
        is_base.then_some((Self { id, temporal_id }, payload))
    }

    /// Whether it is a slice segment of a type that is not reserved.
    pub(crate) fn is_slice(self) -> bool {
        matches!(self.id, 0..=9 | 16..=21)
    }

    /// Whether it is a parameter set.
    pub(crate) fn is_set(self) -> bool {
        matches!(self.id, VPS | SPS | PPS)
    }

    /// Whether pictures of this type are IRAP pictures: BLA, IDR or CRA.
    pub(crate) fn is_random_access(self) -> bool {
        matches!(self.id, 16..=23)
    }

    /// Whether pictures of this type are IDR pictures.
    pub(crate) fn is_refresh(self) -> bool {
        matches!(self.id, 19 | 20)
    }

    /// Whether pictures of this type are CRA pictures.
    pub(crate) fn is_clean_access(self) -> bool {
        self.id == 21
    }

    /// Whether pictures of this type are skipped when decoding begins at their IRAP picture (RASL).
    pub(crate) fn is_skipped_leading(self) -> bool {
        matches!(self.id, 8 | 9)
    }

    /// Whether a picture of this type can be `prevTid0Pic` (clause 8.3.1): neither leading, nor a picture that its own
    /// sub-layer does not refer to.
    pub(crate) fn is_previous(self) -> bool {
        let is_leading = matches!(self.id, 6..=9);
        let is_unreferenced = self.id < 16 && self.id.is_multiple_of(2);
        self.temporal_id == 0 && !is_leading && !is_unreferenced
    }

    /// Whether the next picture begins a sequence.
    pub(crate) fn is_end(self) -> bool {
        ENDS.contains(&self.id)
    }

    /// Whether the unit begins an access unit behind a slice (clause 7.4.2.4.4).
    pub(crate) fn begins_access_unit(self) -> bool {
        matches!(self.id, VPS..=35 | 39 | 41..=44 | 48..=55)
    }
}
