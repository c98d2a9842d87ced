//! Cache of encoded Vulkan calls: a pass that records the same commands is replayed, not re-encoded.
//!
//! Most passes record the same commands each frame. If their resources and the declared layouts of their images are
//! unchanged too, they encode to the same Vulkan calls. So the calls of each pass are cached with all
//! arguments, for the last few plans. Changed passes are encoded; unchanged ones are replayed.
//!
//! A new plan takes over the cache of a plan that was recorded only once. So if one pass of many changes in every
//! frame, and each frame has a new plan, the other passes stay cached. Plans that were recorded repeatedly keep
//! their caches.
//!
//! A pass is cached the second time that it records the same commands, so that passes which never
//! repeat cost nothing. Passes that use a swapchain image are never cached, since the image changes
//! each frame; nor are passes with copies or raw Vulkan calls, which are few.

use std::sync::Mutex;

use quadrille_sync::frame::{PassIndex, Use};
use quadrille_sync::plan::{Plan, PlanId, Step};
use quadrille_sync::topology::Capabilities;

use crate::commands::Writing;
use crate::device::Device;
use crate::record::FrameInput;
use crate::record::calls::{Calls, Span};
use crate::record::chunks::Chunk;
use crate::record::encode::Target;
use crate::resources::handle::{Handle, IdTable};

/// Number of cached plans: enough for resources that alternate with a period of up to four frames, such as swapchain
/// images.
const KEPT: usize = 4;

/// Caches of the plans used last, most recent first.
#[derive(Default)]
pub(crate) struct CallCaches(Vec<CallCache>);

/// Cache of one plan.
pub(crate) struct CallCache {
    plan_id: PlanId,
    /// Whether the plan was recorded several times.
    is_repeated: bool,
    /// Whether the cached passes are stored in the order of the plan, for sequential memory access.
    is_arranged: bool,
    /// The resources of its frame.
    pub ids: IdTable,
    /// By chunk of the frame.
    chunks: Vec<Mutex<CachedChunk>>,
    pub age: Age,
}

/// Age of cached calls, by which they are checked.
#[derive(Clone, Copy)]
pub(crate) struct Age {
    /// Counter of plans and of changes of resources.
    now: u64,
    /// Value of the counter at the last change of resources.
    resources: u64,
}

/// Inputs that may have changed since a pass was encoded or last checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recheck {
    /// The layouts in which the pass declares images.
    Layouts,
    /// Also the resources that it declares, and their objects.
    Resources,
}

/// Cache of a chunk.
#[derive(Default)]
pub(crate) struct CachedChunk {
    /// The capabilities of the queue.
    capabilities: Capabilities,
    pub passes: CachedPasses,
    pub calls: Calls,
}

/// Cached passes, in order of insertion, so that a plan with another order does not move them.
#[derive(Default)]
pub(crate) struct CachedPasses {
    /// By pass: one more than its index in `kept`, or 0.
    places: Vec<u32>,
    kept: Vec<CachedPass>,
}

/// Cache of a pass.
#[derive(Default)]
pub(crate) struct CachedPass {
    /// The commands that the pass recorded; `None` if nothing is cached.
    writing: Option<Writing>,
    /// The counter of [`Age`] when it was encoded, or last checked.
    seen: u64,
    /// A [`summary`] of the resources that it declared at that time.
    declared: u64,
    span: Span,
}

impl CallCaches {
    /// Returns whether a plan has a cache.
    pub(crate) fn know(&self, plan: &Plan) -> bool {
        self.0.iter().any(|it| it.plan_id.is_of(plan))
    }

    /// Returns the cache of a plan, adding the plan if it is new.
    pub(crate) fn of(&mut self, plan: &Plan) -> &mut CallCache {
        let all = &mut self.0;
        let known = all.iter().position(|it| it.plan_id.is_of(plan));
        let once = || all.iter().position(|it| !it.is_repeated);
        // If all caches are in use, the new plan reuses the memory of the oldest.
        let oldest = (all.len() == KEPT).then_some(KEPT - 1);
        let mut call_cache = match known.or_else(once).or(oldest) {
            Some(at) => all.remove(at),
            None => CallCache::new(plan),
        };
        if known.is_none() {
            call_cache.pass_on(plan);
        }
        call_cache.is_repeated = known.is_some();
        all.insert(0, call_cache);
        &mut all[0]
    }
}

impl CallCache {
    fn new(plan: &Plan) -> Self {
        Self {
            plan_id: plan.plan_id(),
            is_repeated: false,
            is_arranged: false,
            ids: IdTable::default(),
            chunks: Vec::new(),
            age: Age {
                now: 0,
                resources: 0,
            },
        }
    }

    /// Hands the cache to another plan.
    fn pass_on(&mut self, plan: &Plan) {
        self.plan_id = plan.plan_id();
        self.age.now += 1;
        self.is_arranged = false;
        if self.is_repeated {
            self.chunks.iter_mut().for_each(|chunk| own(chunk).forget());
        }
    }

