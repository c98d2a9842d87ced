//! Pipelines, bindings and push constants: tracked, and set lazily before a draw or dispatch.

mod descriptors;

use ash::vk;
use quadrille_sync::resource::{ResourceId, ResourceIndex};

use super::tables;
use super::{Encoder, Failure};
use crate::commands::CommandList;
use crate::device::pipeline_layout::PipelineLayout;
use crate::error::CommandError;
use crate::pipeline::{ComputeCode, GraphicsCode};
use crate::record::calls::{Call, TableCall};
use crate::record::encode::{BindCall, StateCall};
use crate::resources::compatible::check_view;
use crate::resources::descriptor::Info;
use crate::resources::handle::Entry;
use crate::resources::image::GpuImage;
use crate::resources::table::SharedTable;
use crate::resources::view::{View, ViewKey};
use crate::shader::{Binding, GpuShader, TableBinding};

/// The number of bindings.
const BINDINGS: usize = GpuShader::MAX_BINDINGS as usize;

/// The number of groups that tables are bound to.
const TABLES: usize = TableBinding::LAST_GROUP as usize;

/// Bound state, by binding. Only entries whose bit is set are valid, so that a reset for
/// the next pass is cheap.
pub(super) struct Bindings<'a> {
    pub compute: Option<&'a ComputeCode>,
    pub graphics: Option<&'a GraphicsCode>,
    /// The stencil reference that the pass sets instead of the pipeline's.
    pub stencil_reference: Option<u8>,
    /// The stencil reference that is current in the command buffer.
    current_reference: Option<u8>,
    /// Data of descriptor pushes, indexed by binding number as update templates expect.
    infos: [Info; BINDINGS],
    usages: [u32; BINDINGS],
    images: [BoundImage<'a>; BINDINGS],
    samplers: [vk::Sampler; BINDINGS],
    indices: [ResourceIndex; BINDINGS],
    has_buffer: u32,
    /// Bit mask of buffers whose value has a known memory layout.
    has_layout: u32,
    has_image: u32,
    has_sampler: u32,
    /// Bit mask of bindings whose descriptor is an attachment of the rendering.
    has_attachment: u32,
    tables: [Option<&'a SharedTable>; TABLES],
    constants: [u8; CommandList::MAX_PUSH_CONSTANTS],
    constant_bytes: u32,
    /// The state that is current in the command buffer, for graphics and for compute.
    bind_points: [BindPointState; 2],
}

#[derive(Clone, Copy)]
struct BoundImage<'a> {
    /// The precomputed descriptor data, if the whole image is bound.
    entry: Option<&'a Entry>,
    view: View,
    storage: bool,
}

/// State of a bind point that is current in the command buffer.
#[derive(Clone, Copy, Default)]
struct BindPointState {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    /// Bit mask of bindings whose pushed descriptor is still current.
    pushed: u32,
    constants: bool,
    /// By group number minus 1.
    tables: [vk::DescriptorSet; TABLES],
}

impl Default for Bindings<'_> {
    fn default() -> Self {
        let image = BoundImage {
            entry: None,
            view: View::WHOLE,
            storage: false,
        };
        Self {
            compute: None,
            graphics: None,
            stencil_reference: None,
            current_reference: None,
            infos: [Info::NULL; BINDINGS],
            usages: [0; BINDINGS],
            images: [image; BINDINGS],
            samplers: [vk::Sampler::null(); BINDINGS],
            indices: [ResourceIndex(0); BINDINGS],
            has_buffer: 0,
            has_layout: 0,
            has_image: 0,
            has_sampler: 0,
            has_attachment: 0,
            tables: [None; TABLES],
            constants: [0; CommandList::MAX_PUSH_CONSTANTS],
            constant_bytes: 0,
            bind_points: [BindPointState::default(); 2],
        }
    }
}

impl<'a> Bindings<'a> {
    /// Stores a table for the next draw or dispatch.
    pub(super) fn bind_table(&mut self, group: u8, table: &'a SharedTable) -> Result<(), Failure> {
        let at = usize::from(group).checked_sub(1);
        match at.and_then(|at| self.tables.get_mut(at)) {
            Some(place) => {
                *place = Some(table);
                Ok(())
            }
            None => Err(CommandError::TableGroup {
                group: group.into(),
                last: TableBinding::LAST_GROUP,
            }
            .into()),
        }
    }

