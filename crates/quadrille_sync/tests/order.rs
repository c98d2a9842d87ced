//! The free order against the declared one, on random frames: it is never worse by what plans are judged
//! by, and it keeps what declared order is for.
//!
//! `SEED=n` repeats one failure, `SEEDS=n` tries that many.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Frame, PassIndex, Preference, QueueRequest, Use};
use quadrille_sync::plan::Plan;
use quadrille_sync::resource::{Resource, ResourceId, ResourceIndex};
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::{Capabilities, OrderPolicy, Topology};

/// An LCG's high bits, so that a seed is all it takes to repeat a failure.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

const TOPOLOGIES: [&str; 6] = [
    "gct:1",
    "gct:1,ct:1",
    "gct:2,ct:2,t:1",
    "gct:1 precise",
    "gct:1,ct:4 maintenance8",
    "gct:16",
];

const ACCESSES: [Access; 5] = [
    Access::StorageReadCompute,
    Access::StorageReadCompute,
    Access::StorageWriteCompute,
    Access::SampledCompute,
    Access::TransferRead,
];

/// Passes in a declared chain, so that any of their uses may meet, and all resources written.
fn frame(random: &mut Random, states: &mut States) -> Frame {
    let mut frame = Frame::default();
    let count = 4 + random.below(36);
    let resources = 2 + random.below(count);
    for id in 0..resources as u32 {
        let name = format!("r{id}");
        frame.add_resource(match random.below(3) {
            0 => Resource::image(ResourceId(id), &name),
            _ => Resource::buffer(ResourceId(id), &name, 64),
        });
        states.import(ResourceId(id), Layout::General, None);
    }
    let costs = random.below(2);
    let mut before: Vec<PassIndex> = Vec::new();
    for name in 0..count {
        let mut uses: Vec<Use> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let resource = ResourceIndex(random.below(resources) as u32);
            if uses.iter().all(|other| other.resource != resource) {
                let access = ACCESSES[random.below(ACCESSES.len())];
                uses.push(Use::whole(resource, access));
            }
        }
        let request = QueueRequest {
            required: Capabilities::COMPUTE,
            preference: [Preference::Main, Preference::Async][random.below(2)],
            fixed: None,
        };
        let pass = frame.add_pass(format!("p{name}"), request, &uses, &before);
        frame.passes[name].cost_us = (costs * (1 + random.below(200))) as u32;
        frame.passes[name].side_effect = random.below(20) == 0;
        before = vec![pass];
    }
    frame
}

/// The states after a frame that has come twice.
fn steady(frame: &Frame, topology: &Topology, mut states: States) -> States {
    for _ in 0..2 {
        let plan = plan(frame, topology, &states).unwrap();
        states.commit(frame, topology, &plan);
    }
    states
}

/// Returns the objective of plans but for the barriers in calls, in the order of [`NAMES`]: the first
/// difference decides.
fn costs(frame: &Frame, plan: &Plan) -> [u64; 4] {
    let counts = plan.counts();
    // Cost of a submission besides its passes: 20 µs.
    let submissions = u64::from(counts.submissions);
    let time = plan.critical_path_us(frame) + 20 * submissions;
    let (waits, calls) = (counts.semaphore_waits, counts.barrier_calls);
    [time, submissions, waits.into(), calls.into()]
}

const NAMES: [&str; 4] = ["time", "submissions", "waits", "barrier calls"];

/// Compares the two orders, and adds the costs of each to the sums.
fn check(seed: u64, sums: &mut [[u64; 4]; 2]) {
    let mut random = Random(seed);
    let free = parse_topology(TOPOLOGIES[random.below(TOPOLOGIES.len())]).unwrap();
    let declared = Topology {
        order: OrderPolicy::Declared,
        ..free.clone()
    };
    let mut states = States::default();
    let frame = frame(&mut random, &mut states);
    // Two steady states can differ in a wait for an earlier frame, so both orders begin in one.
    let states = steady(&frame, [&free, &declared][random.below(2)], states);
    let new = plan(&frame, &free, &states).unwrap();
    let old = plan(&frame, &declared, &states).unwrap();
    let (new_costs, old_costs) = (costs(&frame, &new), costs(&frame, &old));
    // Where the free order is estimated to be shorter before its barriers are known, they may yet
    // make it longer, by little.
    let is_longer = new_costs[0] * 100 > old_costs[0] * 103;
    let is_worse = new_costs[0] == old_costs[0] && new_costs > old_costs;
    assert!(
        !is_longer && !is_worse,
        "seed {seed}: {new_costs:?} after {old_costs:?}\n{frame}"
    );
    for (sums, costs) in sums.iter_mut().zip([new_costs, old_costs]) {
        sums.iter_mut()
            .zip(costs)
            .for_each(|(sum, cost)| *sum += cost);
    }
    let again = plan(&frame, &free, &states).unwrap();
    assert_eq!(again, new, "seed {seed}: the same input, the same plan");
    assert_order(seed, &frame, &new);
}

/// Conflicting passes run in declared order, and so do those with side effects.
fn assert_order(seed: u64, frame: &Frame, plan: &Plan) {
    let order: Vec<PassIndex> = plan.passes().map(|(_, pass)| pass).collect();
    for (at, later) in order.iter().enumerate() {
        for earlier in &order[..at] {
            let conflict = frame.uses_of(*earlier).iter().any(|a| {
                let writes = |b: &&Use| a.access.is_write() || b.access.is_write();
                let uses = frame.uses_of(*later).iter();
                uses.filter(writes).any(|b| a.resource == b.resource)
            });
            let effects = frame.pass(*earlier).side_effect && frame.pass(*later).side_effect;
            let kept = earlier < later || !conflict && !effects;
            assert!(kept, "seed {seed}: {earlier:?} before {later:?}\n{frame}");
        }
    }
}

#[test]
fn the_free_order_is_never_worse_than_the_declared_one() {
    let setting = |name| {
        std::env::var(name)
            .ok()
            .map(|it| it.parse::<u64>().unwrap())
    };
    let seeds = match setting("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("SEEDS").unwrap_or(600),
    };
    let mut sums = [[0; 4]; 2];
    seeds.for_each(|seed| check(seed, &mut sums));
    println!("{NAMES:?}: free {:?}, declared {:?}", sums[0], sums[1]);
    let [new, old] = sums;
    assert!(new[0] < old[0], "the free order gains something");
}
