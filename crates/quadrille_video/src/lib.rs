//! H.264, H.265 and AV1 video as textures: [`VideoPlayer`] plays a file on an image asset,
//! which sprites, materials and nodes draw.
//!
//! # Model
//!
//! ```text
//! file              container  samples and their times (MP4, IVF, byte streams)
//! PostUpdate        playback   which samples a frame decodes, which picture it shows
//!                   coding     parameter sets, order counts, references (h264, h265, av1), output order
//! decode_videos     device     a session of Vulkan Video decodes, planes are copied to a buffer
//! (or PostUpdate)   software   OpenH264 decodes H.264 on the CPU, planes are uploaded
//! convert_videos    plugin     planes to the image of the player, before the passes of 2D and 3D
//! ```
//!
//! # Decisions
//!
//! - **Decoded pictures leave the decode queue as buffers.** A copy of 3 MB for a picture of 1920 x 1080 spares
//!   multi-planar images, their views and samplers with conversions in all shaders, and the CPU's pictures take the
//!   same way.
//! - **The decoded picture buffer belongs to the session.** It never leaves the queue, so plans do not list it: see
//!   [`device`](self) in the sources.
//! - **Images are of 8 bits in sRGB**, as most files are: the device encodes what the conversion makes linear.
//! - **A sample is one coded picture.** Containers divide temporal units of AV1 into frames. A hidden frame keeps the
//!   buffer that it was copied to until no later sample can show it.
//! - **A frame decodes by the clock, not ahead of it**: at most eight samples, so that a seek delays no frame by more.

mod av1;
mod coding;
mod container;
mod decoder;
mod device;
mod error;
pub mod guide;
mod h264;
mod h265;
mod output;
mod playback;
mod player;
mod plugin;
#[cfg(feature = "openh264")]
mod record;
#[cfg(feature = "openh264")]
mod software;
mod state;

/// The Vulkan interface.
mod api {
    pub(crate) use quadrille::vulkan::{ash, vk};
}

pub use container::{Codec, Sample, VideoStream};
pub use device::decoder::with_decode_queue;
pub use error::VideoError;
pub use player::{Video, VideoPlayer};
pub use plugin::{VideoPlugin, VideoSystems};
#[cfg(feature = "openh264")]
pub use record::{RecordedVideo, VideoRecorder, VideoRecorderPlugin};
pub use state::{DecodeOn, VideoState};
