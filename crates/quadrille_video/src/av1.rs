//! AV1 (AV1 Bitstream and Decoding Process Specification, version 1.0.0 with errata 1): headers of sequences and
//! frames, and the state between frames.
//!
//! Own code: `scuffle-av1` parses sequence headers only, and `rav1d` keeps its headers to itself. All counts are
//! limited before they allocate. A sample is one frame: containers divide temporal units.

pub(crate) mod bits;
pub(crate) mod frame;
pub(crate) mod obu;
pub(crate) mod sequence;
pub(crate) mod state;

use std::ops::Range;
use std::sync::Arc;

use crate::coding::{self, CodedPicture, ColorMatrix, PictureSize, Reference, Sequence};
use crate::error::VideoError;
use bits::{Bits, Parsed};
use frame::{Context, FrameHeader, Header, KEY};
use obu::{FRAME, FRAME_HEADER, Obu, SEQUENCE_HEADER, TILE_GROUP, obus};
use sequence::SequenceHeader;
use state::{ReferenceInfo, Stored, StoredFrames, free_slot};

/// Syntax of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub header: FrameHeader,
    /// Facts about the references of the picture, in the same order.
    pub references: Vec<ReferenceInfo>,
    /// Slots of LAST to ALTREF; -1 for frames without references.
    pub slots: [i32; 7],
    /// Bytes of the frame in the sample, from the header of its unit on.
    pub range: Range<usize>,
    /// Tiles in these bytes.
    pub tiles: Vec<Range<usize>>,
}

/// State of a stream between frames.
#[derive(Default)]
pub(crate) struct Parser {
    sequence: Option<Arc<SequenceHeader>>,
    /// Number that changes with the contents of the sequence header.
    version: u64,
    format: Option<(PictureSize, ColorMatrix)>,
    stored: StoredFrames,
    next: u64,
    existing: Option<u64>,
}

/// Frame of a sample.
struct Frame {
    header: Box<FrameHeader>,
    range: Range<usize>,
    tiles: Vec<Range<usize>>,
}

impl Parser {
    /// Parses sequence headers outside of samples.
    pub(crate) fn add_sets(&mut self, units: &[Vec<u8>]) -> Result<(), VideoError> {
        for bytes in units {
            for obu in obus(bytes).filter(|it| it.kind == SEQUENCE_HEADER) {
                self.sequence_header(&bytes[obu.payload])
                    .map_err(|problem| VideoError::Container { problem })?;
            }
        }
        Ok(())
    }

    /// See [`coding::Parser::reset`]. No picture waits for output.
    pub(crate) fn reset(&mut self) -> Vec<u64> {
        self.stored = StoredFrames::default();
        self.existing = None;
        Vec::new()
    }

    /// Sequence header, for the device.
    pub(crate) fn sequence_of_pictures(&self) -> Option<&SequenceHeader> {
        self.sequence.as_deref()
    }

    /// Number that changes with the contents of the sequence header.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Size and colors of the last picture; `None` before the first one.
    pub(crate) fn format(&self) -> Option<(PictureSize, ColorMatrix)> {
        self.format
    }

    /// Whether a later sample may show a picture again.
    pub(crate) fn keeps(&self, id: u64) -> bool {
        let mut stored = self.stored.iter().flatten();
        stored.any(|it| it.id == id && it.is_showable)
    }

    /// Takes the id of the picture that the last sample shows again (`show_existing_frame`).
    pub(crate) fn take_existing(&mut self) -> Option<u64> {
        self.existing.take()
    }

    /// Demands of the sequence on its decoder.
    pub(crate) fn sequence(&self) -> Option<Sequence> {
        let sequence = self.sequence.as_ref()?;
        let point = sequence.operating_points.first()?;
        Some(Sequence {
            profile_idc: sequence.profile,
            level_idc: point.level_idx,
            references: state::SLOTS as u32 - 1,
            active: 7,
            reordered: state::SLOTS - 1,
            bit_depth: sequence.color.bit_depth,
            has_grain: sequence.film_grain_params_present,
        })
    }

