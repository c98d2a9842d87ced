//! A judge who remembers what was done, and not what has ordered or shown it.

use quadrille_sync::{Capabilities, RelativePoint};

use super::cell::{HostWaits, Write};
use super::clock::{Clock, Signalled};
use super::{Instant, Judge, QueueState};

impl Judge {
    /// The same judge without the dependencies of the frames so far: every access of theirs is
    /// where it was, but no barrier or wait, of queue or host, has ordered anything after it, made it
    /// available or visible, except that a signal comes after all before it on its queue.
    ///
    /// What this judge misses in a plan, and the judge who remembers does not, was done by an
    /// earlier frame already.
    pub(crate) fn without_dependencies(&self) -> Self {
        let mut judge = self.clone();
        for (column, queue) in judge.queues.iter_mut().enumerate() {
            queue.clock = Clock::new(column);
            for (_, signalled) in &mut queue.signals {
                let position = signalled.position(column);
                *signalled = Signalled::of(Instant { column, position });
            }
        }
        for tracked in judge.resources.values_mut() {
            for cell in tracked.cells.values_mut() {
                cell.host = HostWaits::default();
            }
        }
        judge.for_each_write(Write::forget_dependencies);
        judge
    }

    /// Lets all queues have all stages.
    pub(crate) fn widen_queues(&mut self) {
        for queue in &mut self.topology.queues {
            queue.capabilities = Capabilities::all();
        }
    }

    /// The value on its timeline of a point of the next frame.
    pub(crate) fn value(&self, point: RelativePoint) -> i64 {
        let queue = self.queues.get(usize::from(point.queue.0));
        queue.map_or(0, QueueState::value).cast_signed() + point.offset
    }
}
