//! Draws, and clears of attachments between them.

use std::ops::Range;

use quadrille_sync::access::Access;
use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role};
use super::{Command, CommandList, IndexType};
use crate::resources::buffer::GpuBuffer;

/// Bytes of a `VkDrawIndirectCommand` and a `VkDrawIndexedIndirectCommand`.
const DRAW_BYTES: u64 = 16;
const DRAW_INDEXED_BYTES: u64 = 20;
/// Bytes of the number of draws in a buffer.
const COUNT_BYTES: u64 = 4;

/// Draws and clears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Draw {
    Plain {
        vertices: [u32; 2],
        instances: [u32; 2],
    },
    Indexed {
        indices: [u32; 2],
        base_vertex: i32,
        instances: [u32; 2],
    },
    Indirect {
        buffer: ResourceId,
        offset: u64,
        count: u32,
        stride: u32,
    },
    IndexedIndirect {
        buffer: ResourceId,
        offset: u64,
        count: u32,
        stride: u32,
    },
    /// The number of draws is in another buffer.
    Counted { counted: u32 },
    /// Clears a part of a color attachment: left, top, width and height.
    ClearColor {
        attachment: u8,
        area: [u16; 4],
        /// Bits of four `f32`, so that -0 and 0 differ in comparisons.
        color: [u32; 4],
    },
    /// Clears a part of the depth attachment.
    ClearDepth {
        area: [u16; 4],
        /// The bits of an `f32`.
        depth: u32,
    },
}

/// Indirect draws whose number is read from a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counted {
    pub buffer: ResourceId,
    pub offset: u64,
    pub counts: ResourceId,
    pub count_offset: u64,
    /// Maximum number of draws.
    pub most: u32,
    pub stride: u32,
    pub indexed: bool,
}

impl CommandList {
    /// Draws.
    pub fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        let (vertices, instances) = (first_count(vertices), first_count(instances));
        self.add_draw(Draw::Plain {
            vertices,
            instances,
        });
    }

    /// Draws through the index buffer.
    pub fn draw_indexed(&mut self, indices: Range<u32>, base_vertex: i32, instances: Range<u32>) {
        let (indices, instances) = (first_count(indices), first_count(instances));
        self.add_draw(Draw::Indexed {
            indices,
            base_vertex,
            instances,
        });
    }

    /// Draws `count` times with arguments from a buffer (`VkDrawIndirectCommand`), `stride` bytes
    /// apart.
    pub fn draw_indirect(&mut self, buffer: &GpuBuffer, offset: u64, count: u32, stride: u32) {
        let buffer = buffer.id();
        self.add_draw(Draw::Indirect {
            buffer,
            offset,
            count,
            stride,
        });
    }

    /// Draws `count` times through the index buffer with arguments from a buffer
    /// (`VkDrawIndexedIndirectCommand`), `stride` bytes apart.
    pub fn draw_indexed_indirect(
        &mut self,
        buffer: &GpuBuffer,
        offset: u64,
        count: u32,
        stride: u32,
    ) {
        let buffer = buffer.id();
        self.add_draw(Draw::IndexedIndirect {
            buffer,
            offset,
            count,
            stride,
        });
    }

    /// Draws with arguments from a buffer (`VkDrawIndirectCommand`), `stride` bytes apart. The number of draws is the
    /// `u32` at byte `count.1` of the buffer `count.0`, and at most `most`.
    pub fn draw_indirect_count(
        &mut self,
        arguments: (&GpuBuffer, u64),
        count: (&GpuBuffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.add_counted(arguments, count, [most, stride], false);
    }

    /// Draws like [`draw_indirect_count`](Self::draw_indirect_count), through the index buffer
    /// (`VkDrawIndexedIndirectCommand`).
    pub fn draw_indexed_indirect_count(
        &mut self,
        arguments: (&GpuBuffer, u64),
        count: (&GpuBuffer, u64),
        most: u32,
        stride: u32,
    ) {
        self.add_counted(arguments, count, [most, stride], true);
    }

    fn add_counted(
        &mut self,
        (buffer, offset): (&GpuBuffer, u64),
        (counts, count_offset): (&GpuBuffer, u64),
        [most, stride]: [u32; 2],
        indexed: bool,
    ) {
        let all = &mut self.side_mut().counted;
        all.push(Counted {
            buffer: buffer.id(),
            offset,
            counts: counts.id(),
            count_offset,
            most,
            stride,
            indexed,
        });
        let counted = all.len() as u32 - 1;
        self.add_draw(Draw::Counted { counted });
    }

    /// Clears a part of a color attachment, in the order of draws: left, top, width and height in
    /// pixels, clipped to the render area. It needs no pipeline, and ignores viewport and
    /// scissor. For integer formats the color is rounded towards zero.
    pub fn clear_color(&mut self, attachment: u32, area: [u32; 4], color: [f32; 4]) {
        self.add_draw(Draw::ClearColor {
            attachment: u8::try_from(attachment).unwrap_or(u8::MAX),
            area: narrow_area(area),
            color: color.map(f32::to_bits),
        });
    }

    /// Clears a part of the depth attachment to a depth from 0 to 1, like [`clear_color`](Self::clear_color). Keeps
    /// stencil.
    pub fn clear_depth(&mut self, area: [u32; 4], depth: f32) {
        self.add_draw(Draw::ClearDepth {
            area: narrow_area(area),
            depth: depth.to_bits(),
        });
    }

    fn add_draw(&mut self, draw: Draw) {
        let draws = &mut self.side_mut().draws;
        draws.push(draw);
        let draw = draws.len() as u32 - 1;
        self.add(Command::Draw { draw });
    }
}

