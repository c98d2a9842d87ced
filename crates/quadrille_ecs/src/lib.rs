//! Render passes as bevy systems. Programs use this crate as `quadrille::ecs`; `quadrille::prelude` has the most common
//! items. Buffers, images and pipelines are types of `quadrille_vulkan`.
//!
//! ```
//! # use bevy_app::App;
//! # use bevy_derive::Deref;
//! # use bevy_ecs::prelude::*;
//! # use quadrille_ecs::*;
//! # use quadrille_vulkan::pipeline::{ComputePipeline, GraphicsPipeline};
//! # use quadrille_vulkan::resources::GpuBuffer;
//! /// A bevy resource that dereferences to a buffer or an image names it.
//! #[derive(Resource, Deref)]
//! struct Cells(GpuBuffer);
//! # #[derive(Resource)] struct Pipelines { step: ComputePipeline, show: GraphicsPipeline }
//!
//! /// A pass: a system with a recorder, and parameters that declare its accesses.
//! fn step(mut recorder: Recorder, cells: StorageReadWrite<Cells>, pipelines: Res<Pipelines>) {
//!     recorder.compute(&pipelines.step).bind("cells", &cells).dispatch([64, 1, 1]);
//! }
//!
//! /// A pass that waits for the first one, also on another queue.
//! fn show(
//!     mut recorder: Recorder,
//!     cells: StorageRead<Cells>,
//!     window: ColorTarget<PrimaryWindowImage>,
//!     pipelines: Res<Pipelines>,
//! ) {
//!     let mut rendering = recorder.render(window.clear([0.0, 0.0, 0.0, 1.0]));
//!     rendering.pipeline(&pipelines.show).bind("cells", &cells).draw(0..3, 0..1);
//! }
//!
//! fn add_passes(app: &mut App) {
//!     app.add_systems(Render, (step.on_queue(QueuePreference::Async), show.after(step)));
//! }
//! ```
//!
//! Entry points: [`QuadrillePlugins`] set up an app; [`GpuDevice`] creates buffers, images and
//! pipelines, in [`RenderStartup`]; [`Recorder`] records commands of a pass, [`Access`] declares its
//! accesses; [`Uploads`] and [`Readback`] transfer data from and to the CPU.
//!
//! # Model
//!
//! A system that takes a [`Recorder`] is a pass. Its other parameters ([`StorageRead`],
//! [`ColorTarget`], ..) declare its accesses, and a pass can record only declared accesses. When the [`Render`]
//! schedule is built, each pass system is mirrored as an entity with access entities. These are
//! the source of truth from then on: `collect` reads them each frame.
//!
//! ```text
//! Render schedule runs        pass systems write command lists, in any order, in parallel
//! collect                     entities + what ran           -> Frame        (quadrille_sync)
//! plan                        Frame + States                -> Plan         (quadrille_sync)
//! record, submit, present     Plan + command lists          -> the device   (quadrille_vulkan)
//! commit, retire              only after success
//! ```
//!
//! # Folders
//!
//! From the bottom to the top; each folder imports only earlier ones (`tests/rooms.rs`).
//!
//! | folder | contents |
//! | --- | --- |
//! | `declare` | parameters and entities that declare accesses of passes; names of resources and windows |
//! | `record` | recorders, their methods, and the memory they write |
//! | `data` | uploads, readbacks, screenshots, resources with a history, resources that others share |
//! | `window` | windows: settings, swapchains, images that follow their size |
//! | `renderer` | state that outlives frames: the device, settings, measurements |
//! | `collect` | from systems and recordings to the frame for the planner |
//! | `frame` | one frame from pacing to presenting, and error handling |
//! | `app` | plugins |
//! | `stream` | worker threads that submit |
//! | `material` | bindings of materials as data, for crates that draw them |
//! | `texture` | bevy's image assets |
//!
//! # Decisions
//!
//! - **Pass systems write command lists**, which the backend encodes in plan order after all of them ran. So the passes
//!   that ran and their accesses are known before planning, and a failing pass leaves no half-recorded command buffer.
//!   Run conditions, errors, panics and tracing work as for any bevy system. The cost is that each command is written
//!   twice.
//! - **Queue capabilities and stages of accesses are derived from the recorded
//!   commands.** `StorageRead<T>` means the stages of the pipelines that the pass bound;
//!   `StorageRead<T, stage::Fragment>` sets them explicitly.
//! - **Passes are recorded in the main world** and see live components. There is no extraction.
//! - **Conflicts are detected among the passes that ran**, when the frame is planned: two writers that never run
//!   together are no error.
//! - **CPU order between passes is dropped** unless their systems conflict on ECS data. Only then does
//!   `after` also order them on the CPU.
//! - **Window images are acquired before passes run.** The acquired image may have another size, or there may be
//!   none, and passes need to know that when they record.
//! - **Images of a window's size are recreated after its acquire** ([`WindowSized`]), so that both
//!   always have equal sizes. The old contents are lost.
//! - **A history is two resources that are swapped** after each frame that accessed it. Frames
//!   then repeat with a period of two, and both plans are reused.
//! - **Recorders write in place.** A pass system and the renderer share the memory of its
//!   recording (`record/slot.rs`). Systems that record count as readers of the resource
//!   `Recordings`; code that inspects recordings has exclusive access to that resource.
//! - **The memory of the next system is prefetched** while one records (`record/ahead.rs`,
//!   `frame/run.rs`). Frames of many small passes are memory-bound, so a recording and its first commands are stored
//!   together.
//! - **bevy iterates over the systems of a frame once.** If no system of the schedule has deferred
//!   commands, the final pass that applies them is disabled (`frame/run.rs`).
//! - **An unchanged frame is not collected again**, if the outcomes of its passes are unchanged
//!   (`record/outcome.rs`).
//! - **A change of ownership is a pass without commands** (`data/exchange.rs`): the wait for the other owner precedes
//!   the acquire and the signal follows the release, whatever passes use the resource.
//! - **The simulation of a frame does not overlap the recording of the one before**, as bevy's does: passes see live
//!   components. Of bevy's stress tests whose CPU time is above their device time, `bevymark` waits for the device (36.7 ms
//!   of an H200 for 29.5 of all threads), and extraction with recording is 0.4 of the 4.5 ms of `many_buttons`
//!   (`cargo bench -p quadrille_2d --bench stress`), so that overlap brings at most 9 % there.
//! - **Handles do not survive their device.** After a loss the systems in [`RenderStartup`] create
//!   all objects again. Use of a handle of the old device is an error that names it.
//!
//! # Deliberately absent
//!
//! No barrier, semaphore or layout appears here; this crate does not depend on `ash`. No `System` or
//! `SystemExecutor` is implemented, so hotpatching, run conditions and tracing work as in any
//! schedule.

