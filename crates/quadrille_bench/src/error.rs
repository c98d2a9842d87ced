//! Errors of measurements.

use quadrille::vulkan::vk;

/// Error of a hand-written frame.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The Vulkan loader cannot be loaded.
    #[error("the Vulkan loader cannot be loaded: {0}")]
    Loader(#[from] quadrille::vulkan::ash::LoadingError),
    /// No device has this name and a queue family for graphics and compute.
    #[error("no device named {name} has a queue family for graphics and compute")]
    Device {
        /// Requested device name.
        name: String,
    },
    /// A Vulkan call failed.
    #[error("{call} failed: {result}")]
    Vulkan {
        /// Name of the function.
        call: &'static str,
        /// Result of the call.
        result: vk::Result,
    },
    /// A shader cannot be translated.
    #[error(transparent)]
    Shader(#[from] quadrille::vulkan::ShaderError),
}

/// Maps a result to an error with the name of the function.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> BenchError {
    move |result| BenchError::Vulkan { call, result }
}
