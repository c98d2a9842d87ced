//! MP4 files (ISO/IEC 14496-12): the first track of H.264, H.265 or AV1, from its sample table.
//!
//! Published parsers either panic on broken sample tables (`re_mp4` 0.5) or turn on features of `tracing` and `num` for
//! every program (`mp4-atom` 0.17). All reads are checked, and nothing is allocated by a size
//! that the file states but does not have.

use std::ops::Range;
use std::sync::Arc;

use super::{Codec, Framing, Sample, VideoStream, obu};
use crate::error::VideoError;
use crate::h265::nal;

/// Limit of the number of samples that take no space in the file, as those of one size: 90 hours at 60 Hz.
const MAX_SAMPLES: usize = 20_000_000;

/// Four characters that name a box.
type Name = [u8; 4];

pub(super) fn parse(bytes: Arc<[u8]>) -> Result<VideoStream, VideoError> {
    let problem = |problem: &str| VideoError::Container {
        problem: problem.to_owned(),
    };
    let file = Boxes(&bytes);
    let movie = file
        .find(b"moov")
        .ok_or_else(|| problem("it has no complete box `moov`"))?;
    let mut found = Vec::new();
    for (_, track) in Boxes(movie).filter(|(name, _)| name == b"trak") {
        let Some(table) = path(track, &[b"mdia", b"minf", b"stbl"]) else {
            continue;
        };
        // Version and flags, number of entries, then the entries as boxes.
        let entries = Boxes(table).find(b"stsd").and_then(|stsd| stsd.get(8..));
        let Some((name, entry)) = entries.and_then(|entries| Boxes(entries).next()) else {
            continue;
        };
        let codec = match &name {
            b"avc1" | b"avc3" => Codec::H264,
            b"hvc1" | b"hev1" => Codec::H265,
            b"av01" => Codec::Av1,
            _ => {
                found.push(codec_name(name));
                continue;
            }
        };
        // Fields of a visual sample entry take 78 bytes.
        let boxes = Boxes(entry.get(78..).unwrap_or(&[]));
        let (config, wanted) = match codec {
            Codec::H264 => (boxes.find(b"avcC").and_then(Config::parse_h264), "avcC"),
            Codec::H265 => (boxes.find(b"hvcC").and_then(Config::parse_h265), "hvcC"),
            Codec::Av1 => (boxes.find(b"av1C").and_then(Config::parse_av1), "av1C"),
        };
        let config = config
            .ok_or_else(|| problem(&format!("its {codec} track has no readable box `{wanted}`")))?;
        let header = path(track, &[b"mdia", b"mdhd"]).and_then(timescale);
        let timescale =
            header.ok_or_else(|| problem(&format!("its {codec} track has no time scale")))?;
        let table = Table::parse(table);
        let mut samples = table.samples(bytes.len())?;
        let duration = table.duration(samples.len());
        if codec == Codec::Av1 {
            let frames = samples.into_iter().flat_map(|unit| {
                let of_unit = &bytes[unit.range.clone()];
                obu::samples(of_unit, unit.range.start, unit.time, unit.is_sync)
            });
            samples = frames.collect();
        }
        return Ok(VideoStream {
            codec,
            duration,
            samples,
            parameter_sets: config.sets,
            framing: config.framing,
            timescale,
            bytes: Arc::clone(&bytes),
        });
    }
    Err(VideoError::Codec {
        found: match found.is_empty() {
            true => "no video track at all".to_owned(),
            false => found.join(", "),
        },
    })
}

/// Name of a codec for messages.
fn codec_name(codec: Name) -> String {
    match &codec {
        b"vp08" => "VP8".to_owned(),
        b"vp09" => "VP9".to_owned(),
        b"mp4a" => "AAC audio".to_owned(),
        other => other.escape_ascii().to_string(),
    }
}

/// Boxes that follow each other. A box that is cut off ends them.
#[derive(Clone, Copy)]
struct Boxes<'a>(&'a [u8]);

impl<'a> Boxes<'a> {
    /// Contents of the first box of a name.
    fn find(mut self, wanted: &Name) -> Option<&'a [u8]> {
        Iterator::find(&mut self, |(name, _)| name == wanted).map(|(_, body)| body)
    }
}

