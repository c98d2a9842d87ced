//! Timelines of users: `VkSubmitInfo2` waits before its first command and signals after its last, and a
//! counter only rises.

use quadrille_sync::frame::{PassIndex, PassKind, TimelineUse, TimelineUseKind as Kind};
use quadrille_sync::plan::Step;

use super::FrameCheck;
use crate::violation::Violation;

impl FrameCheck<'_> {
    /// Checks that passes that wait are first in their submission, that passes that signal are last in
    /// theirs, that waits for a signal of the frame are submitted after it, and that signals of one
    /// timeline increase.
    pub(super) fn judge_timelines(&mut self) {
        if self.frame.timeline_uses.is_empty() {
            return;
        }
        // By pass: its submission, and whether it is the first and the last pass there.
        let mut position = vec![None; self.frame.passes.len()];
        for (index, submission) in self.plan.submissions.iter().enumerate() {
            let passes = submission.steps.iter().filter_map(|step| match step {
                Step::Pass(pass) => Some(*pass),
                Step::Barriers(_) => None,
            });
            let passes: Vec<PassIndex> = passes.collect();
            for (at, pass) in passes.iter().enumerate() {
                if let Some(position) = position.get_mut(pass.0 as usize) {
                    *position = Some((index, at == 0, at + 1 == passes.len()));
                }
            }
        }
        for one in &self.frame.timeline_uses {
            self.judge_timeline_use(one, position.get(one.pass.0 as usize).copied().flatten());
            for other in &self.frame.timeline_uses {
                let rises = match other.kind {
                    Kind::Signal => one.value < other.value,
                    Kind::Wait => one.value <= other.value,
                };
                let is_first = one.kind == Kind::Signal && one.timeline == other.timeline && rises;
                let submission = |it: &TimelineUse| {
                    let (index, ..) = (*position.get(it.pass.0 as usize)?)?;
                    Some(index)
                };
                let both = submission(one).zip(submission(other));
                let in_order = both.is_some_and(|(first, second)| {
                    first < second || first == second && other.kind == Kind::Signal
                });
                if is_first && !in_order {
                    self.object_timeline(other, "its value comes before a lower one is signalled");
                }
            }
        }
    }

    fn judge_timeline_use(&mut self, one: &TimelineUse, position: Option<(usize, bool, bool)>) {
        let on_host = self.frame.pass(one.pass).kind == PassKind::Host;
        let why = match (position, one.kind) {
            (None, _) if on_host => "no submission of a host pass waits or signals",
            (None, _) => "it does not run",
            (Some((_, false, _)), Kind::Wait) => {
                "it waits, and another pass of its submission is held up"
            }
            (Some((_, _, false)), Kind::Signal) => {
                "it signals, and another pass of its submission delays that"
            }
            _ => return,
        };
        self.object_timeline(one, why);
    }

    pub(super) fn object_timeline(&mut self, one: &TimelineUse, why: &'static str) {
        let timeline = self.frame.timelines.get(one.timeline as usize);
        self.violations.push(Violation::UserTimeline {
            pass: self.frame.pass(one.pass).name.clone(),
            timeline: timeline.map_or_else(|| "?".into(), |it| it.name.clone()),
            value: one.value,
            why,
        });
    }
}
