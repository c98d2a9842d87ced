//! Parts of resources: ranges of uses, and a map from ranges to state.
//!
//! Positions in a resource are linear. For buffers they are bytes. For images, subresource
//! `(aspect, layer, mip)` has position `(aspect * layers + layer) * mips + mip`, so all mip levels
//! of a layer are contiguous, as are all layers of an aspect and all aspects. A used range becomes
//! a few intervals of positions (`intervals`), and a `RangeMap` has the state of each position.
//! For barriers, intervals are converted back to subresource ranges (`boxes`), or to few ranges
//! of any kind (`gather`).
//!
//! Each mip level of a 3D image has as many positions as the first level has slices. Uses may name
//! single slices. Barriers cannot, so they include the whole level.

use std::ops::Range;

use crate::flags::Aspects;
use crate::resource::ResourceKind;

mod gather;
mod map;
pub(crate) use gather::{JOINED, for_each_union, gather, join_nearby};
pub(crate) use map::{EVERYTHING, RangeMap};

/// The range of a resource that a use accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubRange {
    /// The whole resource.
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

/// Slices of one mip level of a 3D image. Views have them as array layers
/// (`VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT`), and copies as the `z` offset and depth.
///
/// Contents are tracked per slice, so passes that write different slices need no order. Layout
/// and owner are per mip level, which is a single subresource (section "Image Views").
///
/// ```
/// use quadrille_sync::flags::Aspects;
/// use quadrille_sync::range::{Slices, SubRange};
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
    /// Returns their mip level.
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

/// `VkImageSubresourceRange`, with explicit counts (section "Image Views").
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

    /// Extends the range by `other` if the union is one range too. Returns whether it did.
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

/// Whether two ranges of levels, layers or slices, as begin and count, overlap.
fn meet((a, a_count): (u32, u32), (b, b_count): (u32, u32)) -> bool {
    u64::from(a) < u64::from(b) + u64::from(b_count)
        && u64::from(b) < u64::from(a) + u64::from(a_count)
}

/// Extends a range of levels or layers by another one, if they are adjacent. Returns whether it did.
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

    /// Whether this range contains another range of the resource. Slices never cover a level, even if
    /// they are all of its slices.
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
            // A buffer's and an image's range cannot be of one resource.
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

/// Whether a range of levels, layers or slices is not empty and ends within its limit.
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

    /// The number of positions of each mip level: the number of slices of the first one.
    #[inline]
    pub(crate) fn depth(&self) -> u64 {
        match self {
            ResourceKind::Buffer { .. } => 1,
            ResourceKind::Image { slices, .. } => u64::from(*slices).max(1),
        }
    }

    /// The number of positions of the resource.
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

/// Calls `each` with the intervals of positions that a range covers, in ascending order and as few
/// as possible. An interval up to the end of the resource is extended to `u64::MAX`, so that
/// positions beyond the end need no state. A range of the whole resource becomes [`EVERYTHING`],
/// which does not split state.
///
/// The range must fit the resource ([`SubRange::fits`]).
#[inline]
pub(crate) fn intervals(kind: &ResourceKind, range: &SubRange, mut each: impl FnMut(Range<u64>)) {
    match range {
        SubRange::Whole => each(EVERYTHING),
        part => intervals_of_part(kind, part, each),
    }
}

/// [`intervals`] for ranges other than [`SubRange::Whole`].
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
            // A level has as many positions as the first one, so its last slice extends to the end of them.
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

/// Appends the subresource ranges of an interval of an image to `boxes`, and joins them with the
/// last ranges there if possible. Positions beyond the image are ignored. If an interval contains
/// only some slices of a mip level, the whole level is included.
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

/// Returns the positions of the mip level that contains a position of an image.
pub(crate) fn level_at(kind: &ResourceKind, position: u64) -> Range<u64> {
    let depth = kind.depth();
    // Positions are unbounded, and the last level extends to their end.
    let last = kind.length() - depth;
    match position - position % depth {
        start if start < last => start..start + depth,
        _ => last..EVERYTHING.end,
    }
}

/// Extends an interval of an image to whole mip levels; intervals of buffers are unchanged.
#[inline]
pub(crate) fn whole_levels(kind: &ResourceKind, interval: &Range<u64>) -> Range<u64> {
    if kind.depth() == 1 || interval.is_empty() {
        return interval.clone();
    }
    level_at(kind, interval.start).start..level_at(kind, interval.end - 1).end
}

/// Whether an interval of an image consists of whole mip levels.
pub(crate) fn is_of_levels(kind: &ResourceKind, interval: &Range<u64>) -> bool {
    whole_levels(kind, interval) == *interval
}

/// Appends a range, and joins it with the last ones if possible.
fn push_box(boxes: &mut Vec<SubresourceRange>, part: SubresourceRange) {
    boxes.push(part);
    // An extended range may be joinable with the previous one (the same layers of the next aspect).
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
