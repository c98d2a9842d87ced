//! What bevy needs to run as many systems that do nothing, on one thread.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use quadrille_bench::{Contents, FrameTimes, Stopwatch};

use super::{Contestant, Outcome};

/// Empty systems on bevy's single-threaded executor: the floor of "a pass is a system".
pub struct Floor {
    world: World,
    schedule: Schedule,
}

fn nothing() {}

impl Floor {
    /// A schedule of `passes` systems without order.
    pub fn new(passes: usize) -> Self {
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        for _ in 0..passes {
            schedule.add_systems(nothing);
        }
        Self {
            world: World::new(),
            schedule,
        }
    }
}

impl Contestant for Floor {
    fn name(&self) -> &'static str {
        "bevy_ecs, empty systems on one thread"
    }

    fn frame(&mut self) -> Outcome<FrameTimes> {
        let watch = Stopwatch::start();
        self.schedule.run(&mut self.world);
        let wall = watch.wall();
        Ok(FrameTimes {
            build: wall,
            pre_submit: wall,
            pre_submit_cpu: watch.thread(),
            frame: wall,
            frame_process_cpu: watch.process(),
            ..FrameTimes::default()
        })
    }

    fn contents(&mut self) -> Outcome<Option<Contents>> {
        Ok(None)
    }
}
