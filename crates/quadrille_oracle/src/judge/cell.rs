//! Cells: the judge's state of a part of a resource.

use std::rc::Rc;
use std::sync::Arc;

use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::plan::Scope;
use quadrille_sync::topology::FamilyIndex;

use super::clock::{Done, Signalled, View};
use super::memory::Former;
use crate::area::Area;
use crate::stages::{StageAccess, covers, pairs, single};
use crate::violation::Actor;

/// The state of a part of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The family that owns it; `None` if it is concurrent or unused.
    pub(crate) owner: Option<FamilyIndex>,
    /// A release that has not been acquired.
    pub(crate) released: Option<Rc<Release>>,
    pub(crate) layout: Layout,
    pub(crate) contents: Contents,
    /// The last write; `None` if all later accesses are ordered after it.
    pub(crate) write: Option<Write>,
    /// The reads since.
    pub(crate) reads: Vec<Read>,
    /// Accesses of former resources to its memory, until it is written.
    pub(crate) formers: Vec<Former>,
    /// Waits of host passes that used it.
    pub(crate) host: HostWaits,
    /// With shared memory: the resource occupies the bytes now.
    pub(crate) is_open: bool,
    /// The presentation engine owns the swapchain image.
    pub(crate) presented: bool,
}

/// Waits of host passes that used a part of a resource. Host passes of one frame may run in any order
/// and at the same time, but all of them have run before a later frame that uses the same resources
/// (`HostStep::before`).
#[derive(Clone, Debug, Default)]
pub(crate) struct HostWaits {
    /// Waits in the frame with this number.
    now: (u32, Signalled),
    /// Waits in earlier frames.
    before: Signalled,
}

impl HostWaits {
    /// Returns the operations that earlier frames' host passes have waited for.
    pub(crate) fn before(&mut self, frame: u32) -> &Signalled {
        if self.now.0 != frame {
            let (_, now) = std::mem::replace(&mut self.now, (frame, Signalled::default()));
            self.before.join(&now);
        }
        &self.before
    }

    /// Adds the waits of a host pass of a frame.
    pub(crate) fn add(&mut self, frame: u32, seen: &Signalled) {
        self.before(frame);
        self.now.1.join(seen);
    }
}

/// Contents of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Undefined: never written.
    Never,
    /// Written contents.
    Written,
    /// Written, then discarded by a barrier with old layout `UNDEFINED`.
    Lost(Actor),
    /// Another resource has used the memory since.
    Taken(Arc<str>),
}

/// The first half of an ownership transfer.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) from: FamilyIndex,
    pub(crate) to: FamilyIndex,
    pub(crate) old_layout: Layout,
    pub(crate) new_layout: Layout,
    pub(crate) area: Area,
    pub(crate) done: Done,
    pub(crate) actor: Actor,
}

/// A read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) actor: Actor,
    pub(crate) done: Done,
}

/// A write, with its availability and visibility.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) actor: Actor,
    pub(crate) done: Done,
    /// Its stages and accesses; empty for the write of a barrier, which is available at once.
    pub(crate) scope: Scope,
    /// The operations that made it available.
    pub(crate) available: Vec<Done>,
    /// The scopes that it is visible to.
    pub(crate) visible: Vec<Visible>,
}

/// Accesses on a queue to which a write is visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visible {
    pub(crate) since: Done,
    pub(crate) scope: Scope,
}

/// The two scopes of a dependency, as it is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scopes {
    pub(crate) src: Scope,
    pub(crate) dst: Scope,
}

impl Cell {
    /// A cell without any access.
    pub(crate) fn fresh() -> Self {
        Self {
            owner: None,
            released: None,
            layout: Layout::Undefined,
            contents: Contents::Never,
            write: None,
            reads: Vec::new(),
            formers: Vec::new(),
            host: HostWaits::default(),
            is_open: false,
            presented: false,
        }
    }

