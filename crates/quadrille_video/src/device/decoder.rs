//! Decoder of a stream by the device. Parsing fills a list of pictures, which a pass decodes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use quadrille::sync::topology::Capabilities;
use quadrille::vulkan::Error;
use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::instance::WantedQueue;
use quadrille::vulkan::instance::{Extension, Settings};
use quadrille::vulkan::resources::{BufferDesc, BufferUsage, GpuBuffer, Sharing};

use super::bitstream::Bitstreams;
use super::commands::Decode;
use super::picture_bytes;
use super::session::{Functions, Session, SessionDesc};
use super::sets::{Sets, level};
use super::support::{Profile, Support, check_limits, decodes, extensions};
use super::work::{DecodeWork, OwnedSession};
use crate::api::vk;
use crate::coding::{CodedPicture, ColorMatrix, Parser, PictureSize, Sequence, Syntax};
use crate::container::{Codec, VideoStream};
use crate::decoder::{Decoded, Decoder, Picture, Planes};
use crate::error::VideoError;

/// Capabilities of the queue that decodes and copies the pictures.
pub(crate) const NEEDS: Capabilities = Capabilities::VIDEO_DECODE.union(Capabilities::TRANSFER);

/// Buffers beyond those that wait for earlier pictures: the shown one, the next one, and two that are decoded
/// meanwhile.
const SPARE_BUFFERS: usize = 4;

/// Most pictures that wait for a frame that decodes them, such as while the window is minimized.
const MAX_PENDING: usize = 32;

/// Adds what decoding by the device needs, where the device has it: a queue and extensions.
///
/// ```
/// use quadrille::ecs::QuadrillePlugin;
/// use quadrille::vulkan::instance::Settings;
/// let settings = quadrille_video::with_decode_queue(Settings::default());
/// let plugin = QuadrillePlugin { settings, ..QuadrillePlugin::default() };
/// ```
#[must_use]
pub fn with_decode_queue(mut settings: Settings) -> Settings {
    settings.queues.push(WantedQueue {
        capabilities: NEEDS,
    });
    for codec in [Codec::H264, Codec::H265, Codec::Av1] {
        let extension = extensions(codec)
            .into_iter()
            .fold(Extension::optional(), Extension::device);
        settings.extensions.push(extension);
    }
    settings
}

/// A picture that the next pass decodes.
struct Pending {
    picture: CodedPicture,
    /// Slices with start codes.
    bytes: Vec<u8>,
    slices: Vec<u32>,
    /// Buffer that receives it, if it is shown.
    buffer: Option<usize>,
}

/// Objects that depend on the format of a stream.
struct Opened {
    session: Arc<OwnedSession>,
    support: Support,
    profile: Profile,
    bitstreams: Bitstreams,
    /// Coded size of the session.
    coded: [u32; 2],
    /// Version of the parameter sets in the session.
    version: u64,
    /// Id of the sequence parameter set of its pictures.
    sps: u8,
    /// Index of its first buffer: those before are of earlier sessions.
    first_buffer: usize,
}

/// Decoder by the device.
pub(crate) struct DeviceDecoder {
    gpu: Gpu,
    family: u32,
    functions: Functions,
    codec: Codec,
    parser: Parser,
    has_sets: bool,
    opened: Option<Opened>,
    /// Buffers by index, which is unique in a decoder. Those of earlier sessions remain until they are released.
    buffers: HashMap<usize, GpuBuffer>,
    next_buffer: usize,
    /// Buffers of the session that hold no picture.
    free: Vec<usize>,
    /// Pictures that are not output yet, or that later samples may show again: id, buffer, format.
    decoded: Vec<(u64, usize, PictureSize, ColorMatrix)>,
    /// Number of output pictures by buffer.
    uses: HashMap<usize, u32>,
    times: BinaryHeap<Reverse<i64>>,
    /// Pictures for the next frame.
    pending: Vec<Pending>,
    /// Work of earlier sessions for the next frame.
    ready: Vec<DecodeWork>,
}

