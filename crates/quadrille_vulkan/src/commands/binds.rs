//! State of draws and dispatches: pipelines, bindings, push constants, vertex and index buffers.

use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role, accesses};
use super::{Command, CommandList};
use crate::pipeline::{ComputePipeline, GraphicsPipeline};
use crate::resources::buffer::GpuBuffer;
use crate::resources::image::GpuImage;
use crate::resources::sampler::Sampler;
use crate::resources::table::SharedTable;
use crate::resources::view::View;
use crate::shader::Binding;

/// Commands that set state of draws and dispatches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bind {
    Compute {
        pipeline: u32,
    },
    Graphics {
        pipeline: u32,
    },
    Buffer {
        binding: u8,
        buffer: ResourceId,
        /// [`Bind::WHOLE`], or the index of a range.
        range: u32,
    },
    Image {
        binding: u8,
        storage: bool,
        image: ResourceId,
        view: View,
    },
    Sampler {
        binding: u8,
        sampler: u32,
    },
    Table {
        group: u8,
        table: u32,
    },
    Constants {
        start: u32,
        bytes: u16,
    },
    Vertices {
        slot: u8,
        buffer: ResourceId,
        offset: Offset,
    },
    Indices {
        buffer: ResourceId,
        offset: Offset,
        kind: IndexType,
    },
}

impl Bind {
    /// The range of a buffer that is bound as a whole.
    pub(crate) const WHOLE: u32 = u32::MAX;

    /// Field-by-field equality: see [`Command::is_same`].
    #[inline(always)]
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Compute { pipeline: old }, Self::Compute { pipeline: new }) => old == new,
            (
                Self::Buffer {
                    binding: old_binding,
                    buffer: old_buffer,
                    range: old_range,
                },
                Self::Buffer {
                    binding,
                    buffer,
                    range,
                },
            ) => old_binding == binding && old_buffer == buffer && old_range == range,
            (_, Self::Compute { .. } | Self::Buffer { .. }) => false,
            _ => self == other,
        }
    }
}

/// Byte offset in a buffer, with the alignment of `u32` to keep commands small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset([u32; 2]);

impl From<u64> for Offset {
    fn from(bytes: u64) -> Self {
        Self([bytes as u32, (bytes >> 32) as u32])
    }
}

impl From<Offset> for u64 {
    fn from(Offset([low, high]): Offset) -> Self {
        Self::from(high) << 32 | Self::from(low)
    }
}

/// The type of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexType {
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
}

impl CommandList {
    /// Sets the pipeline of the dispatches that follow.
    #[inline]
    pub fn bind_compute(&mut self, pipeline: &ComputePipeline) {
        let pipeline = self.compute.index(pipeline.code());
        self.add(Command::Bind(Bind::Compute { pipeline }));
    }

    /// Sets the pipeline of the draws that follow.
    pub fn bind_graphics(&mut self, pipeline: &GraphicsPipeline) {
        let pipeline = self.side_mut().graphics.index(pipeline.code());
        self.add(Command::Bind(Bind::Graphics { pipeline }));
    }

    /// Binds a range of a buffer to `@group(0) @binding(binding)`, as the storage or uniform buffer that the
    /// pipeline declares. A `size` of 0 means up to the end.
    #[inline]
    pub fn bind_buffer(&mut self, binding: u32, buffer: &GpuBuffer, offset: u64, size: u64) {
        let range = match (offset, size) {
            (0, 0) => Bind::WHOLE,
            part => self.add_range(part),
        };
        let (binding, buffer) = (narrow(binding), buffer.id());
        self.add(Command::Bind(Bind::Buffer {
            binding,
            buffer,
            range,
        }));
    }

    /// Stores the range of a partially bound buffer, and returns its index.
    fn add_range(&mut self, (offset, size): (u64, u64)) -> u32 {
        let ranges = &mut self.side_mut().ranges;
        ranges.push([offset, size]);
        ranges.len() as u32 - 1
    }

    /// Offset and size of a bound range, in bytes; a size of 0 means up to the end.
    #[inline]
    pub(crate) fn range(&self, range: u32) -> [u64; 2] {
        match range {
            Bind::WHOLE => [0, 0],
            part => self.side().ranges[part as usize],
        }
    }

    /// Binds a whole image for sampling and loading.
    #[inline]
    pub fn bind_image_sampled(&mut self, binding: u32, image: &GpuImage) {
        self.bind_view_sampled(binding, image, View::WHOLE);
    }

    /// Binds a part of an image for sampling and loading.
    #[inline]
    pub fn bind_view_sampled(&mut self, binding: u32, image: &GpuImage, view: View) {
        let (binding, image) = (narrow(binding), image.id());
        self.add(Command::Bind(Bind::Image {
            binding,
            storage: false,
            image,
            view,
        }));
    }

    /// Binds an image as a storage image.
    #[inline]
    pub fn bind_image_storage(&mut self, binding: u32, image: &GpuImage) {
        self.bind_view_storage(binding, image, View::WHOLE);
    }