    /// Clears the bound state before another list. Pipelines stay current in the command buffer.
    pub(super) fn forget(&mut self) {
        self.compute = None;
        self.graphics = None;
        self.stencil_reference = None;
        self.current_reference = None;
        self.has_buffer = 0;
        self.has_image = 0;
        self.has_sampler = 0;
        self.tables = [None; TABLES];
        self.constant_bytes = 0;
        for point in &mut self.bind_points {
            point.pushed = 0;
            point.constants = false;
            point.tables = Default::default();
        }
    }

    /// Clears the bound state and the tracked state of the command buffer, which is unknown after raw commands.
    pub(super) fn forget_all(&mut self) {
        self.forget();
        self.forget_bind_points();
    }

    /// Clears the tracked state of the command buffer; the next draw sets all state again.
    pub(super) fn forget_bind_points(&mut self) {
        self.bind_points = [BindPointState::default(); 2];
        self.current_reference = None;
    }

    /// Clears the input attachments at the end of their rendering.
    pub(super) fn forget_attachments(&mut self) {
        let stale = std::mem::take(&mut self.has_attachment);
        self.bind_points[vk::PipelineBindPoint::GRAPHICS.as_raw() as usize].pushed &= !stale;
    }

    /// Sets the tracked pipeline of the command buffer. Returns whether it has changed.
    fn holds_other(&mut self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) -> bool {
        let current = &mut self.bind_points[point.as_raw() as usize].pipeline;
        std::mem::replace(current, pipeline) != pipeline
    }

    /// Stores a sampler for the next draw or dispatch.
    pub(super) fn bind_sampler(
        &mut self,
        binding: u8,
        sampler: vk::Sampler,
    ) -> Result<(), Failure> {
        let at = self.slot(binding)?;
        self.samplers[at] = sampler;
        self.has_sampler |= 1 << at;
        self.has_buffer &= !(1 << at);
        Ok(())
    }

    /// Stores push constants for the next draw or dispatch.
    pub(super) fn push_constants(&mut self, data: &[u8]) -> Result<(), Failure> {
        let limit = CommandList::MAX_PUSH_CONSTANTS;
        if data.len() > limit || !data.len().is_multiple_of(4) {
            return Err(if data.len() > limit {
                CommandError::Limit {
                    what: format!("a push of {} bytes", data.len()),
                    limit: limit as u64,
                }
                .into()
            } else {
                CommandError::Alignment {
                    what: format!("push constants of {} bytes", data.len()),
                    multiple: 4,
                }
                .into()
            });
        }
        self.constants[..data.len()].copy_from_slice(data);
        self.constant_bytes = data.len() as u32;
        self.bind_points
            .iter_mut()
            .for_each(|point| point.constants = false);
        Ok(())
    }

    /// The index of a binding that is about to change.
    fn slot(&mut self, binding: u8) -> Result<usize, CommandError> {
        let at = usize::from(binding);
        if at >= BINDINGS {
            let what = format!("@binding({binding})");
            return Err(CommandError::Limit {
                what,
                limit: BINDINGS as u64 - 1,
            });
        }
        self.bind_points
            .iter_mut()
            .for_each(|point| point.pushed &= !(1 << at));
        Ok(at)
    }
}

/// The pipeline of the draw or dispatch that is being encoded.
struct Running<'p> {
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
    name: &'p str,
    layout: &'p PipelineLayout,
    bindings: &'p [Binding],
    tables: &'p [TableBinding],
}

