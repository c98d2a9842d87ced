//! What becomes of a barrier call once nobody can add to it.

use super::Walk;
use super::call::Plain;
use crate::flags::Stages;
use crate::plan::{BarrierBatch, Step};
use crate::solve::logical::{first_scope, second_scope};
use crate::solve::precise::{cut, gather};
use crate::solve::record::Barrier;
use crate::solve::scope::named;
use crate::topology::{BarrierStyle, QueueIndex};

/// A kind of execution dependency: a first and a second scope.
type Kind = (Stages, Stages);

impl Walk<'_> {
    /// Writes the last calls into their submissions.
    pub(in crate::solve) fn close_calls(&mut self) {
        self.topology
            .indices()
            .for_each(|queue| self.close_call(queue));
    }

    /// Writes the last call of a queue into its submission.
    pub(super) fn close_call(&mut self, queue: QueueIndex) {
        let Some(mut call) = self.last_calls[usize::from(queue.0)].take() else {
            return;
        };
        let style = self.topology.barriers;
        // Mere order comes last, because barriers that do more order too.
        let mut memory = call.plain;
        let mut order: Vec<Plain> = memory.extract_if(.., |it| only_orders(it)).collect();
        if style == BarrierStyle::Precise {
            (memory, order) = (cut(memory), gather(order));
        }
        // What barriers of ranges order already: few kinds, however many barriers.
        let mut ordered: Vec<Kind> = Vec::new();
        for (src, dst) in call.batch.orders() {
            note(&mut ordered, (src.stages, dst.stages));
        }
        // Where a global barrier stands anyway, it costs nothing to name a stage more in it.
        let is_close = style == BarrierStyle::Precise || memory.is_empty();
        for plain in memory.drain(..) {
            if style == BarrierStyle::Precise {
                note(&mut ordered, (plain.src.stages, plain.dst.stages));
            }
            self.put(&mut call.batch, plain);
        }
        // The widest first.
        match is_close {
            true => order.sort_by_cached_key(|plain| std::cmp::Reverse(width(plain))),
            false => {
                order.sort_by_key(|plain| std::cmp::Reverse(named(plain.src) + named(plain.dst)))
            }
        }
        for plain in order {
            let kind = (plain.src.stages, plain.dst.stages);
            let mut all = ordered.iter();
            let is_said = all.any(|it| covers(*it, kind) || is_close && implies(*it, kind));
            if is_said || style == BarrierStyle::Precise && cover_together(&ordered, kind) {
                continue;
            }
            if style == BarrierStyle::Precise {
                note(&mut ordered, kind);
            }
            self.put(&mut call.batch, plain);
        }
        self.spare.plain = memory;
        self.spare.images = take_exactly(&mut call.batch.images);
        let steps = &mut self.records[call.submission].submission.steps;
        steps[call.at] = Step::Barriers(Box::new(call.batch));
    }

    /// Writes a dependency down in the way the device likes best.
    fn put(&self, batch: &mut BarrierBatch, plain: Plain) {
        let only_orders = only_orders(&plain);
        let Plain {
            interval,
            src,
            dst,
            layout,
            reason,
            ..
        } = plain;
        match self.topology.barriers {
            BarrierStyle::Merged => batch.merge(src, dst, reason),
            BarrierStyle::Precise => {
                let resource = self.frame.resource(reason.resource);
                let count = batch.images.len();
                batch.push(resource, interval, Barrier::plain(src, dst, layout, reason));
                if only_orders {
                    // Whatever range it names, it says everything.
                    batch.images.truncate(count + 1);
                }
            }
        }
    }
}

/// Leaves what is in a list in one that is as large, and gives the memory of the other.
fn take_exactly<T>(list: &mut Vec<T>) -> Vec<T> {
    let mut exact = Vec::with_capacity(list.len());
    exact.append(list);
    std::mem::replace(list, exact)
}

/// Whether a dependency is one of execution alone.
fn only_orders(plain: &Plain) -> bool {
    plain.src.access.is_empty() && plain.dst.access.is_empty()
}

/// Remembers what a barrier orders.
fn note(ordered: &mut Vec<Kind>, kind: Kind) {
    if !ordered.contains(&kind) {
        ordered.push(kind);
    }
}

/// Whether several execution dependencies, each with all of the first scope, name all of the second
/// one together.
fn cover_together(ordered: &[Kind], (first, second): Kind) -> bool {
    let from_first = ordered.iter().filter(|(src, _)| src.covers(first));
    let together = from_first.fold(Stages::empty(), |all, (_, dst)| all | *dst);
    together.covers(second)
}

/// Whether one execution dependency names all that another one does.
fn covers((src, dst): Kind, (first, second): Kind) -> bool {
    src.covers(first) && dst.covers(second)
}

/// Whether one execution dependency is another one too, by the logical order of stages.
fn implies((src, dst): Kind, (first, second): Kind) -> bool {
    first_scope(src).contains(first_scope(first))
        && second_scope(dst).contains(second_scope(second))
}

/// How many stages a dependency orders: whatever implies another one orders no fewer.
fn width(plain: &Plain) -> u32 {
    let count = |stages: Stages| stages.bits().count_ones();
    count(first_scope(plain.src.stages)) + count(second_scope(plain.dst.stages))
}
