//! Tests of the gate with a model device, whose queues execute submissions in order.

use super::*;

/// Timelines: the main loop's on queue 0, the worker's, and the ring's, on which the main loop returns entries.
const MAIN: usize = 0;
const WORKER: usize = 1;
const RETURNS: usize = 2;
/// Number of slots of the ring.
const SLOTS: u64 = 2;
const TURNS: u64 = 5;

/// Lane, waits and signals of a submission.
type Job = (usize, Vec<Point>, Vec<Point>);

fn point(timeline: usize, value: u64) -> Point {
    Point { timeline, value }
}

/// Returns the worker's submission that writes an entry, which waits for the return of the slot's previous entry.
fn write(turn: u64) -> Job {
    let waits = turn.checked_sub(SLOTS).filter(|turn| *turn > 0);
    let waits = waits.map(|turn| point(RETURNS, turn)).into_iter().collect();
    (WORKER, waits, vec![point(WORKER, turn)])
}

/// Returns the main loop's submissions for reading an entry; the first returns the earlier entries.
fn read(turn: u64) -> [Job; 2] {
    let returned = (MAIN, vec![], vec![point(RETURNS, turn - 1)]);
    let draw = (MAIN, vec![point(WORKER, turn)], vec![point(MAIN, turn)]);
    [returned, draw]
}

/// A model device behind a gate.
#[derive(Clone, Default)]
struct Model {
    gate: Gate<usize>,
    jobs: Vec<Job>,
    /// The jobs submitted to each queue.
    queues: [VecDeque<usize>; 2],
    /// The queue of each lane.
    mapping: [usize; 2],
    values: [u64; 3],
    done: usize,
}

impl Model {
    fn new(mapping: [usize; 2]) -> Self {
        let mut model = Self {
            mapping,
            ..Self::default()
        };
        model.gate.grow(3);
        for lane in [MAIN, WORKER] {
            model.gate.set_direct(lane, mapping[0] != mapping[1]);
        }
        model
    }

    fn push(&mut self, (lane, waits, signals): Job, held_back: bool) {
        self.jobs.push((lane, waits.clone(), signals.clone()));
        let work = self.jobs.len() - 1;
        if !held_back {
            self.queues[self.mapping[lane]].push_back(work);
            return;
        }
        let entry = Entry {
            waits,
            signals,
            work,
        };
        let at_once = self.gate.push(lane, entry);
        let mut forward: Vec<_> = at_once.map(|work| (lane, work)).into_iter().collect();
        while let Some(next) = self.gate.next() {
            forward.push(next);
        }
        for (lane, work) in forward {
            self.queues[self.mapping[lane]].push_back(work);
        }
    }

    /// Executes all possible submissions, beginning with one of the queues.
    fn run(&mut self, first: usize) {
        let mut idle = 0;
        let mut queue = first;
        while idle < 2 {
            let head = self.queues[queue].front().copied();
            let runs = head.filter(|job| {
                let mut waits = self.jobs[*job].1.iter();
                waits.all(|wait| self.values[wait.timeline] >= wait.value)
            });
            match runs {
                Some(job) => {
                    self.queues[queue].pop_front();
                    for signal in self.jobs[job].2.clone() {
                        let value = &mut self.values[signal.timeline];
                        assert!(*value <= signal.value, "{signal:?} goes back from {value}");
                        *value = signal.value;
                    }
                    self.done += 1;
                    idle = 0;
                }
                None => {
                    queue = 1 - queue;
                    idle += 1;
                }
            }
        }
    }

    fn is_stuck(&self) -> bool {
        self.done < self.jobs.len()
    }
}

/// Explores all interleavings of two submitting threads, and of device progress in between, from a given state on.
/// Counts all runs, and those in which the device deadlocks.
fn play(model: &Model, written: u64, drawn: u64, held_back: bool, counts: &mut [u32; 2]) {
    if written == TURNS && drawn == TURNS {
        let mut model = model.clone();
        model.run(0);
        counts[0] += 1;
        counts[1] += u32::from(model.is_stuck());
        return;
    }
    // Pacing limits the worker's lead to a few entries.
    if written < TURNS && written < drawn + SLOTS + 2 {
        let mut model = model.clone();
        model.push(write(written + 1), held_back);
        play(&model, written + 1, drawn, held_back, counts);
    }
    // The main loop only takes written entries.
    if drawn < written {
        for runs in [false, true] {
            let mut model = model.clone();
            if runs {
                model.run(1);
            }
            for job in read(drawn + 1) {
                let last = model.jobs.len();
                model.push(job, held_back);
                let certain = model.gate.are_certain(&model.jobs[last].2);
                assert!(certain || !held_back, "presenting would have to wait");
            }
            play(&model, written, drawn + 1, held_back, counts);
        }
    }
}

#[test]
fn every_order_of_submission_gets_to_its_end_on_one_queue_and_on_two() {
    for mapping in [[0, 0], [0, 1]] {
        let mut counts = [0; 2];
        play(&Model::new(mapping), 0, 0, true, &mut counts);
        assert!(counts[0] > 500, "{counts:?} are too few to prove anything");
        assert_eq!(counts[1], 0, "of {} orders on {mapping:?}", counts[0]);
    }
}

#[test]
fn without_the_gate_one_queue_gets_stuck_and_two_do_not() {
    let mut counts = [0; 2];
    play(&Model::new([0, 0]), 0, 0, false, &mut counts);
    assert!(counts[1] > 0, "the model shows no danger");
    let mut counts = [0; 2];
    play(&Model::new([0, 1]), 0, 0, false, &mut counts);
    assert_eq!(counts[1], 0, "of {}", counts[0]);
}

#[test]
fn host_signal_releases_waits_for_missing_returns() {
    for mapping in [[0, 0], [0, 1]] {
        let mut model = Model::new(mapping);
        for turn in 1..=TURNS {
            model.push(write(turn), true);
        }
        model.run(1);
        assert!(model.is_stuck(), "nobody has returned anything");
        let far = point(RETURNS, 1 << 30);
        model.gate.signalled(&[far]);
        model.values[RETURNS] = far.value;
        while let Some((lane, work)) = model.gate.next() {
            model.queues[mapping[lane]].push_back(work);
        }
        model.run(1);
        assert!(!model.is_stuck(), "on {mapping:?}");
    }
}