/// Derive macros refer to this crate by this name.
#[cfg(test)]
extern crate self as quadrille;

mod app;
mod collect;
mod data;
mod declare;
mod error;
mod frame;
mod gpu_device;
#[cfg(feature = "textures")]
pub mod material;
mod record;
mod renderer;
mod schedule;
mod stream;
#[cfg(feature = "textures")]
mod texture;
mod window;

/// WGSL memory layout of values: the trait and the derive `ShaderType`. The derive finds the crate by the name
/// `quadrille`.
pub mod encase {
    pub use ::encase::*;
    pub use quadrille_derive::ShaderType;
}

/// Pass parameters that are declared and bound together: the trait and the derive `PassBindings`. The derive finds the
/// crate by the name `quadrille`.
pub mod bindings {
    pub use crate::declare::access::PassUse;
    #[doc(hidden)]
    pub use crate::record::binding_key::FieldKey;
    pub use crate::record::bindings::{BindField, Binder, PassBindings};
    pub use quadrille_derive::PassBindings;
}

/// Rows of tables, which shaders read in their memory layout: the trait and the derive `ShaderRow`. The derive finds
/// the crate by the name `quadrille`.
pub mod rows {
    pub use quadrille_derive::ShaderRow;
    pub use quadrille_vulkan::shader::{RowField, RowLayout, RowType, RowValue, ShaderRow};
}

