//! MP4 files (ISO/IEC 14496-12) with one track of H.264 (ISO/IEC 14496-15).

use std::io::{self, Seek, SeekFrom, Write};
use std::time::Duration;

use mp4_atom::{
    Avc1, Avcc, Co64, Codec, Dinf, Dref, DrefEntry, Ftyp, Hdlr, Mdhd, Mdia, Minf, Moov, Mvhd, Stbl,
    Stsc, StscEntry, Stsd, Stss, Stsz, StszSamples, Stts, SttsEntry, Tkhd, Trak, Url, Visual, Vmhd,
    WriteTo as _,
};

use super::encoder::AccessUnit;

/// Units of time in a second: the clock of MPEG.
const TIMESCALE: u32 = 90_000;

/// Types of NAL units: ITU-T H.264, table 7-1.
const SEQUENCE_PARAMETER_SET: u8 = 7;
const PICTURE_PARAMETER_SET: u8 = 8;

/// Bytes of the header of `mdat`, with a size of 64 bits.
const HEADER: u64 = 16;

/// Writes samples as they come, and their table at the end.
pub(super) struct Mp4Writer<W> {
    out: W,
    size: [u32; 2],
    /// Offset of `mdat`.
    data_start: u64,
    sample_sizes: Vec<u32>,
    /// Times in units of the timescale, ascending.
    times: Vec<u64>,
    /// Numbers of the samples that can be decoded without others, from 1 on.
    keys: Vec<u32>,
    parameter_sets: Option<[Vec<u8>; 2]>,
}

impl<W: Write + Seek> Mp4Writer<W> {
    /// Begins a file with pictures of a size.
    pub(super) fn begin(mut out: W, size: [u32; 2]) -> io::Result<Self> {
        let file_type = Ftyp {
            major_brand: b"isom".into(),
            minor_version: 0x200,
            compatible_brands: [b"isom", b"iso2", b"avc1", b"mp41"]
                .map(Into::into)
                .to_vec(),
        };
        file_type.write_to(&mut out).map_err(io::Error::other)?;
        let data_start = out.stream_position()?;
        out.write_all(&data_header(0))?;
        Ok(Self {
            out,
            size,
            data_start,
            sample_sizes: Vec::new(),
            times: Vec::new(),
            keys: Vec::new(),
            parameter_sets: None,
        })
    }

    /// Adds a picture that is shown from a time on.
    pub(super) fn add(&mut self, picture: AccessUnit, time: Duration) -> io::Result<()> {
        let mut bytes = 0_u32;
        let mut sets = [None, None];
        for unit in picture.units {
            match unit.first().map(|byte| byte & 31) {
                Some(SEQUENCE_PARAMETER_SET) => sets[0] = Some(unit),
                Some(PICTURE_PARAMETER_SET) => sets[1] = Some(unit),
                _ => {
                    self.out.write_all(&(unit.len() as u32).to_be_bytes())?;
                    self.out.write_all(&unit)?;
                    bytes += unit.len() as u32 + 4;
                }
            }
        }
        if let ([Some(sequence), Some(picture)], None) = (sets, &self.parameter_sets) {
            self.parameter_sets = Some([sequence, picture]);
        }
        let time = (time.as_secs_f64() * f64::from(TIMESCALE)).round() as u64;
        // Equal times would make a picture invisible.
        let after = self.times.last().map_or(0, |last| last + 1);
        self.times.push(time.max(after));
        self.sample_sizes.push(bytes);
        if picture.is_key {
            self.keys.push(self.times.len() as u32);
        }
        Ok(())
    }

    /// Completes the file. Returns its duration, in which the last picture is shown for `last`.
    pub(super) fn end(mut self, last: Duration) -> io::Result<Duration> {
        let data_end = self.out.stream_position()?;
        let [sequence, picture] = self.parameter_sets.take().unwrap_or_default();
        let config = Avcc::new(&sequence, &picture).map_err(io::Error::other)?;
        let last = (last.as_secs_f64() * f64::from(TIMESCALE)).round() as u64;
        let duration = self.times.last().map_or(0, |time| time + last.max(1));
        let table = self.movie(config, duration);
        table.write_to(&mut self.out).map_err(io::Error::other)?;
        self.out.seek(SeekFrom::Start(self.data_start))?;
        self.out
            .write_all(&data_header(data_end - self.data_start))?;
        self.out.flush()?;
        Ok(Duration::from_secs_f64(
            duration as f64 / f64::from(TIMESCALE),
        ))
    }

    fn movie(&self, config: Avcc, duration: u64) -> Moov {
        let [width, height] = self.size.map(|side| side as u16);
        let visual = Visual {
            data_reference_index: 1,
            width,
            height,
            ..Visual::default()
        };
        let avc = Avc1 {
            visual,
            avcc: config,
            ..Avc1::default()
        };
        let media = Minf {
            vmhd: Some(Vmhd::default()),
            dinf: Dinf {
                dref: Dref {
                    entries: vec![DrefEntry::from(Url::default())],
                },
            },
            stbl: self.samples(avc, duration),
            ..Minf::default()
        };
        let track = Trak {
            tkhd: Tkhd {
                track_id: 1,
                duration,
                enabled: true,
                in_movie: true,
                width: width.into(),
                height: height.into(),
                ..Tkhd::default()
            },
            mdia: Mdia {
                mdhd: Mdhd {
                    timescale: TIMESCALE,
                    duration,
                    language: "und".to_owned(),
                    ..Mdhd::default()
                },
                hdlr: Hdlr {
                    handler: b"vide".into(),
                    name: "video".to_owned(),
                },
                minf: media,
            },
            ..Trak::default()
        };
        Moov {
            mvhd: Mvhd {
                timescale: TIMESCALE,
                duration,
                rate: 1.into(),
                volume: 1.into(),
                next_track_id: 2,
                ..Mvhd::default()
            },
            trak: vec![track],
            ..Moov::default()
        }
    }

    /// The table of samples, which lie in one chunk.
    fn samples(&self, avc: Avc1, duration: u64) -> Stbl {
        let ends = self.times.iter().skip(1).copied().chain([duration]);
        let mut durations: Vec<SttsEntry> = Vec::new();
        for (start, end) in self.times.iter().zip(ends) {
            let sample_delta = (end - start) as u32;
            match durations.last_mut() {
                Some(entry) if entry.sample_delta == sample_delta => entry.sample_count += 1,
                _ => durations.push(SttsEntry {
                    sample_count: 1,
                    sample_delta,
                }),
            }
        }
        let chunk = StscEntry {
            first_chunk: 1,
            samples_per_chunk: self.sample_sizes.len() as u32,
            sample_description_index: 1,
        };
        Stbl {
            stsd: Stsd {
                codecs: vec![Codec::Avc1(avc)],
            },
            stts: Stts { entries: durations },
            stss: Some(Stss {
                entries: self.keys.clone(),
            }),
            stsc: Stsc {
                entries: vec![chunk],
            },
            stsz: Stsz {
                samples: StszSamples::Different {
                    sizes: self.sample_sizes.clone(),
                },
            },
            co64: Some(Co64 {
                entries: vec![self.data_start + HEADER],
            }),
            ..Stbl::default()
        }
    }
}

/// Header of `mdat`, with its size in bytes.
fn data_header(size: u64) -> [u8; HEADER as usize] {
    let mut header = [0, 0, 0, 1, b'm', b'd', b'a', b't', 0, 0, 0, 0, 0, 0, 0, 0];
    header[8..].copy_from_slice(&size.to_be_bytes());
    header
}
