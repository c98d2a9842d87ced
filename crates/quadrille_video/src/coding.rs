//! State of coded streams that codecs share: pictures, their references, parameter sets and output order.

use std::ops::Range;

use crate::container::Codec;
use crate::error::VideoError;
use crate::{av1, h264, h265};

/// Slots of the decoded picture buffer: 16 references at most, and the picture that is decoded.
pub(crate) const MAX_SLOTS: usize = 17;

/// Picture that is ready for decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodedPicture {
    /// Number in decoding order, unique in a parser.
    pub id: u64,
    /// Id of the sequence parameter set; 0 in AV1.
    pub sps: u8,
    /// Id of the picture parameter set; 0 in AV1.
    pub pps: u8,
    /// Order counts of the top and bottom field; both are equal in H.265. Order hints in AV1.
    pub order_counts: [i32; 2],
    /// Whether it needs no earlier picture, and no later one does.
    pub is_refresh: bool,
    /// Whether all slices are I slices.
    pub is_intra: bool,
    /// Whether later pictures may refer to it.
    pub is_reference: bool,
    /// Whether it is output.
    pub is_shown: bool,
    /// Slot that it is decoded to.
    pub slot: usize,
    /// References before it.
    pub references: Vec<Reference>,
    /// Indices of its slices in the list of NAL units; empty in AV1.
    pub slices: Vec<usize>,
    /// Ids of pictures that are complete in output order once it is decoded.
    pub output: Vec<u64>,
    /// Syntax of its codec.
    pub syntax: Syntax,
}

impl CodedPicture {
    /// Whether the references of all earlier pictures end with it.
    pub(crate) fn resets(&self) -> bool {
        match &self.syntax {
            Syntax::Av1(_) => self.is_refresh,
            _ => self.references.is_empty(),
        }
    }

    /// Whether it is output, or a later sample may show it.
    pub(crate) fn is_showable(&self) -> bool {
        match &self.syntax {
            Syntax::Av1(syntax) => self.is_shown || syntax.header.showable_frame,
            _ => self.is_shown,
        }
    }
}

/// Syntax of the slice headers of a picture that only one codec has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    H264 { frame_num: u16, idr_pic_id: u16 },
    H265(h265::Syntax),
    Av1(Box<av1::Syntax>),
}

/// Picture that a later one may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Slot that holds it.
    pub slot: usize,
    /// `frame_num` of H.264, for a long-term reference `LongTermFrameIdx`; 0 in H.265.
    pub number: u16,
    /// Order counts of its fields; both are equal in H.265.
    pub order_counts: [i32; 2],
    /// Whether it is a long-term reference.
    pub is_long_term: bool,
}

/// Size of a coded picture and the part that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureSize {
    /// Coded width and height in pixels; multiples of 8, but in AV1.
    pub coded: [u32; 2],
    /// First pixel that is shown.
    pub origin: [u32; 2],
    /// Shown width and height in pixels.
    pub shown: [u32; 2],
}

/// Translation of luma and chroma to colors (ITU-T H.273, section 8.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColorMatrix {
    /// Luma weights of red and blue: `KR` and `KB`.
    pub weights: [f32; 2],
    /// Whether all values are used.
    pub full_range: bool,
    /// Bits of a value, 8 or 10.
    pub bits: u8,
}

impl ColorMatrix {
    /// The matrix that a sequence states by its `matrix_coefficients`; ITU-R BT.709 for the sizes of high definition
    /// and BT.601 for smaller ones if it states none.
    pub(crate) fn new(coefficients: Option<u8>, full_range: bool, size: &PictureSize) -> Self {
        const BT_709: [f32; 2] = [0.2126, 0.0722];
        const BT_601: [f32; 2] = [0.299, 0.114];
        const BT_2020: [f32; 2] = [0.2627, 0.0593];
        let weights = match coefficients {
            Some(1) => BT_709,
            Some(5 | 6) => BT_601,
            Some(9) => BT_2020,
            _ if size.shown[1] >= 720 => BT_709,
            _ => BT_601,
        };
        Self {
            weights,
            full_range,
            bits: 8,
        }
    }

    /// The matrix for values of so many bits.
    pub(crate) fn with_bits(self, bits: u8) -> Self {
        Self { bits, ..self }
    }
}

/// Access units of a byte stream.
#[derive(Default)]
pub(crate) struct AccessUnits {
    /// Bytes of each unit with start codes, and whether decoding can begin there.
    pub pictures: Vec<(Range<usize>, bool)>,
    /// Parameter sets in the order of the stream, of each id the first.
    pub sets: Vec<Vec<u8>>,
    /// Pictures per second of the first parameter set that states them.
    pub rate: Option<f64>,
}

/// Bytes of the parameter sets that were parsed, by type and id.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSets {
    sets: Vec<((u8, u8), Vec<u8>)>,
    version: u64,
}

