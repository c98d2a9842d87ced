//! Phase `choose`: the better of the declared and the arranged frame.
//!
//! Both are planned completely, and the [`Objective`] decides. If `arrange` has already found the
//! arranged frame to be better, only that one is planned.

use crate::frame::Frame;
use crate::plan::Plan;
use crate::solve::schedule::arrange::Arranged;
use crate::solve::schedule::objective::Objective;
use crate::solve::schedule::split::Split;

/// Returns the result of `emit` for the better of the declared frame and the arranged one.
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
