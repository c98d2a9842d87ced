//! Host passes: callbacks on the CPU between passes on the device.
//!
//! A pass system that calls [`Recorder::host`](crate::Recorder::host) is a host pass. The callback runs on the thread
//! that drives frames, after the device passes that it depends on. The passes that depend on it are submitted
//! afterwards. If no pass of the frame depends on it, the callback is queued until the device has reached its
//! dependencies. Frames continue meanwhile, until one accesses the same resources.

use std::any::Any;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::system::Command;
use bevy_ecs::world::CommandQueue;
use bytemuck::Pod;
use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::plan::Plan;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::states::{States, TimelinePoint};
use quadrille_vulkan::Error;
use quadrille_vulkan::resources::GpuBuffer;
use quadrille_vulkan::submit::Frames;

use crate::declare::access::{HostRead, HostReadWrite, HostWrite, kind};
use crate::declare::named::Named;
use crate::error::RenderError;

/// Callback of a host pass.
pub(crate) type HostCall = Box<dyn FnOnce(&mut Host<'_>) -> Result + Send + Sync>;

/// Context of a running host pass. Proves to [`HostMemory`] that the pass's dependencies are complete, and that nothing
/// else accesses its declared memory.
pub struct Host<'a> {
    commands: &'a mut CommandQueue,
}

impl Host<'_> {
    /// Queues a command that changes the world after the frame.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::Host;
    /// # #[derive(Resource)] struct Total(u32);
    /// fn tell(host: &mut Host, sum: u32) {
    ///     host.queue(move |world: &mut World| world.insert_resource(Total(sum)));
    /// }
    /// ```
    pub fn queue(&mut self, command: impl Command<Out = ()>) {
        self.commands.push(command);
    }
}

/// A buffer that a host pass declares, for its callback. Made by the `memory` method of
/// [`HostRead`], [`HostWrite`] and [`HostReadWrite`].
#[derive(Clone, Debug)]
pub struct HostMemory<K> {
    buffer: GpuBuffer,
    kind: PhantomData<fn() -> K>,
}

/// Declared accesses that include host reads.
pub trait HostReads {}
/// Declared accesses that include host writes.
pub trait HostWrites {}
impl HostReads for kind::HostRead {}
impl HostReads for kind::HostReadWrite {}
impl HostWrites for kind::HostWrite {}
impl HostWrites for kind::HostReadWrite {}

impl<K: HostReads> HostMemory<K> {
    /// Reads the whole buffer as values; incomplete trailing bytes are dropped.
    ///
    /// # Errors
    /// The memory cannot be read (it is lost with its device).
    pub fn read<T: Pod>(&self, host: &Host<'_>) -> Result<Vec<T>, Error> {
        let size = size_of::<T>().max(1) as u64;
        let count = (self.buffer.bytes() / size) as usize;
        let mut values = vec![T::zeroed(); count];
        self.read_into(host, 0, &mut values)?;
        Ok(values)
    }

    /// Reads values that begin at byte `offset`.
    ///
    /// # Errors
    /// The range is outside the buffer, or the memory cannot be read.
    pub fn read_into<T: Pod>(
        &self,
        _: &Host<'_>,
        offset: u64,
        values: &mut [T],
    ) -> Result<(), Error> {
        self.buffer.read(offset, bytemuck::cast_slice_mut(values))
    }
}

impl<K: HostWrites> HostMemory<K> {
    /// Writes values from byte `offset` on.
    ///
    /// # Errors
    /// The range is outside the buffer, or the memory cannot be written.
    pub fn write<T: Pod>(&self, _: &mut Host<'_>, offset: u64, values: &[T]) -> Result<(), Error> {
        self.buffer.write(offset, bytemuck::cast_slice(values))
    }
}

macro_rules! memory {
    ($($access:ident),*) => { $(
        impl<T: Named<Handle = GpuBuffer>> $access<'_, T> {
            /// Returns the buffer for the callback of [`Recorder::host`](crate::Recorder::host).
            pub fn memory(&self) -> HostMemory<kind::$access> {
                let buffer = GpuBuffer::clone(self);
                HostMemory { buffer, kind: PhantomData }
            }
        }
    )* };
}
memory!(HostRead, HostWrite, HostReadWrite);