impl<'a> Iterator for Boxes<'a> {
    type Item = (Name, &'a [u8]);

    fn next(&mut self) -> Option<(Name, &'a [u8])> {
        let Self(rest) = *self;
        let small = be_32(rest, 0)?;
        let name = *rest.get(4..)?.first_chunk::<4>()?;
        let (head, size) = match small {
            // To the end of the file.
            0 => (8, rest.len()),
            1 => {
                let large = rest.get(8..)?.first_chunk::<8>()?;
                (16, usize::try_from(u64::from_be_bytes(*large)).ok()?)
            }
            small => (8, small as usize),
        };
        let body = rest.get(head..size)?;
        *self = Self(&rest[size..]);
        Some((name, body))
    }
}

/// Contents of a box within boxes.
fn path<'a>(outer: &'a [u8], names: &[&Name]) -> Option<&'a [u8]> {
    names
        .iter()
        .try_fold(outer, |inside, name| Boxes(inside).find(name))
}

/// The big-endian number at an offset.
fn be_32(bytes: &[u8], offset: usize) -> Option<u32> {
    let number = bytes.get(offset..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*number))
}

/// Ticks per second, of the box `mdhd`.
fn timescale(header: &[u8]) -> Option<u32> {
    let offset = match header.first()? {
        1 => 20,
        _ => 12,
    };
    be_32(header, offset).filter(|&ticks| ticks > 0)
}

/// `AVCDecoderConfigurationRecord` or `HEVCDecoderConfigurationRecord` (ISO/IEC 14496-15), or
/// `AV1CodecConfigurationRecord` (AV1 Codec ISO Media File Format Binding).
struct Config {
    framing: Framing,
    sets: Vec<Vec<u8>>,
}

impl Config {
    fn parse_h264(bytes: &[u8]) -> Option<Self> {
        let framing = Framing::Lengths((bytes.get(4)? & 3) + 1);
        let mut sets = Vec::new();
        let mut rest = bytes.get(5..)?;
        // Sequence parameter sets, then picture parameter sets.
        for mask in [0x1f, 0xff] {
            let (count, after) = rest.split_first()?;
            rest = after;
            for _ in 0..count & mask {
                sets.push(take_set(&mut rest)?.to_vec());
            }
        }
        Some(Self { framing, sets })
    }

    fn parse_h265(bytes: &[u8]) -> Option<Self> {
        let framing = Framing::Lengths((bytes.get(21)? & 3) + 1);
        let (arrays, mut rest) = bytes.get(22..)?.split_first()?;
        let mut sets = Vec::new();
        for _ in 0..*arrays {
            // The type of NAL units, with two flags before it, and their number.
            let (head, after) = rest.split_first_chunk::<3>()?;
            rest = after;
            let is_set = matches!(head[0] & 0x3f, nal::VPS | nal::SPS | nal::PPS);
            for _ in 0..u16::from_be_bytes([head[1], head[2]]) {
                let unit = take_set(&mut rest)?;
                if is_set {
                    sets.push(unit.to_vec());
                }
            }
        }
        Some(Self { framing, sets })
    }

    fn parse_av1(bytes: &[u8]) -> Option<Self> {
        // Marker and version, then three bytes that the sequence header repeats.
        let (head, units) = bytes.split_first_chunk::<4>()?;
        (head[0] == 0x81).then(|| Self {
            framing: Framing::Units,
            sets: vec![units.to_vec()],
        })
    }
}

/// Takes a NAL unit after its size of two bytes.
fn take_set<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (size, after) = rest.split_first_chunk::<2>()?;
    let size = usize::from(u16::from_be_bytes(*size));
    let (set, after) = after.split_at_checked(size)?;
    *rest = after;
    Some(set)
}

/// Rows of the boxes of a sample table.
#[derive(Default)]
struct Table {
    /// Size of all samples, if they have one, and their number.
    sample_size_and_count: (u32, u32),
    sizes: Vec<[u32; 1]>,
    /// Offsets of chunks.
    chunks: Vec<u64>,
    /// First chunk, samples per chunk, description.
    runs: Vec<[u32; 3]>,
    /// Number of samples, ticks between them.
    deltas: Vec<[u32; 2]>,
    /// Number of samples, ticks from decoding to presentation.
    offsets: Vec<[u32; 2]>,
    /// Numbers of the samples where decoding can begin; `None` if it can at each.
    sync: Option<Vec<[u32; 1]>>,
}

/// Rows of `N` numbers after their count, as far as there are bytes.
fn rows<const N: usize>(body: &[u8], offset: usize) -> Vec<[u32; N]> {
    let count = be_32(body, offset).unwrap_or(0) as usize;
    let rows = body.get(offset + 4..).unwrap_or(&[]).chunks_exact(4 * N);
    let row = |bytes: &[u8]| std::array::from_fn(|at| be_32(bytes, 4 * at).unwrap_or(0));
    rows.take(count).map(row).collect()
}

