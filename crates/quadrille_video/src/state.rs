//! State of a player: decoder, position, and what is on the device.

use bevy_asset::AssetId;
use bevy_ecs::prelude::*;
use quadrille::sync::resource::ResourceId;
use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::resources::GpuBuffer;

use crate::container::{Codec, VideoStream};
use crate::decoder::Decoder;
use crate::device::decoder::DeviceDecoder;
use crate::error::VideoError;
use crate::playback::{Advance, Playback};
use crate::player::Video;
#[cfg(feature = "openh264")]
use crate::software::SoftwareDecoder;

/// Decoder choice of a [`VideoPlugin`](crate::VideoPlugin).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeOn {
    /// The device where possible; otherwise, for H.264 and with the feature `openh264`, the CPU.
    #[default]
    Any,
    /// The device only.
    Device,
    /// The CPU only, for H.264.
    #[cfg(feature = "openh264")]
    Cpu,
}

/// Decoder of a player.
pub(crate) enum PlayerDecoder {
    Device(Box<DeviceDecoder>),
    #[cfg(feature = "openh264")]
    Cpu(Box<SoftwareDecoder>),
}

impl PlayerDecoder {
    pub(crate) fn new(gpu: &Gpu, on: DecodeOn, codec: Codec) -> Result<Self, VideoError> {
        #[cfg(feature = "openh264")]
        if on == DecodeOn::Cpu {
            return match codec {
                Codec::H264 => Ok(Self::cpu()),
                codec => Err(VideoError::Unsupported {
                    feature: format!("{codec} with `DecodeOn::Cpu`"),
                }),
            };
        }
        match DeviceDecoder::new(gpu, codec) {
            Ok(decoder) => Ok(Self::Device(Box::new(decoder))),
            Err(error) => Self::instead(on, codec, error),
        }
    }

    /// A decoder on the CPU after an error of the device, if there is one and it may be used.
    pub(crate) fn instead(
        on: DecodeOn,
        codec: Codec,
        error: VideoError,
    ) -> Result<Self, VideoError> {
        #[cfg(feature = "openh264")]
        if on == DecodeOn::Any && codec == Codec::H264 {
            tracing::debug!("{error}; the CPU decodes");
            return Ok(Self::cpu());
        }
        let _ = (on, codec);
        Err(error)
    }

    #[cfg(feature = "openh264")]
    fn cpu() -> Self {
        Self::Cpu(Box::new(SoftwareDecoder::new()))
    }

    pub(crate) fn as_decoder(&mut self) -> &mut dyn Decoder {
        match self {
            Self::Device(decoder) => decoder.as_mut(),
            #[cfg(feature = "openh264")]
            Self::Cpu(decoder) => decoder.as_mut(),
        }
    }
}

/// State of a [`VideoPlayer`](crate::VideoPlayer), which needs it.
#[derive(Component, Default)]
pub struct VideoState {
    /// The video that is decoded; `None` before the first.
    pub(crate) video: Option<AssetId<Video>>,
    pub(crate) decoder: Option<PlayerDecoder>,
    pub(crate) playback: Playback,
    /// Whether the video cannot be decoded.
    pub(crate) has_failed: bool,
    /// Number that changes with the shown picture.
    pub(crate) version: u64,
    /// Version that was converted, and the image that it was converted to.
    pub(crate) converted: Option<(u64, ResourceId)>,
    /// Buffer for planes of pictures that the CPU decodes, and the version of its contents.
    pub(crate) planes: Option<(GpuBuffer, u64)>,
    /// Time of the shown picture in seconds.
    shown_time: Option<f64>,
}

impl VideoState {
    /// Time of the shown picture in seconds; `None` before the first one. During a seek, and at broken samples, the
    /// earlier picture is still shown.
    pub fn shown_time(&self) -> Option<f64> {
        self.shown_time
    }

    /// Begins a video, unless it is the current one. Returns whether the decoder must be reset.
    pub(crate) fn begin(&mut self, video: AssetId<Video>) -> bool {
        if self.video == Some(video) {
            return false;
        }
        *self = Self {
            video: Some(video),
            version: self.version,
            ..Self::default()
        };
        true
    }

    /// Decodes up to a position in seconds; after a jump from the last sync sample before it.
    ///
    /// # Errors
    /// The video cannot be decoded, which is reported once.
    pub(crate) fn advance(
        &mut self,
        (gpu, on): (&Gpu, DecodeOn),
        stream: &VideoStream,
        position: f64,
        jumps: bool,
    ) -> Result<Advance, VideoError> {
        if self.has_failed {
            return Ok(Advance::default());
        }
        // Positions are those of pictures: the last one is shown up to the end.
        // Sums of frame times that are a little short of a picture's time show that picture.
        let ticks = (position * f64::from(stream.timescale()) + 1e-3) as i64;
        let ticks = ticks.min(stream.duration_ticks() - 1);
        if self.decoder.is_none() {
            match PlayerDecoder::new(gpu, on, stream.codec()) {
                Ok(decoder) => self.decoder = Some(decoder),
                Err(error) => {
                    self.has_failed = true;
                    return Err(error);
                }
            }
        }
        let Some(decoder) = &mut self.decoder else {
            return Ok(Advance::default());
        };
        let decoder = decoder.as_decoder();
        if jumps {
            self.playback.jump(stream, decoder, ticks);
        }
        let mut advance = self.playback.advance(stream, decoder, ticks);
        self.version += u64::from(advance.has_changed);
        let shown = self.playback.shown();
        self.shown_time = shown.map(|it| it.time as f64 / f64::from(stream.timescale()));
        let is_final = |error: &VideoError| {
            matches!(
                error,
                VideoError::Device { .. }
                    | VideoError::Unsupported { .. }
                    | VideoError::Vulkan { .. }
            )
        };
        if let Some(at) = advance.errors.iter().position(is_final) {
            let error = advance.errors.swap_remove(at);
            self.replace_decoder(on, error, (stream, ticks))?;
        }
        Ok(advance)
    }

    /// Replaces the decoder after an error that no later sample mends: by the CPU, if it may decode and has not failed
    /// itself.
    fn replace_decoder(
        &mut self,
        on: DecodeOn,
        error: VideoError,
        (stream, ticks): (&VideoStream, i64),
    ) -> Result<(), VideoError> {
        let replaced = match self.decoder {
            Some(PlayerDecoder::Device(_)) => PlayerDecoder::instead(on, stream.codec(), error),
            _ => Err(error),
        };
        match replaced {
            Ok(decoder) => {
                let decoder = self.decoder.insert(decoder);
                self.playback = Playback::default();
                self.playback.jump(stream, decoder.as_decoder(), ticks);
                Ok(())
            }
            Err(error) => {
                self.has_failed = true;
                Err(error)
            }
        }
    }
}
