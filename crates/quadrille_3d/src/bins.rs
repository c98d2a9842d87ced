//! Which instances are drawn with which mesh and pipeline: lists that change only when an entity,
//! its mesh or its material does.
//!
//! A bin is what is drawn with one mesh and one pipeline. Its instances lie in chunks of at most
//! [`CHUNK`]; for each view `cull_3d` makes one indirect draw of each chunk. Within a chunk what is
//! seen keeps its order, so that pictures do not depend on how threads of the device run.

use std::collections::BTreeMap;
use std::ops::Range;

use bevy_platform::collections::HashMap;
use bytemuck::{Pod, Zeroable};
use quadrille_content::{MeshPlace, Shape};

use crate::cull::{CAMERAS, SHADOWS};
use crate::scene::PipelineKey;
use crate::table::{List, Table};

/// As many instances as an indirect draw has at most.
pub(crate) const CHUNK: u32 = 256;

/// With what an instance is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BinKey {
    pub(crate) pipeline: PipelineKey,
    pub(crate) mesh: MeshPlace,
}

/// A chunk as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct ChunkRow {
    /// Of the table of members.
    first_member: u32,
    /// How many there are.
    count: u32,
    index_count: u32,
    first_index: u32,
    base_vertex: i32,
    /// Kinds of views that it is culled for: [`CAMERAS`], [`SHADOWS`].
    kinds: u32,
    unused: [u32; 2],
}

/// What is known of a chunk beside its row.
struct Chunk {
    key: BinKey,
    /// There is room for two to the power of this.
    class: usize,
    /// Its place among those of its pipeline.
    rank: u32,
}

/// Where an instance is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    chunk: u32,
    at: u32,
}

/// The chunks that are drawn with one pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) pipeline: PipelineKey,
    /// Places among all chunks.
    pub(crate) chunks: Range<u32>,
}

/// All bins.
#[derive(Default)]
pub(crate) struct Bins {
    /// The chunks of each bin; all but the last are full.
    bins: HashMap<BinKey, Vec<u32>>,
    chunks: Vec<Chunk>,
    pub(crate) chunk_rows: Table<ChunkRow>,
    /// Places in the table of instances, chunk by chunk.
    pub(crate) members: Table<u32>,
    /// By place in the table of instances.
    spots: Vec<Option<Spot>>,
    /// The chunks of each pipeline.
    pipelines: BTreeMap<PipelineKey, Vec<u32>>,
    /// Chunks in the order of draws.
    pub(crate) order: List<u32>,
    is_reordered: bool,
    /// Room in the table of members that nothing uses, by class.
    free: [Vec<u32>; CHUNK.ilog2() as usize + 1],
}

impl Bins {
    /// Puts an instance where it belongs, or, without a key, nowhere.
    pub(crate) fn put(&mut self, instance: u32, key: Option<BinKey>) {
        let at = instance as usize;
        if at >= self.spots.len() {
            self.spots.resize(at + 1, None);
        }
        if let Some(spot) = self.spots[at] {
            if key == Some(self.chunks[spot.chunk as usize].key) {
                return;
            }
            self.take_out(spot);
            self.spots[at] = None;
        }
        if let Some(key) = key {
            let chunk = self.with_room(key);
            let row = self.chunk_rows.rows()[chunk as usize];
            self.spots[at] = Some(Spot {
                chunk,
                at: row.count,
            });
            self.members.put(row.first_member + row.count, instance);
            self.chunk_rows.change(chunk, |row| row.count += 1);
        }
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.chunk_rows.begin_anew();
        self.members.begin_anew();
        self.order.begin_anew();
    }

    /// How many chunks there are.
    pub(crate) fn len(&self) -> u32 {
        self.order.now.len() as u32
    }

    /// Brings the order of chunks up to date, and lists what is drawn with which pipeline.
    pub(crate) fn list(&mut self, groups: &mut Vec<Group>) {
        if !std::mem::take(&mut self.is_reordered) {
            return;
        }
        groups.clear();
        self.order.now.clear();
        for (&pipeline, chunks) in &self.pipelines {
            let first = self.len();
            self.order.now.extend(chunks);
            groups.push(Group {
                pipeline,
                chunks: first..first + chunks.len() as u32,
            });
        }
    }