/// The host passes of frames, and their results.
#[derive(Default)]
pub(crate) struct HostPasses {
    /// Callbacks of the frame that is being submitted.
    calls: Vec<(PassIndex, Arc<str>, HostCall)>,
    /// Callbacks of submitted frames without dependent passes, in order.
    waiting: VecDeque<Waiting>,
    commands: CommandQueue,
    errors: Vec<RenderError>,
}

/// A queued host pass.
struct Waiting {
    name: Arc<str>,
    call: HostCall,
    /// Timeline points that the device has to reach before the callback runs.
    points: Vec<TimelinePoint>,
    /// Resources that the callback accesses.
    resources: Vec<ResourceId>,
}

impl HostPasses {
    /// Sets the callbacks of the next frame. Callbacks of an abandoned frame are dropped.
    pub(crate) fn begin(&mut self, calls: impl Iterator<Item = (PassIndex, Arc<str>, HostCall)>) {
        self.calls.clear();
        self.calls.extend(calls);
    }

    /// Runs a host pass of the frame that is being submitted.
    pub(crate) fn run(&mut self, pass: PassIndex) {
        if let Some((name, call)) = self.take(pass) {
            self.call(&name, call);
        }
    }

    /// Queues the submitted host passes without dependent passes until the device has reached their dependencies.
    /// `states` must be those that the plan was solved from.
    pub(crate) fn defer(&mut self, frame: &Frame, plan: &Plan, states: &States) {
        for step in plan.host.iter().filter(|step| step.before.is_none()) {
            let Some((name, call)) = self.take(step.pass) else {
                continue;
            };
            let uses = frame.uses_of(step.pass).iter();
            self.waiting.push_back(Waiting {
                name,
                call,
                points: step.points(states),
                resources: uses.map(|used| frame.resource(used.resource).id).collect(),
            });
        }
    }

    /// Runs the queued host passes that must precede a frame which accesses these resources.
    pub(crate) fn run_before(
        &mut self,
        (frames, timeout): (&Frames, Duration),
        touches: impl Fn(ResourceId) -> bool,
    ) -> Result<(), RenderError> {
        let meets = |waiting: &Waiting| waiting.resources.iter().any(|id| touches(*id));
        let count = self.waiting.iter().rposition(meets).map_or(0, |at| at + 1);
        for _ in 0..count {
            let Some(waiting) = self.waiting.front() else {
                break;
            };
            frames.wait(&waiting.points, timeout)?;
            self.run_first();
        }
        Ok(())
    }

    /// Runs the queued host passes whose points the device has reached.
    pub(crate) fn run_reached(&mut self, reached: impl Fn(TimelinePoint) -> bool) {
        let is_due = |waiting: &Waiting| waiting.points.iter().all(|point| reached(*point));
        while self.waiting.front().is_some_and(is_due) {
            self.run_first();
        }
    }

    /// Takes the commands that host passes queued for the world, and the errors of host passes.
    pub(crate) fn take_results(&mut self) -> (CommandQueue, Vec<RenderError>) {
        (
            std::mem::take(&mut self.commands),
            std::mem::take(&mut self.errors),
        )
    }

    fn run_first(&mut self) {
        if let Some(Waiting { name, call, .. }) = self.waiting.pop_front() {
            self.call(&name, call);
        }
    }

    fn take(&mut self, pass: PassIndex) -> Option<(Arc<str>, HostCall)> {
        let at = self.calls.iter().position(|(known, _, _)| *known == pass)?;
        let (_, name, call) = self.calls.swap_remove(at);
        Some((name, call))
    }

    /// Runs a callback. If it fails, the frame still continues, because it is already submitted.
    fn call(&mut self, name: &str, call: HostCall) {
        let mut host = Host {
            commands: &mut self.commands,
        };
        let message = match catch_unwind(AssertUnwindSafe(|| call(&mut host))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic_message(&*panic),
        };
        self.errors.push(RenderError::Host {
            pass: name.to_owned(),
            message,
        });
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked").to_owned()
}
