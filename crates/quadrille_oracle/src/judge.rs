//! [`Judge`]: simulates plans and reports violations of Vulkan's rules.
//!
//! A plan becomes events: semaphore waits, barrier calls, passes, signals. Execution dependencies
//! are kept as vector clocks ([`clock`]), one row for each stage of each queue. The state of memory
//! is kept for each part of a resource ([`cell`]): the last write, its availability and visibility,
//! the reads since, layout, owner and contents. This history persists from frame to frame, so hazards
//! are found over any number of frames. Nothing is taken from the solver's own states.
//!
//! There is one file for each kind of rule:
//!
//! - `schedule`: timelines and deadlock;
//! - `declared`: conformance to the frame's declarations;
//! - `restore`: history from a snapshot;
//! - `access`: hazards, layouts, owners and contents of passes;
//! - `memory`: resources that share memory;
//! - `barrier`, `transfer`: barriers, and ownership transfers;
//! - `swapchain`, `host`, `timelines`: swapchain images, host passes, timelines of the user;
//! - `quality`: needless waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use quadrille_sync::flags::{Layout, Stages};
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::{Plan, Step, Submission};
use quadrille_sync::resource::{
    Lifetime, Placement, Resource, ResourceId, ResourceIndex, ResourceKind, Sharing,
};
use quadrille_sync::topology::{FamilyIndex, QueueIndex, Topology};

use crate::area::{Area, AreaMap};
use crate::stages::{COMMAND, second_scope, supported};
use crate::violation::{ResourcePart, Side, Violation};

mod access;
mod barrier;
mod cell;
mod clock;
mod declared;
mod exchange;
mod host;
mod memory;
mod quality;
mod restore;
mod schedule;
mod swapchain;
mod timelines;
mod transfer;

use cell::{Cell, Contents};
use clock::{Clock, Done, Instant, Signalled};
use schedule::Event;

/// Judges the plans of one device, frame by frame.
///
/// ```
/// use quadrille_oracle::Judge;
/// use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};
///
/// # fn main() -> Result<(), quadrille_sync::text::ParseError> {
/// let frame = parse_frame(
///     "
/// buffer cells 0 bytes 64
/// pass write
///   StorageWriteCompute cells
/// pass read
///   StorageReadCompute cells
/// ",
/// )?;
/// let plan = parse_plan("submit 0 signal 1\n  pass write\n  pass read\n", &frame)?;
/// let mut judge = Judge::new(&parse_topology("gct:1")?);
/// let violations = judge.frame(&frame, &plan);
/// assert_eq!(
///     violations[0].to_string(),
///     "ReadAfterWrite hazard on all of `cells`: pass `read` (StorageReadCompute, frame 1) after \
///      pass `write` (StorageWriteCompute, frame 1); no execution dependency orders them.",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Judge {
    topology: Topology,
    queues: Vec<QueueState>,
    resources: BTreeMap<ResourceId, Tracked>,
    blocks: memory::Blocks,
    /// Number of columns of clocks: queues, the host, and one for each swapchain image.
    columns: usize,
    frames: u32,
}

/// State of a queue in the judge.
#[derive(Clone, Debug)]
struct QueueState {
    clock: Clock,
    /// The position of the last step.
    position: u32,
    /// The timeline's value at the beginning of the frame, to which the plan's values are relative.
    base: u64,
    /// All signals: the value, and the first scope of the signal.
    signals: Vec<(u64, Signalled)>,
}

impl QueueState {
    /// The timeline's value.
    fn value(&self) -> u64 {
        self.signals.last().map_or(0, |(value, _)| *value)
    }
}

/// State of a resource in the judge.
#[derive(Clone, Debug)]
struct Tracked {
    name: Arc<str>,
    kind: ResourceKind,
    sharing: Sharing,
    cells: AreaMap<Cell>,
    /// The clock column that counts acquires, for swapchain images.
    column: usize,
    acquires: u32,
    /// Its placement in a memory block, in the last frame that used it.
    memory: Option<Placement>,
}

impl Tracked {
    fn new(resource: &Resource, column: usize) -> Self {
        Self {
            name: resource.name.clone(),
            kind: resource.kind,
            sharing: resource.sharing,
            cells: AreaMap::new(Area::whole(&resource.kind), Cell::fresh()),
            column,
            acquires: 0,
            memory: None,
        }
    }

