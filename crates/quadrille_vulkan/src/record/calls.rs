//! Recorded Vulkan commands as data, all arguments included: the encoded lists of passes.

use std::ops::Range;

use ash::vk;
use quadrille_sync::flags::{AccessMask, Layout};
use quadrille_sync::resource::ResourceId;

use crate::device::pipeline_layout::PipelineLayout;
use crate::pipeline::MAX_COLORS;
use crate::record::encode::{BindCall, DispatchCall, DrawCall, IndirectCall, StateCall};
use crate::resources::descriptor::Info;
use crate::resources::table::SharedTable;

/// A Vulkan command with its arguments.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// Sets pipelines, bindings, push constants, vertex or index buffers.
    Bind(BindCall),
    Dispatch(DispatchCall),
    /// `vkCmdBeginRendering`, by index.
    BeginRendering {
        rendering: u32,
    },
    /// `vkCmdEndRendering`
    EndRendering,
    /// The barrier before a draw that reads attachments of its rendering; see `encode/local_read`.
    LocalRead {
        is_multiview: bool,
    },
    /// Sets dynamic state.
    State(StateCall),
    Draw(DrawCall),
}

const _: () = assert!(
    size_of::<Call>() <= 32,
    "replay iterates over many calls, so they must be small"
);

/// The attachments of a rendering; converted to Vulkan structures at replay.
#[derive(Clone, Copy)]
pub(crate) struct RenderingCall {
    pub colors: [AttachmentCall; MAX_COLORS],
    pub color_count: usize,
    pub depth: Option<AttachmentCall>,
    pub stencil: Option<AttachmentCall>,
    pub area: vk::Rect2D,
    /// 0 without multiview.
    pub view_mask: u32,
}

/// An attachment; all zeros for none.
#[derive(Clone, Copy, Default)]
pub(crate) struct AttachmentCall {
    pub view: vk::ImageView,
    pub layout: vk::ImageLayout,
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub clear: vk::ClearValue,
    /// The resolve target, its layout and its mode.
    pub resolve: vk::ImageView,
    pub resolve_layout: vk::ImageLayout,
    pub resolve_mode: vk::ResolveModeFlags,
}

impl AttachmentCall {
    /// Converts to `VkRenderingAttachmentInfo`.
    pub(crate) fn to_vk(self) -> vk::RenderingAttachmentInfo<'static> {
        vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(self.layout)
            .load_op(self.load)
            .store_op(self.store)
            .clear_value(self.clear)
            .resolve_image_view(self.resolve)
            .resolve_image_layout(self.resolve_layout)
            .resolve_mode(self.resolve_mode)
    }
}

/// Binding of a table. Its descriptor set depends on the frame in flight.
#[derive(Clone)]
pub(crate) struct TableCall {
    pub point: vk::PipelineBindPoint,
    pub layout: vk::PipelineLayout,
    pub group: u32,
    pub table: SharedTable,
}

const _: () = assert!(
    size_of::<Info>() == PipelineLayout::INFO_BYTES,
    "the stride"
);

/// Layout of an image in a pass. Depends on the declarations of the pass, which may differ in another
/// frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayoutCall {
    pub image: ResourceId,
    pub aspects: vk::ImageAspectFlags,
    /// The access kinds that determine the layout.
    pub access: AccessMask,
    pub usual: Layout,
    pub layout: vk::ImageLayout,
}

/// A resource that a pass uses, with its version at encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedResource {
    pub resource: ResourceId,
    pub version: u32,
}

/// Calls of a pass, with their dependencies besides the list of the pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    pub calls: Range<u32>,
    resources: Range<u32>,
    layouts: Range<u32>,
}

/// Calls, pass after pass, and arrays of the arguments that they refer to by index.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    resources: Vec<UsedResource>,
    layouts: Vec<LayoutCall>,
    infos: Vec<Info>,
    bytes: Vec<u8>,
    renderings: Vec<RenderingCall>,
    draws: Vec<IndirectCall>,
    tables: Vec<TableCall>,
    /// Start of the pass that is being recorded; `None` if its calls are not cached.
    open: Option<Lengths>,
    /// Number of calls replayed in the last frame.
    used: usize,
}

/// The lengths of all arrays.
#[derive(Clone, Copy)]
struct Lengths {
    calls: usize,
    resources: usize,
    layouts: usize,
    infos: usize,
    bytes: usize,
    renderings: usize,
    draws: usize,
    tables: usize,
}

