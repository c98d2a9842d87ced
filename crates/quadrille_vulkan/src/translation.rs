//! What lists came to in earlier frames, to be said again without being translated.
//!
//! Most passes record what they recorded a frame before. If the resources that they touch are what
//! they were, and so are the layouts in which they declare images, then they come to the same Vulkan
//! commands. So for the last few plans, the commands of each pass are kept with all their arguments.
//! What has changed is translated; what has not is said again from here.
//!
//! A plan that was not given before takes over what was kept of another that came only once: where
//! each frame is planned anew, because one pass of many does something else, the others are not
//! translated anew for that. What plans that repeat have come to stays theirs.
//!
//! Kept is what a pass came to the second time that it recorded the same, so that passes which
//! never repeat cost nothing here. Passes that touch the image of a swapchain are never kept, for it
//! is another in each frame; nor are those that copy or call Vulkan themselves, which are few.

use std::sync::Mutex;

use quadrille_sync::{Capabilities, PassIndex, Plan, Solution, Step};

use crate::calls::{Calls, Span};
use crate::chunks::Chunk;
use crate::commands::Writing;
use crate::encode::Target;
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
    /// The plan was given several times.
    is_repeated: bool,
    /// The resources of its frame.
    pub ids: IdTable,
    /// By chunk of the frame.
    chunks: Vec<Mutex<KeptChunk>>,
    /// Memory to put what is kept in another order.
    by_pass: Vec<Kept>,
}

/// What is kept of a chunk.
#[derive(Default)]
pub(crate) struct KeptChunk {
    /// The plan and the steps of it; none if it was another plan's.
    chunk: Option<Chunk>,
    /// What the queue can do.
    capabilities: Capabilities,
    /// By step.
    pub kept: Vec<Kept>,
    pub calls: Calls,
}

/// What is kept of a step.
#[derive(Default)]
pub(crate) struct Kept {
    /// The pass, unless the step is a barrier call.
    pub pass: Option<PassIndex>,
    /// What the pass had recorded; none if nothing is kept.
    writing: Option<Writing>,
    /// What it came to was kept for a frame that may have declared something else.
    pub is_of_other: bool,
    span: Span,
}

impl Translations {
    /// What is kept of a plan, and whether the plan is known.
    pub(crate) fn of(&mut self, plan: &Plan) -> (&mut Translation, bool) {
        let all = &mut self.0;
        let known = all.iter().position(|it| it.solution.is_of(plan));
        let once = || all.iter().position(|it| !it.is_repeated);
        // Else the memory of the oldest serves for the newest.
        let oldest = (all.len() == KEPT).then_some(KEPT - 1);
        let mut translation = match known.or_else(once).or(oldest) {
            Some(at) => all.remove(at),
            None => Translation::new(plan),
        };
        if known.is_none() {
            translation.pass_on(plan);
        }
        translation.is_repeated = known.is_some();
        all.insert(0, translation);
        (&mut all[0], known.is_some())
    }
}

impl Translation {
    fn new(plan: &Plan) -> Self {
        Self {
            solution: plan.solution(),
            is_repeated: false,
            ids: IdTable::default(),
            chunks: Vec::new(),
            by_pass: Vec::new(),
        }
    }

    /// Leaves what is kept to another plan.
    fn pass_on(&mut self, plan: &Plan) {
        self.solution = plan.solution();
        for chunk in self.chunks.iter_mut().map(own) {
            match self.is_repeated {
                true => chunk.forget(),
                false => chunk.chunk = None,
            }
        }
    }

    /// Takes in the resources and the chunks of a frame that is about to be recorded.
    pub(crate) fn begin(&mut self, input: &FrameInput<'_>, chunks: &[Chunk], targets: &[Target]) {
        let are_others = self.ids.fill(input.handles, input.frame.resources.len());
        self.chunks.resize_with(chunks.len(), Mutex::default);
        for ((kept, chunk), target) in self.chunks.iter_mut().zip(chunks).zip(targets) {
            let kept = own(kept);
            // Passes that change now and then leave behind what was kept of them.
            if kept.capabilities != target.capabilities || kept.calls.are_mostly_discarded() {
                kept.forget();
                kept.capabilities = target.capabilities;
            }
            if are_others || kept.chunk.as_ref() != Some(chunk) {
                kept.begin(input.plan, chunk, &mut self.by_pass);
            }
        }
    }

    /// What is kept of a chunk.
    pub(crate) fn chunk(&self, at: usize) -> &Mutex<KeptChunk> {
        &self.chunks[at]
    }
}

/// What a lock protects, for who has it to himself.
fn own(chunk: &mut Mutex<KeptChunk>) -> &mut KeptChunk {
    chunk.get_mut().unwrap_or_else(|broken| broken.into_inner())
}

impl KeptChunk {
    fn forget(&mut self) {
        self.chunk = None;
        self.kept.clear();
        self.calls.clear();
    }

    /// Other steps: what is kept is that of passes which were in the chunk before.
    fn begin(&mut self, plan: &Plan, chunk: &Chunk, by_pass: &mut Vec<Kept>) {
        for kept in self.kept.drain(..) {
            if let Some(pass) = kept.pass {
                let at = pass.0 as usize;
                if by_pass.len() <= at {
                    by_pass.resize_with(at + 1, Kept::default);
                }
                by_pass[at] = kept;
            }
        }
        let steps = &plan.submissions[chunk.submission].steps[chunk.steps.clone()];
        let kept = |step: &Step| match step {
            Step::Barriers(_) => Kept::default(),
            Step::Pass(pass) => Kept {
                pass: Some(*pass),
                is_of_other: true,
                ..by_pass
                    .get_mut(pass.0 as usize)
                    .map(std::mem::take)
                    .unwrap_or_default()
            },
        };
        self.kept.extend(steps.iter().map(kept));
        for gone in by_pass.drain(..) {
            self.calls.discard(&gone.span);
        }
        self.chunk = Some(chunk.clone());
    }
}

impl Kept {
    /// What the pass came to when it last recorded this.
    #[inline]
    pub(crate) fn span_of(&self, repeated: Option<Writing>) -> Option<&Span> {
        (repeated.is_some() && repeated == self.writing).then_some(&self.span)
    }

    /// What was kept before.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Keeps what the pass came to, if that is possible.
    pub(crate) fn keep(&mut self, writing: Writing, span: Option<Span>) {
        self.writing = span.is_some().then_some(writing);
        self.span = span.unwrap_or_default();
        self.is_of_other = false;
    }
}
