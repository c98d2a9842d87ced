//! Detection of repeated commits of one plan.

use std::sync::Arc;

/// Identity of a plan, independent of its contents. All stamps compare equal, so that they do not affect
/// comparisons of plans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamp(Arc<()>);

impl Stamp {
    /// Whether both belong to the same plan.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Stamp {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Stamp {}

impl std::hash::Hash for Stamp {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// Number of successive commits of the same plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steady {
    /// The stamp of the plan. Holding it prevents reuse of its address by another plan.
    last: Option<Stamp>,
    times: u32,
    /// The last commit changed only timeline values.
    in_place: bool,
}

impl Steady {
    /// Notes a commit. Returns whether the previous one was of the same plan.
    pub(crate) fn commit(&mut self, stamp: &Stamp) -> bool {
        let again = self.is_last(stamp);
        if again {
            self.times = self.times.saturating_add(1);
        } else {
            self.last = Some(stamp.clone());
            self.times = 1;
            self.in_place = false;
        }
        again
    }

    /// Notes whether a commit changed only timeline values. Then further commits of the same plan do so
    /// too.
    pub(crate) fn settle(&mut self, in_place: bool) {
        self.in_place = in_place;
    }

    /// Whether the last commit changed only timeline values.
    pub(crate) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Notes that the states were changed by other means.
    pub(crate) fn leave_steady_state(&mut self) {
        *self = Self::default();
    }

    /// Whether this plan was committed more than `queues` times in succession. Then clocks are steady:
    /// with each frame, an entry of one queue's clock may propagate to one more queue.
    pub(crate) fn repeats(&self, stamp: &Stamp, queues: usize) -> bool {
        self.times as usize > queues && self.is_last(stamp)
    }

    fn is_last(&self, stamp: &Stamp) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|last| last.is(stamp))
    }
}
