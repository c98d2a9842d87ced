//! Dispatches of skinning, split by the limit of bound buffer ranges.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

use crate::constants::{BLOCK_VERTICES, NO_POSE, SKIN_WORKGROUP_SIZE};
use crate::tables::mesh_vertex::Vertex;

/// Alignment of bound ranges in bytes: the largest `minStorageBufferOffsetAlignment`.
const ALIGNMENT: u64 = 256;

/// Alignment of a dispatch's first job, in jobs: a multiple of [`ALIGNMENT`] bytes.
const JOB_ALIGNMENT: usize = 64;

const VERTEX_BYTES: u64 = size_of::<Vertex>() as u64;
const WORD_BYTES: u64 = size_of::<u32>() as u64;
const POSE_BYTES: u64 = size_of::<[f32; 4]>() as u64;
const JOB_BYTES: u64 = size_of::<Job>() as u64;

/// Job of `skin.wgsl`: an entity, or a part of its vertices. Offsets are relative to the ranges that its dispatch
/// binds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/skin.wgsl", "Job")]
pub(crate) struct Job {
    /// Number of workgroups of previous jobs in its dispatch.
    first_group: u32,
    /// First word of the mesh's vertices.
    read_from: u32,
    /// First word of the entity's vertices.
    write_to: u32,
    vertices: u32,
    /// First word of influences and morph targets.
    source: u32,
    /// Words of influences and morph targets per vertex.
    source_words: u32,
    /// First row of joints.
    joints: u32,
    /// First row of weights.
    weights: u32,
    /// Number of morph targets.
    target_count: u32,
    /// First row of previous positions; [`NO_POSE`] if they are not saved.
    save_to: u32,
    /// 1 if the entity's vertices have positions to save, else 0.
    has_previous: u32,
}

/// Buffer offsets of an entity, or of a part of its vertices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SkinRange {
    /// First vertex of the mesh.
    pub(super) from: u32,
    /// First vertex of the entity.
    pub(super) to: u32,
    pub(super) vertices: u32,
    /// First word of influences and morph targets.
    pub(super) source: u32,
    /// Words of influences and morph targets per vertex.
    pub(super) source_words: u32,
    /// Rows of joints, if any, then of weights.
    pub(super) pose: Range<u32>,
    /// First row of weights.
    pub(super) weights: u32,
    pub(super) has_joints: bool,
    pub(super) has_weights: bool,
    /// Number of morph targets.
    pub(super) targets: u32,
    /// First row of previous positions, if they are saved.
    pub(super) save_to: Option<u32>,
    /// Whether the entity's vertices were computed before.
    pub(super) has_previous: bool,
}

/// Ranges of the buffers in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BufferRanges {
    pub(super) from: Range<u64>,
    pub(super) to: Range<u64>,
    pub(super) sources: Range<u64>,
    pub(super) poses: Range<u64>,
}

/// Jobs and bound ranges of one dispatch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SkinDispatch {
    pub(super) ranges: BufferRanges,
    /// Range in the list of jobs.
    pub(super) jobs: Range<usize>,
    pub(super) workgroup_count: u32,
}

impl SkinDispatch {
    /// Returns the range of its jobs, in bytes.
    pub(super) fn job_byte_range(&self) -> Range<u64> {
        self.jobs.start as u64 * JOB_BYTES..self.jobs.end as u64 * JOB_BYTES
    }
}

/// Sizes of the buffers in bytes, and the maximum bound range (`maxStorageBufferRange`).
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferSizes {
    pub(super) vertices: u64,
    pub(super) sources: u64,
    pub(super) poses: u64,
    pub(super) max_range: u64,
}

impl SkinRange {
    fn ranges(&self) -> BufferRanges {
        let vertices = |first: u32| {
            let first = u64::from(first) * VERTEX_BYTES;
            first..first + u64::from(self.vertices) * VERTEX_BYTES
        };
        let source = u64::from(self.source) * WORD_BYTES;
        let words = u64::from(self.vertices) * u64::from(self.source_words);
        BufferRanges {
            from: vertices(self.from),
            to: vertices(self.to),
            sources: source..source + words * WORD_BYTES,
            poses: u64::from(self.pose.start) * POSE_BYTES..u64::from(self.pose.end) * POSE_BYTES,
        }
    }

    fn job(&self, first_group: u32, ranges: &BufferRanges) -> Job {
        let own = self.ranges();
        let words =
            |own: Range<u64>, all: &Range<u64>| ((own.start - all.start) / WORD_BYTES) as u32;
        let row = |row: u32, has: bool| match has {
            true => row - (ranges.poses.start / POSE_BYTES) as u32,
            false => NO_POSE,
        };
        Job {
            first_group,
            read_from: words(own.from, &ranges.from),
            write_to: words(own.to, &ranges.to),
            vertices: self.vertices,
            source: words(own.sources, &ranges.sources),
            source_words: self.source_words,
            joints: row(self.pose.start, self.has_joints),
            weights: row(self.weights, self.has_weights),
            target_count: self.targets,
            save_to: self.save_to.unwrap_or(NO_POSE),
            has_previous: u32::from(self.has_previous),
        }
    }

