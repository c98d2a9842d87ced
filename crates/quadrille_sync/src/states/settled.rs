//! Settled resources: a further read needs no synchronization, and may be undeclared.

use std::sync::Arc;

use super::{PastAccess, States, StreamOwnership};
use crate::access::Access;
use crate::flags::Layout;
use crate::range::{EVERYTHING, RangeMap, intervals};
use crate::resource::{ResourceId, ResourceKind};
use crate::table::NonTableUse;
use crate::topology::{QueueIndex, Topology};

impl States {
    /// Whether all of an image, or any of a buffer, has been written by passes, or imported.
    pub(crate) fn is_defined(&self, id: ResourceId) -> bool {
        let is_buffer = matches!(self.kind(id), Some(ResourceKind::Buffer { .. }));
        self.map(id).is_some_and(|map| {
            let mut runs = map.iter().map(|(_, state)| state.defined);
            if is_buffer {
                runs.any(|it| it)
            } else {
                runs.all(|it| it)
            }
        })
    }

    /// Whether [`States::is_defined`] will hold after these writes of one resource.
    pub(crate) fn is_defined_after<'a>(
        &self,
        writes: impl Iterator<Item = &'a NonTableUse>,
    ) -> bool {
        let mut defined: Option<RangeMap<bool>> = None;
        for write in writes {
            if matches!(write.kind, ResourceKind::Buffer { .. }) {
                return true;
            }
            let before = self.map(write.resource);
            let before = || {
                let map = before.map(|map| map.map(|state| state.defined));
                map.unwrap_or_else(|| RangeMap::new(false))
            };
            let defined = defined.get_or_insert_with(before);
            intervals(&write.kind, &write.range, |interval| {
                defined.update(interval, |_, it| *it = true);
            });
        }
        defined.is_some_and(|map| map.iter().all(|(_, it)| *it))
    }

    /// The queues, as bits, on which a read of the whole resource would need no barrier, wait or
    /// transfer (rung 1 of the ladder).
    pub(crate) fn settled_for(&self, id: ResourceId, access: Access, topology: &Topology) -> u32 {
        let Some(map) = self
            .map(id)
            .filter(|_| self.stream_ownership(id) == StreamOwnership::Own)
        else {
            return 0;
        };
        // A buffer has no layout, and a range without a write has no hazard to wait for.
        let is_buffer = matches!(self.kind(id), Some(ResourceKind::Buffer { .. }));
        let is_bare = is_buffer || access.layout() == Layout::Undefined;
        let mut queues = u32::MAX;
        for (_, state) in map.iter() {
            let rare = &state.rare;
            let is_kept = rare.pending().is_none() && rare.promised().is_none();
            let lies = is_bare || state.defined && state.layout == access.layout();
            if !(is_kept && rare.aliased().is_empty() && lies) {
                return 0;
            }
            let sees = |queue: &QueueIndex| {
                let (family, capabilities) =
                    (topology.family(*queue), topology.queue(*queue).capabilities);
                let scope = access.scope(capabilities);
                let owns = state.owner.is_none_or(|owner| owner == family);
                let mut seen = state.visible.iter();
                let is_seen = state.write.is_none()
                    || seen.any(|it| it.queue == *queue && it.scope.covers(scope));
                owns && !scope.stages.is_empty() && is_seen
            };
            let of_this = topology.indices().filter(sees);
            queues &= of_this.fold(0, |all, queue| all | 1 << queue.0);
        }
        queues
    }

    /// Adds undeclared reads to the reads since the last write.
    pub(crate) fn add_reads(&mut self, id: ResourceId, reads: &[PastAccess]) {
        if reads.is_empty() || self.map(id).is_none() {
            return;
        }
        self.leave_steady_state();
        let Some(entry) = self.slot(id) else { return };
        Arc::make_mut(&mut entry.map).update(EVERYTHING, |_, state| {
            state.visible.iter_mut().for_each(|it| it.is_ready = false);
            for read in reads {
                let queue = read.point.queue;
                match state.reads.iter_mut().find(|it| it.point.queue == queue) {
                    Some(known) => {
                        let scope = known.scope.union(read.scope);
                        if read.point.value > known.point.value {
                            *known = read.clone();
                        }
                        known.scope = scope;
                    }
                    None => state.reads.push(read.clone()),
                }
            }
        });
        for read in reads {
            let queue = read.point.queue;
            match entry.last_uses.iter_mut().find(|it| it.queue == queue) {
                Some(last) => last.value = last.value.max(read.point.value),
                None => entry.last_uses.push(read.point),
            }
        }
    }
}
