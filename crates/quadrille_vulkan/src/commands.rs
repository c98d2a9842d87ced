//! Command lists: the commands of a pass as data.
//!
//! Recording to a list is cheap: no lock, no Vulkan call, and no allocation once its memory has grown. It can happen
//! on any thread and before the plan is known. A list can be dropped if its pass fails, and be validated before it is
//! encoded. [`Frames::record`](crate::submit::Frames::record) encodes lists into command buffers in the order of the plan.
//!
//! Commands refer to resources by id. Encoding looks up every id among the resources of the frame. So a list with any
//! other resource is an error, never a dangling handle. Frames do not declare pipelines and samplers; the list keeps
//! these alive.
//!
//! Bindings stay bound until they are replaced. They are pushed lazily, before a
//! draw or dispatch, and only those that the pipeline uses. State (pipeline, bindings, constants,
//! viewport) begins empty in each list.
//!
//! Commands are compared with the previous contents of the list as they are recorded. An unchanged list
//! is not encoded again.

pub(crate) mod rendering;

mod binds;
mod command;
mod copies;
mod declared;
mod dispatches;
mod draws;
mod interned;
mod queries;
mod rewritten;
mod state;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use crate::commands::rendering::RenderingData;
use crate::device::Device;
use crate::pipeline::{ComputeCode, GraphicsCode};
use crate::prefetch;
use crate::resources::query::QuerySet;
use crate::resources::region::ImageRegion;
use crate::resources::sampler::Sampler;
use crate::resources::table::SharedTable;

pub(crate) use binds::Bind;
pub use binds::IndexType;
pub(crate) use command::Command;
pub(crate) use copies::Copying;
pub use declared::UndeclaredCommandUse;
pub(crate) use dispatches::Dispatch;
pub(crate) use draws::{Counted, Draw};
pub(crate) use queries::{CONDITION_BYTES, Query};
pub use rendering::{ColorAttachment, DepthAttachment, DepthResolve, Load, Rendering, Store};
pub(crate) use state::State;

pub use crate::device::resolve_mode::ResolveMode;

use interned::Interned;
use rewritten::Rewritten;

/// Closure with Vulkan calls of the program, for [`CommandList::raw`] and [`CommandList::draw_raw`].
pub type RawCommand = Box<dyn Fn(&ash::Device, vk::CommandBuffer) + Send + Sync>;

/// Inline capacity of a list, in commands: a pipeline, four bindings and a dispatch.
const FEW: usize = 6;

/// Commands of a pass. Clearing keeps the memory.
///
/// ```
/// use quadrille_vulkan::commands::CommandList;
/// let mut list = CommandList::default();
/// list.dispatch([8, 8, 1]);
/// assert!(!list.is_empty());
/// list.clear();
/// assert!(list.is_empty());
/// ```
pub struct CommandList {
    pub(crate) commands: Rewritten<Command, FEW>,
    pub(crate) compute: Interned<Arc<ComputeCode>>,
    /// Whether `side` has data. A flag, so that clearing a small list accesses no other memory.
    has_side: bool,
    writing: Writing,
    side: Box<Side>,
}

/// Identity of a list with its contents: equal only for the same list with equal contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    list: u32,
    contents: u32,
}

/// Unique numbers of lists.
static LISTS: AtomicU32 = AtomicU32::new(0);

impl Default for CommandList {
    fn default() -> Self {
        Self {
            commands: Rewritten::default(),
            compute: Interned::default(),
            has_side: false,
            writing: Writing {
                list: LISTS.fetch_add(1, Ordering::Relaxed),
                contents: 0,
            },
            side: Box::default(),
        }
    }
}

