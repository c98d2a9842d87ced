//! [`Recorder`], the parameter that makes a system a pass.

#![expect(unsafe_code, reason = "`SystemParam` is an unsafe trait")]

use std::marker::PhantomData;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemAccess, SystemMeta, SystemParam, SystemParamValidationError};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use quadrille_sync::frame::TimelineUseKind;
use quadrille_vulkan::pipeline::ComputePipeline;
use quadrille_vulkan::resources::TimelineSemaphore;

use crate::declare::access::PassUse;
use crate::declare::attachment::RenderTargets;
use crate::declare::registry::{Declared, Registry, declare, register};
use crate::record::compute::Compute;
use crate::record::host::Host;
use crate::record::no_pass::NoPasses;
use crate::record::recording::{PassRecording, Recordings, SubRecording};
use crate::record::rendering::Rendering;
use crate::record::slot::Slot;
use crate::record::transfer::Transfer;

/// Records the commands of a pass. A system that takes it is a pass; its other parameters declare
/// the pass's accesses.
///
/// Commands are written to a list. The backend encodes the lists of a frame in plan order, with barriers in between,
/// after all pass systems have run. So a failing pass leaves no half-recorded command buffer, and passes may run in any
/// order on the CPU.
///
/// Barriers are inserted between passes, not within them: a dispatch or copy that depends on the result of
/// another one must be in a separate pass, which [`pass`](Recorder::pass) begins.
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::pipeline::ComputePipeline;
/// # use quadrille_vulkan::resources::GpuBuffer;
/// # #[derive(Resource, Deref)] struct Cells(GpuBuffer);
/// # #[derive(Resource)] struct Fill(ComputePipeline);
/// fn fill(mut recorder: Recorder, cells: StorageWrite<Cells>, pipeline: Res<Fill>) {
///     recorder.compute(&pipeline.0).bind(0, &cells).dispatch([64, 1, 1]);
/// }
/// ```
///
/// The recorder borrows the world, even if it comes from a `SystemState`:
/// ```compile_fail,E0499
/// # use bevy_ecs::prelude::*;
/// # use bevy_ecs::system::SystemState;
/// # use quadrille_ecs::*;
/// fn takes(mut state: SystemState<Recorder>, world: &mut World) -> Result {
///     let recorder = state.get_mut(world)?;
///     world.run_schedule(Render);
///     drop(recorder);
///     Ok(())
/// }
/// ```
pub struct Recorder<'w, 's> {
    pub(super) recording: &'s mut PassRecording,
    slot: &'s Slot,
    /// Borrow of [`Recordings`], which other code must not access while a system has the recorder.
    world: PhantomData<&'w Recordings>,
}

/// The state of a [`Recorder`]; opaque.
pub struct RecorderState {
    slot: Slot,
    declared: ComponentId,
    recordings: ComponentId,
}

// SAFETY: `init_access` registers a read of `Recordings`. `get_param` only writes the slot that belongs to this state
// alone, which that read allows (see `Slot`). The result borrows the state and the world, so no system has exclusive
// access to the world meanwhile.
unsafe impl SystemParam for Recorder<'_, '_> {
    type State = RecorderState;
    type Item<'w, 's> = Recorder<'w, 's>;

    fn init_state(world: &mut World) -> RecorderState {
        let (slot, declared) = register_recorder(world);
        RecorderState {
            slot,
            declared,
            recordings: world.register_component::<Recordings>(),
        }
    }

    fn init_access(
        state: &RecorderState,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        let recordings = &state.recordings;
        <Res<Recordings> as SystemParam>::init_access(recordings, meta, system_access, world);
        declare::<Self>(state.declared, meta, system_access);
        if let Some(Declared::Recorder(slot)) = world.resource::<Registry>().get(state.declared) {
            let mut no_passes = world.get_resource_or_init::<NoPasses>();
            no_passes.add_recorder(slot, meta.name().to_string());
        }
    }

