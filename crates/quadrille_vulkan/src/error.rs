//! Errors of the system and of the caller.
//!
//! Messages are full sentences in the present tense and name the object by its label.

mod command;

pub use command::{CommandError, OtherLayout};

use std::path::{Path, PathBuf};
use std::time::Duration;

use ash::vk;

/// The device cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The Vulkan loader cannot be loaded.
    #[error(
        "the Vulkan loader cannot be loaded ({reason}). Install it: libvulkan1 on Debian and \
         Ubuntu, vulkan-loader on Fedora, vulkan-icd-loader on Arch"
    )]
    NoLoader {
        /// Message of the operating system.
        reason: String,
    },
    /// No driver offers a device.
    #[error(
        "no Vulkan device is found. Install a driver: mesa-vulkan-drivers on Debian, Ubuntu and \
         Fedora, vulkan-radeon, vulkan-intel or vulkan-swrast on Arch, or the driver of the \
         device's maker (for NVIDIA: nvidia-driver on Debian, xorg-x11-drv-nvidia on Fedora's \
         RPM Fusion, nvidia-utils on Arch)"
    )]
    NoDevice,
    /// No device has the requested name or index.
    #[error("no device matches \"{wanted}\". There are: {}", available.join(", "))]
    DeviceNotFound {
        /// The requested name or index.
        wanted: String,
        /// Names of the available devices, by index.
        available: Vec<String>,
    },
    /// The best device (or the requested one) lacks a requirement of Quadrille.
    #[error("the device `{device}` lacks what Quadrille needs: {}", missing.join(", "))]
    Lacks {
        /// Name of the device.
        device: String,
        /// Missing features, extensions and versions.
        missing: Vec<String>,
    },
    /// The best device (or the requested one) lacks a requirement of the program.
    #[error(
        "the device `{device}` lacks what the program requires of it with `Settings::extensions`: {}; \
         choose another device, or make that optional and do without",
        lacking.join(", ")
    )]
    LacksExtension {
        /// Name of the device.
        device: String,
        /// Missing extensions and features.
        lacking: Vec<String>,
    },
    /// An instance or a device that the program created cannot be imported ([`Gpu::import`]).
    ///
    /// [`Gpu::import`]: crate::device::Gpu::import
    #[error(
        "{what} that the program made cannot be imported, for it was made without: {}. \
         `Gpu::with_device_info` gives what a device is best made by; features of Vulkan 1.1 to 1.3 count in \
         the structures of these versions alone",
        missing.join(", ")
    )]
    Import {
        /// The instance, or the device by its name.
        what: String,
        /// The features and extensions that are not enabled.
        missing: Vec<String>,
    },
    /// Quadrille cannot replace the lost device, which the program created ([`Gpu::import`](crate::device::Gpu::import)).
    #[error(
        "the device was made by the program, which alone can make another; import that in place of the lost one"
    )]
    Imported,
    /// [`Settings::extensions`](crate::instance::Settings::extensions) is invalid.
    #[error("`Settings::extensions` cannot be granted: {problem}")]
    Extensions {
        /// The problem.
        problem: String,
    },
    /// `QUADRILLE_QUEUES` cannot be read.
    #[error(
        "QUADRILLE_QUEUES is \"{value}\"; it must be a number of queues (1) or a list of \
         capabilities by their letters g, c, t (gct,ct)"
    )]
    Queues {
        /// Value of the variable.
        value: String,
    },
    /// An environment variable has an unknown value.
    #[error("{variable} is \"{value}\"; it must be one of {}, or unset", words.join(", "))]
    Environment {
        /// Name of the variable.
        variable: &'static str,
        /// Value of the variable.
        value: String,
        /// The allowed values.
        words: Vec<&'static str>,
    },
    /// A Vulkan call failed.
    #[error("{call} fails: {result}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
    /// The memory allocator cannot be set up.
    #[error("the memory allocator cannot be set up: {reason}")]
    Allocator {
        /// The reason.
        reason: String,
    },
}