    /// Names a part of the resource for a violation.
    fn affected(&self, area: &Area) -> ResourcePart {
        ResourcePart {
            resource: self.name.clone(),
            range: area.words(&self.kind),
        }
    }

    /// Whether it is a buffer with contents in any part. Filling a part and declaring a read of the
    /// whole buffer is common, and no synchronization error.
    fn is_filled(&mut self) -> bool {
        let buffer = matches!(self.kind, ResourceKind::Buffer { .. });
        let mut cells = self.cells.values_mut();
        let is_empty = |it: &Contents| matches!(it, Contents::Never | Contents::Taken(_));
        buffer && cells.any(|cell| !is_empty(&cell.contents))
    }

    fn is_exclusive(&self) -> bool {
        self.sharing == Sharing::Exclusive
    }
}

impl Judge {
    /// A judge before the first frame.
    pub fn new(topology: &Topology) -> Self {
        let count = topology.queues.len();
        let queue = |column| QueueState {
            clock: Clock::new(column),
            position: 0,
            base: 0,
            signals: Vec::new(),
        };
        Self {
            topology: topology.clone(),
            queues: (0..count).map(queue).collect(),
            resources: BTreeMap::new(),
            blocks: memory::Blocks::new(),
            columns: count + 1,
            frames: 0,
        }
    }

    /// Judges the plan of the next frame. The plan is valid if the list is empty.
    ///
    /// The plan's effects are applied even if it is invalid, so that later frames can be judged;
    /// but violations after the first one may be consequences of it.
    pub fn frame(&mut self, frame: &Frame, plan: &Plan) -> Vec<Violation> {
        for queue in &mut self.queues {
            queue.base = queue.value();
        }
        self.try_frame(frame, plan)
    }

    /// Judges the plan of one of several streams, all with the queue indices of the judge's topology.
    /// `bases` has, for each queue, the timeline value that the plan counts from; for the stream's own
    /// queues, their last signalled value.
    ///
    /// Streams may submit in any order. Execution follows waits, so pass each frame after those that it
    /// waits for.
    pub fn stream_frame(&mut self, frame: &Frame, plan: &Plan, bases: &[u64]) -> Vec<Violation> {
        for (at, queue) in self.queues.iter_mut().enumerate() {
            queue.base = bases.get(at).copied().unwrap_or(0);
        }
        self.try_frame(frame, plan)
    }

    fn try_frame(&mut self, frame: &Frame, plan: &Plan) -> Vec<Violation> {
        self.frames += 1;
        let mut check = FrameCheck {
            judge: self,
            frame,
            plan,
            violations: Vec::new(),
            ran: vec![None; frame.passes.len()],
        };
        check.begin();
        check.judge_declared();
        check.judge_timelines();
        check.judge_exchanges();
        for event in check.schedule() {
            match event {
                Event::Submission(submission) => check.judge_submission(submission),
                Event::Host(step) => check.judge_host(step),
            }
        }
        check.judge_swapchain_counts();
        check.judge_gives();
        check.judge_needs();
        check.judge.close_all();
        check.violations
    }

    /// Imports contents that no pass wrote; see `States::import`. The writes are assumed to be
    /// complete and visible to all queues.
    pub fn import(&mut self, resource: &Resource, layout: Layout, owner: Option<FamilyIndex>) {
        let mut tracked = Tracked::new(resource, self.columns);
        self.columns += 1;
        let cell = Cell {
            layout,
            owner,
            contents: Contents::Written,
            ..Cell::fresh()
        };
        tracked.cells = AreaMap::new(Area::whole(&resource.kind), cell);
        self.resources.insert(resource.id, tracked);
    }

    /// Removes a resource, so that its id can be reused; see `States::remove`.
    pub fn remove(&mut self, id: ResourceId) {
        self.resources.remove(&id);
    }
}

/// Judgement of one frame.
struct FrameCheck<'a> {
    judge: &'a mut Judge,
    frame: &'a Frame,
    plan: &'a Plan,
    violations: Vec<Violation>,
    /// By pass: the instant at which it ran on the device.
    ran: Vec<Option<Instant>>,
}

/// Submission, queue and instant of a step.
#[derive(Clone, Copy)]
struct Site {
    submission: usize,
    queue: QueueIndex,
    family: FamilyIndex,
    instant: Instant,
}