    #[inline]
    unsafe fn get_param<'w, 's>(
        state: &'s mut RecorderState,
        _: &SystemMeta,
        _: UnsafeWorldCell<'w>,
        _: Tick,
    ) -> Result<Recorder<'w, 's>, SystemParamValidationError> {
        // SAFETY: the slot was created for this state, which is borrowed exclusively; the read of `Recordings` is
        // registered.
        let recording = unsafe { state.slot.write() };
        recording.begin();
        let slot = &state.slot;
        slot.fetch_ahead();
        Ok(Recorder {
            recording,
            slot,
            world: PhantomData,
        })
    }
}

impl Recorder<'_, '_> {
    /// Binds a compute pipeline and records its dispatches.
    #[inline]
    pub fn compute<'a>(&'a mut self, pipeline: &'a ComputePipeline) -> Compute<'a> {
        Compute::begin(self.recording.main(), pipeline)
    }

    /// Begins rendering to attachments, and records draws until the returned value is dropped.
    ///
    /// Attachments come from declared targets: `window.clear([0.0; 4])`, `scene.keep()`, an array
    /// of color attachments, or a tuple of one or the other with a depth attachment, such as
    /// `([albedo.discard(), normal.discard()], depth.clear_depth(1.0))`. All must have the same
    /// extent.
    pub fn render(&mut self, attachments: impl RenderTargets) -> Rendering<'_> {
        Rendering::begin(self.recording.main(), attachments.into_attachments())
    }

    /// Records copies and clears.
    pub fn transfer(&mut self) -> Transfer<'_> {
        Transfer::begin(self.recording.main())
    }

    /// Makes this a host pass: `call` runs on the CPU in this frame, after the device passes that it
    /// depends on and before those that depend on it.
    ///
    /// The system's parameters declare its accesses ([`HostRead`](crate::HostRead), [`HostWrite`](crate::HostWrite),
    /// [`HostReadWrite`](crate::HostReadWrite)) of buffers in [`Memory::Readback`](quadrille_vulkan::resources::Memory::Readback)
    /// or [`Memory::Upload`](quadrille_vulkan::resources::Memory::Upload). The callback runs outside of the schedule: it captures
    /// the data that it needs from the world, and changes the world with [`Host::queue`](crate::Host::queue).
    ///
    /// If passes of the frame depend on it, the frame waits for the device at this point, after everything
    /// that does not depend on the host pass is submitted. Otherwise the CPU does not
    /// wait: the callback runs when the device has reached its dependencies, a frame or two later, but before
    /// the next frame that accesses the same resources. If it fails or panics, its frame continues.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::resources::GpuBuffer;
    /// # #[derive(Resource, Deref)] struct Cells(GpuBuffer);
    /// # #[derive(Resource)] struct Total(u32);
    /// // add_systems(Render, (simulate, double.after(simulate), draw.after(double)))
    /// fn double(mut recorder: Recorder, cells: HostReadWrite<Cells>) {
    ///     let cells = cells.memory();
    ///     recorder.host(move |host| {
    ///         let mut values: Vec<u32> = cells.read(host)?;
    ///         values.iter_mut().for_each(|value| *value *= 2);
    ///         cells.write(host, 0, &values)?;
    ///         let total = values.iter().sum();
    ///         host.queue(move |world: &mut World| world.insert_resource(Total(total)));
    ///         Ok(())
    ///     });
    /// }
    /// ```
    pub fn host(&mut self, call: impl FnOnce(&mut Host<'_>) -> Result + Send + Sync + 'static) {
        self.recording.main().set_host(Box::new(call));
    }

    /// Begins another pass of this system, for systems whose number of passes is known only at
    /// run time, such as a chain of filters or the steps of a simulation.
    ///
    /// Each is planned as a separate pass, in the order of the calls, and inherits the system's ordering. `uses`
    /// declares its accesses, which the declarations of the system's parameters must cover: `reads()`, `writes()` or
    /// `reads_and_writes()` for storage accesses, `as_declared()` for all others. A system that begins passes must not
    /// record commands outside them.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::ComputePipeline;
    /// # use quadrille_vulkan::resources::GpuBuffer;
    /// # #[derive(Resource, Deref)] struct Front(GpuBuffer);
    /// # #[derive(Resource, Deref)] struct Back(GpuBuffer);
    /// # #[derive(Resource)] struct Step(ComputePipeline);
    /// fn relax(
    ///     mut recorder: Recorder,
    ///     front: StorageReadWrite<Front>,
    ///     back: StorageReadWrite<Back>,
    ///     step: Res<Step>,
    /// ) {
    ///     let buffers = [front.any(), back.any()];
    ///     for round in 0..8 {
    ///         let (from, to) = (&buffers[round % 2], &buffers[(round + 1) % 2]);
    ///         let mut pass = recorder.pass("relax", &[from.reads(), to.writes()]);
    ///         pass.compute(&step.0).bind(0, from).bind(1, to).dispatch([64, 1, 1]);
    ///     }
    /// }
    /// ```
    pub fn pass(&mut self, name: &str, uses: &[PassUse]) -> PassRecorder<'_> {
        PassRecorder {
            recording: self.recording.sub(name, uses, None),
        }
    }

    /// Begins a pass like [`pass`](Recorder::pass), with a step that interleaves the passes of several systems: for
    /// instance all passes of one camera before those of the next, although several systems record them.
    ///
    /// If two ordered systems record passes with steps, the step has precedence: all
    /// passes of one step come before those of the next, and within a step the systems are in their
    /// order. A system without steps that is ordered between two such systems separates
    /// them: all passes of one come before it, and all of the other after it. The steps of a
    /// system never decrease: a lower one counts as the previous one.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::ComputePipeline;
    /// # use quadrille_vulkan::resources::GpuBuffer;
    /// # #[derive(Resource, Deref)] struct Cells(GpuBuffer);
    /// # #[derive(Resource)] struct Rules([ComputePipeline; 2]);
    /// fn grow(mut recorder: Recorder, cells: StorageReadWrite<Cells>, rules: Res<Rules>) {
    ///     for step in 0..8 {
    ///         let mut pass = recorder.pass_in_step(step, "grow", &[cells.any().as_declared()]);
    ///         pass.compute(&rules.0[0]).bind(0, &cells).dispatch([64, 1, 1]);
    ///     }
    /// }
    ///
    /// // `add_systems(Render, (grow, decay).chain())`: grow, decay, grow, decay, ...
    /// fn decay(mut recorder: Recorder, cells: StorageReadWrite<Cells>, rules: Res<Rules>) {
    ///     for step in 0..8 {
    ///         let mut pass = recorder.pass_in_step(step, "decay", &[cells.any().as_declared()]);
    ///         pass.compute(&rules.0[1]).bind(0, &cells).dispatch([64, 1, 1]);
    ///     }
    /// }
    /// ```
    pub fn pass_in_step(&mut self, step: u32, name: &str, uses: &[PassUse]) -> PassRecorder<'_> {
        PassRecorder {
            recording: self.recording.sub(name, uses, Some(step)),
        }
    }
}

