//! Dispatches of skinning: each has as many entities as the ranges that a shader can bind allow.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::source::BLOCK_VERTICES;
use crate::tables::mesh_vertex::Vertex;

/// Vertices per workgroup, as `skin.wgsl` has it.
const WORKGROUP_SIZE: u32 = 64;

/// No joints, or no weights.
const NONE: u32 = u32::MAX;

/// Bound ranges begin at a multiple of so many bytes, which all devices take.
const ALIGNMENT: u64 = 256;

/// Jobs of a part begin at a multiple of so many, which are a multiple of [`ALIGNMENT`] bytes.
const JOB_ALIGNMENT: usize = 64;

const VERTEX_BYTES: u64 = size_of::<Vertex>() as u64;
const WORD_BYTES: u64 = size_of::<u32>() as u64;
const POSE_BYTES: u64 = size_of::<[f32; 4]>() as u64;
const JOB_BYTES: u64 = size_of::<Job>() as u64;

/// An entity, or some vertices of one, as `skin.wgsl` reads it. Offsets count from where the ranges begin
/// that its dispatch binds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Job {
    /// How many workgroups the jobs of its part before have.
    first_group: u32,
    /// The first number of 4 bytes of the mesh's vertices.
    from: u32,
    /// The same of the entity's.
    to: u32,
    vertices: u32,
    /// The first word of what they follow.
    source: u32,
    /// How many words that are for each.
    source_words: u32,
    /// The first row of joints.
    joints: u32,
    /// The first row of weights.
    weights: u32,
    /// How many targets the mesh has.
    targets: u32,
}

/// Offsets of an entity, or of some vertices of one, in the buffers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SkinRange {
    /// The first vertex of the mesh.
    pub(super) from: u32,
    /// The first vertex of the entity.
    pub(super) to: u32,
    pub(super) vertices: u32,
    /// The first word of what they follow.
    pub(super) source: u32,
    /// How many words that are for each.
    pub(super) source_words: u32,
    /// Rows of the joints, if it has any, and then of the weights.
    pub(super) pose: Range<u32>,
    /// The first row of the weights; that of the joints is the first of all.
    pub(super) weights: u32,
    pub(super) has_joints: bool,
    pub(super) has_weights: bool,
    /// How many targets the mesh has.
    pub(super) targets: u32,
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

/// How large the buffers are in bytes, and how much of one a shader sees at most.
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
            false => NONE,
        };
        Job {
            first_group,
            from: words(own.from, &ranges.from),
            to: words(own.to, &ranges.to),
            vertices: self.vertices,
            source: words(own.sources, &ranges.sources),
            source_words: self.source_words,
            joints: row(self.pose.start, self.has_joints),
            weights: row(self.weights, self.has_weights),
            targets: self.targets,
        }
    }

    fn workgroup_count(&self) -> u32 {
        self.vertices.div_ceil(WORKGROUP_SIZE)
    }

    /// The same in pieces of so many vertices at most, a multiple of [`BLOCK_VERTICES`].
    fn split_vertices(&self, most: u32) -> impl Iterator<Item = Self> + '_ {
        (0..self.vertices)
            .step_by(most as usize)
            .map(move |first| Self {
                from: self.from + first,
                to: self.to + first,
                vertices: most.min(self.vertices - first),
                source: self.source + first * self.source_words,
                ..self.clone()
            })
    }

    /// How many vertices are a quarter of what a shader sees, or less.
    fn max_vertices(&self, sizes: BufferSizes) -> u32 {
        let source_bytes = u64::from(self.source_words) * WORD_BYTES;
        let most = sizes.max_range / 4 / VERTEX_BYTES.max(source_bytes);
        let blocks =
            (most / u64::from(BLOCK_VERTICES)).clamp(1, u64::from(u32::MAX / BLOCK_VERTICES));
        blocks as u32 * BLOCK_VERTICES
    }
}

impl BufferRanges {
    /// All of each buffer that a shader can see all of, and the given ranges of the others.
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

/// Splits the work into dispatches, and writes their jobs, those of one dispatch after those of another.
/// Mostly there is one dispatch.
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
        // Sorted so that entities with close ranges become neighbours.
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
