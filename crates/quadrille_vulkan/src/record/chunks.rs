//! Partition of a plan's steps into chunks and tasks. A chunk is a contiguous run of steps of one submission and has
//! one command buffer. A task records one or several chunks, with one command pool. Pure functions.

use std::ops::Range;

use quadrille_sync::plan::{Plan, Step, Submission};

/// A run of steps that one thread records into one command buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The index of the submission in the plan.
    pub submission: usize,
    /// The range of its steps in the submission.
    pub steps: Range<usize>,
    /// The index of the task that records it. Chunks of one task are contiguous.
    pub task: usize,
}

/// Cuts a plan into chunks for about `wanted` tasks of about equal cost. A submission with steps has
/// at least one chunk. Barriers stay in the chunk of the pass that follows them, or of the last pass. Many
/// small submissions result in many chunks and few tasks.
pub(crate) fn cut(plan: &Plan, wanted: usize, cost: impl Fn(&Step) -> u64) -> Vec<Chunk> {
    if wanted <= 1 {
        // One task: costs do not matter.
        let whole = |(index, submission): (usize, &Submission)| Chunk {
            submission: index,
            steps: 0..submission.steps.len(),
            task: 0,
        };
        let submissions = plan.submissions.iter().enumerate();
        let has_steps = |(_, submission): &(usize, &Submission)| !submission.steps.is_empty();
        return submissions.filter(has_steps).map(whole).collect();
    }
    let steps = plan
        .submissions
        .iter()
        .flat_map(|submission| &submission.steps);
    let total: u64 = steps.map(&cost).sum();
    let target = total.div_ceil(wanted.max(1) as u64).max(1);
    let mut chunks = Vec::with_capacity(plan.submissions.len() + wanted);
    let mut task = 0;
    let mut task_cost = 0;
    for (index, submission) in plan.submissions.iter().enumerate() {
        let is_pass = |step: &Step| matches!(step, Step::Pass(_));
        let last_pass = submission.steps.iter().rposition(is_pass);
        let mut start = 0;
        let mut spent = 0;
        for (at, step) in submission.steps.iter().enumerate() {
            spent += cost(step);
            let is_last = at + 1 == submission.steps.len();
            let passes_follow = last_pass.is_some_and(|last| at < last);
            if is_last || (is_pass(step) && passes_follow && spent >= target) {
                chunks.push(Chunk {
                    submission: index,
                    steps: start..at + 1,
                    task,
                });
                start = at + 1;
                task_cost += std::mem::take(&mut spent);
                if task_cost >= target {
                    task += 1;
                    task_cost = 0;
                }
            }
        }
    }
    chunks
}

/// The number of tasks.
pub(crate) fn task_count(chunks: &[Chunk]) -> usize {
    chunks.last().map_or(0, |last| last.task + 1)
}

/// The chunks of a task.
pub(crate) fn of_task(chunks: &[Chunk], task: usize) -> Range<usize> {
    let start = chunks.partition_point(|chunk| chunk.task < task);
    let length = chunks[start..].partition_point(|chunk| chunk.task == task);
    start..start + length
}

#[cfg(test)]
mod tests;