pub use app::content::{
    ContentKind, DRAWN_COMPONENTS, DrawnContent, IGNORED_COMPONENTS, label as entity_label,
};
pub use app::diagnostics::RenderDiagnosticsPlugin;
pub use app::group::{QuadrillePlugins, has_display};
pub use app::plugin::{QuadrillePlugin, expect_renderer};
pub use app::reload::ShaderReloaded;
#[cfg(feature = "hot_reload")]
pub use app::watch::ShaderReloadPlugin;
pub use bytemuck;
pub use collect::retained::RetainedContents;
pub use data::exchange::{Exchange, Exchanges, ExternalOwner};
pub use data::history::{Current, History, NewHistory, Previous};
pub use data::png::encode as encode_png;
pub use data::readback::{Readback, ReadbackComplete, ReadbackFailed, save_to_disk};
pub use data::upload::Uploads;
pub use declare::access::{
    Access, AccessState, ColorLocalRead, ColorTarget, ConditionRead, DepthLocalRead, DepthRead,
    DepthTarget, HostRead, HostReadWrite, HostWrite, IndexRead, IndirectRead, PassUse, QueryWrite,
    Sampled, StorageRead, StorageReadWrite, StorageWrite, TransferRead, TransferWrite, Uniform,
    VertexRead, kind as access_kind, stage,
};
pub use declare::any::{AnyAccess, AnyAccessState, DeclaredBuilder, declared, declared_window};
pub use declare::attachment::{
    Attachment, Attachments, ClearValue, ColorAttachment, DepthAttachment, RenderTargets,
};
pub use declare::bind::{Bound as BoundResource, Declared, ResourceRef};
pub use declare::declaration::{
    AccessOf, AccessTo, AccessedBy, Accesses, AlwaysRun, Bound, DeclaredAccess, ListBinding, Pass,
    QueuePreference, ResourceBinding, TableBinding, TypeBinding,
};
pub use declare::kind::{AccessKind, StageScope};
pub use declare::list::{AccessList, NamedList};
pub use declare::named::{GpuResource, Named};
pub use declare::parameter::ResourceAccess;
pub use declare::queue::{AlwaysRunExt, OnQueue};
pub use declare::registry::resource_entity;
pub use declare::table::{DeclaredTable, NamedTable, Table};
pub use declare::view::DeclaredView;
pub use declare::window_image::{AddWindowImage, PrimaryWindowImage, WindowImage, WindowImageOf};
pub use error::{RecordError, RenderError};
pub use frame::policy::{RenderErrorHandler, RenderErrorPolicy};
pub use frame::recover::DeviceRebuilt;
pub use glam;
pub use gpu_device::GpuDevice;
pub use record::binding_key::BindingKey;
pub use record::compute::Compute;
pub use record::host::{Host, HostMemory, HostReads, HostWrites};
pub use record::layout::ShaderValue;
pub use record::queries::DeclaredQueries;
pub use record::recorder::{PassRecorder, Recorder, RecorderState};
pub use record::rendering::Rendering;
pub use record::transfer::Transfer;
pub use renderer::Renderer;
pub use renderer::frame_start::FrameStart;
pub use renderer::report::{Phase, PhaseObserver};
pub use renderer::threads::RecordOn;
pub use schedule::{Render, RenderStartup, RenderSystems};
pub use stream::{Stream, StreamError, StreamFrame};
#[cfg(feature = "textures")]
pub use texture::{
    AssetFileRules, AssetFolder, CheckedImageError, EmbeddedImages, ImageLimits, LoadTexture,
    TexturePart, TexturePlugin, checked_asset_source, describe_texture, texture_parts,
};
pub use window::{
    HeadlessWindow, PresentSettings, SwapchainState, WindowFailed, WindowOutcome, WindowSized,
};
