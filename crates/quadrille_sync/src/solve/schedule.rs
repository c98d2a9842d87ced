//! How long a frame takes, by estimate: what `arrange` and `choose` compare.
//!
//! A queue runs its submissions one after the other, each begins when all it waits for has ended,
//! and lasts as long as its passes together. Costs are those that passes declare; a pass of
//! unknown cost counts as the average of the others, or as one if no pass declares any.

pub(super) mod arrange;
pub(super) mod assign;
pub(super) mod choose;
pub(super) mod gate;
pub(super) mod levels;
pub(super) mod list;
pub(super) mod merge;
pub(super) mod split;

use crate::frame::{Frame, PassIndex, PassKind};
use crate::plan::{Plan, Step};
use crate::topology::QueueIndex;

/// What a submission costs besides its passes, in microseconds: handing it over, and the pause of
/// a queue between two of them. Worth knowing only to the order of magnitude.
pub(super) const SUBMISSION_US: u64 = 20;

/// The estimated cost of each pass, in microseconds or (if none is known) in passes.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    /// Some pass declares its cost.
    pub(super) are_known: bool,
    unknown: u64,
}

impl Costs {
    /// Looks at the costs that a frame declares.
    pub(super) fn new(frame: &Frame) -> Self {
        let device = frame.passes.iter().filter(|it| it.kind == PassKind::Device);
        let known = device
            .map(|pass| u64::from(pass.cost_us))
            .filter(|it| *it > 0);
        let (sum, count) = known.fold((0, 0), |(sum, count), cost| (sum + cost, count + 1));
        Self {
            are_known: count > 0,
            unknown: sum.checked_div(count).unwrap_or(1).max(1),
        }
    }

    /// The cost of a pass.
    pub(super) fn of(&self, frame: &Frame, pass: PassIndex) -> u64 {
        match frame.pass(pass).cost_us {
            0 => self.unknown,
            cost => u64::from(cost),
        }
    }
}

/// When each queue has ended what a plan gives it, by queue index.
pub(super) fn ends(frame: &Frame, plan: &Plan) -> Vec<u64> {
    let costs = Costs::new(frame);
    // The end of each submission, by queue and value.
    let mut ends: Vec<Vec<u64>> = Vec::new();
    let end_of = |ends: &[Vec<u64>], queue: QueueIndex, value: i64| {
        let at = usize::try_from(value - 1).ok();
        let of_queue = ends.get(usize::from(queue.0));
        at.and_then(|at| of_queue?.get(at)).copied().unwrap_or(0)
    };
    let mut open: Vec<usize> = (0..plan.submissions.len()).collect();
    // Submission order is an order of execution, unless waits come before their signals.
    while !open.is_empty() {
        let before = open.len();
        open.retain(|at| {
            let submission = &plan.submissions[*at];
            let queue = usize::from(submission.queue.0);
            if ends.len() <= queue {
                ends.resize(queue + 1, Vec::new());
            }
            let ready = submission.waits.iter().all(|wait| {
                let of_queue = ends.get(usize::from(wait.point.queue.0));
                wait.point.offset <= of_queue.map_or(0, Vec::len) as i64
            });
            if !ready || ends[queue].len() as i64 + 1 != submission.signal {
                return true;
            }
            let waits = submission.waits.iter();
            let waits = waits.map(|wait| end_of(&ends, wait.point.queue, wait.point.offset));
            let start = waits.chain(ends[queue].last().copied()).max().unwrap_or(0);
            let passes = submission.steps.iter().map(|step| match step {
                Step::Pass(pass) => costs.of(frame, *pass),
                Step::Barriers(_) => 0,
            });
            ends[queue].push(start + passes.sum::<u64>());
            false
        });
        if open.len() == before {
            break;
        }
    }
    ends.iter()
        .map(|ends| ends.last().copied().unwrap_or(0))
        .collect()
}

impl Plan {
    /// The estimated time from the start of the frame to its end on the queue that ends last, in
    /// microseconds; in passes, if no pass of the frame declares a cost.
    ///
    /// Each queue runs its submissions one after the other, each when what it waits for in this
    /// frame has ended. A pass of unknown cost counts as the average of those that are known.
    pub fn critical_path_us(&self, frame: &Frame) -> u64 {
        ends(frame, self).into_iter().max().unwrap_or(0)
    }
}
