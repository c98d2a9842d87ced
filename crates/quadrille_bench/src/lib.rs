//! The synthetic frame on which renderers are compared, and the same frame written by hand.
//!
//! The cost of a renderer's automatic synchronization shows only beside code that has none of
//! it to pay for. [`Workload`] is the frame, as plain data with a simulation on the CPU; [`Line`]
//! names the ways to record it by hand; [`HandWritten`] does so with bare Vulkan calls, which is
//! why this crate has unsafe code and the program that measures (`examples/frame_bench.rs`) does
//! not.
//!
//! # Decisions
//!
//! - The hand-written lines have everything made beforehand that can be: descriptor sets,
//!   pipelines, one command pool that is reset as a whole.
//! - Contestants have devices and resources of their own, on the same physical device.
//! - A frame waits for the one before; nothing overlaps, so nothing is hidden.

#![expect(
    unsafe_code,
    reason = "the frame written by hand calls Vulkan, as those would who do without a renderer"
)]

mod allocations;
mod device;
mod error;
mod hand_written;
mod resources;
mod times;
mod tracker;
mod workload;

pub use allocations::CountingAllocator;
pub use error::BenchError;
pub use hand_written::{HandWritten, Line};
pub use times::{FrameTimes, Medians, Stopwatch};
pub use workload::{Contents, PassWork, SEED, Workload};

/// The shader of buffer passes, in WGSL.
pub const BUFFER_SHADER: &str = include_str!("../../../shaders/frame_bench/buffer.wgsl");

/// The shader of image passes, in WGSL.
pub const IMAGE_SHADER: &str = include_str!("../../../shaders/frame_bench/image.wgsl");
