//! Parts of resources: ranges of uses, and a map from ranges to state.
//!
//! Buffers are lines of bytes. Images are lines too: subresource `(aspect, layer, mip)` lies at
//! `(aspect * layers + layer) * mips + mip`, so that all mip levels of a layer, all layers of an
//! aspect and all aspects are neighbours. A use of a part becomes a few intervals on that line
//! ([`intervals`]), state is kept in a [`RangeMap`] over it, and what a barrier names is turned
//! back into boxes ([`boxes`]), or into as few ranges as there can be ([`gather`](fn@gather)).
//!
//! A mip level of a 3D image is as many positions as the first one has slices. Uses may name some
//! of them, but no barrier can: to a barrier, one position is as much as the whole level.

use std::ops::Range;

use crate::flags::Aspects;
use crate::resource::ResourceKind;

mod gather;
mod map;
pub(crate) use gather::{JOINED, for_each_union, gather, join_nearby};
pub(crate) use map::{EVERYTHING, RangeMap};

/// The part of a resource that a use touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubRange {
    /// All of it.
    #[default]
    Whole,
    /// Bytes of a buffer.
    Bytes {
        /// First byte.
        offset: u64,
        /// Number of bytes; at least 1.
        size: u64,
    },
    /// Subresources of an image.
    Subresources(SubresourceRange),
    /// Some slices of a mip level of a 3D image.
    Slices(Slices),
}

/// Slices of one mip level of a 3D image: what a view of it shows as array layers
/// (`VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT`), or a copy names by `z` and depth.
///
/// Contents are known slice by slice, so passes that write different ones need no order. Layout
/// and owner are those of the whole mip level, which is a single subresource (section "Image
/// Views").
///
/// ```
/// use quadrille_sync::{Aspects, Slices, SubRange};
/// let slices = |base, count| SubRange::Slices(Slices { aspects: Aspects::COLOR, mip: 0, base, count });
/// assert!(slices(0, 4).overlaps(&slices(3, 1)));
/// assert!(!slices(0, 4).overlaps(&slices(4, 4)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slices {
    /// The aspects; at least one.
    pub aspects: Aspects,
    /// The mip level.
    pub mip: u32,
    /// First slice.
    pub base: u32,
    /// Number of slices; at least 1.
    pub count: u32,
}

impl Slices {
    /// The mip level that they are of.
    pub fn level(&self) -> SubresourceRange {
        SubresourceRange {
            aspects: self.aspects,
            base_mip: self.mip,
            mip_count: 1,
            base_layer: 0,
            layer_count: 1,
        }
    }

    /// Returns the intersection of these slices with a range of subresources, as slices.
    fn within(&self, range: &SubresourceRange) -> Self {
        let has_level = range.overlaps(&self.level());
        Self {
            aspects: self.aspects & range.aspects,
            count: if has_level { self.count } else { 0 },
            ..*self
        }
    }

    /// Whether two ranges share a slice.
    fn overlaps(&self, other: &Self) -> bool {
        self.level().overlaps(&other.level())
            && meet((self.base, self.count), (other.base, other.count))
    }
}

/// `VkImageSubresourceRange`, with all counts written out (section "Image Views").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubresourceRange {
    /// The aspects; at least one.
    pub aspects: Aspects,
    /// First mip level.
    pub base_mip: u32,
    /// Number of mip levels; at least 1.
    pub mip_count: u32,
    /// First array layer.
    pub base_layer: u32,
    /// Number of array layers; at least 1.
    pub layer_count: u32,
}

impl SubresourceRange {
    /// Whether two ranges share a subresource.
    pub fn overlaps(&self, other: &Self) -> bool {
        let mips = |it: &Self| (it.base_mip, it.mip_count);
        let layers = |it: &Self| (it.base_layer, it.layer_count);
        self.aspects.intersects(other.aspects)
            && meet(mips(self), mips(other))
            && meet(layers(self), layers(other))
    }

    /// Takes `other` in if the two together are a box again, and says whether it did.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let same_mips = (self.base_mip, self.mip_count) == (other.base_mip, other.mip_count);
        let same_layers =
            (self.base_layer, self.layer_count) == (other.base_layer, other.layer_count);
        if same_mips && same_layers {
            self.aspects |= other.aspects;
            return true;
        }
        if self.aspects != other.aspects {
            return false;
        }
        if same_mips {
            let with = (other.base_layer, other.layer_count);
            join_lines(&mut self.base_layer, &mut self.layer_count, with)
        } else if same_layers {
            let with = (other.base_mip, other.mip_count);
            join_lines(&mut self.base_mip, &mut self.mip_count, with)
        } else {
            false
        }
    }
}