    /// Binds a part of an image as a storage image.
    #[inline]
    pub fn bind_view_storage(&mut self, binding: u32, image: &GpuImage, view: View) {
        let (binding, image) = (narrow(binding), image.id());
        self.add(Command::Bind(Bind::Image {
            binding,
            storage: true,
            image,
            view,
        }));
    }

    /// Binds a sampler.
    pub fn bind_sampler(&mut self, binding: u32, sampler: &Sampler) {
        let sampler = self.side_mut().samplers.index(sampler);
        self.add(Command::Bind(Bind::Sampler {
            binding: narrow(binding),
            sampler,
        }));
    }

    /// Binds a table of images as a group, from 1 on.
    pub fn bind_table(&mut self, group: u32, table: &SharedTable) {
        let table = self.side_mut().tables.index(table);
        self.add(Command::Bind(Bind::Table {
            group: narrow(group),
            table,
        }));
    }

    /// The tables that the list binds.
    pub fn tables(&self) -> impl Iterator<Item = &SharedTable> {
        let tables = self.has_side.then(|| self.side.tables.iter());
        tables.into_iter().flatten()
    }

    /// Sets the push constants from offset 0: `var<immediate>` in WGSL. More than
    /// [`CommandList::MAX_PUSH_CONSTANTS`] bytes are an error when the list is encoded.
    pub fn push_constants(&mut self, data: &[u8]) {
        let start = self.side.bytes.len() as u32;
        let kept = &data[..data.len().min(u16::MAX.into())];
        self.side_mut().bytes.extend_from_slice(kept);
        self.add(Command::Bind(Bind::Constants {
            start,
            bytes: kept.len() as u16,
        }));
    }

    /// Guaranteed minimum of `maxPushConstantsSize`, in bytes.
    pub const MAX_PUSH_CONSTANTS: usize = crate::shader::MAX_PUSH_CONSTANTS;

    /// Sets the vertex buffer of a slot.
    pub fn vertex_buffer(&mut self, slot: u32, buffer: &GpuBuffer, offset: u64) {
        let (slot, buffer) = (narrow(slot), buffer.id());
        self.add(Command::Bind(Bind::Vertices {
            slot,
            buffer,
            offset: offset.into(),
        }));
    }

    /// Sets the index buffer.
    pub fn index_buffer(&mut self, buffer: &GpuBuffer, offset: u64, kind: IndexType) {
        self.add(Command::Bind(Bind::Indices {
            buffer: buffer.id(),
            offset: offset.into(),
            kind,
        }));
    }
}

/// Narrows the number of a binding or slot; saturates to a value above all limits.
fn narrow(binding: u32) -> u8 {
    u8::try_from(binding).unwrap_or(u8::MAX)
}

impl<'a> Reader<'a> {
    pub(super) fn bind(&mut self, bind: Bind) {
        let list = self.list;
        match bind {
            Bind::Compute { pipeline } => {
                self.compute = Some(&list.compute[pipeline as usize]);
                self.seen[0] = 0;
            }
            Bind::Graphics { pipeline } => {
                self.graphics = Some(&list.side().graphics[pipeline as usize]);
                self.seen[1] = 0;
            }
            Bind::Buffer {
                binding,
                buffer,
                range,
            } => {
                let [offset, size] = list.range(range);
                self.bind_part(binding, buffer, Part::bytes(offset, size));
            }
            Bind::Image {
                binding,
                storage,
                image,
                view,
            } => {
                let part = if storage {
                    Part::View(view)
                } else {
                    Part::Sampled(view)
                };
                self.bind_part(binding, image, part);
            }
            // Accesses to the members of a table are checked by the table.
            Bind::Table { .. } => {}
            Bind::Vertices {
                slot,
                buffer,
                offset,
            } => {
                if let Some(bound) = self.vertices.get_mut(usize::from(slot)) {
                    *bound = Some((buffer, offset.into()));
                }
            }
            Bind::Indices {
                buffer,
                offset,
                kind,
            } => self.indices = Some((buffer, offset.into(), kind)),
            Bind::Sampler { .. } | Bind::Constants { .. } => {}
        }
    }

    fn bind_part(&mut self, binding: u8, resource: ResourceId, part: Part) {
        if let Some(bound) = self.bound.get_mut(usize::from(binding)) {
            *bound = Some((resource, part));
            self.seen = self.seen.map(|seen| seen & !(1 << binding));
        }
    }

    pub(super) fn compute_bindings(&mut self) {
        if let Some(pipeline) = self.compute {
            self.bindings(0, pipeline.name(), pipeline.bindings());
        }
    }

    /// Checks the shaders' accesses to bound resources that are not checked yet.
    pub(super) fn bindings(&mut self, kind: usize, pipeline: &str, bindings: &[Binding]) {
        for binding in bindings {
            let bit = 1 << binding.binding;
            let bound = self.bound[binding.binding as usize];
            let is_new = self.seen[kind] & bit == 0 && binding.kind.takes_resource();
            let Some((resource, part)) = bound.filter(|_| is_new) else {
                continue;
            };
            self.seen[kind] |= bit;
            for access in accesses(binding) {
                self.check(resource, part, access, Role::Binding(pipeline, binding));
            }
        }
    }
}
