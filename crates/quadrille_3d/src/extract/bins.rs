//! Retained bins of instances by mesh and pipeline.
//!
//! A bin has the instances of one mesh and one pipeline, in batches of at most [`MAX_BATCH_INSTANCES`]. `cull_3d`
//! writes one indirect draw per view and batch, and keeps the order of visible instances, so that images are
//! deterministic.

use std::collections::BTreeMap;

use bevy_platform::collections::HashMap;
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::meshes::PrimitiveKind;

use crate::constants::{CAMERAS, MAX_BATCH_INSTANCES, SHADOWS};
use crate::scene::keys::{BinKey, PipelineKey};
use crate::scene::lists::BatchSet;
use crate::scene::rows::BatchRow;
use crate::tables::table::Table;

/// CPU-side state of a batch.
struct Batch {
    key: BinKey,
    /// Capacity, as a power of two.
    size_class: usize,
    /// Index among the batches of its pipeline.
    rank: u32,
}

/// Batch of an instance, and its index there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InstanceLocation {
    batch: u32,
    at: u32,
}

/// All bins.
#[derive(Default)]
pub(crate) struct Bins {
    /// Batches of each bin; all but the last are full.
    bins: HashMap<BinKey, Vec<u32>>,
    batches: Vec<Batch>,
    pub(crate) batch_rows: Table<BatchRow>,
    /// Instance indices, batch by batch.
    pub(crate) batch_instances: Table<u32>,
    /// By instance index.
    locations: Vec<Option<InstanceLocation>>,
    /// Batches of each pipeline.
    pipelines: BTreeMap<PipelineKey, Vec<u32>>,
    /// Batches in the order of draws.
    pub(crate) order: RawBufferVec<u32>,
    is_order_dirty: bool,
    /// Unused ranges of the table of batch instances, by size class.
    free: [Vec<u32>; MAX_BATCH_INSTANCES.ilog2() as usize + 1],
}

impl Bins {
    /// Moves an instance to the bin of `key`, or removes it without one.
    pub(crate) fn put(&mut self, instance: u32, key: Option<BinKey>) {
        let at = instance as usize;
        if at >= self.locations.len() {
            self.locations.resize(at + 1, None);
        }
        if let Some(location) = self.locations[at] {
            if key == Some(self.batches[location.batch as usize].key) {
                return;
            }
            self.remove_instance(location);
            self.locations[at] = None;
        }
        if let Some(key) = key {
            let batch = self.batch_with_room(key);
            let row = self.batch_rows.rows()[batch as usize];
            self.locations[at] = Some(InstanceLocation {
                batch,
                at: row.count,
            });
            self.batch_instances
                .put(row.first_batch_instance + row.count, instance);
            self.batch_rows.change(batch, |row| row.count += 1);
        }
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.batch_rows.mark_all_dirty();
        self.batch_instances.mark_all_dirty();
        self.order.mark_all_dirty();
    }

    /// Returns the number of batches.
    pub(crate) fn len(&self) -> u32 {
        self.order.len() as u32
    }

    /// Updates the order of batches, and lists the batch sets of each pipeline.
    pub(crate) fn build_batch_sets(&mut self, batch_sets: &mut Vec<BatchSet>) {
        if !std::mem::take(&mut self.is_order_dirty) {
            return;
        }
        batch_sets.clear();
        self.order.clear();
        for (&pipeline, batches) in &self.pipelines {
            let first = self.len();
            self.order.extend(batches);
            batch_sets.push(BatchSet {
                pipeline,
                batches: first..first + batches.len() as u32,
            });
        }
    }

    /// Whether there are instances with specular transmission.
    pub(crate) fn has_transmissive(&self) -> bool {
        let mut pipelines = self.pipelines.iter();
        pipelines.any(|(key, batches)| key.is_transmissive && !batches.is_empty())
    }

    /// Returns the bins of some pipelines with their instances, in no order.
    pub(crate) fn of_pipelines(
        &self,
        is_listed: impl Fn(PipelineKey) -> bool,
    ) -> impl Iterator<Item = (BinKey, &[u32])> {
        let pipelines = self
            .pipelines
            .iter()
            .filter(move |(key, _)| is_listed(**key));
        pipelines.flat_map(|(_, batches)| batches).map(|&batch| {
            let row = &self.batch_rows.rows()[batch as usize];
            let first = row.first_batch_instance as usize;
            let batch_instances = &self.batch_instances.rows()[first..first + row.count as usize];
            (self.batches[batch as usize].key, batch_instances)
        })
    }