/// Data of rare commands, in separate memory so that the list stays small.
#[derive(Default)]
pub(crate) struct Side {
    /// Push constants, inline updates and label names.
    pub(crate) bytes: Rewritten<u8>,
    /// Offsets and sizes of buffers that are not bound as a whole.
    pub(crate) ranges: Rewritten<[u64; 2]>,
    pub(crate) states: Rewritten<State>,
    pub(crate) draws: Rewritten<Draw>,
    pub(crate) counted: Rewritten<Counted>,
    pub(crate) dispatches: Rewritten<Dispatch>,
    pub(crate) copies: Rewritten<Copying>,
    pub(crate) queries: Rewritten<Query>,
    pub(crate) renderings: Rewritten<RenderingData>,
    pub(crate) buffer_copies: Rewritten<[u64; 3]>,
    pub(crate) buffer_image_copies: Rewritten<(u64, ImageRegion)>,
    pub(crate) image_copies: Rewritten<(ImageRegion, ImageRegion)>,
    pub(crate) raw: Vec<RawCommand>,
    pub(crate) graphics: Interned<Arc<GraphicsCode>>,
    pub(crate) samplers: Interned<Sampler>,
    pub(crate) tables: Interned<SharedTable>,
    pub(crate) query_sets: Interned<QuerySet>,
}

impl Side {
    /// Clears everything. Returns whether objects are still kept, which the next clear releases.
    fn clear(&mut self) -> bool {
        self.bytes.clear();
        self.ranges.clear();
        self.states.clear();
        self.draws.clear();
        self.counted.clear();
        self.dispatches.clear();
        self.copies.clear();
        self.queries.clear();
        self.renderings.clear();
        self.buffer_copies.clear();
        self.buffer_image_copies.clear();
        self.image_copies.clear();
        self.raw.clear();
        self.graphics.clear();
        self.samplers.clear();
        self.tables.clear();
        self.query_sets.clear();
        !(self.graphics.is_empty()
            && self.samplers.is_empty()
            && self.tables.is_empty()
            && self.query_sets.is_empty())
    }

    /// Whether everything equals the contents before the last clear. False with closures, which cannot be compared.
    fn is_repeated(&self) -> bool {
        self.raw.is_empty()
            && self.renderings.is_repeated()
            && self.bytes.is_repeated()
            && self.ranges.is_repeated()
            && self.states.is_repeated()
            && self.draws.is_repeated()
            && self.counted.is_repeated()
            && self.dispatches.is_repeated()
            && self.copies.is_repeated()
            && self.queries.is_repeated()
            && self.buffer_copies.is_repeated()
            && self.buffer_image_copies.is_repeated()
            && self.image_copies.is_repeated()
            && self.graphics.is_repeated()
            && self.samplers.is_repeated()
            && self.tables.is_repeated()
            && self.query_sets.is_repeated()
    }
}

impl CommandList {
    /// Removes the commands and keeps the memory. Pipelines and samplers are released by the
    /// next clear only, since the next recording usually uses them again.
    #[inline]
    pub fn clear(&mut self) {
        if !self.is_repeated() {
            self.writing.contents = self.writing.contents.wrapping_add(1);
        }
        self.commands.clear();
        self.compute.clear();
        if self.has_side {
            self.has_side = self.side.clear();
        }
    }

    /// Prefetches the memory that [`CommandList::repeated`] reads.
    #[inline]
    pub(crate) fn fetch(&self) {
        prefetch::lines(
            std::ptr::from_ref(self).cast(),
            const { size_of::<Self>().div_ceil(prefetch::LINE) },
        );
    }

    /// Returns the identity of the contents if they equal those before the last clear. It is valid
    /// as long as the contents do not change.
    #[inline]
    pub(crate) fn repeated(&self) -> Option<Writing> {
        self.is_repeated().then_some(self.writing)
    }

    #[inline]
    fn is_repeated(&self) -> bool {
        self.commands.is_repeated()
            && self.compute.is_repeated()
            && (!self.has_side || self.side.is_repeated())
    }

    /// The side arrays.
    pub(crate) fn side(&self) -> &Side {
        &self.side
    }

    /// The side arrays, for writing.
    fn side_mut(&mut self) -> &mut Side {
        self.has_side = true;
        &mut self.side
    }

