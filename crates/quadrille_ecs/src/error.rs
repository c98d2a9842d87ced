//! Errors of a frame.

use std::sync::Arc;

use quadrille_sync::{PlanError, PlanErrors};
use quadrille_vulkan::FrameError;
use thiserror::Error;

/// A recorded command that does not match the pass's declarations or its shader.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// A pass of a system with several passes uses a resource that is not among its `uses`.
    #[error(
        "it uses `{resource}` as {access}, which is not among the uses given to \
         `recorder.pass(\"{part}\", ..)`; add it there"
    )]
    NotDeclared {
        /// The pass's name.
        part: Arc<str>,
        /// The resource.
        resource: Box<str>,
        /// The access that was recorded.
        access: &'static str,
    },
    /// A use of a pass within a system exceeds the declaration of the system's parameter.
    #[error(
        "`recorder.pass(\"{part}\", ..)` is given `{resource}` as {used}, but the parameter declares \
         it as {declared}; give `.as_declared()`, or declare it so in the system's parameters"
    )]
    PartNotDeclared {
        /// The pass's name.
        part: Arc<str>,
        /// The resource.
        resource: Box<str>,
        /// The access that is given.
        used: &'static str,
        /// The declared access.
        declared: &'static str,
    },
    /// A system with several passes recorded something outside them.
    #[error(
        "commands are recorded outside the passes that the system begins with `recorder.pass`; \
         move them into one"
    )]
    OutsideParts,
    /// The shader has no such binding.
    #[error(
        "the pipeline `{pipeline}` has no binding {binding} for `{resource}`; of group 0 its shader \
         uses {available}"
    )]
    NoSuchBinding {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The resource that was bound.
        resource: Box<str>,
        /// The available bindings, with the shader's names.
        available: Box<str>,
    },
    /// The shader has no such variable.
    #[error("the pipeline `{pipeline}` has no variable `{name}` to bind to{hint}")]
    NoSuchVariable {
        /// The pipeline.
        pipeline: Box<str>,
        /// The name.
        name: Box<str>,
        /// Similar names, or the names that exist.
        hint: Box<str>,
    },
    /// A sampler is bound where the shader has another kind of resource.
    #[error(
        "binding {binding} of the pipeline `{pipeline}` takes no sampler; call `.bind({binding}, ..)`"
    )]
    NoSampler {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
    },
    /// A binding of the shader is not bound.
    #[error(
        "binding {binding} (`{variable}`) of the pipeline `{pipeline}` is not bound; call \
         `.bind({binding}, &..)` before drawing or dispatching"
    )]
    MissingBinding {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The shader's name for it.
        variable: Box<str>,
    },
    /// The bound resource has another kind than the shader declares.
    #[error(
        "`{resource}` cannot be bound to binding {binding} (`{variable}`) of the pipeline \
         `{pipeline}`: one is a buffer, the other an image or a sampler"
    )]
    WrongKind {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The shader's name for it.
        variable: Box<str>,
        /// The resource that was bound.
        resource: Box<str>,
    },
    /// The shader's access exceeds the declared one.
    #[error(
        "`{resource}` is declared as {declared}, but binding {binding} (`{variable}`) of the \
         pipeline `{pipeline}` needs it as {needed}; declare it so in the system's parameters"
    )]
    AccessTooWeak {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The shader's name for it.
        variable: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The declared access.
        declared: &'static str,
        /// The access that the shader makes.
        needed: &'static str,
    },
    /// The shader uses the resource in an undeclared stage, which would not be synchronized.
    #[error(
        "`{resource}` is declared for {declared}, but binding {binding} (`{variable}`) of the \
         pipeline `{pipeline}` is used in {needed}; declare these stages, or none, which means \
         those of the pipelines"
    )]
    OtherStages {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The shader's name for it.
        variable: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The stages that were declared.
        declared: &'static str,
        /// The stages that the shader uses it in.
        needed: &'static str,
    },
    /// The memory layout of pushed constants differs from the shader's struct.
    #[error(
        "`{value}` is pushed, whose members begin at the bytes {given}; those of the push constants of \
         the pipeline `{pipeline}` begin elsewhere: {shader}; give the struct the members of the \
         shader's, in the same order, with `Vec3` of glam for `vec3f` (a `[f32; 3]` is three numbers)"
    )]
    OtherLayout {
        /// The pipeline.
        pipeline: Box<str>,
        /// The Rust type of the pushed value.
        value: &'static str,
        /// The byte offsets of its members.
        given: Box<str>,
        /// The byte offsets of the shader's members, with their names.
        shader: Box<str>,
    },
    /// A command needs another access.
    #[error(
        "`{command}` needs `{resource}` declared as {needed}, but it is declared as {declared}; declare \
         it so in the system's parameters"
    )]
    WrongUse {
        /// The command.
        command: &'static str,
        /// The resource.
        resource: Box<str>,
        /// The declared access.
        declared: &'static str,
        /// The access that the command needs.
        needed: &'static str,
    },
    /// A command needs the other kind of resource.
    #[error("`{command}` needs {needed}, and `{resource}` is {given}")]
    WrongResource {
        /// The command.
        command: &'static str,
        /// The resource.
        resource: Box<str>,
        /// The kind that the command needs.
        needed: &'static str,
        /// The kind of the resource.
        given: &'static str,
    },
    /// Attachments of one rendering differ in size.
    #[error(
        "the attachment `{resource}` has {}x{} pixels, another attachment of the rendering has \
         {}x{}", extent[0], extent[1], other[0], other[1]
    )]
    ExtentsDiffer {
        /// The attachment.
        resource: Box<str>,
        /// Its extent in pixels.
        extent: [u32; 2],
        /// The extent of an earlier attachment.
        other: [u32; 2],
    },
    /// An attachment cannot resolve as requested.
    #[error("`{resource}` cannot resolve: {problem}")]
    Resolve {
        /// The attachment.
        resource: Box<str>,
        /// The problem, and how to fix it.
        problem: &'static str,
    },
    /// A rendering without attachments has no extent.
    #[error("a rendering has no attachment; give it at least one color or depth target")]
    NoAttachment,
    /// One pass has both a host callback and device commands.
    #[error(
        "the pass calls `recorder.host` and records commands for the device; make two passes of \
         it, one after the other"
    )]
    HostAndDevice,
    /// A table was replaced while passes ran.
    #[error(
        "it binds the table `{table}`, in the place of which another was put while passes ran; do so \
         before the schedule `Render`"
    )]
    TableReplaced {
        /// The table.
        table: Box<str>,
    },
    /// One pass has two host callbacks.
    #[error("the pass calls `recorder.host` twice; do all of it in one call, or begin passes")]
    TwoHostCalls,
    /// A host pass declares a buffer whose memory the CPU cannot access.
    #[error(
        "the host cannot reach the memory of `{resource}`; make it with \
         `.in_memory(Memory::Readback)` or `.in_memory(Memory::Upload)`"
    )]
    NotHostVisible {
        /// The resource.
        resource: Box<str>,
    },
    /// A pass accesses a resource beyond its declarations in this frame.
    #[error(
        "it uses `{resource}` as {used_as}, which is {access}; insert a `DeclaredAccess` that allows \
         that into its access entity, or have it record less; and put nothing else in the place of \
         a resource while passes run"
    )]
    MoreThanDeclared {
        /// The resource.
        resource: Box<str>,
        /// The use that was recorded.
        used_as: Box<str>,
        /// The access of that use, and the declared ones.
        access: Box<str>,
    },
    /// A command needs a pipeline.
    #[error("`{command}` is recorded before a pipeline is bound; call `.pipeline(&..)` first")]
    NoPipeline {
        /// The command.
        command: &'static str,
    },
}

