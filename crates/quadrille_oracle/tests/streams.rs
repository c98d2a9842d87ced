//! Two streams before one judge: a worker that writes a ring of slots and runs ahead, and a main
//! loop that reads them. Each plans for itself; together they must obey Vulkan's rules.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeSet, VecDeque};

use quadrille_oracle::{Judge, Random, Violation};
use quadrille_sync::access::Access;
use quadrille_sync::flags::Stages;
use quadrille_sync::frame::{Frame, QueueRequest, Use};
use quadrille_sync::plan::{Plan, RelativePoint, Submission, Wait};
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::{Resource, ResourceId, Sharing};
use quadrille_sync::states::{States, TimelinePoint};
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::{Capabilities, Queue, QueueIndex, Topology};

/// A frame that was planned and not yet judged.
struct Planned {
    frame: Frame,
    plan: Plan,
    bases: Vec<u64>,
}

/// One stream: what it plans with.
struct Stream {
    topology: Topology,
    states: States,
    planner: Planner,
    /// Planned, and not run yet.
    waiting: VecDeque<Planned>,
}

impl Stream {
    /// A stream that owns some timelines of a device, and knows the others as foreign.
    fn new(all: &Topology, own: std::ops::Range<usize>) -> Self {
        let mut topology = all.clone();
        for (at, queue) in topology.queues.iter_mut().enumerate() {
            if !own.contains(&at) {
                *queue = Queue {
                    capabilities: Capabilities::empty(),
                    can_present: false,
                    ..queue.clone()
                };
            }
        }
        Self {
            topology,
            states: States::default(),
            planner: Planner::default(),
            waiting: VecDeque::new(),
        }
    }

    fn frame(&mut self, frame: Frame) {
        let planned = self.planner.plan(&frame, &self.topology, &self.states);
        let plan = planned.unwrap().plan.as_ref().clone();
        let bases = self.topology.indices().map(|queue| self.states.base(queue));
        let bases = bases.collect();
        self.states.commit(&frame, &self.topology, &plan);
        self.waiting.push_back(Planned { frame, plan, bases });
    }
}

/// The device: main's queues, then the worker's, then the timeline on which turns are returned.
struct Rig {
    main: Stream,
    worker: Stream,
    returns: QueueIndex,
    /// Frames that the returns wait for, by turn.
    returned: VecDeque<Planned>,
    judge: Judge,
    values: Vec<u64>,
    random: Random,
    slots: Vec<Resource>,
    written: u64,
    taken: u64,
    /// The turns that the main loop has read.
    read: BTreeSet<u64>,
    /// Waits whose absence the judge objected to.
    needed_waits: u32,
}

impl Rig {
    fn new(seed: u64, queues: &str, sharing: Sharing) -> Self {
        let mut random = Random::new(seed);
        let mut all = parse_topology(queues).unwrap();
        let mains = all.queues.len();
        // The worker submits to the last of main's queues too, with a timeline of its own.
        let last = all.queues[mains - 1].clone();
        all.queues.push(last);
        all.queues.push(all.queues[0].clone());
        let slots = 2 + random.below(2) as u32;
        let slot = |id| Resource {
            sharing,
            ..if id % 2 == 0 {
                Resource::image(ResourceId(id), &format!("slot {id}"))
            } else {
                Resource::buffer(ResourceId(id), &format!("slot {id}"), 64)
            }
        };
        Self {
            main: Stream::new(&all, 0..mains),
            worker: Stream::new(&all, mains..mains + 1),
            returns: QueueIndex(mains as u8 + 1),
            returned: VecDeque::new(),
            judge: Judge::new(&all),
            values: vec![0; all.queues.len()],
            random,
            slots: (0..slots).map(slot).collect(),
            written: 0,
            taken: 0,
            read: BTreeSet::new(),
            needed_waits: 0,
        }
    }

    fn slot(&self, turn: u64) -> Resource {
        self.slots[turn as usize % self.slots.len()].clone()
    }

    /// The worker writes the next turn from the one before, and lends it; it may be ahead of the
    /// main loop's reads by as many turns as there are slots, and one more that has to wait.
    fn write(&mut self) {
        let turn = self.written + 1;
        let slot = self.slot(turn);
        let ahead = self.slots.len() as u64;
        if turn > ahead {
            let done = TimelinePoint {
                queue: self.returns,
                value: turn - ahead,
            };
            self.worker.states.returned(slot.id, done);
        }
        let mut frame = Frame::default();
        let to = frame.add_resource(slot.clone());
        let mut uses = vec![Use::whole(to, Access::StorageWriteCompute)];
        if turn > 1 && self.random.chance(70) {
            let before = self.slot(turn - 1);
            let access = read(&before, Access::StorageReadCompute);
            let from = frame.add_resource(before);
            uses.push(Use::whole(from, access));
        }
        let compute = QueueRequest {
            required: Capabilities::COMPUTE,
            ..QueueRequest::default()
        };
        frame.add_pass("step", compute, &uses, &[]);
        if slot.is_image() {
            let publish = [Use::whole(to, Access::SampledCompute)];
            frame.add_pass("publish", compute, &publish, &[]);
        }
        self.worker.frame(frame);
        self.written = turn;
    }

    /// The main loop takes the newest turn, returns those before, and reads it for some frames.
    fn draw(&mut self, lent: &mut VecDeque<(u64, quadrille_sync::states::Handover)>) {
        let newest = lent.back().map(|(turn, _)| *turn);
        if let Some(turn) = newest {
            let old = self.taken;
            self.taken = turn;
            for (_, handover) in lent.drain(..) {
                self.main.states.take(handover);
            }
            self.give_back(old, turn - 1);
        }
        if self.taken == 0 {
            return;
        }
        let slot = self.slot(self.taken);
        let mut frame = Frame::default();
        let access = read(&slot, Access::StorageReadFragment);
        let from = frame.add_resource(slot);
        let graphics = QueueRequest {
            required: Capabilities::GRAPHICS,
            ..QueueRequest::default()
        };
        frame.add_pass("draw", graphics, &[Use::whole(from, access)], &[]);
        self.main.frame(frame);
        self.read.insert(self.taken);
    }

