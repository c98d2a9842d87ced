//! Encoding of command lists into Vulkan commands.
//!
//! Every `unsafe` block here records a command into the encoder's command buffer. Their common
//! preconditions hold for the whole lifetime of an encoder: the buffer is being recorded, by this thread
//! alone; the handles are those of resources of the frame, of pipelines and samplers that the
//! list keeps alive, and of the device; and the queue supports the command (`need`). Further
//! preconditions are stated at each block.

mod bindings;
mod binds;
mod copies;
mod dispatches;
mod draws;
mod local_read;
mod queries;
mod rendering;
mod repeat;
mod resolve;
mod state;
mod tables;

use ash::vk;
use quadrille_sync::flags::{AccessMask, Aspects, Layout};
use quadrille_sync::frame::Use;
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::ResourceIndex;
use quadrille_sync::topology::Capabilities;

use crate::commands::{Command, CommandList};
use crate::convert;
use crate::device::Device;
use crate::error::{CommandError, Error, ShaderError};
use crate::pipeline::MAX_BUFFERS;
use crate::record::calls::{Calls, LayoutCall};
use crate::record::capability_word;
use crate::resources::handle::FrameResources;

pub(crate) use binds::BindCall;
pub(crate) use dispatches::DispatchCall;
pub(crate) use draws::{DrawCall, IndirectCall};
pub(crate) use state::StateCall;

use bindings::Bindings;
use queries::Queries;
use rendering::OpenRendering;

/// Reason why a list cannot be encoded.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A command is invalid.
    Command(CommandError),
    /// A pipeline could not be compiled.
    Pipeline(ShaderError),
    /// A view could not be created.
    Resource(Error),
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

impl From<ShaderError> for Failure {
    fn from(error: ShaderError) -> Self {
        Self::Pipeline(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Resource(error)
    }
}

/// A command buffer being recorded, with the properties of its queue.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// The command buffer.
    pub buffer: vk::CommandBuffer,
    /// The capabilities of the queue.
    pub capabilities: Capabilities,
    /// `minImageTransferGranularity` of the queue, in texels; zeros allow whole mip levels only.
    pub granularity: [u32; 3],
    /// The index of the frame in flight; tables have a descriptor set for each.
    pub slot: usize,
}

/// Encodes the lists of a chunk's passes into one command buffer.
pub(crate) struct Encoder<'a> {
    device: &'a Device,
    buffer: vk::CommandBuffer,
    resources: FrameResources<'a>,
    capabilities: Capabilities,
    granularity: [u32; 3],
    slot: usize,
    /// The calls that the commands encode to, for the cache.
    calls: &'a mut Calls,
    /// The uses that the pass declares.
    uses: &'a [Use],
    bindings: Bindings<'a>,
    rendering: Option<OpenRendering>,
    queries: Queries<'a>,
    /// Bit mask of bound vertex buffer slots.
    vertex_buffers: u32,
    /// The offsets of bound vertex buffers, in bytes.
    vertex_offsets: [u64; MAX_BUFFERS as usize],
    /// The number of indices in the index buffer.
    indices: Option<u64>,
    open_labels: u32,
}

impl<'a> Encoder<'a> {
    /// An encoder for a command buffer that has begun.
    pub(crate) fn new(
        device: &'a Device,
        target: Target,
        resources: FrameResources<'a>,
        calls: &'a mut Calls,
    ) -> Self {
        Self {
            calls,
            device,
            buffer: target.buffer,
            resources,
            capabilities: target.capabilities,
            granularity: target.granularity,
            slot: target.slot,
            uses: &[],
            bindings: Bindings::default(),
            rendering: None,
            queries: Queries::default(),
            vertex_buffers: 0,
            vertex_offsets: [0; MAX_BUFFERS as usize],
            indices: None,
            open_labels: 0,
        }
    }