/// Creating, reading or writing a resource fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The description is invalid, or not supported by the device.
    #[error("`{name}` cannot be made: {problem}")]
    Invalid {
        /// The resource's name.
        name: String,
        /// The problem, with the value and the limit.
        problem: String,
    },
    /// Memory allocation failed.
    #[error("no memory is left for `{name}` ({bytes} bytes): {reason}")]
    OutOfMemory {
        /// The resource's name.
        name: String,
        /// Its size in bytes.
        bytes: u64,
        /// The allocator's reason.
        reason: String,
    },
    /// The buffer's memory is not visible to the CPU.
    #[error(
        "`{name}` is in device memory, which the CPU does not see; ask for Memory::Upload or Memory::Readback"
    )]
    NotMapped {
        /// The buffer's name.
        name: String,
    },
    /// The range lies outside the buffer.
    #[error("bytes {offset}..{} are outside `{name}`, which has {bytes} bytes", offset.saturating_add(*length))]
    OutOfBounds {
        /// The buffer's name.
        name: String,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        length: u64,
        /// The size of the buffer in bytes.
        bytes: u64,
    },
    /// Data cannot be written to the buffer or image; none is written.
    #[error("nothing is written to `{name}`: {problem}")]
    NotWritten {
        /// The resource's name.
        name: String,
        /// The problem, with the sizes of the data and of the resource.
        problem: String,
    },
    /// A binary semaphore has no such signal.
    #[error("the binary semaphore `{name}` is out of turn: {problem}")]
    OutOfTurn {
        /// The semaphore's name.
        name: String,
        /// Cause and remedy.
        problem: &'static str,
    },
    /// The device already has a [`Frames`](crate::submit::Frames); there is one owner of its queues.
    #[error("the queues of this device are already owned by another Frames")]
    FramesTaken,
    /// The device is lost: its objects can only be dropped.
    #[error("the device is lost: {call} was the first call to say so")]
    DeviceLost {
        /// The call that first returned `VK_ERROR_DEVICE_LOST`, even if another call reports the error.
        call: &'static str,
    },
    /// A Vulkan call failed.
    #[error("{call} fails for `{name}`: {result}")]
    Vulkan {
        /// The resource's name.
        name: String,
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
}

/// A shader or a pipeline cannot be created.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// The source is not valid in its language.
    #[error("{label}:{line}:{column}: {message}\n{excerpt}")]
    Source {
        /// Label of the shader, or its file.
        label: String,
        /// Line, from 1; 0 if unknown.
        line: u32,
        /// Column, from 1; 0 if unknown.
        column: u32,
        /// The message.
        message: String,
        /// Excerpt of the source with annotations, as a compiler prints it.
        excerpt: String,
    },
    /// The SPIR-V module is malformed.
    #[error("`{label}` is no SPIR-V module: {problem}")]
    Spirv {
        /// Label of the shader, or its file.
        label: String,
        /// The problem.
        problem: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {reason}{}", path.display(), file_hint(path))]
    File {
        /// The file.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// The module has no such entry point for this stage.
    #[error(
        "`{label}` has no {stage} entry point{}. It has: {}",
        if wanted.is_empty() { ", or several: name one".to_owned() } else { format!(" \"{wanted}\"") },
        available.join(", ")
    )]
    NoEntryPoint {
        /// Label of the shader.
        label: String,
        /// The stage.
        stage: &'static str,
        /// The requested name.
        wanted: String,
        /// Available entry points, as `stage name`.
        available: Vec<String>,
    },
    /// Bindings or inputs are not supported.
    #[error("the interface of `{label}` cannot be served: {problem}")]
    Interface {
        /// Label of the shader, or name of the pipeline.
        label: String,
        /// The problem.
        problem: String,
    },
    /// The description of a pipeline does not match its shaders, or the device does not support it.
    #[error("the pipeline `{pipeline}` cannot be made: {problem}")]
    Pipeline {
        /// The pipeline's name.
        pipeline: String,
        /// The problem.
        problem: String,
    },
    /// A module cannot be published.
    #[error("the shader module `{path}` cannot be published: {problem}")]
    Module {
        /// Path of the module.
        path: String,
        /// The problem.
        problem: String,
    },
    /// The driver cannot compile the pipeline.
    #[error("the driver cannot compile the pipeline `{pipeline}`: {result}")]
    Compile {
        /// The pipeline's name.
        pipeline: String,
        /// The driver's result.
        result: vk::Result,
    },
}

/// Hint for a relative path: the folder against which it is resolved.
fn file_hint(path: &Path) -> String {
    match std::env::current_dir() {
        Ok(folder) if path.is_relative() && !path.exists() => {
            let folder = folder.display();
            format!("; its path begins in the folder that the program is started in, {folder}")
        }
        _ => String::new(),
    }
}

