//! [`VideoError`].

use thiserror::Error;

/// Reason why a file or one of its pictures cannot be decoded, or recorded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VideoError {
    /// The bytes are neither a readable MP4 or IVF file nor a byte stream.
    #[error(
        "the file is no readable video: {problem}. Use an MP4 file (.mp4, .m4v, .mov) without fragments, an IVF file \
         (.ivf) or a byte stream (.h264, .264, .h265, .265, .obu)"
    )]
    Container {
        /// Problem, with its values.
        problem: String,
    },
    /// The file has no video track of a supported codec.
    #[error(
        "the file has no track of H.264, H.265 or AV1, but {found}. Convert it, for example by `ffmpeg -i FILE -c:v \
         libx264 -pix_fmt yuv420p OUT.mp4`"
    )]
    Codec {
        /// Codecs of the tracks.
        found: String,
    },
    /// The stream uses a feature of its codec that is not supported.
    #[error(
        "the video uses {feature}, which is not supported. Convert it, for example by `ffmpeg -i FILE -vf yadif -c:v \
         libx264 -pix_fmt yuv420p OUT.mp4`"
    )]
    Unsupported {
        /// Feature, in the words of the codec's specification.
        feature: String,
    },
    /// A picture is broken or refers to parameter sets that are missing.
    #[error(
        "the video is broken at sample {sample}: {problem}. The last good picture stays; check the file"
    )]
    Broken {
        /// Index of the sample, in decoding order.
        sample: usize,
        /// Problem, with its values.
        problem: String,
    },
    /// The device cannot decode the video.
    #[error(
        "the device `{device}` cannot decode the video: it lacks {missing}. Update its driver, choose another device \
         with `QUADRILLE_DEVICE`, or enable the feature `openh264` of `quadrille_video`, which decodes H.264 on \
         the CPU"
    )]
    Device {
        /// Name of the device.
        device: String,
        /// Missing extensions, queues, profiles or limits.
        missing: String,
    },
    /// A video cannot be recorded.
    #[error("the video `{file}` is not recorded: {problem}")]
    Recording {
        /// Path of the file.
        file: String,
        /// Problem, with its values.
        problem: String,
    },
    /// A Vulkan call failed.
    #[error(
        "{call} of the video session failed: {result}. Free device memory or restart the program"
    )]
    Vulkan {
        /// Name of the function.
        call: &'static str,
        /// Result, as Vulkan names it.
        result: String,
    },
}
