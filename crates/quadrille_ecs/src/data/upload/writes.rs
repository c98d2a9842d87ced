//! Writes that wait for the next frame.

use bevy_platform::collections::HashMap;
use quadrille_sync::ResourceId;
use quadrille_vulkan::{GpuBuffer, Handle, ImageRegion};

use super::resolve::{self, Active, Grid, Span, Texels};

/// Less data than this is not worth looking through.
const SMALL: usize = 1 << 20;

/// Fewer writes than this are not worth looking through.
const FEW: usize = 1 << 16;

/// One write that waits.
#[derive(Clone)]
pub(super) struct Write {
    /// The buffer or image that is written.
    pub(super) to: Handle,
    /// The first byte of a buffer.
    pub(super) to_offset: u64,
    /// The part of an image.
    pub(super) region: Option<ImageRegion>,
    /// The buffer that its bytes are copied from; none if they wait in [`Writes::data`].
    pub(super) from: Option<GpuBuffer>,
    /// Where its bytes begin in that buffer, or among all that wait.
    pub(super) data_offset: usize,
    /// How many they are.
    pub(super) bytes: usize,
    /// Writes of one step are in no order; those of a later step come after them.
    pub(super) step: u32,
}

/// All writes that wait, and their bytes.
#[derive(Default)]
pub(super) struct Writes {
    /// In the order in which they were made, until [`Writes::resolve`].
    pub(super) list: Vec<Write>,
    pub(super) data: Vec<u8>,
    /// How many bytes there may be before those that no write uses any more are looked for.
    limit: usize,
    /// How many writes there may be before those that newer ones cover are looked for.
    most: usize,
    /// Buffers of writes and copies; empty while nothing is copied between buffers.
    ends: HashMap<ResourceId, Ends>,
    scratch: Scratch,
}

/// The first steps behind everything that touches a buffer.
#[derive(Clone, Copy, Default)]
struct Ends {
    reads: u32,
    writes: u32,
}

/// Memory of [`Writes::resolve`], kept for the next frame.
#[derive(Default)]
struct Scratch {
    spans: Vec<Span>,
    visible: Vec<Span>,
    active: Active,
    texels: Vec<Texels>,
    grid: Grid,
    list: Vec<Write>,
}

impl Writes {
    /// Adds bytes for a buffer, from an offset on.
    pub(super) fn push_bytes(&mut self, to: Handle, to_offset: u64, bytes: &[u8]) {
        let step = self.ends(to.id()).reads;
        self.push(to, to_offset, None, step, bytes);
    }

    /// Adds a copy of bytes of one buffer, from an offset on, to another. It comes one step behind all that
    /// writes what it reads.
    pub(super) fn push_copy(
        &mut self,
        (from, data_offset): (&GpuBuffer, u64),
        (to, to_offset): (Handle, u64),
        bytes: u64,
    ) {
        self.limit_waiting();
        if self.ends.is_empty() {
            self.note_all();
        }
        let step = self.ends(from.id()).writes.max(self.ends(to.id()).reads);
        self.add(Write {
            to,
            to_offset,
            region: None,
            from: Some(from.clone()),
            data_offset: data_offset as usize,
            bytes: bytes as usize,
            step,
        });
    }

    /// Adds texels for a part of an image. Their step is found by [`Writes::resolve`].
    pub(super) fn push_texels(&mut self, to: Handle, region: ImageRegion, bytes: &[u8]) {
        self.push(to, 0, Some(region), 0, bytes);
    }

    fn push(
        &mut self,
        to: Handle,
        to_offset: u64,
        region: Option<ImageRegion>,
        step: u32,
        bytes: &[u8],
    ) {
        self.limit_waiting();
        let data_offset = append(&mut self.data, bytes);
        self.add(Write {
            to,
            to_offset,
            region,
            from: None,
            data_offset,
            bytes: bytes.len(),
            step,
        });
    }

    fn add(&mut self, write: Write) {
        if write.from.is_some() || !self.ends.is_empty() {
            note(&mut self.ends, &write);
        }
        self.list.push(write);
    }

