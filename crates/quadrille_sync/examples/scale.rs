//! How planning time grows with the number of passes.
//!
//! First a usual frame, cold and reused, then frames of awkward shapes. The usual frame has `n` compute passes in a chain, of three uses each: four of five passes write one
//! storage buffer and read two, the fifth writes a storage image, samples another and reads a
//! buffer. Which ones is random, the same in every run.
//!
//! `cargo xtask bench-plan` builds this in release mode, runs it, and names the machine.

#![expect(
    clippy::print_stdout,
    reason = "a program that measures speaks through its terminal"
)]

use std::time::Duration;

use clock::timed;
use synthetic::{Random, buffer_pass, one_use, synthetic};

use quadrille_sync::PlanErrors;
use quadrille_sync::access::Access;
use quadrille_sync::flags::{Aspects, Layout};
use quadrille_sync::frame::{Frame, QueueRequest, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::{BlockId, Lifetime, Placement, Resource, ResourceId, ResourceKind};
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::{Capabilities, FamilyIndex, QueueIndex, Topology};

#[path = "scale/clock.rs"]
mod clock;
#[path = "scale/synthetic.rs"]
mod synthetic;

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
            "\ntime a pass at {} against {}: cold {:.2}x, reused {:.2}x\n",
            last.passes,
            first.passes,
            ratio(|it| it.cold),
            ratio(|it| it.reused),
        );
    }
    shapes()
}

/// Frames that are hard on a planner: queues, uses of a pass, and the shape.
const SHAPES: [(&str, &str, Shape); 10] = [
    ("readers of one buffer", "gct:1", Shape::Readers),
    ("writers of one buffer", "gct:1", Shape::Chain),
    ("one mip level each", "gct:1", Shape::Levels),
    ("the same in the next frame", "gct:1", Shape::LevelsAgain),
    ("one slice each", "gct:1,ct:1", Shape::Slices),
    ("parts, all in one pass", "gct:1", Shape::Parts),
    ("places in one block", "gct:1", Shape::MemoryPlan),
    ("independent passes", "gct:1", Shape::Independent),
    ("a switch of queue each", "gct:1,ct:1", Shape::Switches),
    ("16 queues, at random", "gct:1,ct:15", Shape::Queues),
];

/// Access pattern of the passes of a frame, and the queues that they run on.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// The first pass writes a buffer, all others read it, and the last writes it again.
    Readers,
    /// All passes write one buffer.
    Chain,
    /// Each pass writes one subresource of an image, in no order.
    Levels,
    /// The same after such a frame.
    LevelsAgain,
    /// Each pass writes one slice of a 3D image.
    Slices,
    /// One pass writes parts of a buffer, and the next reads all of it: a part for each pass of the
    /// other frames.
    Parts,
    /// Each pass writes a buffer that takes the place of an earlier one.
    MemoryPlan,
    /// Each pass writes a buffer of its own.
    Independent,
    /// All passes write one buffer, on two queues by turns.
    Switches,
    /// Passes read and write some of many buffers, on any queue.
    Queues,
}

/// Cold plans of awkward frames.
fn shapes() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| shape | {} |",
        SIZES
            .map(|it| format!("{it} passes, ns a pass"))
            .join(" | ")
    );
    println!("| --- | ---: | ---: | ---: |");
    for (name, topology, shape) in SHAPES {
        let topology = parse_topology(topology)?;
        print!("| {name} |");
        for passes in SIZES {
            let (frame, mut states) = match shape {
                Shape::Parts => parts(passes),
                _ => shaped(shape, passes),
            };
            if let Shape::LevelsAgain = shape {
                let before = plan(&frame, &topology, &states)?;
                states.commit(&frame, &topology, &before);
            }
            let time = timed(|| plan(&frame, &topology, &states).map(drop))?;
            print!(" {:.0} |", per_pass(time, passes));
        }
        println!();
    }
    Ok(())
}

/// A frame with one pass of many uses, and one that reads what that has written.
fn parts(count: usize) -> (Frame, States) {
    let mut frame = Frame::default();
    let all = Resource::buffer(ResourceId(0), "all", 64 * count as u64);
    let all = frame.add_resource(all);
    let part = |at| Use {
        range: SubRange::Bytes {
            offset: 64 * at as u64,
            size: 32,
        },
        ..Use::whole(all, Access::StorageWriteCompute)
    };
    let request = QueueRequest::default();
    let write: Vec<Use> = (0..count).map(part).collect();
    frame.add_pass("write", request, &write, &[]);
    let read = Use::whole(all, Access::StorageReadCompute);
    frame.add_pass("read", request, &[read], &[]);
    (frame, States::default())
}