/// Whether two lines of levels, layers or slices, each its begin and its length, have one in
/// common.
fn meet((a, a_count): (u32, u32), (b, b_count): (u32, u32)) -> bool {
    u64::from(a) < u64::from(b) + u64::from(b_count)
        && u64::from(b) < u64::from(a) + u64::from(a_count)
}

/// Takes a second line of levels or layers into a first one, if they touch, and says whether.
fn join_lines(base: &mut u32, count: &mut u32, (other, other_count): (u32, u32)) -> bool {
    let touch = |a: u32, a_count: u32, b: u32| u64::from(a) + u64::from(a_count) == u64::from(b);
    if !touch(*base, *count, other) && !touch(other, other_count, *base) {
        return false;
    }
    *base = other.min(*base);
    *count += other_count;
    true
}

impl SubRange {
    /// Whether two ranges of one resource share a byte, a subresource or a slice.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (
                SubRange::Bytes {
                    offset: a,
                    size: a_size,
                },
                SubRange::Bytes {
                    offset: b,
                    size: b_size,
                },
            ) => *a < b.saturating_add(*b_size) && *b < a.saturating_add(*a_size),
            (SubRange::Subresources(a), SubRange::Subresources(b)) => a.overlaps(b),
            (SubRange::Slices(a), SubRange::Slices(b)) => a.overlaps(b),
            (SubRange::Slices(slices), SubRange::Subresources(range))
            | (SubRange::Subresources(range), SubRange::Slices(slices)) => {
                range.overlaps(&slices.level())
            }
            _ => true,
        }
    }

    /// The whole mip levels of slices; other ranges are unchanged.
    pub(crate) fn levels(&self) -> Self {
        match self {
            SubRange::Slices(slices) => SubRange::Subresources(slices.level()),
            range => *range,
        }
    }

    /// Whether all of another range of a resource is in this one. Slices do not count as covering
    /// a level, even if the level has no others.
    pub(crate) fn covers(&self, other: &Self, kind: &ResourceKind) -> bool {
        let all = kind.subresources().map(SubRange::Subresources);
        let all = all.unwrap_or(SubRange::Bytes {
            offset: 0,
            size: kind.length(),
        });
        let explicit = |range: &Self| match range {
            SubRange::Whole => all,
            other => *other,
        };
        let (one, other) = (explicit(self), explicit(other));
        one.overlaps(&other) && one.intersection(&other) == other
    }

    /// Returns the intersection of two overlapping ranges of one resource.
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (SubRange::Whole, range) | (range, SubRange::Whole) => *range,
            (
                SubRange::Bytes {
                    offset: a,
                    size: a_size,
                },
                SubRange::Bytes {
                    offset: b,
                    size: b_size,
                },
            ) => {
                let offset = *a.max(b);
                let end = a.saturating_add(*a_size).min(b.saturating_add(*b_size));
                SubRange::Bytes {
                    offset,
                    size: end.saturating_sub(offset),
                }
            }
            (SubRange::Subresources(a), SubRange::Subresources(b)) => {
                let base_mip = a.base_mip.max(b.base_mip);
                let base_layer = a.base_layer.max(b.base_layer);
                let mip_end = (a.base_mip.saturating_add(a.mip_count))
                    .min(b.base_mip.saturating_add(b.mip_count));
                let layer_end = (a.base_layer.saturating_add(a.layer_count))
                    .min(b.base_layer.saturating_add(b.layer_count));
                SubRange::Subresources(SubresourceRange {
                    aspects: a.aspects & b.aspects,
                    base_mip,
                    mip_count: mip_end.saturating_sub(base_mip),
                    base_layer,
                    layer_count: layer_end.saturating_sub(base_layer),
                })
            }
            (SubRange::Slices(a), SubRange::Slices(b)) => {
                let base = a.base.max(b.base);
                let end = (a.base.saturating_add(a.count)).min(b.base.saturating_add(b.count));
                SubRange::Slices(Slices {
                    base,
                    count: end.saturating_sub(base),
                    ..a.within(&b.level())
                })
            }
            (SubRange::Slices(slices), SubRange::Subresources(range))
            | (SubRange::Subresources(range), SubRange::Slices(slices)) => {
                SubRange::Slices(slices.within(range))
            }
            // A buffer's and an image's range: of no one resource.
            _ => *self,
        }
    }

    /// Whether the range lies within a resource, is not empty and is of the resource's kind.
    pub fn fits(&self, kind: &ResourceKind) -> bool {
        match (self, kind) {
            (SubRange::Whole, _) => true,
            (SubRange::Bytes { offset, size }, ResourceKind::Buffer { bytes }) => {
                *size > 0 && offset.checked_add(*size).is_some_and(|end| end <= *bytes)
            }
            (
                SubRange::Subresources(range),
                ResourceKind::Image {
                    aspects,
                    mip_levels,
                    array_layers,
                    ..
                },
            ) => {
                !range.aspects.is_empty()
                    && aspects.contains(range.aspects)
                    && within(range.base_mip, range.mip_count, *mip_levels)
                    && within(range.base_layer, range.layer_count, *array_layers)
            }
            (
                SubRange::Slices(range),
                ResourceKind::Image {
                    aspects,
                    mip_levels,
                    array_layers: 1,
                    ..
                },
            ) => {
                !range.aspects.is_empty()
                    && aspects.contains(range.aspects)
                    && range.mip < *mip_levels
                    && within(range.base, range.count, kind.slices_of(range.mip))
            }
            _ => false,
        }
    }
}

