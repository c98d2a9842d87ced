//! Random frames whose transient resources lie where `place` says: they can be planned like the
//! frames without places, nothing lies over what is needed at once, and sharing costs no memory and
//! no waits.
//!
//! `SEED=n` repeats one failure, `SEEDS=n` tries that many.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

mod generate;

use generate::{Random, TOPOLOGIES, frame, resources};
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::{Counts, Plan, Step};
use quadrille_sync::resource::{BlockId, Lifetime, Placement, ResourceIndex};
use quadrille_sync::solve::{MemoryNeed, plan, plan_memory};
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::Topology;

/// Memory that is shared, and the changes by that, summed over all frames.
#[derive(Debug, Default)]
struct Sums {
    frames: u32,
    bytes: u64,
    unshared_bytes: u64,
    waits: [u32; 2],
    submissions: [u32; 2],
    barrier_calls: [u32; 2],
}

/// Needs of random size for all transient resources.
fn needs(random: &mut Random, frame: &Frame) -> Vec<MemoryNeed> {
    let resources = (0..).map(ResourceIndex).zip(&frame.resources);
    let transient = resources.filter(|(_, it)| it.lifetime == Lifetime::Transient);
    let need = |(resource, _)| MemoryNeed {
        resource,
        bytes: 64 + random.below(200) as u64,
        alignment: 1 << random.below(9),
        class: random.below(4) as u32 / 3,
        now: None,
    };
    transient.map(need).collect()
}

/// Places the resources, and asserts what must hold of any frame.
fn placed(frame: &Frame, topology: &Topology, needs: &[MemoryNeed], sums: &mut Sums) -> Frame {
    let mut shared = frame.clone();
    let Ok(places) = plan_memory(frame, topology, needs) else {
        return shared;
    };
    assert_eq!(
        plan_memory(frame, topology, needs).unwrap(),
        places,
        "again"
    );
    assert!(places.bytes() <= places.unshared_bytes, "never worse");
    for (need, offset) in needs.iter().zip(&places.offsets) {
        let offset = offset.unwrap();
        assert_eq!(offset % need.alignment, 0, "aligned");
        let block = places.blocks.iter().find(|it| it.class == need.class);
        assert!(
            offset + need.bytes <= block.unwrap().bytes,
            "within its block"
        );
        shared.resources[need.resource.0 as usize].memory = Some(Placement {
            block: BlockId(need.class),
            offset,
            bytes: need.bytes,
        });
    }
    sums.bytes += places.bytes();
    sums.unshared_bytes += places.unshared_bytes;
    shared
}

/// The counts of a few frames, one after the other.
fn counts(frame: &Frame, topology: &Topology) -> Vec<(Counts, Plan)> {
    let mut states = States::default();
    let mut next = || {
        let plan = plan(frame, topology, &states).ok()?;
        states.commit(frame, topology, &plan);
        Some((plan.counts(), plan))
    };
    (0..4).map_while(|_| next()).collect()
}

/// Asserts that in the plan, all passes that use one of two resources in the same bytes come
/// before all that use the other.
fn check_turns(frame: &Frame, plan: &Plan) {
    let steps = plan.submissions.iter().flat_map(|it| &it.steps);
    let passes = steps.filter_map(|step| match step {
        Step::Pass(pass) => Some(*pass),
        Step::Barriers(_) => None,
    });
    let passes: Vec<_> = passes.collect();
    let uses = |resource: ResourceIndex| {
        let users = passes.iter().enumerate();
        let users = users.filter(move |(_, pass)| {
            frame
                .uses_of(**pass)
                .iter()
                .any(|one| one.resource == resource)
        });
        users.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let placed: Vec<_> = (0..).zip(&frame.resources).collect();
    for (a, one) in &placed {
        for (b, other) in placed.iter().filter(|(b, _)| b > a) {
            let (Some(one), Some(other)) = (one.memory, other.memory) else {
                continue;
            };
            let (a, b) = (uses(ResourceIndex(*a)), uses(ResourceIndex(*b)));
            if !one.overlaps(&other) || a.is_empty() || b.is_empty() {
                continue;
            }
            let apart = a.last() < b.first() || b.last() < a.first();
            assert!(apart, "{a:?} and {b:?} in turns");
        }
    }
}

fn run(seed: u64, sums: &mut Sums) {
    let mut random = Random(seed);
    let topology = parse_topology(random.of(&TOPOLOGIES)).unwrap();
    let resources = resources(&mut random);
    let frame = frame(&mut random, &resources);
    let needs = needs(&mut random, &frame);
    let shared = placed(&frame, &topology, &needs, sums);
    let own = plan(&frame, &topology, &States::default());
    let with = plan(&shared, &topology, &States::default());
    assert_eq!(own.err(), with.err(), "places make no errors");
    let (own, with) = (counts(&frame, &topology), counts(&shared, &topology));
    for ((old, _), (new, plan)) in own.iter().zip(&with) {
        check_turns(&shared, plan);
        sums.frames += 1;
        let mut add = |which: fn(&mut Sums) -> &mut [u32; 2], old, new| {
            let [one, two] = which(sums);
            (*one, *two) = (*one + old, *two + new);
        };
        add(
            |sums| &mut sums.waits,
            old.semaphore_waits,
            new.semaphore_waits,
        );
        add(
            |sums| &mut sums.submissions,
            old.submissions,
            new.submissions,
        );
        add(
            |sums| &mut sums.barrier_calls,
            old.barrier_calls,
            new.barrier_calls,
        );
    }
}

#[test]
fn random_places() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(1000),
    };
    let mut sums = Sums::default();
    for seed in seeds {
        let once = std::panic::AssertUnwindSafe(|| run(seed, &mut sums));
        if let Err(panic) = std::panic::catch_unwind(once) {
            eprintln!("SEED={seed} repeats this failure");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{sums:?}");
    if sums.frames < 1000 {
        return;
    }
    assert!(sums.bytes < sums.unshared_bytes, "something is shared");
    // In hundredths. Which resources shared memory shows in the choice between two orders, so single
    // frames may have a little more of one thing for less of another.
    for ([old, new], limit) in [
        (sums.submissions, 101),
        (sums.waits, 101),
        (sums.barrier_calls, 103),
    ] {
        assert!(new * 100 <= old * limit, "{old} have become {new}");
    }
}