impl DeviceDecoder {
    /// Checks a device for a codec.
    ///
    /// # Errors
    /// Names all that the device lacks.
    pub(crate) fn new(gpu: &Gpu, codec: Codec) -> Result<Self, VideoError> {
        let extensions = extensions(codec);
        let missing = extensions.iter().filter(|name| !gpu.is_enabled(name));
        let mut missing: Vec<String> = missing
            .map(|name| format!("the extension {}", name.to_string_lossy()))
            .collect();
        let has_extensions = missing.is_empty();
        let mut queues = gpu.topology().queues.iter();
        let queue = queues.find(|queue| {
            queue.capabilities.contains(NEEDS)
                && (!has_extensions
                    || decodes(gpu.instance(), gpu.physical_device(), queue.family.0, codec))
        });
        if queue.is_none() {
            missing.push(format!(
                "a queue that decodes {codec} and copies (requested by `with_decode_queue`)"
            ));
        }
        let (Some(queue), true) = (queue, missing.is_empty()) else {
            return Err(lacks(gpu, missing.join(", ")));
        };
        Ok(Self {
            gpu: gpu.clone(),
            family: queue.family.0,
            functions: Functions::load(gpu.instance(), gpu.device()),
            codec,
            parser: Parser::new(codec),
            has_sets: false,
            opened: None,
            buffers: HashMap::new(),
            next_buffer: 0,
            free: Vec::new(),
            decoded: Vec::new(),
            uses: HashMap::new(),
            times: BinaryHeap::new(),
            pending: Vec::new(),
            ready: Vec::new(),
        })
    }

    /// Buffer of a picture.
    pub(crate) fn buffer(&self, index: usize) -> Option<&GpuBuffer> {
        self.buffers.get(&index)
    }

    /// Creates the session and buffers for the format of a picture, unless they exist.
    fn open(&mut self, picture: &CodedPicture, sample: usize) -> Result<(), VideoError> {
        let version = self.parser.version();
        let is_current = |it: &Opened| it.version == version && it.sps == picture.sps;
        if self.opened.as_ref().is_some_and(is_current) {
            return Ok(());
        }
        if self.opened.is_some() && !picture.is_refresh {
            let problem = "parameter sets change in a picture that needs earlier ones".to_owned();
            return Err(VideoError::Broken { sample, problem });
        }
        // The pictures before are of the earlier session.
        let work = self.take_pending()?;
        self.ready.extend(work);
        let sequence = self.parser.sequence(picture.sps);
        let sequence = sequence.zip(Sets::new(&self.parser, picture.sps));
        let Some(((sequence, sets), (size, _))) = sequence.zip(self.parser.format()) else {
            let problem = "its parameter sets are missing".to_owned();
            return Err(VideoError::Broken { sample, problem });
        };
        let (session, profile, support, memory) = self.session(sequence, &size)?;
        let coded = session.coded;
        let owned = OwnedSession::new(&self.gpu, session, &sets)?;
        let count = sequence.reordered + SPARE_BUFFERS;
        let bytes = picture_bytes(coded, profile.bytes_per_value());
        let buffers = (0..count).map(|_| {
            let usage = BufferUsage::TRANSFER_DST | BufferUsage::STORAGE;
            let desc = BufferDesc::new("video picture", bytes, usage);
            self.gpu
                .create_buffer(&desc.with_sharing(Sharing::Exclusive))
        });
        let buffers = buffers.collect::<Result<Vec<_>, Error>>();
        let buffers = buffers.map_err(|error| VideoError::Vulkan {
            call: "vkCreateBuffer",
            result: error.to_string(),
        })?;
        let first_buffer = self.next_buffer;
        self.next_buffer += count;
        for index in self.free.drain(..) {
            self.buffers.remove(&index);
        }
        self.free.extend(first_buffer..self.next_buffer);
        self.buffers.extend((first_buffer..).zip(buffers));
        self.opened = Some(Opened {
            session: Arc::new(owned),
            bitstreams: Bitstreams::new(&self.gpu, &memory),
            support,
            profile,
            coded,
            version,
            sps: picture.sps,
            first_buffer,
        });
        Ok(())
    }

