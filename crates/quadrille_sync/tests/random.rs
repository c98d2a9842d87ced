//! Random frames against what can be said without knowing Vulkan: nothing panics, the same input
//! gives the same plan, reused plans are what would have been planned, steady frames settle, and
//! passes on different queues that touch the same memory are ordered by waits.
//!
//! `SEED=n` repeats one failure, `SEEDS=n` tries that many.
//!
//! Whether plans obey Vulkan's rules is for the oracle to judge.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use quadrille_sync::{
    Access, Aspects, Capabilities, Frame, Lifetime, PassIndex, Plan, Planner, Preference,
    QueueIndex, QueueRequest, Resource, ResourceId, ResourceKind, Sharing, States, Step, SubRange,
    SubresourceRange, Topology, Use, parse_topology, plan,
};

/// A small generator (an LCG's high bits), so that a seed is all it takes to repeat a failure.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

const TOPOLOGIES: [&str; 7] = [
    "gct:1",
    "gct:2",
    "gct:1,ct:1",
    "gct:1,ct:2,t:1",
    "gct:1,t:1 precise",
    "gctn:1,ctp:1 maintenance8",
    "gct:1,ct:1,t:1 maintenance8 precise",
];

const COMPUTE: [Access; 6] = [
    Access::StorageReadCompute,
    Access::StorageWriteCompute,
    Access::StorageReadWriteCompute,
    Access::SampledCompute,
    Access::TransferRead,
    Access::TransferWrite,
];

const GRAPHICS: [Access; 5] = [
    Access::SampledFragment,
    Access::SampledGraphics,
    Access::StorageWriteFragment,
    Access::StorageReadVertex,
    Access::ColorAttachmentReadWrite,
];

const TRANSFER: [Access; 3] = [Access::TransferRead, Access::TransferWrite, Access::Clear];

fn resources(random: &mut Random) -> Vec<Resource> {
    let mut resources = Vec::new();
    for id in 0..2 + random.below(5) as u32 {
        let mut resource = Resource::buffer(ResourceId(id), &format!("r{id}"), 64);
        if random.below(2) == 0 {
            let aspects = Aspects::COLOR;
            resource.kind = ResourceKind::Image {
                aspects,
                mip_levels: 2,
                array_layers: 2,
            };
            if random.below(5) == 0 {
                resource.lifetime = Lifetime::Swapchain;
            }
        }
        if random.below(4) == 0 && resource.lifetime == Lifetime::Persistent {
            resource.lifetime = Lifetime::Transient;
        }
        if random.below(3) == 0 {
            resource.sharing = Sharing::Concurrent;
        }
        resources.push(resource);
    }
    resources
}

fn range(random: &mut Random, kind: &ResourceKind) -> SubRange {
    if random.below(3) > 0 {
        return SubRange::Whole;
    }
    match kind {
        ResourceKind::Buffer { .. } => {
            let offset = random.below(4) as u64 * 16;
            SubRange::Bytes {
                offset,
                size: 16 + random.below(3) as u64 * 8,
            }
        }
        ResourceKind::Image { aspects, .. } => SubRange::Subresources(SubresourceRange {
            aspects: *aspects,
            base_mip: random.below(2) as u32,
            mip_count: 1,
            base_layer: random.below(2) as u32,
            layer_count: 1,
        }),
    }
}

/// A frame whose passes are mostly in declared order, so that most frames are valid.
fn frame(random: &mut Random, resources: &[Resource]) -> Frame {
    let mut frame = Frame {
        resources: resources.to_vec(),
        cull: random.below(6) == 0,
        ..Frame::default()
    };
    let mut written = vec![false; resources.len()];
    let mut last: Option<PassIndex> = None;
    for name in 0..1 + random.below(8) {
        let (required, accesses): (_, &[Access]) = match random.below(4) {
            0 => (Capabilities::GRAPHICS, &GRAPHICS),
            1 => (Capabilities::TRANSFER, &TRANSFER),
            _ => (Capabilities::COMPUTE, &COMPUTE),
        };
        let mut uses: Vec<Use> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let at = random.below(resources.len());
            let resource = quadrille_sync::ResourceIndex(at as u32);
            let mut one = Use::whole(resource, random.of(accesses));
            if uses.iter().any(|other| other.resource == resource) {
                continue;
            }
            if written[at] {
                one.range = range(random, &resources[at].kind);
                one.discard = one.access.is_write() && random.below(3) == 0;
            } else {
                one.discard = true;
            }
            if one.access.is_read() && !one.access.is_write() {
                if !written[at] {
                    continue;
                }
                one.discard = false;
            }
            written[at] |= one.access.is_write();
            uses.push(one);
        }
        let preference = if random.below(2) == 0 {
            Preference::Async
        } else {
            Preference::Main
        };
        let fixed = (random.below(4) == 0).then(|| QueueIndex(random.below(4) as u8));
        let request = QueueRequest {
            required,
            preference,
            fixed,
        };
        let after: Vec<PassIndex> = last.into_iter().collect();
        last = Some(frame.add_pass(format!("p{name}"), request, &uses, &after));
    }
    frame
}