    fn workgroup_count(&self) -> u32 {
        self.vertices.div_ceil(SKIN_WORKGROUP_SIZE)
    }

    /// Splits into parts of at most `most` vertices, a multiple of [`BLOCK_VERTICES`].
    fn split_vertices(&self, most: u32) -> impl Iterator<Item = Self> + '_ {
        (0..self.vertices)
            .step_by(most as usize)
            .map(move |first| Self {
                from: self.from + first,
                to: self.to + first,
                vertices: most.min(self.vertices - first),
                source: self.source + first * self.source_words,
                save_to: self.save_to.map(|row| row + first),
                ..self.clone()
            })
    }

    /// Vertices whose data fits in a quarter of the maximum bound range.
    fn max_vertices(&self, sizes: BufferSizes) -> u32 {
        let source_bytes = u64::from(self.source_words) * WORD_BYTES;
        let most = sizes.max_range / 4 / VERTEX_BYTES.max(source_bytes);
        let blocks =
            (most / u64::from(BLOCK_VERTICES)).clamp(1, u64::from(u32::MAX / BLOCK_VERTICES));
        blocks as u32 * BLOCK_VERTICES
    }
}

impl BufferRanges {
    /// Extends ranges to the whole buffer where it fits the maximum bound range.
    fn fitted(&self, sizes: BufferSizes) -> Self {
        let fitted = |range: &Range<u64>, bytes: u64| match bytes <= sizes.max_range {
            true => 0..bytes,
            false => range.start / ALIGNMENT * ALIGNMENT..range.end,
        };
        Self {
            from: fitted(&self.from, sizes.vertices),
            to: fitted(&self.to, sizes.vertices),
            sources: fitted(&self.sources, sizes.sources),
            poses: fitted(&self.poses, sizes.poses),
        }
    }

    /// Returns the ranges that contain both.
    fn union(&self, other: &Self) -> Self {
        let both = |a: &Range<u64>, b: &Range<u64>| a.start.min(b.start)..a.end.max(b.end);
        Self {
            from: both(&self.from, &other.from),
            to: both(&self.to, &other.to),
            sources: both(&self.sources, &other.sources),
            poses: both(&self.poses, &other.poses),
        }
    }

    fn fits(&self, sizes: BufferSizes) -> bool {
        let fits = |range: &Range<u64>| range.end - range.start <= sizes.max_range;
        fits(&self.from) && fits(&self.to) && fits(&self.sources) && fits(&self.poses)
    }
}

/// Splits the work into dispatches, usually one, and writes their jobs consecutively.
pub(super) fn split_dispatches(
    mut skin_ranges: Vec<SkinRange>,
    sizes: BufferSizes,
    jobs: &mut Vec<Job>,
) -> Vec<SkinDispatch> {
    let largest = sizes.vertices.max(sizes.sources).max(sizes.poses);
    if largest > sizes.max_range {
        skin_ranges = skin_ranges
            .iter()
            .flat_map(|skin_range| skin_range.split_vertices(skin_range.max_vertices(sizes)))
            .collect();
        // Sorted so that entities with close ranges are adjacent.
        let half = (sizes.max_range / 2).max(1);
        skin_ranges.sort_by_key(|skin_range| {
            let ranges = skin_range.ranges();
            let [from, source] = [ranges.from, ranges.sources].map(|range| range.start / half);
            (from, source, skin_range.to)
        });
    }
    let mut parts = Vec::new();
    let mut rest = &skin_ranges[..];
    while let Some(first) = rest.first() {
        let most = ((sizes.max_range / JOB_BYTES) as usize).clamp(1, rest.len());
        let mut ranges = first.ranges().fitted(sizes);
        let mut count = 1;
        for skin_range in &rest[1..most] {
            let wider = ranges.union(&skin_range.ranges()).fitted(sizes);
            if !wider.fits(sizes) {
                break;
            }
            ranges = wider;
            count += 1;
        }
        let (now, later) = rest.split_at(count);
        rest = later;
        parts.push(part(now, ranges, jobs));
    }
    parts
}

fn part(skin_ranges: &[SkinRange], ranges: BufferRanges, jobs: &mut Vec<Job>) -> SkinDispatch {
    jobs.resize(jobs.len().next_multiple_of(JOB_ALIGNMENT), Job::zeroed());
    let start = jobs.len();
    let mut workgroup_count = 0;
    for skin_range in skin_ranges {
        jobs.push(skin_range.job(workgroup_count, &ranges));
        workgroup_count += skin_range.workgroup_count();
    }
    SkinDispatch {
        ranges,
        jobs: start..jobs.len(),
        workgroup_count,
    }
}

#[cfg(test)]
mod tests;
