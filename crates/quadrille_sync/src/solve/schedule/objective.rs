//! Objective of plans: the only comparison that decides which of two plans is better.
//!
//! Compared are first the estimated time of the frame, then the numbers of submissions, waits, barrier
//! calls and barriers ([`Objective`]). Phases that compare orders before there is a plan estimate the
//! time in the same way, from the same costs.
//!
//! A queue runs its submissions one after the other. Each begins when all submissions of this frame
//! that it waits for have ended, and takes the sum of the costs of its passes. Waits for earlier frames
//! cost nothing. Costs are those that passes declare. A pass of unknown cost counts as the average of
//! the others; if no pass declares any, each counts as [`ASSUMED_US`]. Each submission adds
//! [`SUBMISSION_US`].

use crate::frame::{Frame, PassIndex, PassKind};
use crate::plan::{Plan, Step};
use crate::topology::QueueIndex;

/// Overhead of a submission, in microseconds: the `vkQueueSubmit2` call, and the idle time of the queue
/// between two submissions. Only its order of magnitude matters.
pub(crate) const SUBMISSION_US: u64 = 20;

/// Cost of each pass in a frame in which no cost is known, in microseconds.
const ASSUMED_US: u64 = 100;

/// Quantities to minimize. The first difference decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Objective {
    /// The estimated end of the frame plus the overhead of its submissions, in microseconds.
    time_us: u64,
    submissions: u32,
    waits: u32,
    calls: u32,
    barriers: u32,
    /// The sum of the queues' ends, in microseconds: less leaves the next frame more overlap.
    ends_us: u64,
}

impl Objective {
    /// Returns the objective of a plan.
    pub(crate) fn of(frame: &Frame, plan: &Plan) -> Self {
        let (counts, ends) = (plan.counts(), ends(frame, plan));
        Self {
            time_us: time_us(&ends, plan.submissions.len()),
            submissions: counts.submissions,
            waits: counts.semaphore_waits,
            calls: counts.barrier_calls,
            barriers: counts.barriers,
            ends_us: ends.iter().sum(),
        }
    }
}

/// The estimated time of a frame from the ends of its queues and its number of submissions, in
/// microseconds.
pub(crate) fn time_us(ends: &[u64], submissions: usize) -> u64 {
    let end = ends.iter().max().copied().unwrap_or(0);
    end + SUBMISSION_US * submissions as u64
}

/// The estimated cost of each pass, in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    unknown: u64,
}

impl Costs {
    /// Computes the cost of undeclared passes from those that a frame declares.
    pub(crate) fn new(frame: &Frame) -> Self {
        let device = frame.passes.iter().filter(|it| it.kind == PassKind::Device);
        let known = device
            .map(|pass| u64::from(pass.cost_us))
            .filter(|it| *it > 0);
        let (sum, count) = known.fold((0, 0), |(sum, count), cost| (sum + cost, count + 1));
        Self {
            unknown: sum.checked_div(count).unwrap_or(ASSUMED_US).max(1),
        }
    }

    /// The cost of a pass.
    pub(crate) fn of(&self, frame: &Frame, pass: PassIndex) -> u64 {
        match frame.pass(pass).cost_us {
            0 => self.unknown,
            cost => u64::from(cost),
        }
    }
}

/// By queue: the estimated end of its last submission, in microseconds.
fn ends(frame: &Frame, plan: &Plan) -> Vec<u64> {
    let costs = Costs::new(frame);
    // The end of each submission, by queue and value.
    let mut ends: Vec<Vec<u64>> = Vec::new();
    let end_of = |ends: &[Vec<u64>], queue: QueueIndex, value: i64| {
        let at = usize::try_from(value - 1).ok();
        let of_queue = ends.get(usize::from(queue.0));
        at.and_then(|at| of_queue?.get(at)).copied().unwrap_or(0)
    };
    let mut open: Vec<usize> = (0..plan.submissions.len()).collect();
    // One round suffices if every wait follows its signal in submission order.
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
    /// microseconds.
    ///
    /// Each queue runs its submissions one after the other. Each begins when the submissions of this
    /// frame that it waits for have ended. A pass of unknown cost counts as the average of the known
    /// costs, or as 100 microseconds if no pass of the frame declares a cost.
    pub fn critical_path_us(&self, frame: &Frame) -> u64 {
        ends(frame, self).into_iter().max().unwrap_or(0)
    }
}
