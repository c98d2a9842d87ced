//! Errors of measurements.

use quadrille::vulkan::vk;

/// Why a hand-written line cannot run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no Vulkan loader.
    #[error("the Vulkan loader cannot be loaded: {0}")]
    Loader(#[from] quadrille::vulkan::ash::LoadingError),
    /// The device is not there, or has no queue that computes.
    #[error("no device called {name} has a queue for graphics and compute")]
    Device {
        /// The wanted name.
        name: String,
    },
    /// A Vulkan call failed.
    #[error("{call} fails: {result}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
    /// The shaders do not translate.
    #[error(transparent)]
    Shader(#[from] quadrille::vulkan::ShaderError),
}

/// Names the call that failed.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> BenchError {
    move |result| BenchError::Vulkan { call, result }
}
