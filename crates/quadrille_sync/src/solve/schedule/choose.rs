//! Phase `choose`: is the arranged frame better than the declared one?
//!
//! Both plans are complete, so only time has to be estimated. The arranged one must not let any
//! queue end later, nor have more transfers. Where passes declare what they cost, the estimated
//! time decides, which includes a cost for each submission. Otherwise there must not be more
//! submissions, and the numbers of submissions and waits decide. Among equals the fewest barrier
//! calls win, then the fewest transfers and barriers, and last the time.

use crate::frame::Frame;
use crate::plan::{Counts, Plan};
use crate::solve::schedule::arrange::Arranged;
use crate::solve::schedule::split::Split;
use crate::solve::schedule::{Costs, SUBMISSION_US, ends};

/// The better of the declared frame and the arranged one, with what `emit` makes of it.
pub(in crate::solve) fn choose<T: AsRef<Plan>>(
    frame: &Frame,
    declared: &Split,
    arranged: Option<Arranged>,
    emit: impl Fn(&Split) -> T,
) -> T {
    let Some(Arranged { split, is_better }) = arranged else {
        return emit(declared);
    };
    let new = emit(&split);
    if is_better {
        return new;
    }
    let old = emit(declared);
    match self::is_better(frame, old.as_ref(), new.as_ref()) {
        true => new,
        false => old,
    }
}

/// Whether the plan of an arranged frame is better than that of the declared one.
fn is_better(frame: &Frame, declared: &Plan, arranged: &Plan) -> bool {
    let (old, new) = (declared.counts(), arranged.counts());
    let (old_ends, new_ends) = (ends(frame, declared), ends(frame, arranged));
    // Both use the same queues, so both lists of ends have one length.
    let is_late = new_ends.iter().zip(&old_ends).any(|(new, old)| new > old);
    let are_known = Costs::new(frame).are_known;
    let is_worse = is_late
        || new.ownership_transfers > old.ownership_transfers
        || !are_known && new.submissions > old.submissions;
    let cost = |counts: Counts, ends: &[u64]| {
        let end = ends.iter().max().copied().unwrap_or(0);
        let time = end + SUBMISSION_US * u64::from(counts.submissions);
        let switches = counts.submissions + counts.semaphore_waits;
        let time = if are_known { time } else { 0 };
        let barriers = (
            counts.barrier_calls,
            counts.ownership_transfers,
            counts.barriers,
        );
        (time, switches, barriers, ends.iter().sum::<u64>())
    };
    !is_worse && cost(new, &new_ends) < cost(old, &old_ends)
}