    /// The first steps behind all that touches a buffer, as far as it matters.
    fn ends(&self, buffer: ResourceId) -> Ends {
        self.ends.get(&buffer).copied().unwrap_or_default()
    }

    /// Notes all writes from the first copy between buffers on: without one, there are no steps.
    fn note_all(&mut self) {
        self.ends.clear();
        for write in &self.list {
            note(&mut self.ends, write);
        }
    }

    /// Takes out writes and bytes that newer ones cover, when there are many: they would pile up while frames
    /// fail.
    fn limit_waiting(&mut self) {
        if self.data.len() <= self.limit.max(SMALL) && self.list.len() <= self.most.max(FEW) {
            return;
        }
        self.resolve();
        let waiting = self.list.iter().filter(|write| write.from.is_none());
        let used: usize = waiting.map(|write| write.bytes).sum();
        if used < self.data.len() / 2 {
            self.compact();
        }
        self.limit = 2 * self.data.len();
        self.most = 2 * self.list.len();
    }

    /// Leaves out what newer writes cover, and sorts the rest by step, then by resource. That is an order in
    /// which they can have been made, so more may follow.
    pub(super) fn resolve(&mut self) {
        let scratch = &mut self.scratch;
        scratch.spans.clear();
        scratch.texels.clear();
        for (index, write) in (0_u32..).zip(&self.list) {
            match write.region {
                Some(region) => scratch.texels.push(Texels {
                    image: write.to.id(),
                    region,
                    write: index,
                    step: None,
                }),
                None => scratch.spans.push(Span {
                    buffer: write.to.id(),
                    start: write.to_offset,
                    end: write.to_offset + write.bytes as u64,
                    step: write.step,
                    write: index,
                }),
            }
        }
        resolve::visible_bytes(
            &mut scratch.spans,
            &mut scratch.active,
            &mut scratch.visible,
        );
        resolve::find_steps(&mut scratch.texels, &mut scratch.grid);
        scratch.list.clear();
        for span in &scratch.visible {
            let write = &self.list[span.write as usize];
            scratch.list.push(Write {
                to_offset: span.start,
                data_offset: write.data_offset + (span.start - write.to_offset) as usize,
                bytes: (span.end - span.start) as usize,
                ..write.clone()
            });
        }
        for texels in &scratch.texels {
            let write = &self.list[texels.write as usize];
            let step = texels.step.map(|step| Write {
                step,
                ..write.clone()
            });
            scratch.list.extend(step);
        }
        let order = |write: &Write| {
            (
                write.step,
                write.to.id(),
                write.to_offset,
                write.data_offset,
            )
        };
        scratch.list.sort_unstable_by_key(order);
        std::mem::swap(&mut self.list, &mut scratch.list);
        scratch.list.clear();
        if !self.ends.is_empty() {
            self.note_all();
        }
    }

    /// Takes out bytes that no write uses any more.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.data);
        for write in self.list.iter_mut().filter(|write| write.from.is_none()) {
            let bytes = &old[write.data_offset..write.data_offset + write.bytes];
            write.data_offset = append(&mut self.data, bytes);
        }
    }

    /// The writes step by step, and by resource in each step. Resolved ones only.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[Write]> {
        self.list.chunk_by(|one, next| one.step == next.step)
    }

    /// All of them are done.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.data.clear();
        self.ends.clear();
    }
}

/// Notes a write or copy with the buffers that it touches.
fn note(ends: &mut HashMap<ResourceId, Ends>, write: &Write) {
    let end = write.step + 1;
    if write.region.is_none() {
        let to = ends.entry(write.to.id()).or_default();
        to.writes = to.writes.max(end);
    }
    if let Some(from) = &write.from {
        let from = ends.entry(from.id()).or_default();
        from.reads = from.reads.max(end);
    }
}

/// Adds bytes at an offset that copies between buffers and images like: they want multiples of the
/// texel size.
fn append(data: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let offset = data.len().next_multiple_of(16);
    data.resize(offset, 0);
    data.extend_from_slice(bytes);
    offset
}