    /// Prepares the cache for a frame with these resources and a chunk for each target.
    ///
    /// # Errors
    /// The first resource that was not made from this device.
    pub(crate) fn begin<'h>(
        &mut self,
        device: &Device,
        input: &FrameInput<'h>,
        chunks: &[Chunk],
        targets: &[Target],
    ) -> Result<(), &'h Handle> {
        let (handles, declared) = (input.handles, input.frame.resources.len());
        if self.ids.fill(device, handles, declared)? {
            self.age.now += 1;
            self.age.resources = self.age.now;
        }
        self.chunks.resize_with(targets.len(), Mutex::default);
        for (kept, target) in self.chunks.iter_mut().zip(targets) {
            let kept = own(kept);
            // Calls of changed passes are never freed one by one: start afresh if too many are unused.
            if kept.capabilities != target.capabilities || !kept.calls.are_mostly_used() {
                kept.forget();
                kept.capabilities = target.capabilities;
            }
            kept.calls.begin();
        }
        if self.is_repeated && !self.is_arranged {
            // A plan that was repeated once is mostly repeated for long, so sorting is worthwhile.
            for (kept, chunk) in self.chunks.iter_mut().zip(chunks) {
                let steps = &input.plan.submissions[chunk.submission].steps;
                own(kept).passes.arrange(&steps[chunk.steps.clone()]);
            }
            self.is_arranged = true;
        }
        Ok(())
    }

    /// Returns the cache of a chunk.
    pub(crate) fn chunk(&self, at: usize) -> &Mutex<CachedChunk> {
        &self.chunks[at]
    }
}

/// Returns the contents of a lock to a caller with exclusive access.
fn own(chunk: &mut Mutex<CachedChunk>) -> &mut CachedChunk {
    chunk.get_mut().unwrap_or_else(|broken| broken.into_inner())
}

impl CachedChunk {
    fn forget(&mut self) {
        self.passes.places.clear();
        self.passes.kept.clear();
        self.calls.clear();
    }
}

impl CachedPasses {
    /// Returns the cache of a pass, adding it if it is new.
    #[inline]
    pub(crate) fn of(&mut self, pass: PassIndex) -> &mut CachedPass {
        let at = pass.0 as usize;
        let place = self.places.get(at).map_or(0, |place| *place as usize);
        let place = if place == 0 { self.add(at) } else { place };
        &mut self.kept[place - 1]
    }

    /// Reorders cached passes to the order of these steps, for sequential memory access, and drops all others.
    fn arrange(&mut self, steps: &[Step]) {
        let mut before = std::mem::take(self);
        for step in steps {
            if let Step::Pass(pass) = step {
                *self.of(*pass) = std::mem::take(before.of(*pass));
            }
        }
    }

    /// Adds an empty cache for a pass.
    #[cold]
    fn add(&mut self, pass: usize) -> usize {
        if self.places.len() <= pass {
            self.places.resize(pass + 1, 0);
        }
        self.kept.push(CachedPass::default());
        self.places[pass] = self.kept.len() as u32;
        self.kept.len()
    }
}

impl CachedPass {
    /// Returns the calls of the pass if it last recorded the same commands.
    #[inline]
    pub(crate) fn span_of(&self, repeated: Option<Writing>) -> Option<&Span> {
        (repeated.is_some() && repeated == self.writing).then_some(&self.span)
    }

    /// Returns the calls of the pass if they are certainly valid: commands, plan and resources are unchanged
    /// since the last check, so the declarations need no comparison.
    #[inline]
    pub(crate) fn certain(&self, age: Age, repeated: Option<Writing>) -> Option<&Span> {
        self.span_of(repeated).filter(|_| self.seen == age.now)
    }

    /// Returns the inputs that may have changed since the last check.
    #[inline]
    pub(crate) fn recheck(&self, age: Age, uses: &[Use]) -> Recheck {
        match self.seen {
            seen if seen >= age.resources && self.declared == summary(uses) => Recheck::Layouts,
            _ => Recheck::Resources,
        }
    }

    /// Records that the cache is valid for these declared uses, as far as `recheck` compared.
    #[inline]
    pub(crate) fn checked(&mut self, age: Age, uses: &[Use], recheck: Recheck) {
        match recheck {
            Recheck::Layouts => self.seen = age.now,
            Recheck::Resources => (self.seen, self.declared) = (age.now, summary(uses)),
        }
    }

    /// Caches the calls of the pass, if it has a span of them.
    pub(crate) fn keep(&mut self, age: Age, uses: &[Use], writing: Writing, span: Option<Span>) {
        self.writing = span.is_some().then_some(writing);
        self.span = span.unwrap_or_default();
        self.seen = age.now;
        self.declared = summary(uses);
    }
}

/// Hash of the resources of some uses, with a collision probability of about 2^-50.
#[inline]
fn summary(uses: &[Use]) -> u64 {
    // Knuth's multiplicative hash.
    let add = |sum: u64, used: &Use| {
        (sum.rotate_left(5) ^ u64::from(used.resource.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    uses.iter().fold(uses.len() as u64, add)
}

#[cfg(test)]
mod tests;