impl ShaderError {
    /// Returns the error in one line, without the excerpt of the source.
    pub fn line(&self) -> String {
        let text = self.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// A frame cannot be recorded, submitted or waited for.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A queue's timeline does not reach a value before the timeout.
    #[error(
        "queue {queue} does not reach value {wanted} of its timeline within {waited:?}; it is at \
         {reached}. The submission that does not end has the passes: {}. The last pass known to be \
         done is {}",
        if passes.is_empty() { "none".to_owned() } else { passes.join(", ") },
        last_done.as_deref().or(finished.as_deref()).unwrap_or("none")
    )]
    Timeout {
        /// The queue's index in the topology.
        queue: u8,
        /// The value waited for.
        wanted: u64,
        /// Current value.
        reached: u64,
        /// Time waited.
        waited: Duration,
        /// Passes of the queue's first incomplete submission.
        passes: Vec<String>,
        /// Last pass of the queue's last complete submission.
        finished: Option<String>,
        /// Last pass whose end timestamp the device has written, including passes of the incomplete submission. Known
        /// if frames are measured: [`Frames::measure`].
        ///
        /// [`Frames::measure`]: crate::submit::Frames::measure
        last_done: Option<String>,
    },
    /// A value of the program's timeline semaphore that a pass waits for was not signalled in time.
    #[error(
        "the pass `{pass}` waits for value {wanted} of the timeline `{timeline}`, which is at {reached} after \
         {waited:?}. Signal the value, or let the pass wait for it once it is certain to come"
    )]
    TimelineWait {
        /// The pass.
        pass: String,
        /// The timeline.
        timeline: String,
        /// Value waited for.
        wanted: u64,
        /// Current value.
        reached: u64,
        /// The time waited.
        waited: Duration,
    },
    /// A pass signals a value of the program's timeline semaphore that is not greater than all earlier ones.
    #[error(
        "the pass `{pass}` signals value {value} of the timeline `{timeline}`, which is signalled up to \
         {highest} already. Signal a higher one"
    )]
    TimelineSignal {
        /// The pass.
        pass: String,
        /// The timeline.
        timeline: String,
        /// The value to signal.
        value: u64,
        /// Highest value that is signalled or pending.
        highest: u64,
    },
    /// A pass uses a binary semaphore out of turn, or in the wrong direction.
    #[error("the pass `{pass}` cannot use the binary semaphore `{semaphore}`: {problem}")]
    BinarySemaphore {
        /// The pass.
        pass: String,
        /// The semaphore.
        semaphore: String,
        /// Cause and remedy.
        problem: &'static str,
    },
    /// A pass uses a value of the program's timeline semaphore that is too far above the current value.
    #[error(
        "the pass `{pass}` uses value {value} of the timeline `{timeline}`, which is more than {most} above \
         {reached}, the value reached. Use values that follow each other"
    )]
    TimelineDistance {
        /// The pass.
        pass: String,
        /// The timeline.
        timeline: String,
        /// The value to wait for or to signal.
        value: u64,
        /// Current value.
        reached: u64,
        /// Largest difference that every device supports.
        most: u64,
    },
    /// The device is lost.
    #[error("the device is lost: {call} was the first call to say so")]
    DeviceLost {
        /// The call that first returned `VK_ERROR_DEVICE_LOST`, even if another call reports the error.
        call: &'static str,
    },
    /// A pass has an invalid command.
    #[error("the pass `{pass}` is recorded wrongly, at {command}: {error}")]
    Command {
        /// The pass.
        pass: String,
        /// Name of the method that records the command, or the end of the pass.
        command: &'static str,
        /// The command's error.
        error: CommandError,
    },
    /// A pipeline that a pass uses could not be compiled.
    #[error("the pass `{pass}` cannot draw or dispatch: {error}")]
    Pipeline {
        /// The pass.
        pass: String,
        /// The reason.
        error: ShaderError,
    },
    /// A resource, pipeline or sampler belongs to another device, such as one that was lost.
    #[error("`{name}` was made from another device; make it again from the one that draws")]
    OtherDevice {
        /// Its name.
        name: String,
    },
    /// A pass declares an access whose usage the image lacks.
    #[error(
        "the pass `{pass}` declares an access of `{name}` that takes the usage {usage}, which it was made \
         without; add it to the image's description"
    )]
    Usage {
        /// The pass.
        pass: String,
        /// The image.
        name: String,
        /// The usage that its description lacks.
        usage: &'static str,
    },
    /// The arguments of a frame are inconsistent.
    #[error("the frame's parts do not belong together: {problem}")]
    Mismatch {
        /// The mismatch.
        problem: String,
    },
    /// Only some of the frame's submissions reached their queues, so neither the old nor the new states are valid; the
    /// device has to be recreated.
    #[error("only part of the frame is submitted: {call} fails: {result}")]
    PartlySubmitted {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
    /// A resource that recording needs could not be created.
    #[error(transparent)]
    Resource(#[from] Error),
    /// A Vulkan call failed; nothing was submitted.
    #[error("{call} fails: {result}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
}

/// A window's surface or swapchain fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The instance has no extension for this kind of window.
    #[error("the device was set up without windows of this kind: {missing} is not enabled")]
    Unsupported {
        /// The extension.
        missing: String,
    },
    /// No queue of the topology can present to the surface.
    #[error("no queue of `{device}` can present to this window")]
    CannotPresent {
        /// The device's name.
        device: String,
    },
    /// The surface offers no format that can be rendered to.
    #[error("the window offers none of the formats {wanted:?}; it has {available:?}")]
    NoFormat {
        /// The requested formats, or the preferred ones.
        wanted: Vec<vk::Format>,
        /// The formats that the surface offers.
        available: Vec<vk::Format>,
    },
    /// The surface is lost and could not be recreated: the window is gone.
    #[error("the window's surface is lost")]
    Lost,
    /// The device is lost.
    #[error("the device is lost: {call} was the first call to say so")]
    DeviceLost {
        /// The call that first returned `VK_ERROR_DEVICE_LOST`, even if another call reports the error.
        call: &'static str,
    },
    /// The image handle of the swapchain could not be created.
    #[error(transparent)]
    Resource(#[from] Error),
    /// A Vulkan call failed.
    #[error("{call} fails: {result}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
}