    /// Records a read by a pass.
    pub(crate) fn add_read(&mut self, read: Read) {
        let same = |old: &&mut Read| match (&old.done, &read.done) {
            (Done::Stages(a, a_stages), Done::Stages(b, b_stages)) => {
                a.column == b.column && a_stages == b_stages
            }
            _ => false,
        };
        match self.reads.iter_mut().find(same) {
            Some(old) => *old = read,
            None => self.reads.push(read),
        }
    }

    /// Records a write. Earlier reads are dropped, since the write is ordered after them.
    pub(crate) fn set_write(&mut self, write: Write) {
        self.write = Some(write);
        self.reads.clear();
        self.formers.clear();
    }
}

impl Write {
    /// A write by a pass.
    pub(crate) fn by_pass(actor: Actor, done: Done, scope: Scope) -> Self {
        Self {
            actor,
            done,
            scope,
            available: Vec::new(),
            visible: Vec::new(),
        }
    }

    /// A write by a barrier: a layout transition or an acquire of ownership, visible to the
    /// barrier's second scope.
    pub(crate) fn by_barrier(actor: Actor, done: Done, dst: Scope) -> Self {
        let visible = vec![Visible {
            since: done,
            scope: dst,
        }];
        Self {
            actor,
            done,
            scope: Scope::default(),
            available: vec![done],
            visible,
        }
    }

    /// Whether the write is available to an operation with this view: by a barrier, or, from another
    /// queue, by a semaphore. Views of other queues come from signals only, and a signal makes all
    /// writes before it available.
    pub(crate) fn available_to(&self, column: usize, view: &View) -> bool {
        let instant = self.done.instant();
        let by_signal = instant.column != column && view.sees(&self.done);
        by_signal || self.available.iter().any(|done| view.sees(done))
    }

    /// Whether the write is in the first access scope of a dependency, which then makes it available.
    pub(crate) fn in_access_scope(&self, column: usize, src: Scope) -> bool {
        let Done::Stages(instant, stages) = self.done else {
            return false;
        };
        instant.column == column
            && single(src.stages).contains(stages)
            && pairs(self.scope).all(|pair| covers(src, pair))
    }

    /// Whether the write is visible to an access on a queue.
    pub(crate) fn visible_to(&self, column: usize, pair: StageAccess) -> bool {
        let mut visible = self
            .visible
            .iter()
            .filter(|visible| visible.since.instant().column == column);
        visible.any(|visible| covers(visible.scope, pair))
    }

    /// Applies a barrier with these scopes on the queue of `done`: makes the write available and
    /// visible if its first scope includes the write.
    pub(crate) fn pass_barrier(&mut self, view: &View, scopes: Scopes, done: Done) {
        let column = done.instant().column;
        let makes_available = self.in_access_scope(column, scopes.src);
        if !makes_available && !self.available_to(column, view) {
            return;
        }
        if makes_available {
            self.add_available(done);
        }
        self.add_visible(Visible {
            since: done,
            scope: scopes.dst,
        });
    }

    /// Applies a semaphore wait whose signal is ordered after the write: the write is available, and
    /// visible to all accesses in the stages of the wait.
    pub(crate) fn pass_wait(&mut self, stages: Stages, done: Done) {
        if self.done.instant().column == done.instant().column {
            self.add_available(done);
        }
        let access = AccessMask::MEMORY_READ | AccessMask::MEMORY_WRITE;
        self.add_visible(Visible {
            since: done,
            scope: Scope { stages, access },
        });
    }

    fn add_available(&mut self, done: Done) {
        let (Done::Stages(at, stages) | Done::Dependency(at, stages)) = done;
        let known = self.available.iter().any(|old| {
            let (Done::Stages(old_at, old_stages) | Done::Dependency(old_at, old_stages)) = old;
            old_at.column == at.column && old_stages.contains(stages)
        });
        if !known {
            self.available.push(done);
        }
    }

    fn add_visible(&mut self, visible: Visible) {
        let column = visible.since.instant().column;
        let known = self.visible.iter().any(|old| {
            old.since.instant().column == column
                && single(old.scope.stages).contains(single(visible.scope.stages))
                && old.scope.access.contains(visible.scope.access)
        });
        if !known && !visible.scope.access.is_empty() {
            self.visible.push(visible);
        }
    }
}