impl Calls {
    /// Clears everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.resources.clear();
        self.layouts.clear();
        self.infos.clear();
        self.bytes.clear();
        self.renderings.clear();
        self.draws.clear();
        self.tables.clear();
        self.open = None;
        self.used = 0;
    }

    /// Begins a frame.
    pub(crate) fn begin(&mut self) {
        self.used = 0;
    }

    /// Counts calls that are replayed in this frame.
    #[inline]
    pub(crate) fn note_use(&mut self, span: &Span) {
        self.used += span.calls.len();
    }

    /// Returns whether at least half of the calls were used in the last frame. The others belong to passes
    /// that were removed or have changed.
    pub(crate) fn are_mostly_used(&self) -> bool {
        self.used >= self.calls.len() / 2
    }

    /// Begins caching the calls of a pass.
    pub(crate) fn open(&mut self) {
        self.open = Some(Lengths {
            calls: self.calls.len(),
            resources: self.resources.len(),
            layouts: self.layouts.len(),
            infos: self.infos.len(),
            bytes: self.bytes.len(),
            renderings: self.renderings.len(),
            draws: self.draws.len(),
            tables: self.tables.len(),
        });
    }

    /// Stops caching the pass: its calls cannot be replayed.
    pub(crate) fn give_up(&mut self) {
        if let Some(lengths) = self.open.take() {
            self.calls.truncate(lengths.calls);
            self.resources.truncate(lengths.resources);
            self.layouts.truncate(lengths.layouts);
            self.infos.truncate(lengths.infos);
            self.bytes.truncate(lengths.bytes);
            self.renderings.truncate(lengths.renderings);
            self.draws.truncate(lengths.draws);
            self.tables.truncate(lengths.tables);
        }
    }

    /// Ends the pass, and returns its calls if they can be replayed.
    pub(crate) fn close(&mut self) -> Option<Span> {
        let lengths = self.open.take()?;
        Some(Span {
            calls: lengths.calls as u32..self.calls.len() as u32,
            resources: lengths.resources as u32..self.resources.len() as u32,
            layouts: lengths.layouts as u32..self.layouts.len() as u32,
        })
    }

    /// Whether a pass is being cached.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a call, if a pass is being cached.
    pub(crate) fn add(&mut self, call: Call) {
        if self.is_open() {
            self.calls.push(call);
        }
    }

    /// Adds a resource that the pass uses.
    pub(crate) fn add_resource(&mut self, resource: UsedResource) {
        if self.is_open() {
            self.resources.push(resource);
        }
    }

    /// Adds the layout of an image, which is an argument of the next call.
    pub(crate) fn add_layout(&mut self, layout: impl FnOnce() -> LayoutCall) {
        if self.is_open() {
            self.layouts.push(layout());
        }
    }

    /// Adds a push of descriptors; `infos` is indexed by binding number.
    pub(crate) fn add_push(&mut self, layout: &PipelineLayout, infos: &[Info]) {
        if self.is_open() {
            let first = self.infos.len() as u32;
            self.infos.extend_from_slice(infos);
            self.calls.push(Call::Bind(BindCall::Push {
                layout: layout.raw,
                template: layout.template,
                first,
            }));
        }
    }

    /// Adds push constants from the first byte on.
    pub(crate) fn add_constants(&mut self, layout: &PipelineLayout, constants: &[u8]) {
        if self.is_open() {
            let first = self.bytes.len() as u32;
            self.bytes.extend_from_slice(constants);
            self.calls.push(Call::Bind(BindCall::Constants {
                layout: layout.raw,
                stages: layout.push_stages,
                first,
                bytes: constants.len() as u32,
            }));
        }
    }

    /// Adds the beginning of a rendering.
    pub(crate) fn add_rendering(&mut self, rendering: &RenderingCall) {
        if self.is_open() {
            let at = self.renderings.len() as u32;
            self.renderings.push(*rendering);
            self.calls.push(Call::BeginRendering { rendering: at });
        }
    }

    /// Adds indirect draws, if a pass is being cached.
    pub(crate) fn add_indirect(&mut self, draws: &IndirectCall) {
        if self.is_open() {
            let draw = self.draws.len() as u32;
            self.draws.push(*draws);
            self.calls.push(Call::Draw(DrawCall::Indirect { draw }));
        }
    }

    /// Adds a table that is bound.
    pub(crate) fn add_table(&mut self, table: &TableCall) {
        if self.is_open() {
            let at = self.tables.len() as u32;
            self.tables.push(table.clone());
            self.calls.push(Call::Bind(BindCall::Table { table: at }));
        }
    }

    /// A table that is bound.
    pub(crate) fn table(&self, at: u32) -> &TableCall {
        &self.tables[at as usize]
    }

    /// A rendering.
    pub(crate) fn rendering(&self, at: u32) -> &RenderingCall {
        &self.renderings[at as usize]
    }

    /// Draws with arguments from a buffer.
    pub(crate) fn indirect(&self, at: u32) -> &IndirectCall {
        &self.draws[at as usize]
    }

    /// One of the calls.
    #[inline]
    pub(crate) fn at(&self, at: u32) -> Call {
        self.calls[at as usize]
    }

    /// The resources that a pass used.
    pub(crate) fn resources(&self, span: &Span) -> &[UsedResource] {
        &self.resources[span.resources.start as usize..span.resources.end as usize]
    }

    /// The image layouts among the arguments of a pass's calls.
    pub(crate) fn layouts(&self, span: &Span) -> &[LayoutCall] {
        &self.layouts[span.layouts.start as usize..span.layouts.end as usize]
    }

    /// The infos of a push.
    pub(crate) fn infos(&self, first: u32) -> *const Info {
        self.infos[first as usize..].as_ptr()
    }

    /// The bytes of push constants.
    pub(crate) fn constants(&self, first: u32, bytes: u32) -> &[u8] {
        &self.bytes[first as usize..][..bytes as usize]
    }
}
