//! Tables on the device: rows stay where they are, and only those that changed are sent.

use std::ops::Range;

use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Sharing, Uploads};
use quadrille::vulkan::Error;

/// Rows between two changed ones that are sent with them, rather than beginning another copy.
const GAP: u32 = 16;

/// The rows of a table, and which of them the device has.
pub(crate) struct Table<T> {
    rows: Vec<T>,
    free: Vec<u32>,
    /// Places of rows that changed since they were sent, in any order.
    changed: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
            changed: Vec::new(),
        }
    }
}

impl<T: Pod> Table<T> {
    /// Adds a row where there is room, and returns where.
    pub(crate) fn add(&mut self, row: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.set(place, row);
            return place;
        }
        self.rows.push(row);
        let place = self.rows.len() as u32 - 1;
        self.changed.push(place);
        place
    }

    /// Changes a row.
    pub(crate) fn set(&mut self, place: u32, row: T) {
        if let Some(old) = self.rows.get_mut(place as usize)
            && bytemuck::bytes_of(old) != bytemuck::bytes_of(&row)
        {
            *old = row;
            self.changed.push(place);
        }
    }

    /// Changes part of a row.
    pub(crate) fn change(&mut self, place: u32, change: impl FnOnce(&mut T)) {
        if let Some(row) = self.rows.get(place as usize) {
            let mut row = *row;
            change(&mut row);
            self.set(place, row);
        }
    }

    /// Makes room where a row was.
    pub(crate) fn remove(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.changed.clear();
        self.changed.extend(0..self.rows.len() as u32);
    }

    /// Sends what changed; a larger buffer takes the place of one that is too small.
    pub(crate) fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes = size_of_val(self.rows.as_slice()) as u64;
        if buffer.bytes() < bytes {
            *buffer = table_buffer(gpu, buffer.name(), bytes)?;
            self.begin_anew();
        }
        self.changed.sort_unstable();
        for run in runs(&self.changed) {
            let offset = run.start as usize * size_of::<T>();
            let rows = &self.rows[run.start as usize..run.end as usize];
            uploads.write_buffer(buffer, offset as u64, bytemuck::cast_slice(rows));
        }
        self.changed.clear();
        Ok(())
    }
}

/// Ranges that cover some places, which are sorted.
fn runs(places: &[u32]) -> impl Iterator<Item = Range<u32>> {
    let mut places = places.iter().copied().peekable();
    std::iter::from_fn(move || {
        let first = places.next()?;
        let mut last = first;
        while let Some(next) = places.next_if(|&next| next <= last + GAP) {
            last = next;
        }
        Some(first..last + 1)
    })
}

/// A list that each frame rebuilds. It is uploaded when it differs from the previous frame's.
pub(crate) struct List<T> {
    pub(crate) now: Vec<T>,
    sent: Vec<T>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            now: Vec::new(),
            sent: Vec::new(),
        }
    }
}

impl<T: Pod> List<T> {
    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.sent.clear();
    }

    /// Sends the list, unless the device has it.
    pub(crate) fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.now);
        if bytes == bytemuck::cast_slice::<_, u8>(&self.sent) {
            return Ok(());
        }
        if buffer.bytes() < bytes.len() as u64 {
            *buffer = table_buffer(gpu, buffer.name(), bytes.len() as u64)?;
        }
        if !bytes.is_empty() {
            uploads.write_buffer(buffer, 0, bytes);
        }
        self.sent.clone_from(&self.now);
        Ok(())
    }
}

/// A buffer for at least so many bytes of rows. It is written on one queue and read on another in
/// most frames, so it belongs to both.
pub(crate) fn table_buffer(gpu: &GpuDevice, name: &str, bytes: u64) -> Result<GpuBuffer, Error> {
    let bytes = bytes.next_power_of_two().max(1 << 12);
    let desc = BufferDesc::storage(name, bytes).with_sharing(Sharing::Concurrent);
    gpu.create_buffer(&desc)
}

#[cfg(test)]
mod tests;
