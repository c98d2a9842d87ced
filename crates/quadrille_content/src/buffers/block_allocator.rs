//! Allocator of blocks in a device buffer without a CPU copy.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::RowValue;
use quadrille::vulkan::Error;

use crate::buffers::range_allocator::RangeAllocator;

/// Constant part of the tolerated unused bytes; the rest is proportional to the used bytes.
const SLACK: usize = 1 << 20;

/// Least buffer size in bytes.
const MIN_BUFFER_BYTES: usize = 4 << 10;

/// Handle of a block of items; stable while [`BlockAllocator::compact`] moves the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockKey(u32);

#[derive(Clone, Debug)]
struct Block {
    range: Range<u32>,
    /// Index of the first item in the device buffer; `None` before the upload.
    on_device: Option<u32>,
}

/// Allocator of blocks of items in one device buffer. The CPU copy of a block is dropped on upload; moves and
/// reallocations are copies on the device.
///
/// The capacity is at most 1.5 times the blocks' size plus 2 MiB. Moves copy amortized O(bytes added and removed).
pub struct BlockAllocator<T> {
    ranges: RangeAllocator,
    /// Blocks by key; `None`: free key.
    blocks: Vec<Option<Block>>,
    free: Vec<u32>,
    /// Items to be uploaded, by key.
    pending: BTreeMap<u32, Vec<T>>,
    /// Total number of items in blocks.
    live: u32,
    /// Capacity for blocks, in items.
    capacity: u32,
    /// Further items reserved after the blocks.
    tail: u32,
    /// Whether blocks were moved, which requires a new device buffer.
    has_moved: bool,
}

impl<T> Default for BlockAllocator<T> {
    fn default() -> Self {
        Self {
            ranges: RangeAllocator::default(),
            blocks: Vec::new(),
            free: Vec::new(),
            pending: BTreeMap::new(),
            live: 0,
            capacity: 0,
            tail: 0,
            has_moved: false,
        }
    }
}

impl<T: Pod + RowValue> BlockAllocator<T> {
    /// Items that fit in `bytes`.
    const fn items(bytes: usize) -> u32 {
        bytes.div_ceil(size_of::<T>()) as u32
    }

    /// Adds a block; `None` if there would be more than `i32::MAX` items, the range of Vulkan's `vertexOffset`.
    pub fn add(&mut self, items: Vec<T>) -> Option<BlockKey> {
        let most = i32::MAX.cast_unsigned() - self.ranges.end();
        let count = u32::try_from(items.len()).ok().filter(|&it| it <= most)?;
        let range = self.ranges.allocate(count);
        self.live += count;
        let block = Some(Block {
            range,
            on_device: None,
        });
        let key = match self.free.pop() {
            Some(key) => {
                self.blocks[key as usize] = block;
                key
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        };
        if !items.is_empty() {
            self.pending.insert(key, items);
        }
        Some(BlockKey(key))
    }

    /// Removes a block.
    pub fn remove(&mut self, BlockKey(key): BlockKey) {
        if let Some(block) = self.blocks[key as usize].take() {
            self.live -= block.range.len() as u32;
            self.ranges.free(block.range);
            self.pending.remove(&key);
            self.free.push(key);
        }
    }

    /// Returns the range of a block in the buffer, valid until [`Self::compact`].
    pub fn range(&self, BlockKey(key): BlockKey) -> Range<u32> {
        let block = self.blocks[key as usize].as_ref();
        block.map_or(0..0, |block| block.range.clone())
    }

    /// Capacity for blocks, in items.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Reserves at least `items` after the blocks, and not many more.
    pub fn reserve_tail(&mut self, items: u32) {
        let spare = self.tail.saturating_sub(items);
        if self.tail < items || spare > items / 2 + Self::items(SLACK) {
            self.tail = items + items / 4;
            self.has_moved = true;
        }
    }

    /// Compacts blocks if fragmentation is too high or the capacity is too small or too large. Returns whether any
    /// range, or the capacity, has changed.
    pub fn compact(&mut self) -> bool {
        let (live, end) = (self.live, self.ranges.end());
        let slack = Self::items(SLACK);
        let has_gaps = end - live > live / 4 + slack;
        let has_excess = self.capacity.saturating_sub(live) > live / 2 + 2 * slack;
        if end <= self.capacity && !has_gaps && !has_excess {
            return false;
        }
        let mut keys: Vec<_> = (0..self.blocks.len()).collect();
        keys.retain(|&key| self.blocks[key].is_some());
        keys.sort_unstable_by_key(|&key| self.blocks[key].as_ref().map(|it| it.range.start));
        self.ranges = RangeAllocator::default();
        for key in keys {
            if let Some(block) = &mut self.blocks[key] {
                block.range = self.ranges.allocate(block.range.len() as u32);
            }
        }
        self.capacity = match live < slack {
            true => live.next_power_of_two().max(Self::items(MIN_BUFFER_BYTES)),
            false => live + live / 4,
        };
        self.has_moved = true;
        true
    }

    /// Uploads pending blocks. The buffer is replaced if its capacity has changed or blocks were moved.
    ///
    /// # Errors
    /// The new buffer cannot be created.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let wanted = u64::from(self.capacity + self.tail) * size_of::<T>() as u64;
        if self.has_moved || buffer.bytes() < wanted {
            let larger = gpu.create_buffer(&BufferDesc {
                bytes: wanted.max(MIN_BUFFER_BYTES as u64),
                ..buffer.desc().clone()
            })?;
            self.copy(uploads, buffer, &larger);
            *buffer = larger;
            self.has_moved = false;
        }
        for (key, items) in std::mem::take(&mut self.pending) {
            if let Some(block) = &mut self.blocks[key as usize] {
                let offset = u64::from(block.range.start) * size_of::<T>() as u64;
                uploads.write_buffer(buffer, offset, bytemuck::cast_slice(&items));
                block.on_device = Some(block.range.start);
            }
        }
        Ok(())
    }

    /// Records copies of all uploaded blocks to a new buffer.
    fn copy(&mut self, uploads: &mut Uploads, from: &GpuBuffer, to: &GpuBuffer) {
        let bytes = |items: u32| u64::from(items) * size_of::<T>() as u64;
        if self.pending.is_empty() && self.live == 0 {
            // Passes may read an empty buffer.
            uploads.write_buffer(to, 0, &[0; 64]);
        }
        let mut runs = self.moves().into_iter().peekable();
        while let Some((old, mut new)) = runs.next() {
            while let Some((_, next)) =
                runs.next_if(|(from, to)| new.end == to.start && old + new.len() as u32 == *from)
            {
                new.end = next.end;
            }
            let count = new.len() as u32;
            uploads.copy_buffer((from, bytes(old)), (to, bytes(new.start)), bytes(count));
        }
    }

    /// Returns the old start and the new range of all uploaded blocks, ordered by new range.
    fn moves(&mut self) -> Vec<(u32, Range<u32>)> {
        let blocks = self.blocks.iter_mut().flatten();
        let mut moves: Vec<_> = blocks
            .filter_map(|block| {
                let old = block.on_device?;
                block.on_device = Some(block.range.start);
                (!block.range.is_empty()).then(|| (old, block.range.clone()))
            })
            .collect();
        moves.sort_unstable_by_key(|(_, new)| new.start);
        moves
    }
}

#[cfg(test)]
mod tests;