impl Table {
    fn parse(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        for (name, body) in Boxes(bytes) {
            // Version and flags come first.
            match &name {
                b"stsz" => {
                    let number = |offset| be_32(body, offset).unwrap_or(0);
                    table.sample_size_and_count = (number(4), number(8));
                    table.sizes = rows(body, 8);
                }
                b"stco" => {
                    let rows = rows::<1>(body, 4).into_iter();
                    table.chunks = rows.map(|[offset]| u64::from(offset)).collect();
                }
                b"co64" => {
                    let rows = rows::<2>(body, 4).into_iter();
                    let join = |[high, low]: [u32; 2]| (u64::from(high) << 32) | u64::from(low);
                    table.chunks = rows.map(join).collect();
                }
                b"stsc" => table.runs = rows(body, 4),
                b"stts" => table.deltas = rows(body, 4),
                b"ctts" => table.offsets = rows(body, 4),
                b"stss" => table.sync = Some(rows(body, 4)),
                _ => {}
            }
        }
        table
    }

    /// Samples in decoding order. Those beyond the end of a truncated file are left out.
    fn samples(&self, end: usize) -> Result<Vec<Sample>, VideoError> {
        let ranges = self.ranges(end)?;
        let count = ranges.len();
        let decoded = self.decoding_times().chain(std::iter::repeat(0));
        // Offsets are signed in all files: writers use negative ones in version 0 as well.
        let offsets = self.offsets.iter().flat_map(|&[samples, offset]| {
            std::iter::repeat_n(i64::from(offset as i32), (samples as usize).min(count))
        });
        let offsets = offsets.chain(std::iter::repeat(0));
        let mut samples: Vec<_> = ranges
            .into_iter()
            .zip(decoded.zip(offsets))
            .map(|(range, (time, offset))| Sample {
                range,
                time: time + offset,
                is_sync: self.sync.is_none(),
            })
            .collect();
        let first = samples.iter().map(|sample| sample.time).min();
        for sample in &mut samples {
            sample.time -= first.unwrap_or(0);
        }
        for &[number] in self.sync.iter().flatten() {
            let index = (number as usize).wrapping_sub(1);
            if let Some(sample) = samples.get_mut(index) {
                sample.is_sync = true;
            }
        }
        Ok(samples)
    }

    /// Times of decoding, in ticks.
    fn decoding_times(&self) -> impl Iterator<Item = i64> + '_ {
        let deltas = self
            .deltas
            .iter()
            .flat_map(|&[samples, delta]| std::iter::repeat_n(i64::from(delta), samples as usize));
        deltas.scan(0_i64, |now, delta| {
            let time = *now;
            *now = now.saturating_add(delta);
            Some(time)
        })
    }

    /// Ticks of so many samples.
    fn duration(&self, count: usize) -> u64 {
        let mut left = count as u64;
        let mut ticks = 0_u64;
        for &[samples, delta] in &self.deltas {
            let samples = u64::from(samples).min(left);
            ticks = ticks.saturating_add(samples * u64::from(delta));
            left -= samples;
        }
        ticks
    }

    /// Bytes of each sample.
    fn ranges(&self, end: usize) -> Result<Vec<Range<usize>>, VideoError> {
        let (size, count) = self.sample_size_and_count;
        let count = match size {
            0 => self.sizes.len(),
            _ => count as usize,
        };
        if count > MAX_SAMPLES {
            return Err(VideoError::Container {
                problem: format!("it has {count} samples, more than {MAX_SAMPLES}"),
            });
        }
        let mut ranges = Vec::new();
        let mut runs = self.runs.iter().peekable();
        let mut per_chunk = 0;
        for (chunk, &offset) in (1_u64..).zip(&self.chunks) {
            while let Some([_, samples, _]) = runs.next_if(|[first, ..]| u64::from(*first) <= chunk)
            {
                per_chunk = *samples;
            }
            let mut at = usize::try_from(offset).unwrap_or(usize::MAX);
            for _ in 0..per_chunk {
                let size = match size {
                    0 => self.sizes.get(ranges.len()).map(|[size]| *size),
                    size => (ranges.len() < count).then_some(size),
                };
                let Some(size) = size else {
                    return Ok(ranges);
                };
                let sample_end = at.saturating_add(size as usize);
                if sample_end > end {
                    return Ok(ranges);
                }
                ranges.push(at..sample_end);
                at = sample_end;
            }
        }
        Ok(ranges)
    }
}
