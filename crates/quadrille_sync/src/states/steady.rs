//! Frames that repeat: the same plan, again and again.

use std::sync::Arc;

/// Identity of a plan, regardless of its contents: all stamps count as equal where plans are
/// compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamp(Arc<()>);

impl Stamp {
    /// Whether both are of one solution.
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

/// How often the same plan was committed without anything between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steady {
    /// The plan; holding it keeps its stamp from being another's.
    last: Option<Stamp>,
    times: u32,
    /// The last commit changed nothing but when things happened.
    in_place: bool,
}

impl Steady {
    /// Notes a commit; whether the one before was of the same plan.
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

    /// Notes whether a commit changed nothing but when things happened: then no other of the plan
    /// does.
    pub(crate) fn settle(&mut self, in_place: bool) {
        self.in_place = in_place;
    }

    /// Whether the last commit changed nothing but when things happened.
    pub(crate) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Notes that the states were changed by other means.
    pub(crate) fn disturb(&mut self) {
        *self = Self::default();
    }

    /// Whether this plan was committed twice in a row, and once more for each queue but one: with
    /// each frame, a value in one queue's clock reaches the clock of one more queue.
    pub(crate) fn repeats(&self, stamp: &Stamp, queues: usize) -> bool {
        self.times as usize > queues && self.is_last(stamp)
    }

    fn is_last(&self, stamp: &Stamp) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|last| last.is(stamp))
    }
}
