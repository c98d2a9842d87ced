//! Synthetic benchmark frame, and the same frame with hand-written synchronization as the baseline.
//!
//! [`Workload`] describes the frame as plain data, with a reference simulation on the CPU. [`Line`] lists the
//! variants of hand-written synchronization, which [`HandWritten`] records by bare Vulkan calls. They are in a crate
//! of their own so that the benchmark (`examples/frame_bench.rs`) has no unsafe code. For the same reason the
//! [`Compositor`] of `examples/compositor.rs` is here.
//!
//! # Decisions
//!
//! - The hand-written variants create everything in advance: descriptor sets, pipelines, and one command pool
//!   that is reset as a whole.
//! - Each contestant has its own logical device and resources, on the same physical device.
//! - Frames do not overlap: each waits for the previous one, so that no cost is hidden.

#![expect(
    unsafe_code,
    reason = "the frame written by hand calls Vulkan, as those would who do without a renderer"
)]

mod allocations;
mod compositor;
mod device;
mod error;
mod hand_written;
mod resources;
mod times;
mod tracker;
mod workload;

pub use allocations::CountingAllocator;
pub use compositor::{Compositor, CompositorError, CompositorFrame};
pub use error::BenchError;
pub use hand_written::{HandWritten, Line};
pub use times::{FrameTimes, Medians, Stopwatch};
pub use workload::{Contents, PassWork, SEED, Workload};

/// WGSL shader of buffer passes.
pub const BUFFER_SHADER: &str = include_str!("../../../shaders/frame_bench/buffer.wgsl");

/// WGSL shader of image passes.
pub const IMAGE_SHADER: &str = include_str!("../../../shaders/frame_bench/image.wgsl");