/// Error of a frame.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A pass recorded an invalid command.
    #[error("the pass `{pass}` is recorded wrongly: {error}")]
    Record {
        /// The pass.
        pass: String,
        /// The error.
        error: RecordError,
    },
    /// A pass system, or another system of the `Render` schedule, failed or panicked.
    #[error("the system `{system}` failed: {message}")]
    System {
        /// The system.
        system: String,
        /// Its error or panic message.
        message: String,
    },
    /// A system declares accesses like a pass but is not one. The frame continues without it.
    #[error("the system `{system}` {problem}")]
    NoPass {
        /// The system.
        system: String,
        /// The problem, and how to fix it.
        problem: &'static str,
    },
    /// The callback of a host pass failed or panicked. The rest of the frame still ran.
    #[error("the host pass `{pass}` failed: {message}")]
    Host {
        /// The pass.
        pass: String,
        /// Its error or panic message.
        message: String,
    },
    /// An access entity refers to an entity without a resource.
    #[error(
        "an access of the pass `{pass}` points to an entity without `Bound`; give the entity a \
         `Bound::Handle(..)`"
    )]
    Unbound {
        /// The pass.
        pass: String,
    },
    /// A pass that ran declares a resource that does not exist when the frame is recorded.
    #[error(
        "the pass `{pass}` declares `{resource}`, which does not exist once the frame is recorded; \
         insert it before, and remove it after the frame"
    )]
    Missing {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// A pass declares a resource of another device.
    #[error(
        "the pass `{pass}` declares `{resource}`, which was made from another device: one that is \
         gone, or another app's; make it from this app's `GpuDevice`, in the `RenderStartup` \
         schedule, which runs again for each device"
    )]
    OtherDevice {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// A resource cannot change its owner as stated: see [`Exchanges`](crate::Exchanges).
    #[error("`{resource}` cannot be {verb}: {problem}")]
    Exchange {
        /// The resource.
        resource: String,
        /// `acquired` or `released`.
        verb: &'static str,
        /// Why, and what to do.
        problem: String,
    },
    /// An image asset cannot be used as a texture. Passes that declare it are skipped.
    #[error("the texture `{texture}` cannot be made: {problem}")]
    Texture {
        /// The type of the bevy resource that names it.
        texture: &'static str,
        /// The reason, and how to fix it.
        problem: String,
    },
    /// The device was lost, and could not be rebuilt.
    #[error("the renderer cannot recover: {reason}")]
    NotRecovered {
        /// The reason.
        reason: String,
    },
    /// The declarations contradict each other or the device.
    #[error("the frame cannot be planned:\n{0}{hint}", hint = planning_hint(.0))]
    Plan(#[from] PlanErrors),
    /// The device or the driver failed.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A window's surface or swapchain failed.
    #[error(transparent)]
    Surface(#[from] quadrille_vulkan::SurfaceError),
    /// A buffer or image of the renderer could not be created.
    #[error(transparent)]
    Resource(#[from] quadrille_vulkan::Error),
}

impl RenderError {
    /// Whether the device has to be replaced: it is lost, or only a part of a frame was submitted.
    pub fn needs_another_device(&self) -> bool {
        use quadrille_vulkan::vk;
        use quadrille_vulkan::{Error, FrameError as Frame, ShaderError, SurfaceError as Surface};
        matches!(
            self,
            Self::Frame(
                Frame::DeviceLost { .. }
                    | Frame::PartlySubmitted { .. }
                    | Frame::Resource(Error::DeviceLost { .. })
                    | Frame::Pipeline {
                        error: ShaderError::Compile {
                            result: vk::Result::ERROR_DEVICE_LOST,
                            ..
                        },
                        ..
                    }
            ) | Self::Surface(
                Surface::DeviceLost { .. } | Surface::Resource(Error::DeviceLost { .. })
            ) | Self::Resource(Error::DeviceLost { .. })
        )
    }
}

/// Returns hints in terms of this crate for errors of the solver.
fn planning_hint(errors: &PlanErrors) -> &'static str {
    let is_unwritten = |error: &PlanError| matches!(error, PlanError::NeverWritten { .. });
    let is_outside = |error: &PlanError| matches!(error, PlanError::Outside { .. });
    if errors.iter().any(is_outside) {
        "\n`Exchanges::acquire` says so, before each frame that uses it."
    } else if errors.iter().any(is_unwritten) {
        "\nContents begin undefined, not zero: a pass writes them, or, if they outlive the frame, \
             `Uploads` do once."
    } else {
        ""
    }
}
