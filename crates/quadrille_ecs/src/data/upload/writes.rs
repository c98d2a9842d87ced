//! Writes that wait for the next frame.

use std::ops::Range;

use quadrille_sync::ResourceId;
use quadrille_vulkan::{GpuBuffer, Handle, ImageRegion};

/// Less data than this is not worth looking through.
const SMALL: usize = 1 << 20;

/// One write that waits.
pub(super) struct Write {
    /// What is written.
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

impl Write {
    /// The bytes of a buffer that are written.
    fn range(&self) -> Range<u64> {
        self.to_offset..self.to_offset + self.bytes as u64
    }

    /// Whether it copies from this buffer.
    fn reads(&self, buffer: ResourceId) -> bool {
        self.from.as_ref().is_some_and(|from| from.id() == buffer)
    }
}

/// All writes that wait, and their bytes.
#[derive(Default)]
pub(super) struct Writes {
    pub(super) list: Vec<Write>,
    pub(super) data: Vec<u8>,
    /// How many bytes there may be before those that no write uses any more are looked for.
    limit: usize,
    /// Some of them are copies between buffers.
    has_copies: bool,
}

impl Writes {
    /// Adds bytes for a buffer, from an offset on.
    pub(super) fn push_bytes(&mut self, to: Handle, to_offset: u64, bytes: &[u8]) {
        let step = self.behind_reads(to.id());
        self.cut(&to, to_offset..to_offset + bytes.len() as u64, step);
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
        let writes = self.list.iter().filter(|old| old.to.id() == from.id());
        let behind_writes = writes.map(|old| old.step + 1).max().unwrap_or(0);
        let step = behind_writes.max(self.behind_reads(to.id()));
        self.cut(&to, to_offset..to_offset + bytes, step);
        self.has_copies = true;
        self.list.push(Write {
            to,
            to_offset,
            region: None,
            from: Some(from.clone()),
            data_offset: data_offset as usize,
            bytes: bytes as usize,
            step,
        });
    }

    /// The first step behind all copies from a buffer.
    fn behind_reads(&self, buffer: ResourceId) -> u32 {
        if !self.has_copies {
            return 0;
        }
        let reads = self.list.iter().filter(|old| old.reads(buffer));
        reads.map(|old| old.step + 1).max().unwrap_or(0)
    }

    /// Adds texels for a part of an image. Copies of one pass are in no order among themselves, so
    /// what writes the same texels again comes one step later.
    pub(super) fn push_texels(&mut self, to: Handle, region: ImageRegion, bytes: &[u8]) {
        let covers = |old: &ImageRegion| region.contains(old);
        self.list
            .retain(|old| old.to.id() != to.id() || !old.region.as_ref().is_some_and(covers));
        let overlaps = |old: &&Write| {
            let shares = |old: &ImageRegion| region.overlaps(old);
            old.to.id() == to.id() && old.region.as_ref().is_some_and(shares)
        };
        let steps = self.list.iter().filter(overlaps).map(|old| old.step + 1);
        let step = steps.max().unwrap_or(0);
        self.push(to, 0, Some(region), step, bytes);
    }

    fn push(
        &mut self,
        to: Handle,
        to_offset: u64,
        region: Option<ImageRegion>,
        step: u32,
        bytes: &[u8],
    ) {
        if self.data.len() > self.limit.max(SMALL) {
            let waiting = self.list.iter().filter(|write| write.from.is_none());
            let used: usize = waiting.map(|write| write.bytes).sum();
            if used < self.data.len() / 2 {
                self.compact();
            }
            self.limit = 2 * self.data.len();
        }
        let data_offset = append(&mut self.data, bytes);
        self.list.push(Write {
            to,
            to_offset,
            region,
            from: None,
            data_offset,
            bytes: bytes.len(),
            step,
        });
    }

    /// Leaves out what waits for a part of a buffer that is written again, from a step on: copies read what
    /// earlier ones write.
    fn cut(&mut self, to: &Handle, again: Range<u64>, from_step: u32) {
        let is_cut = |old: &mut Write| {
            old.step >= from_step
                && old.to.id() == to.id()
                && old.range().start < again.end
                && again.start < old.range().end
        };
        let cut: Vec<Write> = self.list.extract_if(.., is_cut).collect();
        for old in cut {
            for rest in left_of(old.range(), &again) {
                let skipped = (rest.start - old.to_offset) as usize;
                self.list.push(Write {
                    to: old.to.clone(),
                    to_offset: rest.start,
                    region: None,
                    from: old.from.clone(),
                    data_offset: old.data_offset + skipped,
                    bytes: (rest.end - rest.start) as usize,
                    step: old.step,
                });
            }
        }
    }

    /// Takes out bytes that no write uses any more: they would pile up while frames fail.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.data);
        for write in self.list.iter_mut().filter(|write| write.from.is_none()) {
            let bytes = &old[write.data_offset..write.data_offset + write.bytes];
            write.data_offset = append(&mut self.data, bytes);
        }
    }

    /// The writes step by step.
    pub(super) fn steps(&self) -> impl Iterator<Item = impl Iterator<Item = &Write> + Clone> {
        let last = self.list.iter().map(|write| write.step + 1).max();
        let of = |step| self.list.iter().filter(move |write| write.step == step);
        (0..last.unwrap_or(0)).map(of)
    }

    /// All of them are done.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.data.clear();
        self.has_copies = false;
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

/// What is left of a range without another: a part before it and a part behind it, if any.
pub(super) fn left_of(range: Range<u64>, without: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let before = range.start..range.end.min(without.start);
    let behind = range.start.max(without.end)..range.end;
    [before, behind].into_iter().filter(|part| !part.is_empty())
}