/// Submissions that each pass's submission comes after, by waits and, on one queue, by order.
fn ancestors(plan: &Plan) -> Vec<Vec<bool>> {
    let mut ancestors: Vec<Vec<bool>> = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        let mut row = vec![false; plan.submissions.len()];
        for (before, other) in plan.submissions[..at].iter().enumerate() {
            let waited = submission
                .waits
                .iter()
                .any(|wait| wait.point.queue == other.queue && other.signal <= wait.point.offset);
            if waited || other.queue == submission.queue {
                row[before] = true;
                for (to, from) in row.iter_mut().zip(&ancestors[before]) {
                    *to |= from;
                }
            }
        }
        for wait in &submission.waits {
            assert_ne!(
                wait.point.queue, submission.queue,
                "a wait for one's own queue"
            );
            let signalled = plan.submissions[..at]
                .iter()
                .any(|other| other.queue == wait.point.queue && other.signal == wait.point.offset);
            assert!(
                signalled || wait.point.offset <= 0,
                "a wait before its signal"
            );
            assert!(!wait.stages.is_empty(), "a wait that holds nothing back");
            assert!(!wait.reasons.is_empty(), "a wait without reason");
        }
        ancestors.push(row);
    }
    ancestors
}

/// Asserts that conflicting passes on different queues are ordered.
fn check_order(frame: &Frame, plan: &Plan) {
    let ancestors = ancestors(plan);
    let mut placed = Vec::new();
    for (at, submission) in plan.submissions.iter().enumerate() {
        let passes = submission.steps.iter().filter_map(|step| match step {
            Step::Pass(pass) => Some(*pass),
            Step::Barriers(_) => None,
        });
        placed.extend(passes.map(|pass| (pass, at)));
    }
    for (later_at, (later, later_in)) in placed.iter().enumerate() {
        for (earlier, earlier_in) in &placed[..later_at] {
            let conflict = frame.uses_of(*later).iter().any(|a| {
                frame.uses_of(*earlier).iter().any(|b| {
                    a.resource == b.resource
                        && a.range.overlaps(&b.range)
                        && (a.access.is_write() || b.access.is_write())
                })
            });
            if conflict && later_in != earlier_in {
                assert!(
                    ancestors[*later_in][*earlier_in],
                    "{earlier:?} then {later:?}"
                );
            }
        }
    }
}

fn run(seed: u64, planned: &mut usize) {
    let mut random = Random(seed);
    let topology = parse_topology(random.of(&TOPOLOGIES)).unwrap();
    let resources = resources(&mut random);
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut one = frame(&mut random, &resources);
    for _ in 0..6 {
        if random.below(2) == 0 {
            one = frame(&mut random, &resources);
        }
        if let Some(plan) = step(&one, &topology, &mut planner, &mut states) {
            check_order(&one, &plan);
            *planned += 1;
        }
    }
    // Whatever came before, a frame that repeats settles.
    let mut reused = 0;
    for _ in 0..8 {
        let before = states.clone();
        if step(&one, &topology, &mut planner, &mut states).is_none() {
            return;
        }
        reused += usize::from(planner.plan(&one, &topology, &before).unwrap().reused);
    }
    assert_eq!(reused, 8, "what has just been planned is known");
    let steady = planner.plan(&one, &topology, &states).unwrap();
    assert!(steady.reused, "steady after eight frames");
    let passes: Vec<_> = steady.plan.passes().collect();
    let idle = steady.plan.submissions.iter().filter(|submission| {
        !submission
            .steps
            .iter()
            .any(|step| matches!(step, Step::Pass(_)))
            && submission.presents.is_empty()
    });
    assert_eq!(
        idle.count(),
        0,
        "submissions for ownership alone, beside {passes:?}"
    );
}

/// Plans and commits one frame; none if it is refused.
fn step(
    frame: &Frame,
    topology: &Topology,
    planner: &mut Planner,
    states: &mut States,
) -> Option<Plan> {
    let fresh = plan(frame, topology, states);
    let planned = planner.plan(frame, topology, states);
    let (Ok(fresh), Ok(planned)) = (&fresh, &planned) else {
        assert_eq!(fresh.err(), planned.err(), "errors are the same");
        return None;
    };
    assert_eq!(
        *planned.plan, *fresh,
        "a reused plan is what would be planned"
    );
    states.commit(frame, topology, fresh);
    Some(fresh.clone())
}

#[test]
fn random_frames() {
    let mut planned = 0;
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(1000),
    };
    for seed in seeds {
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(seed, &mut planned)));
        if let Err(panic) = result {
            eprintln!("SEED={seed} repeats this failure");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{planned} frames planned");
}
