//! Lower bound: bevy runs as many systems that do nothing, on one thread.

use std::hint::black_box;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use quadrille_bench::{Contents, FrameTimes, Stopwatch};

use super::{Contestant, Outcome};

/// Systems that do nothing, on bevy's single-threaded executor: the floor of "a pass is a system".
pub struct Floor {
    name: &'static str,
    world: World,
    schedule: Schedule,
}

/// One of the resources that systems with parameters take.
#[derive(Resource, Default)]
struct Parameter<const N: usize>;

fn nothing() {}

/// Takes as many parameters as a pass of the frame: a recorder, three accesses, its pipelines.
fn five(
    a: Res<Parameter<0>>,
    b: Res<Parameter<1>>,
    c: Res<Parameter<2>>,
    d: Res<Parameter<3>>,
    e: Res<Parameter<4>>,
) {
    black_box((&*a, &*b, &*c, &*d, &*e));
}

impl Floor {
    /// A schedule of `passes` systems that take nothing, without order.
    pub fn empty(passes: usize) -> Self {
        Self::new("bevy_ecs, empty systems on one thread", passes, nothing)
    }

    /// A schedule of `passes` systems of as many parameters as a pass has, without order.
    pub fn with_parameters(passes: usize) -> Self {
        let mut floor = Self::new("bevy_ecs, five parameters a system", passes, five);
        let world = &mut floor.world;
        world.init_resource::<Parameter<0>>();
        world.init_resource::<Parameter<1>>();
        world.init_resource::<Parameter<2>>();
        world.init_resource::<Parameter<3>>();
        world.init_resource::<Parameter<4>>();
        floor
    }

    fn new<M>(
        name: &'static str,
        passes: usize,
        system: impl IntoSystem<(), (), M> + Copy + 'static,
    ) -> Self {
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        for _ in 0..passes {
            schedule.add_systems(IntoSystem::into_system(system));
        }
        Self {
            name,
            world: World::new(),
            schedule,
        }
    }
}

impl Contestant for Floor {
    fn name(&self) -> &'static str {
        self.name
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
