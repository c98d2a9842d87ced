//! Timeline semaphores of the user, and values that passes wait for and signal.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Frame, PassIndex};

/// A timeline semaphore that is not the solver's. Others may signal it too: the host, another queue or
/// another library.
///
/// Frames that differ only in bases are equal. So if all values rise by the same amount from frame to
/// frame, the plan is reused.
#[derive(Clone, Debug)]
pub struct UserTimeline {
    /// Its name in errors and plans.
    pub name: Arc<str>,
    /// The value that [`TimelineUse::value`] is relative to.
    pub base: u64,
}

impl PartialEq for UserTimeline {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for UserTimeline {}

impl Hash for UserTimeline {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// Whether a pass waits for a value or signals it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimelineUseKind {
    /// The pass is the last of its submission, which signals the value when it is done.
    Signal,
    /// The pass is the first of its submission, which begins when the value is reached.
    Wait,
}

/// One value of one timeline in one pass.
///
/// Timelines only rise, so a signal precedes all higher signals, and each wait for the same or a higher
/// value. These pairs are ordered as if by [`PassDecl::after`](super::PassDecl::after). A wait for a value
/// that no pass signals is for a signal by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimelineUse {
    /// The pass: one of the device.
    pub pass: PassIndex,
    /// Index in [`Frame::timelines`].
    pub timeline: u32,
    /// Whether it waits or signals.
    pub kind: TimelineUseKind,
    /// The value above [`UserTimeline::base`].
    pub value: u64,
}

impl Frame {
    /// The values of timelines that a pass waits for or signals.
    pub fn timeline_uses_of(&self, pass: PassIndex) -> impl Iterator<Item = &TimelineUse> {
        self.timeline_uses.iter().filter(move |it| it.pass == pass)
    }

    /// Whether a pass has a timeline use of this kind.
    pub(crate) fn has_timeline_use(&self, pass: PassIndex, kind: TimelineUseKind) -> bool {
        self.timeline_uses_of(pass).any(|it| it.kind == kind)
    }
}