    /// Signals that turns up to `turn` have been read, after the last uses of the one that was
    /// held: the same as a submission without commands.
    fn give_back(&mut self, held: u64, turn: u64) {
        let waits = match held {
            0 => Vec::new(),
            held => self.main.states.last_uses(self.slot(held).id).collect(),
        };
        let waits = waits.into_iter().map(|point: TimelinePoint| Wait {
            point: RelativePoint {
                queue: point.queue,
                offset: point.value as i64,
            },
            stages: Stages::ALL_COMMANDS,
            reasons: Vec::new(),
        });
        let submission = Submission {
            queue: self.returns,
            waits: waits.collect(),
            acquires: Vec::new(),
            steps: Vec::new(),
            signal: turn as i64,
            presents: Vec::new(),
        };
        if turn > 0 {
            self.returned.push_back(Planned {
                frame: Frame::default(),
                plan: Plan {
                    submissions: vec![submission],
                    ..Plan::default()
                },
                bases: vec![0; self.values.len()],
            });
        }
    }

    /// Runs one thing that can run, chosen at random; says what the judge objects to, or that
    /// nothing can run.
    fn step(&mut self) -> Option<Vec<Violation>> {
        let first = self.random.below(3);
        for at in (first..3).chain(0..first) {
            let queue = match at {
                0 => &mut self.main.waiting,
                1 => &mut self.worker.waiting,
                _ => &mut self.returned,
            };
            let reached = |wait: &Wait, bases: &[u64]| {
                let queue = usize::from(wait.point.queue.0);
                self.values[queue] >= bases[queue].saturating_add_signed(wait.point.offset)
            };
            let runs = queue.front().is_some_and(|planned| {
                let mut waits = planned.plan.submissions.iter().flat_map(|it| &it.waits);
                waits.all(|wait| reached(wait, &planned.bases))
            });
            if !runs {
                continue;
            }
            let Planned { frame, plan, bases } = queue.pop_front().unwrap();
            for submission in &plan.submissions {
                let queue = usize::from(submission.queue.0);
                self.values[queue] = bases[queue].saturating_add_signed(submission.signal);
            }
            self.object_without_waits(&frame, &plan, &bases);
            return Some(self.judge.stream_frame(&frame, &plan, &bases));
        }
        None
    }

    /// Every wait of one stream for the other is needed, but for the return of what was not read.
    fn object_without_waits(&mut self, frame: &Frame, plan: &Plan, bases: &[u64]) {
        if frame.passes.is_empty() {
            return;
        }
        for (at, submission) in plan.submissions.iter().enumerate() {
            for (which, wait) in submission.waits.iter().enumerate() {
                let value = bases[usize::from(wait.point.queue.0)];
                let value = value.saturating_add_signed(wait.point.offset);
                if wait.point.queue == self.returns && !self.read.contains(&value) {
                    continue;
                }
                let mut without = plan.clone();
                without.submissions[at].waits.remove(which);
                let violations = self.judge.clone().stream_frame(frame, &without, bases);
                assert!(!violations.is_empty(), "needless: {wait:?} in\n{plan:#?}");
                self.needed_waits += 1;
            }
        }
    }
}

/// Images are lent to be sampled.
fn read(resource: &Resource, buffer: Access) -> Access {
    match (resource.is_image(), buffer) {
        (false, buffer) => buffer,
        (true, Access::StorageReadCompute) => Access::SampledCompute,
        (true, _) => Access::SampledFragment,
    }
}

/// Plays a worker and a main loop in a random order of planning and of running.
fn play(seed: u64, queues: &str, sharing: Sharing) -> u32 {
    let mut rig = Rig::new(seed, queues, sharing);
    let mut lent = VecDeque::new();
    for _ in 0..60 {
        match rig.random.below(3) {
            0 if rig.written < rig.taken + rig.slots.len() as u64 => {
                rig.write();
                let slot = rig.slot(rig.written);
                lent.push_back((rig.written, rig.worker.states.lend(slot.id).unwrap()));
            }
            1 => rig.draw(&mut lent),
            _ => {
                let violations = rig.step().unwrap_or_default();
                assert!(
                    violations.is_empty(),
                    "seed {seed} on {queues}: {violations:?}"
                );
            }
        }
    }
    // Everything runs in the end: each value that is waited for
    // was promised, and promises are kept.
    rig.draw(&mut lent);
    while let Some(violations) = rig.step() {
        assert!(
            violations.is_empty(),
            "seed {seed} on {queues}: {violations:?}"
        );
    }
    let left = [&rig.main.waiting, &rig.worker.waiting, &rig.returned];
    let left: usize = left.iter().map(|queue| queue.len()).sum();
    assert_eq!(left, 0, "seed {seed} on {queues}: frames never run");
    rig.needed_waits
}

#[test]
fn a_worker_that_runs_ahead_and_its_reader_obey_vulkan_together() {
    let mut waits = 0;
    for seed in 0..400 {
        waits += play(seed, "gct:1,ct:1", Sharing::Concurrent);
        waits += play(seed, "gct:1,ct:1,t:1,ct:1", Sharing::Concurrent);
        waits += play(seed, "gct:2", Sharing::Exclusive);
        waits += play(seed, "gct:1", Sharing::Exclusive);
    }
    assert!(waits > 10_000, "{waits} waits were judged");
}
