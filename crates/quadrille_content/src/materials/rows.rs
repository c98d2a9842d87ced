//! Rows of all materials of each type, in one buffer.

use std::ops::Range;

use bevy_asset::Handle;
use bevy_image::Image;
use bevy_platform::collections::HashSet;
use quadrille::material::{BindingValues, MaterialBindingKind};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::buffers::buffer_vec::grow_buffer;
use crate::materials::layout::MaterialLayout;
use crate::materials::shader::fits_row;

/// Alignment of each type's rows: the largest `minStorageBufferOffsetAlignment`.
const ALIGNMENT: u64 = 256;

/// Rows of the materials of one type.
#[derive(Debug)]
pub struct MaterialRows {
    layout: MaterialLayout,
    bytes: Vec<u8>,
    free: Vec<u32>,
    /// Rows with pending uploads.
    dirty: HashSet<u32>,
    /// Byte range of the rows in the buffer of all types, with spare space at its end.
    range: Range<u64>,
}

impl MaterialRows {
    /// An empty table.
    pub fn new(layout: MaterialLayout) -> Self {
        Self {
            layout,
            bytes: Vec::new(),
            free: Vec::new(),
            dirty: HashSet::default(),
            range: 0..0,
        }
    }

    /// Layout of a row.
    pub fn layout(&self) -> &MaterialLayout {
        &self.layout
    }

    fn stride(&self) -> usize {
        self.layout.stride as usize
    }

    fn count(&self) -> u32 {
        (self.bytes.len() / self.stride()) as u32
    }

    /// Adds a row. Its contents are undefined until [`Self::write`].
    pub fn add(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let row = self.count();
            self.bytes.resize(self.bytes.len() + self.stride(), 0);
            row
        })
    }

    /// Removes a row.
    pub fn remove(&mut self, row: u32) {
        self.free.push(row);
    }

    /// Writes the values of a material. `index` returns the index that the row stores for a texture or sampler and its
    /// image.
    pub fn write(
        &mut self,
        row: u32,
        values: &BindingValues,
        mut index: impl FnMut(MaterialBindingKind, Option<&Handle<Image>>) -> u32,
    ) {
        let stride = self.stride();
        let start = row as usize * stride;
        let bytes = &mut self.bytes[start..start + stride];
        for (&offset, value) in self.layout.offsets.iter().zip(values.uniforms()) {
            let offset = offset as usize;
            bytes[offset..offset + value.len()].copy_from_slice(value);
        }
        let indices = &mut bytes[self.layout.indices_offset as usize..];
        let kinds = self.layout.bindings.iter().map(|binding| binding.kind);
        let kinds = kinds.filter(|kind| !matches!(kind, MaterialBindingKind::Uniform { .. }));
        let images = kinds.zip(values.images());
        for (place, (kind, image)) in indices.chunks_exact_mut(4).zip(images) {
            // Others are bound by themselves.
            let number = match fits_row(kind) {
                true => index(kind, image),
                false => 0,
            };
            place.copy_from_slice(&number.to_ne_bytes());
        }
        self.dirty.insert(row);
    }

    /// Byte range of the rows in the buffer of all types; `None` without rows.
    pub fn range(&self) -> Option<Range<u64>> {
        let bytes = self.bytes.len() as u64;
        let start = self.range.start;
        (bytes > 0).then(|| start..start + bytes)
    }

    /// Marks all rows as not uploaded, for a new device.
    pub fn mark_all_dirty(&mut self) {
        self.range = 0..0;
    }

    fn upload(&mut self, uploads: &mut Uploads, buffer: &GpuBuffer) {
        if self.dirty.is_empty() {
            return;
        }
        let stride = self.stride();
        let mut rows: Vec<u32> = self.dirty.drain().collect();
        rows.sort_unstable();
        for run in rows.chunk_by(|a, b| a + 1 == *b) {
            let [Some(&first), Some(&last)] = [run.first(), run.last()] else {
                continue;
            };
            let bytes = first as usize * stride..(last as usize + 1) * stride;
            let offset = self.range.start + bytes.start as u64;
            uploads.write_buffer(buffer, offset, &self.bytes[bytes]);
        }
    }
}

/// Uploads changed rows of all types. If the rows of a type exceed its range, all ranges are reassigned and all rows
/// are uploaded.
///
/// # Errors
/// The larger buffer cannot be created.
pub fn upload_material_rows(
    types: &mut [MaterialRows],
    gpu: &GpuDevice,
    uploads: &mut Uploads,
    buffer: &mut GpuBuffer,
) -> Result<(), Error> {
    let fits = |it: &MaterialRows| it.bytes.len() as u64 <= it.range.end - it.range.start;
    if !types.iter().all(fits) {
        let mut end = 0;
        for rows in &mut *types {
            let bytes = (rows.bytes.len() as u64).next_power_of_two();
            rows.range = end..end + bytes.max(ALIGNMENT);
            end = rows.range.end;
            rows.dirty.extend(0..rows.count());
        }
        grow_buffer(gpu, buffer, end)?;
    }
    for rows in types {
        rows.upload(uploads, buffer);
    }
    Ok(())
}