    /// Parses the units of a sample. `None` if it shows an earlier frame only: see [`Self::take_existing`].
    pub(crate) fn picture(
        &mut self,
        units: &[&[u8]],
        sample: usize,
    ) -> Result<Option<CodedPicture>, VideoError> {
        let broken = |problem: String| VideoError::Broken { sample, problem };
        self.existing = None;
        let mut frame: Option<Frame> = None;
        for bytes in units {
            let mut end = 0;
            for obu in obus(bytes) {
                end = obu.range.end;
                self.unit(bytes, &obu, &mut frame).map_err(broken)?;
            }
            if end < bytes.len() {
                return Err(broken("a unit of it is broken or cut off".to_owned()));
            }
        }
        match frame {
            Some(frame) => self.begin_picture(frame, sample).map(Some),
            None if self.existing.is_some() => Ok(None),
            None => Err(broken("it has no complete picture".to_owned())),
        }
    }

    /// Parses one unit of a sample. The error is a text.
    fn unit(&mut self, bytes: &[u8], obu: &Obu, frame: &mut Option<Frame>) -> Parsed<()> {
        let payload = &bytes[obu.payload.clone()];
        if obu.kind == SEQUENCE_HEADER {
            return self.sequence_header(payload);
        }
        let Some(sequence) = self.sequence.clone() else {
            return match obu.kind {
                FRAME | FRAME_HEADER => Err("its sequence header is missing".to_owned()),
                _ => Ok(()),
            };
        };
        let layer = obu.layer.unwrap_or_default();
        let idc = sequence.operating_points.first().map_or(0, |it| it.idc);
        let has = |bit: u8| idc >> bit & 1 == 1;
        if idc != 0 && obu.layer.is_some() && !(has(layer[0]) && has(layer[1] + 8)) {
            return Ok(());
        }
        match (obu.kind, frame.as_mut()) {
            (FRAME | FRAME_HEADER, Some(_)) => Err("it has two pictures".to_owned()),
            (FRAME | FRAME_HEADER, None) => {
                let mut bits = Bits::new(payload);
                let context = Context {
                    sequence: &sequence,
                    stored: &self.stored,
                    layer,
                };
                let header = match FrameHeader::parse(&mut bits, &context)? {
                    Header::Frame(header) => header,
                    Header::Existing(index) if obu.kind == FRAME_HEADER => {
                        return self.show_existing(index);
                    }
                    Header::Existing(_) => return Err("it shows a frame with tiles".to_owned()),
                };
                let mut tiles = Vec::new();
                if obu.kind == FRAME {
                    let begin = obu.payload.start + bits.bytes_read();
                    let group = begin..obu.payload.end;
                    header.tiles.group(bytes, group, &mut tiles)?;
                }
                *frame = Some(Frame {
                    header,
                    range: obu.range.clone(),
                    tiles,
                });
                Ok(())
            }
            (TILE_GROUP, Some(frame)) => {
                let group = obu.payload.clone();
                frame.header.tiles.group(bytes, group, &mut frame.tiles)?;
                frame.range.end = obu.range.end;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Parses a sequence header. The error is a text.
    fn sequence_header(&mut self, payload: &[u8]) -> Parsed<()> {
        let header = SequenceHeader::parse(payload)
            .map_err(|problem| format!("sequence header: {problem}"))?;
        if self.sequence.as_deref() != Some(&header) {
            self.sequence = Some(Arc::new(header));
            self.version += 1;
        }
        Ok(())
    }

    /// Shows a stored frame. A key frame replaces all stored frames then (section 7.21). The error is a text.
    fn show_existing(&mut self, index: usize) -> Parsed<()> {
        let stored = self.stored.get(index).and_then(Option::as_ref);
        let Some(stored) = stored.filter(|it| it.is_showable) else {
            return Err("the picture that it shows is missing".to_owned());
        };
        self.existing = Some(stored.id);
        if stored.info.frame_type == KEY {
            let all = Arc::new(Stored {
                // A key frame is shown once.
                is_showable: false,
                ..Stored::clone(stored)
            });
            self.stored = std::array::from_fn(|_| Some(Arc::clone(&all)));
        }
        Ok(())
    }

    /// Updates the state by a frame.
    fn begin_picture(&mut self, frame: Frame, sample: usize) -> Result<CodedPicture, VideoError> {
        let broken = |problem: &str| VideoError::Broken {
            sample,
            problem: problem.to_owned(),
        };
        let Some(sequence) = self.sequence.clone() else {
            return Err(broken("its sequence header is missing"));
        };
        let format = check(&sequence, &frame.header)?;
        let Frame {
            header,
            range,
            tiles,
        } = frame;
        if tiles.len() != header.tiles.count() {
            return Err(broken("some of its tiles are missing"));
        }
        let is_first = self.stored.iter().all(Option::is_none);
        if is_first && header.frame_type != KEY {
            return Err(broken("its reference pictures are missing"));
        }
        let slot = free_slot(&self.stored);
        let (references, infos, slots) = self.references(&header);
        let stored = Arc::new(Stored {
            id: self.next,
            slot,
            info: ReferenceInfo::new(&header),
            size: header.size,
            motion: header.motion,
            deltas: header.loop_filter.deltas,
            features: header.segmentation.features,
            grain: header.grain,
            is_showable: header.showable_frame,
        });
        let is_shown_key = header.frame_type == KEY && header.show_frame;
        for (index, place) in self.stored.iter_mut().enumerate() {
            if header.refresh_frame_flags >> index & 1 == 1 {
                *place = Some(Arc::clone(&stored));
            }
        }
        let id = self.next;
        self.next += 1;
        self.format = Some(format);
        let begin = range.start;
        let in_frame = |tile: Range<usize>| tile.start - begin..tile.end - begin;
        Ok(CodedPicture {
            id,
            sps: 0,
            pps: 0,
            order_counts: [i32::from(header.order_hint); 2],
            is_refresh: is_shown_key || is_first,
            is_intra: header.is_intra(),
            is_reference: header.refresh_frame_flags != 0,
            is_shown: header.show_frame,
            slot,
            references,
            slices: Vec::new(),
            output: header.show_frame.then_some(id).into_iter().collect(),
            syntax: coding::Syntax::Av1(Box::new(Syntax {
                tiles: tiles.into_iter().map(in_frame).collect(),
                header: *header,
                references: infos,
                slots,
                range,
            })),
        })
    }

    /// References of a frame, without repetition, facts about them, and their slots by name.
    fn references(&self, header: &FrameHeader) -> (Vec<Reference>, Vec<ReferenceInfo>, [i32; 7]) {
        let (mut references, mut infos) = (Vec::<Reference>::new(), Vec::new());
        let mut slots = [-1; 7];
        if header.is_intra() {
            return (references, infos, slots);
        }
        for (slot, index) in slots.iter_mut().zip(header.ref_frame_idx) {
            let Some(stored) = &self.stored[usize::from(index & 7)] else {
                continue;
            };
            *slot = stored.slot as i32;
            if references.iter().all(|it| it.slot != stored.slot) {
                references.push(Reference {
                    slot: stored.slot,
                    number: 0,
                    order_counts: [i32::from(stored.info.order_hint); 2],
                    is_long_term: false,
                });
                infos.push(stored.info);
            }
        }
        (references, infos, slots)
    }
}

/// Checks that pictures are of the main profile, 4:2:0 and of one size, and returns their format.
fn check(
    sequence: &SequenceHeader,
    header: &FrameHeader,
) -> Result<(PictureSize, ColorMatrix), VideoError> {
    let unsupported = |feature: String| Err(VideoError::Unsupported { feature });
    let color = &sequence.color;
    if color.mono_chrome {
        return unsupported("the chroma format 4:0:0".to_owned());
    }
    if color.subsampling != [true; 2] {
        return unsupported("another chroma format than 4:2:0".to_owned());
    }
    if color.bit_depth > 10 {
        return unsupported(format!("{} bits per channel", color.bit_depth));
    }
    let mut points = sequence.operating_points.iter();
    if points.any(|it| (it.idc >> 8).count_ones() > 1) {
        return unsupported("spatial layers".to_owned());
    }
    if header.size.upscaled != sequence.max_size {
        return unsupported("pictures of several sizes in a sequence".to_owned());
    }
    let size = PictureSize {
        coded: sequence.max_size,
        origin: [0, 0],
        shown: sequence.max_size,
    };
    let coefficients = color.description.map(|[_, _, matrix]| matrix);
    let color = ColorMatrix::new(coefficients, color.full_range, &size);
    Ok((size, color.with_bits(sequence.color.bit_depth)))
}

#[cfg(test)]
pub(crate) mod tests;
