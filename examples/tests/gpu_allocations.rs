//! What frames allocate in the steady state.
//! `cargo test -p examples --test gpu_allocations -- --ignored`; without a device it fails.

use std::time::Duration;

use examples::frame_bench::{Contestant, Engine, Mode, Systems};
use quadrille_bench::{CountingAllocator, SEED, Workload};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const FRAMES: u64 = 20;

/// Allocations of a frame of so many passes, rounded down.
fn allocations(mode: Mode, passes: usize) -> u64 {
    let workload = Workload::new(passes, SEED);
    let mut contestant: Box<dyn Contestant> = match mode {
        Mode::Systems => Box::new(Systems::new(mode, &workload, Duration::ZERO).expect("a device")),
        _ => Box::new(Engine::new(mode, &workload).expect("a device")),
    };
    for _ in 0..10 {
        contestant.frame().expect("a frame");
    }
    let before = CountingAllocator::count();
    for _ in 0..FRAMES {
        contestant.frame().expect("a frame");
    }
    let frame = (CountingAllocator::count() - before) / FRAMES;
    let counts = contestant.counts().expect("it counts");
    assert_eq!(
        (counts.submissions, counts.command_buffers),
        (1, 1),
        "one run, one buffer"
    );
    let contents = contestant.contents().expect("contents are read back");
    let expected = workload.simulate(10 + FRAMES);
    assert_eq!(contents, Some(expected), "{passes} passes");
    frame
}

/// One test, since the counter is that of the process.
#[test]
#[ignore = "needs a Vulkan device"]
fn no_allocation_per_pass() {
    for mode in [Mode::Reuse, Mode::Systems] {
        let [few, many] = [50, 350].map(|passes| allocations(mode, passes));
        println!(
            "{}: {few} allocations a frame of 50 passes, {many} of 350",
            mode.name()
        );
        assert!(
            many < few + 50,
            "{}: {many} allocations a frame of 350 passes, {few} of 50",
            mode.name()
        );
    }
}