    /// Creates a session for a sequence.
    fn session(
        &self,
        sequence: Sequence,
        size: &PictureSize,
    ) -> Result<
        (
            Session,
            Profile,
            Support,
            vk::PhysicalDeviceMemoryProperties,
        ),
        VideoError,
    > {
        let missing = |missing: String| lacks(&self.gpu, missing);
        let (codec, profile_idc) = (self.codec, sequence.profile_idc);
        let profile = Profile::of(codec, &sequence);
        let profile =
            profile.ok_or_else(|| missing(format!("the {codec} profile {profile_idc}")))?;
        let physical = self.gpu.physical_device();
        let instance = (self.gpu.entry(), self.gpu.instance());
        let support = Support::query(instance, physical, &profile).map_err(missing)?;
        let slots = sequence.references.max(1) + 1;
        let level = level(codec, sequence.level_idc);
        check_limits(&support, size.coded, [slots, sequence.active], level).map_err(missing)?;
        // SAFETY: the physical device is of this instance.
        let memory = unsafe { instance.1.get_physical_device_memory_properties(physical) };
        let desc = SessionDesc {
            family: self.family,
            profile: &profile,
            support: &support,
            memory: &memory,
            coded: size.coded,
            slots,
        };
        let session = Session::new(&self.functions, &desc)?;
        Ok((session, profile, support, memory))
    }

    /// Takes the pictures that are to be decoded in this frame, in order.
    ///
    /// # Errors
    /// There is no memory for their slices.
    pub(crate) fn take_work(&mut self) -> Result<Vec<DecodeWork>, VideoError> {
        let last = self.take_pending()?;
        let mut work = std::mem::take(&mut self.ready);
        work.extend(last);
        Ok(work)
    }

    /// Takes the pictures for the current session.
    fn take_pending(&mut self) -> Result<Option<DecodeWork>, VideoError> {
        let Some(opened) = self.opened.as_mut().filter(|_| !self.pending.is_empty()) else {
            return Ok(None);
        };
        let [begin, size] = opened.support.bitstream_alignment;
        let mut end = 0_u64;
        let mut ranges = Vec::with_capacity(self.pending.len());
        for pending in &mut self.pending {
            let offset = end.next_multiple_of(begin);
            let bytes = (pending.bytes.len() as u64).next_multiple_of(size);
            // Zeros up to the alignment.
            pending.bytes.resize(bytes as usize, 0);
            ranges.push([offset, bytes]);
            end = offset + bytes;
        }
        let parts = self.pending.iter().zip(&ranges);
        let parts = parts.map(|(pending, [offset, _])| (*offset, pending.bytes.as_slice()));
        let bitstream = match opened.bitstreams.write(&opened.profile, end, parts) {
            Ok(bitstream) => bitstream,
            Err(error) => {
                self.pending.clear();
                return Err(error);
            }
        };
        let mut buffers: Vec<GpuBuffer> = Vec::new();
        let mut pictures = Vec::with_capacity(ranges.len());
        for (pending, range) in self.pending.drain(..).zip(ranges) {
            let buffer = pending.buffer.and_then(|index| self.buffers.get(&index));
            if let Some(buffer) = buffer.filter(|it| !buffers.contains(it)) {
                buffers.push(buffer.clone());
            }
            pictures.push(Decode {
                picture: pending.picture,
                range,
                slices: pending.slices,
                target: buffer.map(GpuBuffer::raw),
            });
        }
        Ok(Some(DecodeWork {
            session: Arc::clone(&opened.session),
            bitstream,
            pictures,
            buffers,
        }))
    }

    /// Completed pictures of some ids.
    fn complete(&mut self, ids: &[u64]) -> Vec<Picture> {
        let mut pictures = Vec::new();
        for id in ids {
            let at = self.decoded.iter().position(|(known, ..)| known == id);
            let Some(at) = at else { continue };
            let (_, buffer, size, color) = match self.parser.keeps(*id) {
                true => self.decoded[at],
                false => self.decoded.remove(at),
            };
            *self.uses.entry(buffer).or_default() += 1;
            let time = self.times.pop().map_or(0, |Reverse(time)| time);
            pictures.push(Picture {
                time,
                size,
                color,
                planes: Planes::Buffer(buffer),
            });
        }
        pictures
    }

    /// Drops pictures that were kept for later samples and that none shows any more.
    fn forget(&mut self) {
        if self.codec != Codec::Av1 {
            return;
        }
        let kept = |id: u64| self.parser.keeps(id);
        let (kept, dropped) = self.decoded.drain(..).partition(|(id, ..)| kept(*id));
        self.decoded = kept;
        let dropped: Vec<_> = dropped;
        for (_, buffer, ..) in dropped {
            self.free_buffer(buffer);
        }
    }