impl<'a> Encoder<'a> {
    /// Stores a buffer binding for the next draw or dispatch.
    pub(super) fn bind_buffer(
        &mut self,
        binding: u8,
        buffer: ResourceId,
        offset: u64,
        size: u64,
    ) -> Result<(), Failure> {
        let entry = self.resources.buffer_entry(buffer)?;
        let rest = entry.bytes.saturating_sub(offset);
        let length = if size == 0 { rest } else { size };
        if length == 0 || length > rest {
            let what = format!("the binding's range of {length} bytes from {offset}");
            return Err(CommandError::Outside {
                what,
                name: self.resources.handle(entry.index()).name().to_owned(),
                room: format!("{} bytes", entry.bytes),
            }
            .into());
        }
        self.note_use(entry.index())?;
        let at = self.bindings.slot(binding)?;
        self.bindings.infos[at].buffer = vk::DescriptorBufferInfo {
            buffer: entry.buffer,
            offset,
            range: length,
        };
        self.bindings.usages[at] = entry.usage;
        self.bindings.indices[at] = entry.index();
        // `Info` is a union: a binding has either a buffer, or an image and sampler.
        self.bindings.has_buffer |= 1 << at;
        self.bindings.has_layout &= !(1 << at);
        self.bindings.has_layout |= u32::from(entry.has_layout) << at;
        self.bindings.has_image &= !(1 << at);
        self.bindings.has_sampler &= !(1 << at);
        Ok(())
    }

    /// Stores an image binding for the next draw or dispatch.
    pub(super) fn bind_image(
        &mut self,
        binding: u8,
        storage: bool,
        image: ResourceId,
        view: View,
    ) -> Result<(), Failure> {
        let is_whole = view == View::WHOLE;
        let entry = self.resources.image_entry(image).filter(|_| is_whole);
        let (index, usage) = match entry {
            Some(entry) => (entry.index(), entry.usage),
            None => {
                let (index, image) = self.resources.image(image)?;
                check_view(image, view)?;
                (index, image.desc().usage.bits())
            }
        };
        self.note_use(index)?;
        let at = self.bindings.slot(binding)?;
        self.bindings.images[at] = BoundImage {
            entry,
            view,
            storage,
        };
        self.bindings.usages[at] = usage;
        self.bindings.indices[at] = index;
        self.bindings.has_image |= 1 << at;
        self.bindings.has_buffer &= !(1 << at);
        Ok(())
    }

    /// Sets all state that a dispatch needs in the command buffer.
    pub(super) fn ready_compute(&mut self) -> Result<(), Failure> {
        let pipeline = self
            .bindings
            .compute
            .ok_or(CommandError::NoPipeline { kind: "compute" })?;
        self.ready(&Running {
            point: vk::PipelineBindPoint::COMPUTE,
            pipeline: pipeline.compiled()?,
            name: pipeline.name(),
            layout: pipeline.layout(),
            bindings: pipeline.bindings(),
            tables: pipeline.tables(),
        })
    }