impl PassRecorder<'_> {
    /// See [`Recorder::wait_for`].
    pub fn wait_for(&mut self, timeline: &TimelineSemaphore, value: u64) {
        let kind = TimelineUseKind::Wait;
        self.recording.use_timeline(timeline, kind, value);
    }

    /// See [`Recorder::signal`].
    pub fn signal(&mut self, timeline: &TimelineSemaphore, value: u64) {
        let kind = TimelineUseKind::Signal;
        self.recording.use_timeline(timeline, kind, value);
    }
}

impl Recorder<'_, '_> {
    /// Lets the pass wait on the device until a timeline semaphore of yours has reached a value. The host, another
    /// queue, another library or another pass ([`signal`](Self::signal)) may signal it. Writes before the signal are
    /// visible to the pass.
    ///
    /// The pass begins a submission, so later passes on its queue wait as well. A window is presented only when the
    /// signal is certain, for which the frame waits on the host. If the value is not reached within
    /// [`DeviceInfo::timeout`](quadrille_vulkan::device::DeviceInfo::timeout), the error is
    /// [`FrameError::TimelineWait`](quadrille_vulkan::FrameError::TimelineWait); if the app continues, the next frame
    /// waits again.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::ComputePipeline;
    /// # use quadrille_vulkan::resources::{GpuBuffer, TimelineSemaphore};
    /// # #[derive(Resource, Deref)] struct Forces(GpuBuffer);
    /// # #[derive(Resource, Deref)] struct Positions(GpuBuffer);
    /// # #[derive(Resource)] struct Pipelines { push: ComputePipeline }
    /// /// Another library moves particles between two values.
    /// #[derive(Resource)]
    /// struct Physics {
    ///     timeline: TimelineSemaphore,
    ///     step: u64,
    /// }
    ///
    /// /// When it is done, the library may begin its step.
    /// fn push(
    ///     mut recorder: Recorder,
    ///     forces: StorageWrite<Forces>,
    ///     physics: Res<Physics>,
    ///     pipelines: Res<Pipelines>,
    /// ) {
    ///     recorder.compute(&pipelines.push).bind(0, &forces).dispatch([64, 1, 1]);
    ///     recorder.signal(&physics.timeline, 2 * physics.step + 1);
    /// }
    ///
    /// /// When the library is done with its step, this begins.
    /// fn show(mut recorder: Recorder, positions: TransferRead<Positions>, physics: Res<Physics>) {
    ///     recorder.wait_for(&physics.timeline, 2 * physics.step + 2);
    /// }
    /// ```
    ///
    /// # Errors
    /// The frame fails with [`PlanError::TimelineNeverReached`](quadrille_sync::PlanError::TimelineNeverReached), which
    /// names both passes, if the order of the frame puts this pass before the one that signals the value or a lower
    /// one.
    pub fn wait_for(&mut self, timeline: &TimelineSemaphore, value: u64) {
        let kind = TimelineUseKind::Wait;
        self.recording.main().use_timeline(timeline, kind, value);
    }