/// The mip levels of an image of which each pass writes one.
const MIPS: u32 = 10;

/// A resource of a frame of a shape.
fn resource(shape: Shape, at: u32, passes: usize) -> Resource {
    let mut resource = Resource::buffer(ResourceId(at), &format!("resource {at}"), 256);
    if let Shape::MemoryPlan = shape {
        resource.lifetime = Lifetime::Transient;
        let place = u64::from(at) * 7919 % (passes as u64 / 4 + 1);
        resource.memory = Some(Placement {
            block: BlockId(0),
            offset: 256 * place,
            bytes: 256,
        });
    }
    if let Shape::Levels | Shape::LevelsAgain = shape {
        resource.kind = ResourceKind::Image {
            aspects: Aspects::COLOR,
            mip_levels: MIPS,
            array_layers: passes as u32,
            slices: 1,
        };
    }
    if let Shape::Slices = shape {
        resource.kind = ResourceKind::Image {
            aspects: Aspects::COLOR,
            mip_levels: 1,
            array_layers: 1,
            slices: passes as u32,
        };
    }
    resource
}

/// A frame of a shape, in a declared chain.
fn shaped(shape: Shape, passes: usize) -> (Frame, States) {
    let (mut frame, mut states) = (Frame::default(), States::default());
    let mut random = Random(0xc0_ffee + passes as u64);
    let buffers = match shape {
        Shape::Independent | Shape::Queues | Shape::MemoryPlan => passes,
        _ => 1,
    };
    for at in 0..buffers as u32 {
        frame.add_resource(resource(shape, at, passes));
        states.import(ResourceId(at), Layout::General, Some(FamilyIndex(0)));
    }
    let mut before = Vec::new();
    for pass in 0..passes {
        let write = Access::StorageWriteCompute;
        let mut uses = match shape {
            Shape::Readers if pass > 0 && pass + 1 < passes => {
                vec![one_use(0, Access::StorageReadCompute)]
            }
            Shape::Independent | Shape::MemoryPlan => vec![one_use(pass, write)],
            Shape::Queues => buffer_pass(&mut random, buffers).to_vec(),
            _ => vec![one_use(0, write)],
        };
        if let Shape::Levels | Shape::LevelsAgain = shape {
            // A number without a factor in common walks through all of them.
            let at = pass * 7919 % passes;
            uses[0].range = SubRange::Subresources(SubresourceRange {
                aspects: Aspects::COLOR,
                base_mip: at as u32 % MIPS,
                mip_count: 1,
                base_layer: at as u32,
                layer_count: 1,
            });
        }
        if let Shape::Slices = shape {
            uses[0].range = SubRange::Slices(Slices {
                aspects: Aspects::COLOR,
                mip: 0,
                base: (pass * 7919 % passes) as u32,
                count: 1,
            });
        }
        let fixed = match shape {
            Shape::Switches => Some(QueueIndex(pass as u8 % 2)),
            Shape::Queues => Some(QueueIndex(random.below(16) as u8)),
            _ => None,
        };
        let request = QueueRequest {
            required: Capabilities::COMPUTE,
            fixed,
            ..QueueRequest::default()
        };
        let index = frame.add_pass(format!("pass {pass}"), request, &uses, &before);
        before = vec![index];
    }
    (frame, states)
}

/// Medians of several batches of runs.
fn measure(passes: usize, topology: &Topology) -> Result<Times, PlanErrors> {
    let (frame, start) = synthetic(passes);
    let cold = timed(|| plan(&frame, topology, &start).map(drop))?;
    let (mut planner, mut states) = (Planner::default(), start);
    for _ in 0..WARM_UP {
        let planned = planner.plan(&frame, topology, &states)?;
        states.commit(&frame, topology, &planned.plan);
    }
    // Whether a plan is used again is the same each time: nothing is committed in between.
    let reused = timed(|| {
        let planned = planner.plan(&frame, topology, &states)?;
        assert!(planned.reused, "a frame that repeats reuses its plan");
        Ok(())
    })?;
    Ok(Times {
        passes,
        cold,
        reused,
    })
}

fn per_pass(time: Duration, passes: usize) -> f64 {
    time.as_secs_f64() * 1e9 / passes as f64
}