    /// Replaces an instance by the last one of the bin.
    fn remove_instance(&mut self, location: InstanceLocation) {
        let key = self.batches[location.batch as usize].key;
        let Some(&last) = self.bins.get(&key).and_then(|batches| batches.last()) else {
            unreachable!("the bin of an instance has batches");
        };
        let row = self.batch_rows.rows()[last as usize];
        let moved =
            self.batch_instances.rows()[(row.first_batch_instance + row.count - 1) as usize];
        let freed_index =
            self.batch_rows.rows()[location.batch as usize].first_batch_instance + location.at;
        self.batch_instances.set(freed_index, moved);
        self.locations[moved as usize] = Some(location);
        self.batch_rows.change(last, |row| row.count -= 1);
        if row.count == 1 {
            self.remove_batch(last);
        }
    }

    /// Returns a batch of a bin with capacity for one more instance.
    fn batch_with_room(&mut self, key: BinKey) -> u32 {
        let last = self
            .bins
            .get(&key)
            .and_then(|batches| batches.last().copied());
        if let Some(last) = last {
            let (row, size_class) = (
                self.batch_rows.rows()[last as usize],
                self.batches[last as usize].size_class,
            );
            if row.count < 1 << size_class {
                return last;
            }
            if row.count < MAX_BATCH_INSTANCES {
                self.grow(last, row, size_class);
                return last;
            }
        }
        self.add_batch(key)
    }

    /// Moves the instances of a batch to a range with twice the capacity.
    fn grow(&mut self, batch: u32, row: BatchRow, size_class: usize) {
        let first_batch_instance = self.allocate(size_class + 1);
        for at in 0..row.count {
            let batch_instance =
                self.batch_instances.rows()[(row.first_batch_instance + at) as usize];
            self.batch_instances
                .set(first_batch_instance + at, batch_instance);
        }
        self.free[size_class].push(row.first_batch_instance);
        self.batch_rows
            .change(batch, |row| row.first_batch_instance = first_batch_instance);
        self.batches[batch as usize].size_class = size_class + 1;
    }

    fn add_batch(&mut self, key: BinKey) -> u32 {
        let pipeline = key.pipeline;
        let cameras = if pipeline.blend_mode.is_transparent() {
            0
        } else {
            CAMERAS
        };
        let shadows = if pipeline.primitive == PrimitiveKind::Triangles {
            SHADOWS
        } else {
            0
        };
        let first_batch_instance = self.allocate(0);
        let batch = self.batch_rows.add(BatchRow {
            first_batch_instance,
            count: 0,
            index_count: key.mesh.index_count,
            first_index: key.mesh.first_index,
            base_vertex: key.mesh.base_vertex,
            kinds: cameras | shadows,
            unused: [0; 2],
        });
        let of_pipeline = self.pipelines.entry(pipeline).or_default();
        let known = Batch {
            key,
            size_class: 0,
            rank: of_pipeline.len() as u32,
        };
        of_pipeline.push(batch);
        match self.batches.get_mut(batch as usize) {
            Some(old) => *old = known,
            None => self.batches.push(known),
        }
        self.bins.entry(key).or_default().push(batch);
        self.is_order_dirty = true;
        batch
    }

    /// Removes the last, empty batch of a bin.
    fn remove_batch(&mut self, batch: u32) {
        let Batch {
            key,
            size_class,
            rank,
        } = self.batches[batch as usize];
        if let Some(batches) = self.bins.get_mut(&key) {
            batches.pop();
            if batches.is_empty() {
                self.bins.remove(&key);
            }
        }
        if let Some(batches) = self.pipelines.get_mut(&key.pipeline) {
            batches.swap_remove(rank as usize);
            if let Some(&moved) = batches.get(rank as usize) {
                self.batches[moved as usize].rank = rank;
            }
        }
        let first_batch_instance = self.batch_rows.rows()[batch as usize].first_batch_instance;
        self.free[size_class].push(first_batch_instance);
        self.batch_rows.remove(batch);
        self.is_order_dirty = true;
    }

    /// Allocates a range for `1 << size_class` instances.
    fn allocate(&mut self, size_class: usize) -> u32 {
        self.free[size_class].pop().unwrap_or_else(|| {
            let first = self.batch_instances.rows().len() as u32;
            self.batch_instances.put(first + (1 << size_class) - 1, 0);
            first
        })
    }
}

#[cfg(test)]
mod tests;