    /// Lets the device signal a value of a timeline semaphore of yours when the pass, and everything before it on its
    /// queue, is complete. The pass ends a submission. See [`wait_for`](Self::wait_for).
    ///
    /// # Errors
    /// A value that is not greater than all previously signalled ones is an error of the frame
    /// ([`FrameError::TimelineSignal`](quadrille_vulkan::FrameError::TimelineSignal)).
    pub fn signal(&mut self, timeline: &TimelineSemaphore, value: u64) {
        let kind = TimelineUseKind::Signal;
        self.recording.main().use_timeline(timeline, kind, value);
    }
}

impl Drop for Recorder<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        // The recording of a panicking pass is incomplete and must not be used, so its outcome stays `NONE`.
        if !std::thread::panicking() {
            self.slot.note(self.recording.end());
        }
    }
}

/// Records one of several passes of a system: see [`Recorder::pass`].
pub struct PassRecorder<'a> {
    pub(super) recording: &'a mut SubRecording,
}

impl<'a> PassRecorder<'a> {
    pub(crate) fn new(recording: &'a mut SubRecording) -> Self {
        Self { recording }
    }
}

impl PassRecorder<'_> {
    /// See [`Recorder::compute`].
    pub fn compute<'b>(&'b mut self, pipeline: &'b ComputePipeline) -> Compute<'b> {
        Compute::begin(self.recording, pipeline)
    }

    /// See [`Recorder::render`].
    pub fn render(&mut self, attachments: impl RenderTargets) -> Rendering<'_> {
        Rendering::begin(self.recording, attachments.into_attachments())
    }

    /// See [`Recorder::transfer`].
    pub fn transfer(&mut self) -> Transfer<'_> {
        Transfer::begin(self.recording)
    }

    /// See [`Recorder::host`].
    pub fn host(&mut self, call: impl FnOnce(&mut Host<'_>) -> Result + Send + Sync + 'static) {
        self.recording.set_host(Box::new(call));
    }
}

/// Creates a recording slot and the virtual id of its recorder.
fn register_recorder(world: &mut World) -> (Slot, ComponentId) {
    let (number, slot) = world.get_resource_or_init::<Recordings>().add();
    let id = register(world, format!("pass {number}"), Declared::Recorder(number));
    (slot, id)
}
