//! Parts of resources as boxes, and a map from disjoint parts to values that is split on access.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use quadrille_sync::flags::Aspects;
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::ResourceKind;

/// A box of a resource: aspects x array layers x mip levels x depth slices of an image. A buffer has
/// one aspect, one layer, and its bytes in place of mip levels. Only a box of one mip level of a 3D
/// image may have less than all slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    aspects: u32,
    layers: Range<u64>,
    line: Range<u64>,
    slices: Range<u64>,
}

/// The number of depth slices of a mip level, given that of the first level.
fn slices_of(first: u32, mip: u32) -> u32 {
    first.checked_shr(mip).unwrap_or(0).max(1)
}

/// All slices, whatever their number.
const ALL_SLICES: Range<u64> = 0..u64::MAX;

impl Area {
    /// All of a resource.
    pub(crate) fn whole(kind: &ResourceKind) -> Self {
        match *kind {
            ResourceKind::Buffer { bytes } => Self::bytes(0, bytes),
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            } => Self {
                aspects: aspects.bits(),
                layers: 0..u64::from(array_layers),
                line: 0..u64::from(mip_levels),
                slices: ALL_SLICES,
            },
        }
    }

    /// Bytes of a buffer.
    pub(crate) fn bytes(offset: u64, size: u64) -> Self {
        Self {
            aspects: 1,
            layers: 0..1,
            line: offset..offset.saturating_add(size),
            slices: ALL_SLICES,
        }
    }

    /// Subresources of an image.
    pub(crate) fn subresources(range: &SubresourceRange) -> Self {
        let (mip, layer) = (u64::from(range.base_mip), u64::from(range.base_layer));
        Self {
            aspects: range.aspects.bits(),
            layers: layer..layer + u64::from(range.layer_count),
            line: mip..mip + u64::from(range.mip_count),
            slices: ALL_SLICES,
        }
    }

    /// Slices of a mip level that has `of` slices. Reaching the last slice means all further ones, so
    /// that all slices equal the whole level.
    fn some_slices(range: &Slices, of: u32) -> Self {
        let (mip, base) = (u64::from(range.mip), u64::from(range.base));
        let end = base + u64::from(range.count);
        Self {
            aspects: range.aspects.bits(),
            layers: 0..1,
            line: mip..mip + 1,
            slices: base..if end < u64::from(of) { end } else { u64::MAX },
        }
    }

    /// This area, restricted to some slices.
    pub(crate) fn of_slices(self, slices: Range<u64>) -> Self {
        Self { slices, ..self }
    }

    /// The part of a resource that a use names.
    pub(crate) fn of(kind: &ResourceKind, range: &SubRange) -> Self {
        match range {
            SubRange::Whole => Self::whole(kind),
            SubRange::Bytes { offset, size } => Self::bytes(*offset, *size),
            SubRange::Subresources(range) => Self::subresources(range),
            SubRange::Slices(range) => {
                let ResourceKind::Image { slices, .. } = kind else {
                    return Self::whole(kind);
                };
                Self::some_slices(range, slices_of(*slices, range.mip))
            }
        }
    }

    /// This area, extended to all slices of its mip levels.
    pub(crate) fn levels(&self) -> Self {
        Self {
            slices: ALL_SLICES,
            ..self.clone()
        }
    }

    /// The bytes of a buffer, or the mip levels of an image.
    pub(crate) fn line(&self) -> Range<u64> {
        self.line.clone()
    }

    fn is_empty(&self) -> bool {
        let is_empty = self.layers.is_empty() || self.line.is_empty() || self.slices.is_empty();
        self.aspects == 0 || is_empty
    }

    /// Returns the intersection of two areas of one resource, if it is not empty.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let meet = |a: &Range<u64>, b: &Range<u64>| a.start.max(b.start)..a.end.min(b.end);
        let both = Self {
            aspects: self.aspects & other.aspects,
            layers: meet(&self.layers, &other.layers),
            line: meet(&self.line, &other.line),
            slices: meet(&self.slices, &other.slices),
        };
        (!both.is_empty()).then_some(both)
    }

    /// Whether all of `other` lies in this area.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.intersection(other).as_ref() == Some(other)
    }

    /// Returns the rest of the area without `part`, which it must contain.
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
            slices: self.slices.clone(),
        });
        let after = part.line.end..self.line.end;
        let before = self.line.start..part.line.start;
        let lines = [before, after].map(|line| Self {
            line,
            slices: self.slices.clone(),
            ..part.clone()
        });
        let deeper = part.slices.end..self.slices.end;
        let nearer = self.slices.start..part.slices.start;
        let slices = [nearer, deeper].map(|slices| Self {
            slices,
            ..part.clone()
        });
        let pieces = [rest].into_iter().chain(layers).chain(lines).chain(slices);
        pieces.filter(|piece| !piece.is_empty()).collect()
    }

    /// Describes the area, given the kind of its resource.
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
            slices,
        } = self.area;
        if *self.area == Area::whole(self.kind) {
            return write!(out, "all");
        }
        if matches!(self.kind, ResourceKind::Buffer { .. }) {
            return write!(out, "bytes {}..{}", line.start, line.end);
        }
        let aspects = Aspects::from_bits_retain(*aspects);
        let names: Vec<&str> = aspects.iter_names().map(|(name, _)| name).collect();
        if *slices != ALL_SLICES {
            write!(out, "slices {}..", slices.start)?;
            if slices.end < u64::MAX {
                write!(out, "{}", slices.end)?;
            }
            write!(out, " of ")?;
        }
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

/// A value for every part of a resource: disjoint areas that cover all of it.
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

    /// The cells within `area`. Cells that reach beyond it are split first.
    pub(crate) fn parts_mut(&mut self, area: &Area) -> impl Iterator<Item = (&Area, &mut T)> {
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