impl KnownSets {
    /// Number that changes with the contents of any set.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Whether a set is known with the same contents.
    pub(crate) fn contains(&self, key: (u8, u8), unit: &[u8]) -> bool {
        let mut known = self.sets.iter();
        known.any(|(other, bytes)| *other == key && bytes == unit)
    }

    /// Adds a set, or replaces one.
    pub(crate) fn insert(&mut self, key: (u8, u8), unit: &[u8]) {
        self.sets.retain(|(other, _)| *other != key);
        self.sets.push((key, unit.to_vec()));
        self.version += 1;
    }

    /// Removes all sets of a type.
    pub(crate) fn remove_type(&mut self, kind: u8) {
        self.sets.retain(|((other, _), _)| *other != kind);
    }
}

/// Demands of a sequence on a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    /// `profile_idc`, `general_profile_idc` or `seq_profile`.
    pub profile_idc: u8,
    /// `level_idc`, `general_level_idc` or `seq_level_idx`.
    pub level_idc: u8,
    /// Most reference pictures that are kept.
    pub references: u32,
    /// Most reference pictures of a picture.
    pub active: u32,
    /// Most pictures that wait for output.
    pub reordered: usize,
    /// Bits of a value, 8 or 10.
    pub bit_depth: u8,
    /// Whether the device adds film grain.
    pub has_grain: bool,
}

/// State of a stream between pictures.
pub(crate) enum Parser {
    H264(Box<h264::Parser>),
    H265(Box<h265::Parser>),
    Av1(Box<av1::Parser>),
}

impl Parser {
    pub(crate) fn new(codec: Codec) -> Self {
        match codec {
            Codec::H264 => Self::H264(Box::default()),
            Codec::H265 => Self::H265(Box::default()),
            Codec::Av1 => Self::Av1(Box::default()),
        }
    }

    /// Parses parameter sets outside of samples.
    pub(crate) fn add_sets(&mut self, units: &[Vec<u8>]) -> Result<(), VideoError> {
        match self {
            Self::H264(parser) => parser.add_sets(units),
            Self::H265(parser) => parser.add_sets(units),
            Self::Av1(parser) => parser.add_sets(units),
        }
    }

    /// Forgets pictures, before decoding begins at another sample. Returns the pictures that were still to be output.
    pub(crate) fn reset(&mut self) -> Vec<u64> {
        match self {
            Self::H264(parser) => parser.reset(),
            Self::H265(parser) => parser.reset(),
            Self::Av1(parser) => parser.reset(),
        }
    }

    /// Number that changes with the contents of parameter sets.
    pub(crate) fn version(&self) -> u64 {
        match self {
            Self::H264(parser) => parser.version(),
            Self::H265(parser) => parser.version(),
            Self::Av1(parser) => parser.version(),
        }
    }

    /// Size and colors of the last picture; `None` before the first one.
    pub(crate) fn format(&self) -> Option<(PictureSize, ColorMatrix)> {
        match self {
            Self::H264(parser) => parser.format(),
            Self::H265(parser) => parser.format(),
            Self::Av1(parser) => parser.format(),
        }
    }

    /// Demands of a sequence on its decoder, by the id of its parameter set.
    pub(crate) fn sequence(&self, sps: u8) -> Option<Sequence> {
        match self {
            Self::H264(parser) => parser.sequence(sps),
            Self::H265(parser) => parser.sequence(sps),
            Self::Av1(parser) => parser.sequence(),
        }
    }

    /// Whether a later sample may show a picture again.
    pub(crate) fn keeps(&self, id: u64) -> bool {
        matches!(self, Self::Av1(parser) if parser.keeps(id))
    }

    /// Takes the id of the picture that the last sample shows again, without a picture to decode.
    pub(crate) fn take_existing(&mut self) -> Option<u64> {
        match self {
            Self::Av1(parser) => parser.take_existing(),
            _ => None,
        }
    }

    /// Parses the NAL units of a sample. `None` if there is no picture to decode in it. `sample` is its index, for
    /// messages.
    pub(crate) fn picture(
        &mut self,
        units: &[&[u8]],
        sample: usize,
    ) -> Result<Option<CodedPicture>, VideoError> {
        match self {
            Self::H264(parser) => parser.picture(units, sample),
            Self::H265(parser) => parser.picture(units, sample),
            Self::Av1(parser) => parser.picture(units, sample),
        }
    }
}

/// Bytes of a text of zeros and ones, for tests.
#[cfg(test)]
pub(crate) fn bytes_of_bits(bits: &str) -> Vec<u8> {
    let bits: Vec<u8> = bits
        .bytes()
        .filter(|it| *it != b' ')
        .map(|it| it - b'0')
        .collect();
    let bytes = bits.chunks(8).map(|chunk| {
        let filled = chunk.iter().copied().chain(std::iter::repeat(0)).take(8);
        filled.fold(0, |byte, bit| (byte << 1) | bit)
    });
    bytes.collect()
}
