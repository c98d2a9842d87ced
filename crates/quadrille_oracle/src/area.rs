//! Parts of resources as boxes, and a map from parts to values that is cut where uses cut it.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use quadrille_sync::{Aspects, ResourceKind, SubRange, SubresourceRange};

/// A box of a resource: aspects x array layers x mip levels of an image, or the bytes of a
/// buffer (as mip levels of the one layer of the one aspect).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    aspects: u32,
    layers: Range<u64>,
    line: Range<u64>,
}

impl Area {
    /// All of a resource.
    pub(crate) fn whole(kind: &ResourceKind) -> Self {
        match *kind {
            ResourceKind::Buffer { bytes } => Self::bytes(0, bytes),
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
            } => Self {
                aspects: aspects.bits(),
                layers: 0..u64::from(array_layers),
                line: 0..u64::from(mip_levels),
            },
        }
    }

    /// Bytes of a buffer.
    pub(crate) fn bytes(offset: u64, size: u64) -> Self {
        Self {
            aspects: 1,
            layers: 0..1,
            line: offset..offset.saturating_add(size),
        }
    }

    /// Subresources of an image.
    pub(crate) fn subresources(range: &SubresourceRange) -> Self {
        let (mip, layer) = (u64::from(range.base_mip), u64::from(range.base_layer));
        Self {
            aspects: range.aspects.bits(),
            layers: layer..layer + u64::from(range.layer_count),
            line: mip..mip + u64::from(range.mip_count),
        }
    }

    /// The part of a resource that a use names.
    pub(crate) fn of(kind: &ResourceKind, range: &SubRange) -> Self {
        match range {
            SubRange::Whole => Self::whole(kind),
            SubRange::Bytes { offset, size } => Self::bytes(*offset, *size),
            SubRange::Subresources(range) => Self::subresources(range),
        }
    }

    /// The area as uses of a resource name it.
    pub(crate) fn sub_range(&self, kind: &ResourceKind) -> SubRange {
        match kind {
            ResourceKind::Buffer { .. } => SubRange::Bytes {
                offset: self.line.start,
                size: self.line.end - self.line.start,
            },
            ResourceKind::Image { .. } => SubRange::Subresources(self.range()),
        }
    }

    /// The area of an image as barriers name it.
    pub(crate) fn range(&self) -> SubresourceRange {
        // They have come from such a range.
        let number = |of: u64| u32::try_from(of).unwrap_or(u32::MAX);
        let count = |of: &Range<u64>| number(of.end - of.start);
        SubresourceRange {
            aspects: Aspects::from_bits_retain(self.aspects),
            base_mip: number(self.line.start),
            mip_count: count(&self.line),
            base_layer: number(self.layers.start),
            layer_count: count(&self.layers),
        }
    }

    /// The bytes of a buffer, or the mip levels of an image.
    pub(crate) fn line(&self) -> Range<u64> {
        self.line.clone()
    }

    fn is_empty(&self) -> bool {
        self.aspects == 0 || self.layers.is_empty() || self.line.is_empty()
    }

    /// What two areas of one resource share, if anything.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let meet = |a: &Range<u64>, b: &Range<u64>| a.start.max(b.start)..a.end.min(b.end);
        let both = Self {
            aspects: self.aspects & other.aspects,
            layers: meet(&self.layers, &other.layers),
            line: meet(&self.line, &other.line),
        };
        (!both.is_empty()).then_some(both)
    }

    /// Whether all of `other` lies in this area.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.intersection(other).as_ref() == Some(other)
    }

    /// What is left when `part`, which lies within, is taken out.
    fn without(&self, part: &Self) -> Vec<Self> {
        let rest = Self {
            aspects: self.aspects & !part.aspects,
            ..self.clone()
        };
        let above = part.layers.end..self.layers.end;
        let below = self.layers.start..part.layers.start;
        let layers = [below, above].map(|layers| Self {
            aspects: part.aspects,
            layers,
            line: self.line.clone(),
        });
        let after = part.line.end..self.line.end;
        let before = self.line.start..part.line.start;
        let lines = [before, after].map(|line| Self {
            line,
            ..part.clone()
        });
        let pieces = [rest].into_iter().chain(layers).chain(lines);
        pieces.filter(|piece| !piece.is_empty()).collect()
    }

    /// The area in words, given what it is part of.
    pub(crate) fn words(&self, kind: &ResourceKind) -> String {
        Words { area: self, kind }.to_string()
    }
}

/// An area in words.
struct Words<'a> {
    area: &'a Area,
    kind: &'a ResourceKind,
}

impl Display for Words<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Area {
            aspects,
            layers,
            line,
        } = self.area;
        if *self.area == Area::whole(self.kind) {
            return write!(out, "all");
        }
        if matches!(self.kind, ResourceKind::Buffer { .. }) {
            return write!(out, "bytes {}..{}", line.start, line.end);
        }
        let aspects = Aspects::from_bits_retain(*aspects);
        let names: Vec<&str> = aspects.iter_names().map(|(name, _)| name).collect();
        write!(
            out,
            "mip levels {}..{}, array layers {}..{} of {}",
            line.start,
            line.end,
            layers.start,
            layers.end,
            names.join("|")
        )
    }
}

/// A value for every part of a resource: disjoint areas that together are all of it.
#[derive(Clone, Debug)]
pub(crate) struct AreaMap<T> {
    cells: Vec<(Area, T)>,
}

impl<T: Clone> AreaMap<T> {
    /// One value everywhere.
    pub(crate) fn new(whole: Area, value: T) -> Self {
        Self {
            cells: vec![(whole, value)],
        }
    }

    /// The cells within `area`, which are cut out of their surroundings first.
    pub(crate) fn touch(&mut self, area: &Area) -> impl Iterator<Item = (&Area, &mut T)> {
        for at in 0..self.cells.len() {
            let (cell, value) = &self.cells[at];
            match cell.intersection(area) {
                Some(part) if part != *cell => {
                    let value = value.clone();
                    let pieces = cell.without(&part);
                    self.cells[at].0 = part;
                    self.cells
                        .extend(pieces.into_iter().map(|piece| (piece, value.clone())));
                }
                _ => {}
            }
        }
        let cells = self
            .cells
            .iter_mut()
            .filter(|(cell, _)| area.contains(cell));
        cells.map(|(cell, value)| (&*cell, value))
    }

    /// All cells.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Area, &T)> + Clone {
        self.cells.iter().map(|(area, value)| (area, value))
    }

    /// All values.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.cells.iter_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
