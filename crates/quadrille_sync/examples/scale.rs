//! How planning time grows with the number of passes.
//!
//! The frame has `n` compute passes in a chain, of three uses each: four of five passes write one
//! storage buffer and read two, the fifth writes a storage image, samples another and reads a
//! buffer. Which ones is random, the same in every run.
//!
//! `cargo xtask bench-plan` builds this in release mode, runs it, and names the machine.

#![expect(
    clippy::print_stdout,
    reason = "a program that measures speaks through its terminal"
)]

use std::time::{Duration, Instant};

use quadrille_sync::{
    Access, Capabilities, FamilyIndex, Frame, Layout, PlanErrors, Planner, QueueRequest, Resource,
    ResourceId, ResourceIndex, States, Topology, Use, parse_topology, plan,
};

/// Frame sizes in passes; the last is compared with the first.
const SIZES: [usize; 3] = [100, 1000, 10_000];

/// Frames that a planner sees before its plan counts as reused: the states repeat by then.
const WARM_UP: usize = 4;

/// Times of one frame size, for the whole frame.
struct Times {
    passes: usize,
    cold: Duration,
    reused: Duration,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = parse_topology("gct:1")?;
    let times = SIZES.map(|passes| measure(passes, &topology));
    let times: Vec<Times> = times.into_iter().collect::<Result<_, _>>()?;
    println!("| passes | cold, ns a pass | reused, ns a pass | cold, us | reused, us |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for it in &times {
        println!(
            "| {} | {:.0} | {:.0} | {:.1} | {:.1} |",
            it.passes,
            per_pass(it.cold, it.passes),
            per_pass(it.reused, it.passes),
            it.cold.as_secs_f64() * 1e6,
            it.reused.as_secs_f64() * 1e6,
        );
    }
    if let [first, .., last] = times.as_slice() {
        let ratio = |of: fn(&Times) -> Duration| {
            per_pass(of(last), last.passes) / per_pass(of(first), first.passes)
        };
        println!(
            "\ntime a pass at {} against {}: cold {:.2}x, reused {:.2}x",
            last.passes,
            first.passes,
            ratio(|it| it.cold),
            ratio(|it| it.reused),
        );
    }
    Ok(())
}

/// Medians of many runs.
fn measure(passes: usize, topology: &Topology) -> Result<Times, PlanErrors> {
    let (frame, start) = synthetic(passes);
    let runs = (200_000 / passes).max(21);
    let mut cold = Vec::with_capacity(runs);
    for _ in 0..runs {
        let begin = Instant::now();
        let plan = plan(&frame, topology, &start)?;
        cold.push(begin.elapsed());
        drop(plan);
    }
    let (mut planner, mut states) = (Planner::default(), start);
    let mut reused = Vec::with_capacity(runs);
    for run in 0..WARM_UP + runs {
        let begin = Instant::now();
        let planned = planner.plan(&frame, topology, &states)?;
        if run >= WARM_UP {
            reused.push(begin.elapsed());
            assert!(planned.reused, "a frame that repeats reuses its plan");
        }
        states.commit(&frame, topology, &planned.plan);
    }
    Ok(Times {
        passes,
        cold: median(cold),
        reused: median(reused),
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn per_pass(time: Duration, passes: usize) -> f64 {
    time.as_secs_f64() * 1e9 / passes as f64
}

/// The frame, and states in which all its resources have contents.
fn synthetic(passes: usize) -> (Frame, States) {
    let (buffers, images) = ((passes / 2).max(4), (passes / 10).max(2));
    let (mut frame, mut states) = (Frame::default(), States::default());
    for at in 0..buffers {
        let id = ResourceId(at as u32);
        frame.add_resource(Resource::buffer(id, &format!("buffer {at}"), 256));
        states.import(id, Layout::Undefined, Some(FamilyIndex(0)));
    }
    for at in 0..images {
        let id = ResourceId((buffers + at) as u32);
        frame.add_resource(Resource::image(id, &format!("image {at}")));
        states.import(id, Layout::General, Some(FamilyIndex(0)));
    }
    let mut random = Random(0xc0_ffee + passes as u64);
    let request = QueueRequest {
        required: Capabilities::COMPUTE,
        ..QueueRequest::default()
    };
    let mut before = Vec::new();
    for pass in 0..passes {
        let uses = if pass % 5 == 4 {
            image_pass(&mut random, buffers, images)
        } else {
            buffer_pass(&mut random, buffers)
        };
        let index = frame.add_pass(format!("pass {pass}"), request, &uses, &before);
        before = vec![index];
    }
    (frame, states)
}

fn buffer_pass(random: &mut Random, buffers: usize) -> [Use; 3] {
    let written = random.below(buffers);
    let first = (written + 1 + random.below(buffers - 1)) % buffers;
    let mut second = random.below(buffers);
    while second == written || second == first {
        second = (second + 1) % buffers;
    }
    [
        one_use(written, Access::StorageWriteCompute),
        one_use(first, Access::StorageReadCompute),
        one_use(second, Access::StorageReadCompute),
    ]
}

fn image_pass(random: &mut Random, buffers: usize, images: usize) -> [Use; 3] {
    let buffer = random.below(buffers);
    let written = random.below(images);
    let sampled = (written + 1 + random.below(images - 1)) % images;
    [
        one_use(buffer, Access::StorageReadCompute),
        one_use(buffers + sampled, Access::SampledCompute),
        one_use(buffers + written, Access::StorageWriteCompute),
    ]
}

fn one_use(resource: usize, access: Access) -> Use {
    Use::whole(ResourceIndex(resource as u32), access)
}

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