    /// Sets all state that a draw needs in the command buffer.
    pub(super) fn ready_graphics(&mut self) -> Result<&'a GraphicsCode, Failure> {
        let pipeline = self
            .bindings
            .graphics
            .ok_or(CommandError::NoPipeline { kind: "graphics" })?;
        let Some(rendering) = &self.rendering else {
            return Err(CommandError::Rendering { inside: true }.into());
        };
        let read_only = rendering.read_only;
        if read_only != [false; 2] {
            let writes = pipeline.writes();
            let aspects = ["depth", "stencil"];
            if let Some(at) = (0..2).find(|&at| read_only[at] && writes[at]) {
                let (pipeline, aspect) = (pipeline.name().to_owned(), aspects[at]);
                return Err(CommandError::ReadOnly { pipeline, aspect }.into());
            }
        }
        self.ready(&Running {
            point: vk::PipelineBindPoint::GRAPHICS,
            pipeline: pipeline.compiled(&rendering.formats)?,
            name: pipeline.name(),
            layout: pipeline.layout(),
            bindings: pipeline.bindings(),
            tables: pipeline.tables(),
        })?;
        self.set_stencil_reference(pipeline.stencil_reference());
        Ok(pipeline)
    }

    /// Sets the stencil reference: that of the pass if set, else the pipeline's. Pipelines without a stencil test
    /// make it undefined.
    fn set_stencil_reference(&mut self, own: Option<u8>) {
        let wanted = own.map(|own| self.bindings.stencil_reference.unwrap_or(own));
        let bind_points = std::mem::replace(&mut self.bindings.current_reference, wanted);
        if let Some(reference) = wanted.filter(|_| bind_points != wanted) {
            self.emit(Call::State(StateCall::StencilReference(reference)));
        }
    }

    fn ready(&mut self, running: &Running<'_>) -> Result<(), Failure> {
        let (point, pipeline) = (running.point, running.pipeline);
        let at = point.as_raw() as usize;
        self.calls
            .add(Call::Bind(BindCall::Pipeline { point, pipeline }));
        self.bind_pipeline(point, pipeline);
        // Bindings and constants stay valid after a change of pipeline if the layout is the same.
        if self.bindings.bind_points[at].layout != running.layout.raw {
            self.bindings.bind_points[at].layout = running.layout.raw;
            self.bindings.bind_points[at].pushed = 0;
            self.bindings.bind_points[at].constants = false;
            self.bindings.bind_points[at].tables = Default::default();
        }
        self.push_descriptors(at, running)?;
        if !running.tables.is_empty() {
            self.bind_tables(at, running)?;
        }
        self.set_constants(at, running)
    }

    /// Binds the tables that a pipeline reads, unless they are bound in the command buffer.
    fn bind_tables(&mut self, at: usize, running: &Running<'_>) -> Result<(), Failure> {
        for binding in running.tables {
            let group = binding.group as usize - 1;
            let Some(table) = self.bindings.tables[group] else {
                return Err(tables::unbound(running.name, binding).into());
            };
            tables::check(running.name, binding, table)?;
            let set = table.set(self.slot);
            if self.bindings.bind_points[at].tables[group] != set {
                self.bindings.bind_points[at].tables[group] = set;
                let call = TableCall {
                    point: running.point,
                    layout: running.layout.raw,
                    group: binding.group,
                    table: table.clone(),
                };
                self.calls.add_table(&call);
                self.table(&call);
            }
        }
        Ok(())
    }

    /// Binds a pipeline, unless it is current in the command buffer.
    pub(super) fn bind_pipeline(&mut self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        if self.bindings.holds_other(point, pipeline) {
            // SAFETY: the pipeline is of this bind point.
            unsafe {
                self.device
                    .raw
                    .cmd_bind_pipeline(self.buffer, point, pipeline);
            }
        }
    }

    fn push_descriptors(&mut self, at: usize, running: &Running<'_>) -> Result<(), Failure> {
        let mut stale = 0;
        for binding in running.bindings {
            let bit = 1 << binding.binding;
            if self.bindings.bind_points[at].pushed & bit == 0 {
                self.describe(running.name, binding)?;
                stale |= bit;
            }
        }
        if stale == 0 {
            return Ok(());
        }
        self.bindings.bind_points[at].pushed |= stale;
        let last = running.bindings.iter().map(|it| it.binding as usize).max();
        let infos = &self.bindings.infos[..last.map_or(0, |last| last + 1)];
        self.calls.add_push(running.layout, infos);
        let push = &self.device.extensions.push_descriptor;
        // SAFETY: the template is of this layout's set 0 and reads the infos of its bindings, all
        // of which were described since the last pass or raw command.
        unsafe {
            push.cmd_push_descriptor_set_with_template(
                self.buffer,
                running.layout.template,
                running.layout.raw,
                0,
                self.bindings.infos.as_ptr().cast(),
            );
        }
        Ok(())
    }

    fn set_constants(&mut self, at: usize, running: &Running<'_>) -> Result<(), Failure> {
        let wanted = running.layout.push_bytes.least;
        if wanted == 0 || self.bindings.bind_points[at].constants {
            return Ok(());
        }
        let given = self.bindings.constant_bytes;
        if !(wanted..=running.layout.push_bytes.most).contains(&given) {
            let pipeline = running.name.to_owned();
            return Err(CommandError::PushConstants {
                pipeline,
                wanted,
                given,
            }
            .into());
        }
        let constants = &self.bindings.constants[..wanted as usize];
        self.calls.add_constants(running.layout, constants);
        // SAFETY: the layout has these stages and this many bytes.
        unsafe {
            self.device.raw.cmd_push_constants(
                self.buffer,
                running.layout.raw,
                running.layout.push_stages,
                0,
                constants,
            );
        }
        self.bindings.bind_points[at].constants = true;
        Ok(())
    }
}

/// Returns a view of an image. Swapchain images have only the view of the whole image; others are an error.
pub(super) fn view(image: &GpuImage, key: ViewKey) -> Result<vk::ImageView, Failure> {
    let view = image.view(key)?;
    view.ok_or_else(|| {
        let name = image.name().to_owned();
        CommandError::PartOfSwapchain { name }.into()
    })
}
