//! Transforms of instances before they moved in a frame, for motion vectors.

use bytemuck::Zeroable as _;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::affine::AffineRows;
use quadrille_content::warnings::is_finite;

use crate::scene::rows::PreviousInstanceRow;
use crate::tables::table::Table;

/// Previous transforms by instance. A row is written only when its instance moves: its stamp is that of the frame, so that
/// the row counts in no later one.
#[derive(Default)]
pub(super) struct PreviousTransforms {
    table: Table<PreviousInstanceRow>,
    /// Stamp of the frame; `None` while no camera has motion vectors.
    frame: Option<u32>,
}

impl PreviousTransforms {
    /// Begins a frame with this stamp; `None` if no camera has motion vectors.
    pub(super) fn begin(&mut self, frame: Option<u32>) {
        if frame.is_none() && self.frame.is_some() {
            self.table = Table::default();
        }
        self.frame = frame;
    }

    /// Stamp of the frame; `None` if no camera has motion vectors.
    pub(super) fn frame(&self) -> Option<u32> {
        self.frame
    }

    /// Forgets all transforms, after a lost device.
    pub(super) fn reset(&mut self) {
        self.table = Table::default();
    }

    /// Notes the transform of an instance before it moves.
    pub(super) fn note(&mut self, index: u32, world_from_local: AffineRows) {
        let Some(stamp) = self.frame else {
            return;
        };
        if !is_finite(world_from_local.as_flattened()) {
            return;
        }
        // An instance that moved in a frame which failed moves from the last submitted one.
        let is_noted = |row: &PreviousInstanceRow| row.stamp == stamp;
        if !self.table.rows().get(index as usize).is_some_and(is_noted) {
            let row = PreviousInstanceRow {
                world_from_local,
                stamp,
                ..PreviousInstanceRow::zeroed()
            };
            self.table.put(index, row);
        }
    }

    /// Forgets the transform of the instance that had this index before.
    pub(super) fn forget(&mut self, index: u32) {
        self.table.change(index, |row| row.stamp = 0);
    }

    /// Uploads changed rows for this number of instances.
    pub(super) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
        instances: usize,
    ) -> Result<(), Error> {
        if self.frame.is_none() {
            return Ok(());
        }
        // Shaders read a row for each instance.
        if self.table.rows().len() < instances {
            let last = instances as u32 - 1;
            self.table.put(last, PreviousInstanceRow::zeroed());
        }
        self.table.upload(gpu, uploads, buffer)
    }
}

#[cfg(test)]
mod tests;