    #[inline(always)]
    fn add(&mut self, command: Command) {
        match self.commands.expected() {
            Some(old) if old.is_same(&command) => self.commands.keep(),
            _ => self.commands.write(command),
        }
    }

    /// Returns the name of a pipeline or sampler of another device, if there is one.
    pub(crate) fn foreign(&self, device: &Device) -> Option<&str> {
        let is_foreign = |own: &Device| !std::ptr::eq(own, device);
        let mut compute = self.compute.iter();
        let mut graphics = self.side.graphics.iter();
        let mut samplers = self.side.samplers.iter();
        if let Some(pipeline) = compute.find(|pipeline| is_foreign(pipeline.device())) {
            return Some(pipeline.name());
        }
        if let Some(pipeline) = graphics.find(|pipeline| is_foreign(pipeline.device())) {
            return Some(pipeline.name());
        }
        let mut tables = self.side.tables.iter();
        if let Some(table) = tables.find(|table| !table.is_made_from(device)) {
            return Some(table.name());
        }
        let mut sets = self.side.query_sets.iter();
        if let Some(set) = sets.find(|set| is_foreign(set.device())) {
            return Some(set.name());
        }
        samplers
            .any(|sampler| is_foreign(sampler.device()))
            .then_some("a sampler")
    }

    /// Whether there are no commands.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Opens a label in debuggers.
    pub fn begin_label(&mut self, name: &str) {
        let start = self.side.bytes.len() as u32;
        self.side_mut().bytes.extend_from_slice(name.as_bytes());
        self.add(Command::BeginLabel {
            start,
            bytes: name.len() as u32,
        });
    }

    /// Closes the innermost label.
    pub fn end_label(&mut self) {
        self.add(Command::EndLabel);
    }

    /// Records a closure with Vulkan calls of the program, which runs when the list is encoded. Pipeline, bindings,
    /// constants, viewport and scissor are restored after it.
    ///
    /// # Safety
    /// Whenever the list is encoded, the closure's commands must be valid at this point of the command buffer, must
    /// access only declared parts of resources by declared accesses, and must be inside or outside of rendering at
    /// their end as at their beginning. The closure must neither end nor reset the command buffer.
    pub unsafe fn raw(&mut self, closure: RawCommand) {
        let closure = self.add_closure(closure);
        self.add(Command::Raw { closure });
    }

    /// Draws by a closure with Vulkan calls of the program, between `begin_rendering` and `end_rendering`. The graphics
    /// pipeline, its bindings, constants and tables, vertex buffers and the index buffer are set before, as for any
    /// draw. The closure may change pipeline, bindings, constants and tables, which are set again for the next draw.
    ///
    /// # Safety
    /// As for [`CommandList::raw`]. The closure must leave vertex buffers, index buffer and dynamic state unchanged.
    pub unsafe fn draw_raw(&mut self, closure: RawCommand) {
        let closure = self.add_closure(closure);
        self.add(Command::DrawRaw { closure });
    }

    /// Makes all earlier writes of its queue visible to the host, which reads memory of its own
    /// ([`Gpu::import_host_buffer`](crate::device::Gpu::import_host_buffer)) once the submission is complete. Not within
    /// rendering.
    pub fn make_visible_to_host(&mut self) {
        let closure: RawCommand = Box::new(|device, buffer| {
            let barrier = vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::HOST)
                .dst_access_mask(vk::AccessFlags2::HOST_READ);
            let barriers = [barrier];
            let info = vk::DependencyInfo::default().memory_barriers(&barriers);
            // SAFETY: the buffer is being recorded; all queues support these stages.
            unsafe { device.cmd_pipeline_barrier2(buffer, &info) };
        });
        let closure = self.add_closure(closure);
        self.add(Command::Raw { closure });
    }

    fn add_closure(&mut self, closure: RawCommand) -> u32 {
        let closures = &mut self.side_mut().raw;
        closures.push(closure);
        closures.len() as u32 - 1
    }
}

impl std::fmt::Debug for CommandList {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_list()
            .entries(self.commands.iter())
            .finish()
    }
}

#[cfg(test)]
mod tests;