/// Whether a line of levels, layers or slices is not empty and ends within its limit.
fn within(base: u32, count: u32, limit: u32) -> bool {
    count > 0 && base.checked_add(count).is_some_and(|end| end <= limit)
}

impl ResourceKind {
    /// The number of slices of a mip level: 1, unless it is a 3D image (section "Image Mip Level
    /// Sizing").
    pub fn slices_of(&self, mip: u32) -> u32 {
        let ResourceKind::Image { slices, .. } = self else {
            return 1;
        };
        slices.checked_shr(mip).unwrap_or(0).max(1)
    }

    /// The number of positions of a mip level on the line: that of the slices of the first one.
    #[inline]
    pub(crate) fn depth(&self) -> u64 {
        match self {
            ResourceKind::Buffer { .. } => 1,
            ResourceKind::Image { slices, .. } => u64::from(*slices).max(1),
        }
    }

    /// The number of positions on the resource's line.
    pub(crate) fn length(&self) -> u64 {
        match *self {
            ResourceKind::Buffer { bytes } => bytes,
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            } => {
                let rows = u64::from(aspects.bits().count_ones()) * u64::from(array_layers);
                rows * u64::from(mip_levels) * self.depth()
            }
        }
    }

    /// All subresources of an image; `None` for buffers.
    pub(crate) fn subresources(&self) -> Option<SubresourceRange> {
        match *self {
            ResourceKind::Buffer { .. } => None,
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            } => Some(SubresourceRange {
                aspects,
                base_mip: 0,
                mip_count: mip_levels,
                base_layer: 0,
                layer_count: array_layers,
            }),
        }
    }
}

/// Calls `each` with the intervals of the line that a range covers, in ascending order and as few
/// as possible. What reaches the end of the resource reaches the end of the line, so that no state
/// is kept for positions beyond; a range that covers the resource is [`EVERYTHING`], and uniform
/// state is never cut.
///
/// The range must fit the resource ([`SubRange::fits`]).
#[inline]
pub(crate) fn intervals(kind: &ResourceKind, range: &SubRange, mut each: impl FnMut(Range<u64>)) {
    match range {
        SubRange::Whole => each(EVERYTHING),
        part => intervals_of_part(kind, part, each),
    }
}