fn first_count(range: Range<u32>) -> [u32; 2] {
    [range.start, range.end.saturating_sub(range.start)]
}

/// Narrows an area; no attachment is larger than its range.
fn narrow_area(area: [u32; 4]) -> [u16; 4] {
    area.map(|pixels| u16::try_from(pixels).unwrap_or(u16::MAX))
}

impl Reader<'_> {
    pub(super) fn draw(&mut self, draw: Draw) {
        if let Draw::ClearColor { .. } | Draw::ClearDepth { .. } = draw {
            // The writes of attachments were checked at the beginning of the rendering.
            return;
        }
        if !self.pipeline_of_draw() {
            return;
        }
        match draw {
            Draw::Plain { .. } | Draw::ClearColor { .. } | Draw::ClearDepth { .. } => {}
            Draw::Indexed { indices, .. } => self.indices(Some(indices)),
            Draw::Indirect {
                buffer,
                offset,
                count,
                stride,
            } => self.arguments(buffer, offset, [count, stride], DRAW_BYTES),
            Draw::IndexedIndirect {
                buffer,
                offset,
                count,
                stride,
            } => {
                self.indices(None);
                self.arguments(buffer, offset, [count, stride], DRAW_INDEXED_BYTES);
            }
            Draw::Counted { counted } => self.counted(&self.list.side().counted[counted as usize]),
        }
    }

    /// Checks a draw by a closure, which may read any indices.
    pub(super) fn draw_raw(&mut self) {
        if self.pipeline_of_draw() {
            self.indices(None);
        }
    }

    /// Checks the resources that the pipeline of a draw uses; returns whether there is a pipeline.
    fn pipeline_of_draw(&mut self) -> bool {
        let Some(pipeline) = self.graphics else {
            return false;
        };
        self.bindings(1, pipeline.name(), pipeline.bindings());
        for slot in 0..pipeline.vertex_alignments().len() {
            // The vertices that an indexed draw reads depend on the contents of the index buffer.
            if let Some((buffer, offset)) = self.vertices[slot].take() {
                let part = Part::bytes(offset, 0);
                self.check(buffer, part, Access::VertexRead, Role::Vertices(slot));
            }
        }
        true
    }

    /// Checks the index buffer; `read` has the first and the number of indices, if known.
    fn indices(&mut self, read: Option<[u32; 2]>) {
        let Some((buffer, offset, kind)) = self.indices else {
            return;
        };
        let bytes = match kind {
            IndexType::U16 => 2,
            IndexType::U32 => 4,
        };
        let part = match read.map(|read| read.map(u64::from)) {
            Some([_, 0]) => return,
            Some([first, count]) => {
                Part::Bytes(offset.saturating_add(first * bytes), count * bytes)
            }
            None => Part::bytes(offset, 0),
        };
        let role = Role::Words("the index buffer");
        self.check(buffer, part, Access::IndexRead, role);
    }

    fn counted(&mut self, draws: &Counted) {
        let bytes = if draws.indexed {
            DRAW_INDEXED_BYTES
        } else {
            DRAW_BYTES
        };
        if draws.indexed {
            self.indices(None);
        }
        if draws.most > 0 {
            let part = Part::Bytes(draws.count_offset, COUNT_BYTES);
            let role = Role::Words("the number of draws");
            self.check(draws.counts, part, Access::IndirectRead, role);
        }
        self.arguments(
            draws.buffer,
            draws.offset,
            [draws.most, draws.stride],
            bytes,
        );
    }

    fn arguments(&mut self, from: ResourceId, offset: u64, draws: [u32; 2], bytes: u64) {
        let [count, stride] = draws.map(u64::from);
        if count > 0 {
            let part = Part::Bytes(offset, stride * (count - 1) + bytes);
            let role = Role::Words("the arguments of draws");
            self.check(from, part, Access::IndirectRead, role);
        }
    }
}
