//! Queue of writes for the next frame.

use bevy_platform::collections::HashMap;
use quadrille_sync::resource::ResourceId;
use quadrille_vulkan::resources::{GpuBuffer, Handle, ImageRegion};

use super::resolve::{self, Active, Grid, Span, Texels};

/// Limit in bytes below which covered writes are not searched for.
const SMALL: usize = 1 << 20;

/// Limit on the number of writes below which covered writes are not searched for.
const FEW: usize = 1 << 16;

/// One queued write.
#[derive(Clone)]
pub(super) struct Write {
    /// The destination buffer or image.
    pub(super) to: Handle,
    /// Destination offset in a buffer, in bytes.
    pub(super) to_offset: u64,
    /// Destination region of an image; `None` for a buffer.
    pub(super) region: Option<ImageRegion>,
    /// Source buffer of a copy; `None` if the bytes are in [`Writes::data`].
    pub(super) from: Option<GpuBuffer>,
    /// Source offset in that buffer or in [`Writes::data`], in bytes.
    pub(super) data_offset: usize,
    /// Size in bytes.
    pub(super) bytes: usize,
    /// Writes of one step are unordered; later steps run after them.
    pub(super) step: u32,
}

/// All queued writes and their bytes.
#[derive(Default)]
pub(super) struct Writes {
    /// In call order until [`Writes::resolve`].
    pub(super) list: Vec<Write>,
    pub(super) data: Vec<u8>,
    /// Number of queued bytes above which unused bytes are removed.
    limit: usize,
    /// Number of writes above which covered writes are removed.
    most: usize,
    /// First possible steps per buffer; empty while there are no copies between buffers.
    ends: HashMap<ResourceId, Ends>,
    scratch: Scratch,
}

/// First steps after all queued accesses of a buffer.
#[derive(Clone, Copy, Default)]
struct Ends {
    reads: u32,
    writes: u32,
}

/// Scratch memory of [`Writes::resolve`], reused each frame.
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
    /// Adds a write of bytes to a buffer at an offset.
    pub(super) fn push_bytes(&mut self, to: Handle, to_offset: u64, bytes: &[u8]) {
        let step = self.ends(to.id()).reads;
        self.push(to, to_offset, None, step, bytes);
    }

    /// Adds a copy of bytes between buffers. Its step comes after all queued writes of the source and all queued reads
    /// of the destination.
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

    /// Adds a write of texels to a region of an image. [`Writes::resolve`] assigns its step.
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

    /// Returns the first possible steps of a buffer; 0 if nothing was noted.
    fn ends(&self, buffer: ResourceId) -> Ends {
        self.ends.get(&buffer).copied().unwrap_or_default()
    }

    /// Notes all queued writes at the first copy between buffers. Before that, all writes have step 0.
    fn note_all(&mut self) {
        self.ends.clear();
        for write in &self.list {
            note(&mut self.ends, write);
        }
    }

    /// Removes covered writes and unused bytes if there are many. Otherwise they would accumulate while frames fail.
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

    /// Removes covered writes, and sorts the rest by step, then by resource. The result is a valid call order, so
    /// further writes may follow.
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

    /// Removes bytes that no write uses.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.data);
        for write in self.list.iter_mut().filter(|write| write.from.is_none()) {
            let bytes = &old[write.data_offset..write.data_offset + write.bytes];
            write.data_offset = append(&mut self.data, bytes);
        }
    }

    /// Returns the writes of each step, sorted by resource. Call [`Writes::resolve`] first.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[Write]> {
        self.list.chunk_by(|one, next| one.step == next.step)
    }

    /// Removes all writes after their frame was submitted.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.data.clear();
        self.ends.clear();
    }
}

/// Updates the first possible steps of the buffers that a write or copy accesses.
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

/// Appends bytes at an aligned offset: copies between buffers and images need multiples of the texel size.
fn append(data: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let offset = data.len().next_multiple_of(16);
    data.resize(offset, 0);
    data.extend_from_slice(bytes);
    offset
}
