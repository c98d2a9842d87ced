//! Vulkan's handles for Quadrille: device, queues, memory, pipelines, swapchains, and the
//! interpreter of a plan.
//!
//! This crate depends on Vulkan (through ash) and not on bevy. It makes no synchronization decisions:
//! [`quadrille_sync`] derives them from the declarations of passes, as a
//! [`Plan`](quadrille_sync::plan::Plan) of plain data, and this crate executes the plan.
//!
//! # The model
//!
//! - [`Gpu`] is the device. Every object created from it keeps it alive, so it is destroyed last.
//! - [`GpuBuffer`], [`GpuImage`] and [`Sampler`] are handles; dropping the last clone retires the
//!   resource, which is destroyed once no queue can still use it.
//! - [`CommandList`] holds the commands of a pass as data. Lists are written on any thread, before it is
//!   known where the pass runs; a pass that fails leaves no half-recorded command buffer; and each
//!   command is checked when it is encoded.
//! - [`Frames`] owns the queues and runs frames: `begin`, `record`, `submit`, `retire`. Recording
//!   cuts the plan into chunks and encodes them on several threads, barriers inline.
//! - [`Swapchain`] has one [`GpuImage`], an alias of the image that is currently acquired.
//!
//! # Folders
//!
//! From the bottom to the top; each imports only earlier ones (`tests/rooms.rs`). Items have one path, by these
//! modules; errors, `ash` and `Format` are in the root.
//!
//! | folder | contents |
//! | --- | --- |
//! | `instance` | settings, instance, layers and debug names, choice of a device and its features |
//! | `shader` | modules and their reflection |
//! | `device` | what lives as long as the device: memory, timeline semaphores, queues shared by streams, caches, retired objects, faults |
//! | `resources` | buffers, images, views, samplers, formats, handles by id |
//! | `pipeline` | compute and graphics pipelines |
//! | `commands` | the commands of a pass, as data |
//! | `record` | from a plan and command lists to command buffers, with timestamps |
//! | `present` | surfaces, swapchains, presents |
//! | `submit` | frames, queue submissions, rings, memory of transient resources |
//!
//! # Decisions
//!
//! - *Baseline*: Vulkan 1.3 with `synchronization2`, `timelineSemaphore`, `dynamicRendering`,
//!   `maintenance4`, `descriptorIndexing`, `bufferDeviceAddress`, `separateDepthStencilLayouts`,
//!   `hostQueryReset`, `robustBufferAccess`, and `VK_KHR_push_descriptor`. Every other feature is
//!   used where a device has it.
//! - *Binding* is by push descriptors in set 0: no pools, no lifetimes. Each bind names its
//!   resource, so it can be checked against shader and declaration. Small data of a draw goes
//!   through push constants.
//! - *Clip space* is that of WGSL and WebGPU, y up and depth 0 to 1, for all shader languages.
//! - *Graphics pipelines* are compiled for the attachment formats of the rendering that uses them; users never
//!   repeat formats.
//! - *The interface of a pipeline never changes.* Hot reload replaces its code when the shader's file changes, for
//!   later recordings. A source that needs other bindings, push constants or workgroup sizes is rejected. Either
//!   all pipelines of a file change, or none.
//! - *Shaders are composed here* (`shader/compose.rs`), in WESL: imports and conditional translation. bevy 0.20 has the
//!   crate `wesl` 0.6, which declares Rust 1.97.1 and has 14 dependencies. It walks statements by unbounded recursion,
//!   prints the translated module again, and maps naga's errors to a declaration, not to the line within it. Here
//!   modules are joined by removing what conditions exclude and by renaming identifiers, with the origin of each byte
//!   kept; only naga parses the language. The preprocessor of `naga_oil` is not supported: no shader of bevy 0.20 uses
//!   it, and `#import` is an error that names the equivalent in WESL.
//! - *Pipeline-overridable constants* (`override`) are set before the translation to SPIR-V, so reflection has
//!   the resulting sizes of workgroups and arrays.
//! - *Waiting* is by host waits on timelines, bounded in time. `vkDeviceWaitIdle` is never called.
//! - *Timeline values are read again until all of them are consistent* (`device/timelines.rs`). The validation layer
//!   tracks each timeline separately, and would otherwise report hazards between ordered submissions.
//! - *Command pools belong to recording tasks*: one per task, queue family and frame in flight
//!   (`record/pools.rs`). Tasks record without locks, and a pool is reset as a whole.
//! - *An unchanged command list is not encoded again* (`commands/rewritten.rs`, `record/call_cache.rs`). Resources are
//!   compared by one number (`resources/generation.rs`), bindings by a bit mask (`pipeline/needs.rs`). Lists are
//!   prefetched some steps before they are recorded.
//! - *A transient handle is a stand-in*, like that of a swapchain's image. The Vulkan object is
//!   created when a frame first uses it, and recreated when its memory offset changes.
//! - *Memory that others share is exclusive and dedicated* (`resources/external.rs`): an importer needs a descriptor and
//!   the exporter's description. Where the device shares no semaphores, threads relay the values of a `PeerTimeline`.
//! - *A sync file is a timeline of one step* (`resources/external/sync_fd.rs`): plans know no binary semaphores but those of
//!   windows.
//! - *A stream has one queue*, exclusively if the main loop has not used that queue yet. So
//!   wait-before-signal is submitted only where it blocks no other submitter.
//! - *A ring uses wait-before-signal.* Its producer waits for entry numbers on a timeline of the ring, since the
//!   submission that reads does not exist yet. The consumer waits only for submissions that exist, so ending it
//!   early leaves no wrong contents or layouts.
//!
//! # Deliberately absent
//!
//! No barrier is decided here, no resource is created implicitly, and no argument makes a function panic.
//! `record`, `submit` and `present` are the only files that emit barriers, submit and present (`present` also
//! submits the wait that consumes the semaphore of an unused acquisition); `convert` is the only one that maps the
//! solver's types to Vulkan's.
//!
//! [`CommandList`]: commands::CommandList
//! [`Frames`]: submit::Frames
//! [`Gpu`]: device::Gpu
//! [`GpuBuffer`]: resources::GpuBuffer
//! [`GpuImage`]: resources::GpuImage
//! [`Sampler`]: resources::Sampler
//! [`Swapchain`]: present::Swapchain

#![expect(unsafe_code, reason = "Vulkan is called through raw functions")]

pub mod commands;
mod convert;
mod deep_stack;
pub mod device;
mod error;
pub mod file;
mod gpu;
pub mod instance;
pub mod pipeline;
#[doc(hidden)]
pub mod prefetch;
pub mod present;
pub mod record;
pub mod resources;
pub mod shader;
pub mod submit;

pub use ash;
pub use ash::vk;
/// `VkFormat`.
pub use ash::vk::Format;
pub use error::{
    CommandError, Error, FrameError, OtherLayout, SetupError, ShaderError, SurfaceError,
};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, poisoned or not: the crate's guarded data is valid between any two statements, so a panic
/// on another thread cannot leave it half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod test_folder;
#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