/// The same for a range that is not written as the whole resource.
fn intervals_of_part(kind: &ResourceKind, range: &SubRange, mut each: impl FnMut(Range<u64>)) {
    let length = kind.length();
    let mut each = |part: Range<u64>| {
        let end = if part.end == length {
            EVERYTHING.end
        } else {
            part.end
        };
        each(part.start..end);
    };
    match (range, kind) {
        (SubRange::Bytes { offset, size }, _) => each(*offset..offset + size),
        (
            SubRange::Subresources(part),
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            },
        ) => {
            let (mips, layers) = (u64::from(*mip_levels), u64::from(*array_layers));
            let depth = kind.depth();
            let mut pending: Option<Range<u64>> = None;
            for (row, _) in aspects
                .iter()
                .enumerate()
                .filter(|(_, a)| part.aspects.contains(*a))
            {
                let first_layer = row as u64 * layers + u64::from(part.base_layer);
                for layer in first_layer..first_layer + u64::from(part.layer_count) {
                    let start = (layer * mips + u64::from(part.base_mip)) * depth;
                    let end = start + u64::from(part.mip_count) * depth;
                    pending = match pending {
                        Some(before) if before.end == start => Some(before.start..end),
                        Some(before) => {
                            each(before);
                            Some(start..end)
                        }
                        None => Some(start..end),
                    };
                }
            }
            pending.into_iter().for_each(each);
        }
        (SubRange::Slices(part), ResourceKind::Image { aspects, .. }) => {
            let (depth, mips) = (kind.depth(), length / kind.depth());
            let mips = mips / u64::from(aspects.bits().count_ones());
            // The last level ends where the first one would, so all of it reaches that far.
            let base = u64::from(part.base);
            let end = match part.base + part.count {
                end if end == kind.slices_of(part.mip) => depth,
                end => u64::from(end),
            };
            let rows = aspects.iter().enumerate();
            for (row, _) in rows.filter(|(_, a)| part.aspects.contains(*a)) {
                let level = (row as u64 * mips + u64::from(part.mip)) * depth;
                each(level + base..level + end);
            }
        }
        _ => each(0..length),
    }
}

/// Appends the boxes that an interval of an image's line consists of to `boxes`, joined with the
/// last box there where the two make a box again. What lies beyond the image is left out, and of
/// what a slice lies in nothing is.
pub(crate) fn boxes(kind: &ResourceKind, interval: Range<u64>, boxes: &mut Vec<SubresourceRange>) {
    let ResourceKind::Image {
        aspects,
        mip_levels,
        array_layers,
        ..
    } = kind
    else {
        return;
    };
    let depth = kind.depth();
    let interval = interval.start / depth..interval.end.div_ceil(depth);
    let (mips, layers) = (u64::from(*mip_levels), u64::from(*array_layers));
    for (row, aspect) in aspects.iter().enumerate() {
        let first = row as u64 * layers * mips;
        // Positions relative to the aspect's first subresource.
        let mut at = interval.start.max(first) - first;
        let end = interval
            .end
            .min(first + layers * mips)
            .saturating_sub(first);
        while at < end {
            let (layer, mip) = (at / mips, at % mips);
            let whole_layers = if mip == 0 { (end - at) / mips } else { 0 };
            let mip_end = if whole_layers > 0 {
                mips
            } else {
                mips.min(end - layer * mips)
            };
            let part = SubresourceRange {
                aspects: aspect,
                base_mip: mip as u32,
                mip_count: (mip_end - mip) as u32,
                base_layer: layer as u32,
                layer_count: whole_layers.max(1) as u32,
            };
            at = if whole_layers > 0 {
                at + whole_layers * mips
            } else {
                layer * mips + mip_end
            };
            push_box(boxes, part);
        }
    }
}

/// The mip level that a position of an image's line is of.
pub(crate) fn level_at(kind: &ResourceKind, position: u64) -> Range<u64> {
    let depth = kind.depth();
    // The line goes on for ever, and its last level with it.
    let last = kind.length() - depth;
    match position - position % depth {
        start if start < last => start..start + depth,
        _ => last..EVERYTHING.end,
    }
}

/// The mip levels that an interval of an image's line has some positions of; for buffers, the
/// interval.
#[inline]
pub(crate) fn whole_levels(kind: &ResourceKind, interval: &Range<u64>) -> Range<u64> {
    if kind.depth() == 1 || interval.is_empty() {
        return interval.clone();
    }
    level_at(kind, interval.start).start..level_at(kind, interval.end - 1).end
}

/// Whether an interval of an image's line is one of whole mip levels.
pub(crate) fn is_of_levels(kind: &ResourceKind, interval: &Range<u64>) -> bool {
    whole_levels(kind, interval) == *interval
}

/// Appends a box, or joins it with the last ones where that makes a box again.
fn push_box(boxes: &mut Vec<SubresourceRange>, part: SubresourceRange) {
    boxes.push(part);
    // A box that has grown may fit the one before it (the same layers of the next aspect).
    while let [.., before, last] = boxes.as_mut_slice() {
        let last = *last;
        if !before.join(&last) {
            return;
        }
        boxes.pop();
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod model_tests;