    /// The device.
    pub(crate) fn device(&self) -> &'a Device {
        self.device
    }

    /// Encodes the list of a pass; an error includes the name of the command.
    pub(crate) fn encode(
        &mut self,
        name: &str,
        uses: &'a [Use],
        list: &'a CommandList,
    ) -> Result<(), (&'static str, Failure)> {
        self.uses = uses;
        self.bindings.forget();
        self.vertex_buffers = 0;
        self.indices = None;
        self.device.names.begin(self.buffer, || name);
        for command in list.commands.iter() {
            if !is_cacheable(command) {
                self.calls.give_up();
            }
            self.command(list, command)
                .map_err(|failure| (command.word(), failure))?;
        }
        if self.rendering.is_some() {
            return Err(("its end", CommandError::RenderingOpen.into()));
        }
        let ended = self.queries.check_ended(false);
        let ended = ended.and_then(|()| self.copy_results());
        ended.map_err(|error| ("its end", error.into()))?;
        for _ in 0..=std::mem::take(&mut self.open_labels) {
            self.device.names.end(self.buffer);
        }
        Ok(())
    }

    fn command(&mut self, list: &'a CommandList, command: &Command) -> Result<(), Failure> {
        match *command {
            Command::BeginRendering { data } => {
                let (earlier, rest) = list.side().renderings.split_at(data as usize);
                self.begin_rendering(&rest[0], earlier)
            }
            Command::EndRendering => self.end_rendering(),
            Command::State { state } => self.state(list.side().states[state as usize]),
            Command::Bind(bind) => self.bind(list, bind),
            Command::Draw { draw } => self.draw(list, list.side().draws[draw as usize]),
            Command::Dispatch { groups } => self.dispatch(groups),
            Command::DispatchFrom { dispatch } => {
                self.dispatch_from(list.side().dispatches[dispatch as usize])
            }
            Command::Copy { copy } => self.copy(list, list.side().copies[copy as usize]),
            Command::Query { query } => self.query(list, list.side().queries[query as usize]),
            Command::BeginLabel { start, bytes } => {
                self.begin_label(bytes_of(list, start, bytes));
                Ok(())
            }
            Command::EndLabel => self.end_label(),
            Command::Raw { closure } => {
                list.side().raw[closure as usize](&self.device.raw, self.buffer);
                self.bindings.forget_all();
                Ok(())
            }
            Command::DrawRaw { closure } => self.draw_raw(&list.side().raw[closure as usize]),
        }
    }

    fn begin_label(&mut self, name: &[u8]) {
        self.open_labels += 1;
        let name = String::from_utf8_lossy(name);
        self.device.names.begin(self.buffer, || &name);
    }

    fn end_label(&mut self) -> Result<(), Failure> {
        if self.open_labels == 0 {
            return Err(CommandError::Label.into());
        }
        self.open_labels -= 1;
        self.device.names.end(self.buffer);
        Ok(())
    }

    /// Checks that the queue supports the command.
    fn need(&self, capability: Capabilities) -> Result<(), CommandError> {
        if self.capabilities.intersects(capability) {
            Ok(())
        } else {
            Err(CommandError::Queue {
                capability: capability_word(capability),
            })
        }
    }

    /// Checks that the command is inside, or outside, rendering.
    fn need_rendering(&self, inside: bool) -> Result<(), CommandError> {
        if self.rendering.is_some() == inside {
            Ok(())
        } else {
            Err(CommandError::Rendering { inside })
        }
    }

    /// The layout in which the pass uses aspects of an image: that of the first declared use with one of
    /// these accesses, else `usual`.
    fn layout(
        &mut self,
        resource: ResourceIndex,
        aspects: vk::ImageAspectFlags,
        access: AccessMask,
        usual: Layout,
    ) -> vk::ImageLayout {
        let declared = declared_uses(self.uses, resource, aspects, access).next();
        self.kept_layout((resource, aspects), access, declared, usual)
    }

    /// The layout of a declared use, else `usual`. Notes it for the cache.
    fn kept_layout(
        &mut self,
        (resource, aspects): (ResourceIndex, vk::ImageAspectFlags),
        access: AccessMask,
        declared: Option<&Use>,
        usual: Layout,
    ) -> vk::ImageLayout {
        let layout = convert::layout(declared.map_or(usual, |of| of.access.layout()));
        let resources = self.resources;
        self.calls.add_layout(|| LayoutCall {
            image: resources.handle(resource).id(),
            aspects,
            access,
            usual,
            layout,
        });
        layout
    }
}

/// [`Encoder::layout`] without a note for the cache.
fn declared_layout(
    uses: &[Use],
    (resource, aspects): (ResourceIndex, vk::ImageAspectFlags),
    access: AccessMask,
    usual: Layout,
) -> vk::ImageLayout {
    let declared = declared_uses(uses, resource, aspects, access).next();
    convert::layout(declared.map_or(usual, |of| of.access.layout()))
}

/// The declared uses of aspects of an image that have one of these accesses.
fn declared_uses(
    uses: &[Use],
    resource: ResourceIndex,
    aspects: vk::ImageAspectFlags,
    access: AccessMask,
) -> impl Iterator<Item = &Use> {
    let all = Capabilities::all();
    let aspects = Aspects::from_bits_truncate(aspects.as_raw());
    uses.iter().filter(move |of| {
        let has_aspect = match of.range {
            SubRange::Subresources(range) => range.aspects.intersects(aspects),
            SubRange::Slices(slices) => slices.aspects.intersects(aspects),
            SubRange::Whole | SubRange::Bytes { .. } => true,
        };
        of.resource == resource && has_aspect && of.access.scope(all).access.intersects(access)
    })
}

/// Whether the encoded calls of a command depend only on the list and the frame's resources, so that they can be
/// cached. True for the commands of ordinary draw and compute passes.
fn is_cacheable(command: &Command) -> bool {
    match command {
        Command::BeginRendering { .. }
        | Command::EndRendering
        | Command::State { .. }
        | Command::Bind(_)
        | Command::Draw { .. }
        | Command::Dispatch { .. }
        | Command::DispatchFrom { .. } => true,
        // Query pools differ from frame to frame.
        Command::Query { .. }
        | Command::Copy { .. }
        | Command::BeginLabel { .. }
        | Command::EndLabel
        | Command::Raw { .. }
        | Command::DrawRaw { .. } => false,
    }
}

fn bytes_of(list: &CommandList, start: u32, bytes: u32) -> &[u8] {
    &list.side().bytes[start as usize..][..bytes as usize]
}

/// Checks that a value is a multiple of another.
fn aligned(what: &str, value: u64, multiple: u64) -> Result<(), CommandError> {
    if value.is_multiple_of(multiple) {
        Ok(())
    } else {
        Err(CommandError::Alignment {
            what: format!("{what}, {value},"),
            multiple,
        })
    }
}
