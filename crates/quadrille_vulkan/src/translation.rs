//! What lists came to in earlier frames, to be said again without being translated.
//!
//! A frame that repeats has the same plan and the same resources, and most of its passes record
//! what they recorded before; then they come to the same Vulkan commands. So for each plan of the
//! last few, the commands of each pass are kept with all their arguments, one after another in the
//! order of the plan. What has changed is translated; what has not is said again from here.
//!
//! Kept is what a pass came to the second time that it recorded the same, so that passes which
//! never repeat cost nothing here. Passes that touch the image of a swapchain are never kept, for it
//! is another in each frame; nor are those that copy or call Vulkan themselves, which are few.

use std::ops::Range;
use std::sync::Mutex;

use quadrille_sync::{PassIndex, Plan, Solution, Step};

use crate::calls::Calls;
use crate::chunks::Chunk;
use crate::commands::Writing;
use crate::handle::IdTable;
use crate::record::FrameInput;

/// How many plans are remembered: enough for resources that change places with a period of up to
/// four frames, such as the images of a swapchain.
const KEPT: usize = 4;

/// What is kept of the plans used last; the last one comes first.
#[derive(Default)]
pub(crate) struct Translations(Vec<Translation>);

/// What is kept of one plan.
pub(crate) struct Translation {
    solution: Solution,
    /// The resources of its frame.
    pub ids: IdTable,
    /// By chunk of the frame.
    chunks: Vec<Mutex<KeptChunk>>,
}

/// What is kept of a chunk.
#[derive(Default)]
pub(crate) struct KeptChunk {
    submission: usize,
    steps: Range<usize>,
    /// The plan was given before, so that it may be given again: what passes come to is worth
    /// keeping.
    pub is_known: bool,
    /// By step.
    pub kept: Vec<Kept>,
    pub calls: Calls,
}

/// What is kept of a step.
pub(crate) struct Kept {
    /// The pass, unless the step is a barrier call.
    pub pass: Option<PassIndex>,
    /// What the pass had recorded; none if nothing is kept.
    writing: Option<Writing>,
    calls: Range<u32>,
}

impl Translations {
    /// What is kept of a plan, and whether the plan is known.
    pub(crate) fn of(&mut self, plan: &Plan) -> (&mut Translation, bool) {
        let found = self.0.iter().position(|it| it.solution.is_of(plan));
        let (mut translation, is_known) = match found {
            Some(at) => (self.0.remove(at), true),
            None if self.0.len() == KEPT => {
                // The memory of the oldest serves for the newest.
                let mut oldest = self.0.remove(KEPT - 1);
                oldest.solution = plan.solution();
                (oldest, false)
            }
            None => (Translation::new(plan), false),
        };
        if !is_known {
            translation.forget();
        }
        self.0.insert(0, translation);
        (&mut self.0[0], is_known)
    }
}

impl Translation {
    fn new(plan: &Plan) -> Self {
        Self {
            solution: plan.solution(),
            ids: IdTable::default(),
            chunks: Vec::new(),
        }
    }

    /// Takes in the resources and the chunks of a frame that is about to be recorded, and whether
    /// its plan is known. Nothing is kept of others.
    pub(crate) fn begin(&mut self, input: &FrameInput<'_>, chunks: &[Chunk], is_known: bool) {
        let declared = input.frame.resources.len();
        if self.ids.fill(input.handles, declared) {
            self.forget();
        }
        self.chunks.resize_with(chunks.len(), Mutex::default);
        for (kept, chunk) in self.chunks.iter_mut().zip(chunks) {
            let kept = kept.get_mut().unwrap_or_else(|broken| broken.into_inner());
            let is_other = (kept.submission, &kept.steps) != (chunk.submission, &chunk.steps);
            // Passes that change now and then leave behind what was kept of them.
            if is_other || kept.calls.are_mostly_discarded() {
                kept.begin(input.plan, chunk);
            }
            kept.is_known = is_known;
        }
    }

    /// What is kept of a chunk.
    pub(crate) fn chunk(&self, at: usize) -> &Mutex<KeptChunk> {
        &self.chunks[at]
    }

    fn forget(&mut self) {
        self.chunks.clear();
    }
}

impl KeptChunk {
    /// Another chunk: nothing is kept of it yet.
    fn begin(&mut self, plan: &Plan, chunk: &Chunk) {
        self.submission = chunk.submission;
        self.steps = chunk.steps.clone();
        let steps = &plan.submissions[chunk.submission].steps[chunk.steps.clone()];
        let kept = |step: &Step| Kept {
            pass: match step {
                Step::Pass(pass) => Some(*pass),
                Step::Barriers(_) => None,
            },
            writing: None,
            calls: 0..0,
        };
        self.kept.clear();
        self.kept.extend(steps.iter().map(kept));
        self.calls.clear();
    }
}

impl Kept {
    /// What the pass came to when it last recorded this.
    pub(crate) fn calls_of(&self, repeated: Option<Writing>) -> Option<&Range<u32>> {
        (repeated.is_some() && repeated == self.writing).then_some(&self.calls)
    }

    /// What was kept before.
    pub(crate) fn calls(&self) -> &Range<u32> {
        &self.calls
    }

    /// Keeps what the pass came to, if that is possible.
    pub(crate) fn keep(&mut self, writing: Writing, calls: Option<Range<u32>>) {
        self.writing = calls.is_some().then_some(writing);
        self.calls = calls.unwrap_or_default();
    }
}
