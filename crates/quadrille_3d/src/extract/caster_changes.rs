//! Changes of shadow casters in a frame, by which cached shadow maps are invalidated.

use crate::constants::SHADOWS;
use crate::scene::cull_view::{BoundsRow, CullViewRow};
use crate::scene::rows::InstanceRow;

/// Changed casters that are tested against each cached shadow map; beyond that, all maps are drawn.
const MAX_TESTED: usize = 128;

/// Casters that have changed since the previous frame.
#[derive(Debug, Default)]
pub(crate) struct CasterChanges {
    /// Rows of casters before their change.
    former: Vec<(InstanceRow, BoundsRow)>,
    /// Instance indices.
    changed: Vec<u32>,
    /// Whether any caster may have changed.
    is_any: bool,
}

impl CasterChanges {
    /// Begins a frame.
    pub(crate) fn clear(&mut self) {
        self.former.clear();
        self.changed.clear();
        self.is_any = false;
    }

    /// Notes an instance before it changes, with its rows if it exists already.
    pub(crate) fn note(&mut self, index: u32, rows: Option<(&InstanceRow, &BoundsRow)>) {
        if self.is_any {
            return;
        }
        self.changed.push(index);
        if let Some((instance, bounds)) = rows
            && bounds.flags & SHADOWS != 0
        {
            self.former.push((*instance, *bounds));
            self.is_any = self.former.len() > MAX_TESTED;
        }
    }

    /// Drops instances that cast no shadows, once all changes of the frame are noted. `bounds` is the current table.
    pub(crate) fn finish(&mut self, bounds: &[BoundsRow]) {
        let casts = |index: &u32| {
            let row = bounds.get(*index as usize);
            row.is_some_and(|row| row.flags & SHADOWS != 0)
        };
        self.changed.retain(casts);
        self.is_any |= self.changed.len() > MAX_TESTED;
    }

    /// Whether every shadow map must be drawn.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether a shadow map has, or had, a changed caster. `instances` and `bounds` are the current tables.
    pub(crate) fn affects(
        &self,
        view: &CullViewRow,
        layers: &[u32],
        (instances, bounds): (&[InstanceRow], &[BoundsRow]),
    ) -> bool {
        let current = self.changed.iter().filter_map(|&index| {
            let at = index as usize;
            Some((instances.get(at)?, bounds.get(at)?))
        });
        let former = self
            .former
            .iter()
            .map(|(instance, bounds)| (instance, bounds));
        self.is_any
            || former
                .chain(current)
                .any(|(instance, bounds)| view.is_visible(instance, bounds, layers))
    }
}

#[cfg(test)]
mod tests;