    /// The bins that are seen through, with their instances, in no order.
    pub(crate) fn transparent(&self) -> impl Iterator<Item = (BinKey, &[u32])> {
        let transparent = |key: &PipelineKey| key.mix.is_transparent();
        let pipelines = self
            .pipelines
            .iter()
            .filter(move |(key, _)| transparent(key));
        pipelines.flat_map(|(_, chunks)| chunks).map(|&chunk| {
            let row = &self.chunk_rows.rows()[chunk as usize];
            let first = row.first_member as usize;
            let members = &self.members.rows()[first..first + row.count as usize];
            (self.chunks[chunk as usize].key, members)
        })
    }

    /// Fills the place of a member with the last one of the bin.
    fn take_out(&mut self, spot: Spot) {
        let key = self.chunks[spot.chunk as usize].key;
        let Some(&last) = self.bins.get(&key).and_then(|chunks| chunks.last()) else {
            unreachable!("a member's bin has chunks");
        };
        let row = self.chunk_rows.rows()[last as usize];
        let moved = self.members.rows()[(row.first_member + row.count - 1) as usize];
        let hole = self.chunk_rows.rows()[spot.chunk as usize].first_member + spot.at;
        self.members.set(hole, moved);
        self.spots[moved as usize] = Some(spot);
        self.chunk_rows.change(last, |row| row.count -= 1);
        if row.count == 1 {
            self.remove_chunk(last);
        }
    }

    /// A chunk of a bin that has room for one more.
    fn with_room(&mut self, key: BinKey) -> u32 {
        let last = self
            .bins
            .get(&key)
            .and_then(|chunks| chunks.last().copied());
        if let Some(last) = last {
            let (row, class) = (
                self.chunk_rows.rows()[last as usize],
                self.chunks[last as usize].class,
            );
            if row.count < 1 << class {
                return last;
            }
            if row.count < CHUNK {
                self.grow(last, row, class);
                return last;
            }
        }
        self.add_chunk(key)
    }

    /// Moves the members of a chunk to where there is room for twice as many.
    fn grow(&mut self, chunk: u32, row: ChunkRow, class: usize) {
        let first_member = self.room(class + 1);
        for at in 0..row.count {
            let member = self.members.rows()[(row.first_member + at) as usize];
            self.members.set(first_member + at, member);
        }
        self.free[class].push(row.first_member);
        self.chunk_rows
            .change(chunk, |row| row.first_member = first_member);
        self.chunks[chunk as usize].class = class + 1;
    }

    fn add_chunk(&mut self, key: BinKey) -> u32 {
        let pipeline = key.pipeline;
        let cameras = if pipeline.mix.is_transparent() {
            0
        } else {
            CAMERAS
        };
        let shadows = if pipeline.shape == Shape::Triangles {
            SHADOWS
        } else {
            0
        };
        let first_member = self.room(0);
        let chunk = self.chunk_rows.add(ChunkRow {
            first_member,
            count: 0,
            index_count: key.mesh.index_count,
            first_index: key.mesh.first_index,
            base_vertex: key.mesh.base_vertex,
            kinds: cameras | shadows,
            unused: [0; 2],
        });
        let of_pipeline = self.pipelines.entry(pipeline).or_default();
        let known = Chunk {
            key,
            class: 0,
            rank: of_pipeline.len() as u32,
        };
        of_pipeline.push(chunk);
        match self.chunks.get_mut(chunk as usize) {
            Some(old) => *old = known,
            None => self.chunks.push(known),
        }
        self.bins.entry(key).or_default().push(chunk);
        self.is_reordered = true;
        chunk
    }

    /// Forgets the last chunk of a bin, which is empty.
    fn remove_chunk(&mut self, chunk: u32) {
        let Chunk { key, class, rank } = self.chunks[chunk as usize];
        if let Some(chunks) = self.bins.get_mut(&key) {
            chunks.pop();
            if chunks.is_empty() {
                self.bins.remove(&key);
            }
        }
        if let Some(chunks) = self.pipelines.get_mut(&key.pipeline) {
            chunks.swap_remove(rank as usize);
            if let Some(&moved) = chunks.get(rank as usize) {
                self.chunks[moved as usize].rank = rank;
            }
        }
        let first_member = self.chunk_rows.rows()[chunk as usize].first_member;
        self.free[class].push(first_member);
        self.chunk_rows.remove(chunk);
        self.is_reordered = true;
    }

    /// Room for two to the power of `class` members.
    fn room(&mut self, class: usize) -> u32 {
        self.free[class].pop().unwrap_or_else(|| {
            let first = self.members.rows().len() as u32;
            self.members.put(first + (1 << class) - 1, 0);
            first
        })
    }
}

#[cfg(test)]
mod tests;
