//! Allocations of frames in the steady state.
//! `cargo test -p examples --test gpu_allocations -- --ignored`; without a device it fails.

use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::MultiThreadedExecutor;
use examples::frame_bench::{Contestant, Engine, Mode, Systems};
use quadrille_bench::{CountingAllocator, SEED, Workload};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const FRAMES: u64 = 20;

/// Allocations of a frame of so many passes, rounded down.
fn allocations(mode: Mode, passes: usize) -> u64 {
    let workload = Workload::new(passes, SEED);
    let mut contestant: Box<dyn Contestant> = match mode {
        Mode::Systems | Mode::Threads => {
            Box::new(Systems::new(mode, &workload, Duration::ZERO).expect("a device"))
        }
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
    assert_eq!(counts.submissions, 1, "one queue");
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let runs = if mode == Mode::Threads { cores } else { 1 };
    assert!(
        (1..=runs).contains(&counts.command_buffers),
        "a buffer for each run of a thread, not {}",
        counts.command_buffers
    );
    let contents = contestant.contents().expect("contents are read back");
    let expected = workload.simulate(10 + FRAMES);
    assert_eq!(contents, Some(expected), "{passes} passes");
    frame
}

/// Allocations of bevy's multi-threaded executor for so many empty systems, rounded up.
fn floor(systems: usize) -> u64 {
    fn nothing() {}
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.set_executor(MultiThreadedExecutor::new());
    (0..systems).for_each(|_| {
        schedule.add_systems(nothing);
    });
    (0..10).for_each(|_| schedule.run(&mut world));
    let before = CountingAllocator::count();
    (0..FRAMES).for_each(|_| schedule.run(&mut world));
    (CountingAllocator::count() - before).div_ceil(FRAMES)
}

/// One test, since the counter is that of the process.
#[test]
#[ignore = "needs a Vulkan device"]
fn no_allocation_per_pass() {
    for mode in [Mode::Reuse, Mode::Systems, Mode::Threads] {
        let [few, many] = [50, 350].map(|passes| allocations(mode, passes));
        // On several threads each system is a task of bevy's, which is not ours to avoid.
        let [few_tasks, many_tasks] = match mode {
            Mode::Threads => [50, 350].map(floor),
            _ => [0, 0],
        };
        println!(
            "{}: {few} allocations a frame of 50 passes, {many} of 350; bevy's tasks: {few_tasks} \
             and {many_tasks}",
            mode.name()
        );
        assert!(
            many - many_tasks.min(many) < few - few_tasks.min(few) + 50,
            "{}: {many} allocations a frame of 350 passes ({many_tasks} of them bevy's), {few} of \
             50 ({few_tasks})",
            mode.name()
        );
    }
}
