//! Phase `choose`: is the arranged frame better than the declared one?
//!
//! Both plans are complete, and the [`Objective`] decides. Where the arranged frame is already
//! estimated to be shorter, there is nothing to choose.

use crate::frame::Frame;
use crate::plan::Plan;
use crate::solve::schedule::arrange::Arranged;
use crate::solve::schedule::objective::Objective;
use crate::solve::schedule::split::Split;

/// The better of the declared frame and the arranged one, with what `emit` makes of it.
pub(crate) fn choose<T: AsRef<Plan>>(
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
    let objective = |it: &T| Objective::of(frame, it.as_ref());
    if objective(&new) < objective(&old) {
        new
    } else {
        old
    }
}