impl FrameCheck<'_> {
    /// Registers the frame's resources, and clears the contents of transient ones and swapchain images.
    fn begin(&mut self) {
        for resource in &self.frame.resources {
            let column = self.judge.columns;
            let tracked = self.judge.resources.entry(resource.id).or_insert_with(|| {
                self.judge.columns += 1;
                Tracked::new(resource, column)
            });
            tracked.name = resource.name.clone();
            if tracked.memory != resource.memory {
                // Recreated in other memory; accesses to a block are tracked in the block.
                tracked.cells = AreaMap::new(Area::whole(&tracked.kind), Cell::fresh());
                tracked.memory = resource.memory;
            }
            match resource.lifetime {
                Lifetime::Persistent => {}
                Lifetime::Transient => {
                    for cell in tracked.cells.values_mut() {
                        cell.contents = Contents::Never;
                    }
                }
                Lifetime::Swapchain => tracked.give_to_presentation(),
            }
        }
    }

    fn judge_submission(&mut self, index: usize) {
        let plan = self.plan;
        let Some(submission) = plan.submissions.get(index) else {
            return;
        };
        self.judge_waits(index, submission);
        for step in &submission.steps {
            let Some(site) = self.next_site(index, submission.queue) else {
                return;
            };
            match step {
                Step::Barriers(batch) => self.judge_barriers(site, batch),
                Step::Pass(pass) => self.judge_pass(site, *pass),
            }
        }
        let Some(site) = self.next_site(index, submission.queue) else {
            return;
        };
        let queue = &mut self.judge.queues[site.instant.column];
        let signalled = queue.clock.signal(site.instant.position);
        let value = i128::from(queue.base) + i128::from(submission.signal);
        let value = u64::try_from(value).unwrap_or(0).max(queue.value());
        queue.signals.push((value, signalled.clone()));
        for image in &submission.presents {
            self.judge_present(site, *image, &signalled);
        }
    }

    fn judge_waits(&mut self, index: usize, submission: &Submission) {
        for wait in &submission.waits {
            let Some(site) = self.next_site(index, submission.queue) else {
                return;
            };
            self.judge_stages(site, wait.stages, Side::Wait);
            if let Some(signalled) = self.signal_of(wait.point) {
                self.wait(site, wait.stages, &signalled);
            }
        }
        for acquire in &submission.acquires {
            let Some(site) = self.next_site(index, submission.queue) else {
                return;
            };
            self.judge_stages(site, acquire.stages, Side::Wait);
            if let Some(signalled) = self.judge_acquire_image(acquire.resource) {
                self.wait(site, acquire.stages, &signalled);
            }
        }
    }

    /// Orders these stages of all later commands on a queue after a signal. Writes before the signal
    /// become visible to them (section "Semaphore Waiting").
    fn wait(&mut self, site: Site, stages: Stages, signalled: &Signalled) {
        let column = site.instant.column;
        let second = second_scope(stages);
        let done = Done::Dependency(site.instant, second | COMMAND);
        let view = signalled.view(column);
        self.judge.queues[column].clock.order_after(second, &view);
        self.judge.for_each_write(|write| {
            if signalled.reaches(write.done.instant()) {
                write.pass_wait(stages, done);
            }
        });
    }

    /// The next position on a queue; `None` if the queue does not exist.
    fn next_site(&mut self, submission: usize, queue: QueueIndex) -> Option<Site> {
        let column = usize::from(queue.0);
        let state = self.judge.queues.get_mut(column)?;
        state.position += 1;
        let instant = Instant {
            column,
            position: state.position,
        };
        let family = self.judge.topology.family(queue);
        Some(Site {
            submission,
            queue,
            family,
            instant,
        })
    }

    /// Checks that a queue supports the stages of a mask.
    fn judge_stages(&mut self, site: Site, stages: Stages, side: Side) {
        let supported = supported(self.judge.topology.queue(site.queue).capabilities);
        let missing = stages - supported;
        if !missing.is_empty() {
            let Site {
                submission, queue, ..
            } = site;
            let stages = missing;
            self.violations.push(Violation::UnsupportedStages {
                submission,
                queue,
                stages,
                side,
            });
        }
    }

    /// The id of a resource of the frame; reports an index out of bounds.
    fn id_of(&mut self, resource: ResourceIndex) -> Option<ResourceId> {
        let found = self
            .frame
            .resources
            .get(resource.0 as usize)
            .map(|resource| resource.id);
        if found.is_none() {
            let index = u64::from(resource.0);
            self.violations.push(Violation::UnknownIndex {
                what: "resource",
                index,
            });
        }
        found
    }
}

#[cfg(test)]
mod tests;