    /// Makes a buffer available for another picture, unless its picture is in use.
    fn free_buffer(&mut self, index: usize) {
        let is_kept = self.decoded.iter().any(|(_, buffer, ..)| *buffer == index);
        if is_kept || self.uses.contains_key(&index) {
            return;
        }
        let first = self.opened.as_ref().map_or(0, |it| it.first_buffer);
        if index < first {
            self.buffers.remove(&index);
        } else if !self.free.contains(&index) {
            self.free.push(index);
        }
    }
}

impl Decoder for DeviceDecoder {
    fn decode(&mut self, stream: &VideoStream, sample: usize) -> Result<Decoded, VideoError> {
        if !self.has_sets {
            self.parser.add_sets(stream.parameter_sets())?;
            self.has_sets = true;
        }
        self.forget();
        let is_full = self.free.is_empty() || self.pending.len() >= MAX_PENDING;
        if self.opened.is_some() && is_full {
            return Ok(Decoded::Full);
        }
        let units = stream.nal_units(sample);
        let time = stream.samples().get(sample).map_or(0, |it| it.time);
        let Some(picture) = self.parser.picture(&units, sample)? else {
            let existing: Vec<u64> = self.parser.take_existing().into_iter().collect();
            self.times.extend(existing.iter().map(|_| Reverse(time)));
            return Ok(Decoded::Pictures(self.complete(&existing)));
        };
        self.open(&picture, sample)?;
        let format = self.parser.format();
        let (bytes, slices) = byte_stream(&picture, &units);
        let opened = self.opened.as_ref();
        let (coded, depth) =
            opened.map_or(([0, 0], 1), |it| (it.coded, it.profile.bytes_per_value()));
        // Coding without compression adds less than this to the samples of a picture.
        if bytes.len() as u64 > 2 * picture_bytes(coded, depth) + (1 << 16) {
            let problem = format!(
                "{} bytes of slices for {}x{} pixels",
                bytes.len(),
                coded[0],
                coded[1]
            );
            return Err(VideoError::Broken { sample, problem });
        }
        let mut buffer = None;
        if picture.is_showable() {
            let Some((free, (mut size, color))) = self.free.pop().zip(format) else {
                return Ok(Decoded::Full);
            };
            size.coded = coded;
            if picture.is_shown {
                self.times.push(Reverse(time));
            }
            self.decoded.push((picture.id, free, size, color));
            buffer = Some(free);
        }
        let output = picture.output.clone();
        self.pending.push(Pending {
            picture,
            bytes,
            slices,
            buffer,
        });
        Ok(Decoded::Pictures(self.complete(&output)))
    }

    fn finish(&mut self) -> Vec<Picture> {
        let ids = self.parser.reset();
        let pictures = self.complete(&ids);
        self.times.clear();
        self.forget();
        pictures
    }

    fn release(&mut self, picture: Picture) {
        let Planes::Buffer(index) = picture.planes else {
            return;
        };
        if let Some(uses) = self.uses.get_mut(&index) {
            *uses -= 1;
            if *uses > 0 {
                return;
            }
            self.uses.remove(&index);
        }
        self.free_buffer(index);
    }
}

/// Slices of a picture behind start codes, and the offsets of these; of AV1, the units of the frame.
fn byte_stream(picture: &CodedPicture, units: &[&[u8]]) -> (Vec<u8>, Vec<u32>) {
    if let Syntax::Av1(syntax) = &picture.syntax {
        let units = units.first().and_then(|it| it.get(syntax.range.clone()));
        return (units.unwrap_or(&[]).to_vec(), Vec::new());
    }
    let mut bytes = Vec::new();
    let mut slices = Vec::new();
    for unit in picture.slices.iter().filter_map(|&index| units.get(index)) {
        slices.push(bytes.len() as u32);
        bytes.extend([0, 0, 1]);
        bytes.extend(*unit);
    }
    (bytes, slices)
}

fn lacks(gpu: &Gpu, missing: String) -> VideoError {
    VideoError::Device {
        device: gpu.info().name.clone(),
        missing,
    }
}
