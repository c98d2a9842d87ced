//! One frame, from pacing to presenting.

use bevy_app::AppExit;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{MultiThreadedExecutor, Schedules, SingleThreadedExecutor};
use bevy_tasks::ComputeTaskPool;
use quadrille_sync::PlanErrors;
use quadrille_sync::planner::Planned;
use quadrille_sync::states::{Snapshot, TimelinePoint};
use quadrille_vulkan::present::Swapchain;
use quadrille_vulkan::record::{FrameInput, Parallel, Recorded};

use crate::collect::tables::{NonTableState, Tables};
use crate::collect::{self, Collected, Collector};
use crate::data::exchange::Exchanges;
use crate::data::history::Histories;
use crate::data::internal::InternalPass;
use crate::data::readback::{self, ReadbackComplete, Readbacks};
use crate::data::upload::{Uploads, import_host_writes};
use crate::error::RenderError;
use crate::frame::failure;
use crate::frame::policy::{RenderErrorHandler, RenderErrorPolicy};
use crate::frame::recover::{Recovery, recover};
use crate::frame::run::run_render;
use crate::frame::windows;
use crate::record::no_pass;
use crate::record::recording::{self, Recordings};
use crate::renderer::choices::Submitted;
use crate::renderer::frame_start::FrameStart;
use crate::renderer::report::{Clock, Phase};
use crate::renderer::threads::Threads;
use crate::renderer::{KeptFrame, Renderer};
use crate::schedule::Render;
use crate::window::WindowTarget;

/// Marks that an error stopped the renderer: no frames follow.
#[derive(Resource)]
pub(crate) struct Stopped;

/// Runs one frame, and passes errors to the [`RenderErrorHandler`].
pub(crate) fn run_frame(world: &mut World) {
    if world.contains_resource::<Stopped>() || !world.contains_resource::<Renderer>() {
        if let Some(mut exchanges) = world.get_resource_mut::<Exchanges>() {
            exchanges.clear();
        }
        return;
    }
    let refused = world.resource_mut::<Uploads>().take_refused();
    let no_passes = no_pass::take(world);
    let (outcome, host, late) = world.resource_scope(|world, mut renderer: Mut<Renderer>| {
        let mut clock = Clock::start(renderer.observer.take());
        let outcome = frame(world, &mut renderer, &mut clock);
        if let Some(trace) = &mut renderer.trace {
            trace.add_phases(clock.laps());
        }
        let start = *world.resource::<FrameStart>();
        let late = renderer.spare.next(clock.time(Phase::Wait), start);
        renderer.observer = clock.observer;
        (outcome, renderer.host.take_results(), late)
    });
    let (mut commands, host_errors) = host;
    commands.apply(world);
    world.resource_mut::<Exchanges>().clear();
    readback::fail(world);
    match outcome {
        Ok(done) => {
            world.resource_mut::<Recovery>().count_frame();
            world.resource_mut::<Collector>().count_submitted();
            readback::complete(world, done);
            if !late.is_zero() {
                std::thread::sleep(late);
            }
        }
        Err(errors) => handle(world, &errors),
    }
    handle(world, &host_errors);
    let refused = refused.into_iter().map(RenderError::from);
    let refused: Vec<RenderError> = refused.chain(no_passes).collect();
    handle(world, &refused);
}

/// Runs the phases of a frame: declare, collect, plan, record, submit, present. Each has its own file.
fn frame(
    world: &mut World,
    renderer: &mut Renderer,
    clock: &mut Clock,
) -> Result<Vec<ReadbackComplete>, Vec<RenderError>> {
    pace(renderer).map_err(one)?;
    windows::prepare(world, renderer).map_err(one)?;
    renew_resources(world, renderer);
    clock.lap(Phase::Wait);

    run_passes(world, clock)?;
    Tables::prepare(world, &renderer.gpu);
    let (mut first, mut last) = own_passes(world, renderer).map_err(one)?;
    let exchanges = world.resource::<Exchanges>();
    let held = (&renderer.gpu, &mut renderer.states);
    exchanges.add_passes(held, &mut first, &mut last)?;
    let mut tables = std::mem::take(&mut *world.resource_mut::<Tables>());
    let submitted = world.resource_scope(|world, mut collector: Mut<Collector>| {
        world.resource_scope(|world, mut recordings: Mut<Recordings>| {
            let recorded = recordings.read();
            let collecting = (&mut *collector, recorded);
            let passes = (&*first, &mut last);
            let (collected, planned) =
                collect_settled(world, renderer, collecting, passes, (&mut tables, clock))?;
            renderer.host.begin(collector.host_calls(&mut recordings));
            let lists = collector.lists(recordings.read(), &first, &last);
            clock.lap(Phase::Collect);
            let threads = world.resource::<Threads>();
            let collected = (&*collector, collected, &mut tables);
            submit(renderer, collected, planned, &lists, threads, clock).map_err(one)
        })
    });
    *world.resource_mut::<Tables>() = tables;
    submitted?;
    finish(world, renderer).map_err(one)
}

/// Waits until the device is at most the allowed number of frames behind.
fn pace(renderer: &mut Renderer) -> Result<(), RenderError> {
    let timeout = renderer.gpu.info().timeout();
    renderer.frames.begin(timeout)?;
    renderer.progress = renderer.frames.progress()?;
    if let Some(times) = renderer.frames.device_times() {
        if renderer.frames.is_measured() {
            if let Some(trace) = &mut renderer.trace {
                trace.add_device(times.clone());
            }
            renderer.device_times = Some(times.clone());
        }
        renderer.choices.measured(times);
    }
    renderer.choices.measure(&mut renderer.frames);
    Ok(())
}

/// Recreates resources whose sharing mode changes, moves passes to other queues, and frees memory that has been unused
/// for long. Each changes the next frame.
fn renew_resources(world: &mut World, renderer: &mut Renderer) {
    let Renderer {
        sharing,
        choices,
        frames,
        states,
        ..
    } = renderer;
    let mut collector = world.resource_mut::<Collector>();
    if let Some(queues) = choices.changed_queues() {
        collector.choose_queues(queues);
        let last = (&collector.frame, &collector.handles[..]);
        for (handle, mode) in choices.changed_sharing(last, false) {
            sharing.want(handle, mode);
        }
    }
    let keep = |resource: &_| choices.keep_sharing(resource);
    if sharing.change(frames, states, keep) || frames.has_spare_memory() {
        collector.reset();
    }
}

/// Runs the pass systems, which write their command lists.
fn run_passes(world: &mut World, clock: &mut Clock) -> Result<(), Vec<RenderError>> {
    let now = world.increment_change_tick();
    world.resource_mut::<Collector>().before_passes(now);
    let mut recordings = world.resource_mut::<Recordings>();
    recordings.begin();
    let slots = recordings.len();
    world.resource_scope(|world, mut threads: Mut<Threads>| {
        if let Some(multi_threaded) = threads.executor_change()
            && let Some(schedule) = world.resource_mut::<Schedules>().get_mut(Render)
        {
            if multi_threaded {
                schedule.set_executor(MultiThreadedExecutor::new());
            } else {
                schedule.set_executor(SingleThreadedExecutor::new());
            }
        }
    });
    let failures = failure::catch(world, run_render);
    let time = clock.lap(Phase::Run);
    world
        .resource_mut::<Threads>()
        .measured_systems(time, slots);
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures)
    }
}

/// Returns the renderer's own passes: those before and those after the app's.
fn own_passes(
    world: &mut World,
    renderer: &Renderer,
) -> Result<(Vec<InternalPass>, Vec<InternalPass>), RenderError> {
    let progress = &renderer.progress;
    let reached = |point: TimelinePoint| progress.reached(point);
    let uploads =
        world
            .resource_mut::<Uploads>()
            .passes(&renderer.gpu, &renderer.states, reached)?;
    let first = renderer.sharing.pass().into_iter().chain(uploads);
    let last = world.resource_scope(|world, mut readbacks: Mut<Readbacks>| {
        readbacks.passes(world, &renderer.gpu)
    })?;
    Ok((first.collect(), last))
}

/// Collects the frame until the declared members of tables fit the plan. Some undeclared members need declarations that
/// depend on the queues of the passes. So a frame with passes that read tables is planned here, and collected again if
/// the plan needs other declarations.
fn collect_settled(
    world: &mut World,
    renderer: &mut Renderer,
    (collector, recorded): (&mut Collector, recording::Recorded<'_>),
    (first, last): (&[InternalPass], &mut Vec<InternalPass>),
    (tables, clock): (&mut Tables, &mut Clock),
) -> Result<(Collected, Option<Planned>), Vec<RenderError>> {
    loop {
        let (collected, planned) = collect_readable(
            world,
            renderer,
            (collector, recorded),
            (first, last),
            tables,
        )?;
        if !tables.are_read() {
            return Ok((collected, planned));
        }
        clock.lap(Phase::Collect);
        let planned = match planned {
            Some(planned) => planned,
            None => plan(renderer, collector, collected).map_err(|errors| one(errors.into()))?,
        };
        let Renderer { frames, states, .. } = &mut *renderer;
        let topology = frames.topology();
        if tables.covers(&collector.frame, &planned.plan, topology, states) {
            return Ok((collected, Some(planned)));
        }
        collector.reset();
    }
}

/// Collects the frame, and drops readbacks of resources that nothing has written. Only planning detects these, so a
/// frame with readbacks is planned here.
fn collect_readable(
    world: &mut World,
    renderer: &mut Renderer,
    (collector, recorded): (&mut Collector, recording::Recorded<'_>),
    (first, last): (&[InternalPass], &mut Vec<InternalPass>),
    tables: &mut Tables,
) -> Result<(Collected, Option<Planned>), Vec<RenderError>> {
    loop {
        let non_table = NonTableState {
            tables,
            topology: renderer.frames.topology(),
            states: &mut renderer.states,
        };
        let collected = collect::frame(world, collector, recorded, (first, last), non_table)?;
        if collected == Collected::Rebuilt {
            collector.place_transients(renderer).map_err(one)?;
        }
        if last.is_empty() {
            return Ok((collected, None));
        }
        let errors = match plan(renderer, collector, collected) {
            Ok(planned) => return Ok((collected, Some(planned))),
            Err(errors) => errors,
        };
        let mut readbacks = world.resource_mut::<Readbacks>();
        if !readbacks.give_up_unwritten(&errors, last) {
            return Err(one(errors.into()));
        }
    }
}

/// Plans the collected frame.
fn plan(
    renderer: &mut Renderer,
    collector: &Collector,
    collected: Collected,
) -> Result<Planned, PlanErrors> {
    let frame = &collector.frame;
    renderer.frames.exchange(&mut renderer.states);
    if collected == Collected::Rebuilt {
        let written = collector.host_written.iter().copied();
        import_host_writes(&mut renderer.states, written);
    }
    let topology = renderer.frames.topology();
    let again = match collected {
        Collected::Same => renderer.planner.plan_again(topology, &renderer.states),
        Collected::Rebuilt => None,
    };
    match again {
        Some(planned) => Ok(planned),
        None => renderer.planner.plan(frame, topology, &renderer.states),
    }
}

/// Plans the collected frame unless it is planned already, encodes the command lists, submits and presents. The states
/// are committed only after success.
fn submit(
    renderer: &mut Renderer,
    (collector, collected, tables): (&Collector, Collected, &mut Tables),
    planned: Option<Planned>,
    lists: &[Option<&quadrille_vulkan::commands::CommandList>],
    threads: &Threads,
    clock: &mut Clock,
) -> Result<(), RenderError> {
    let planned = match planned {
        Some(planned) => planned,
        None => plan(renderer, collector, collected)?,
    };
    clock.lap(Phase::Plan);

    let frame = &collector.frame;
    let start = (renderer.keep_frames).then(|| Snapshot::of(&renderer.states, frame));
    let input = FrameInput {
        frame,
        plan: &planned.plan,
        lists,
        handles: &collector.handles,
        timelines: &collector.timelines,
    };
    let chunks = threads.chunks(frame.passes.len());
    let recorded = renderer.frames.record(input, &Pool, chunks)?;
    let time = clock.lap(Phase::Record);
    threads.measured_encode_time(time, frame.passes.len());

    let command_buffers = recorded.command_buffers() as u32;
    present(renderer, collector, input, recorded)?;
    let Renderer { frames, states, .. } = &mut *renderer;
    tables.note_reads(frames.topology(), states);
    states.commit(frame, frames.topology(), &planned.plan);
    tables.settle(frames.topology(), states);
    clock.lap(Phase::Submit);

    let counts = planned.plan.counts();
    renderer
        .measured
        .add(clock, counts, command_buffers, planned.reused);
    renderer.culled.note(frame, &planned.plan);
    let is_new = collected == Collected::Rebuilt;
    renderer.settle_sharing(frame, &collector.handles, is_new);
    if let Some(start) = start {
        renderer.last = Some(KeptFrame {
            frame: frame.clone(),
            start,
            plan: planned.plan,
        });
    }
    Ok(())
}

/// Submits the recorded frame, with host passes in between, and presents the images of the windows that the frame draws
/// to.
fn present(
    renderer: &mut Renderer,
    collector: &Collector,
    input: FrameInput<'_>,
    recorded: Recorded,
) -> Result<(), RenderError> {
    let Renderer {
        frames,
        states,
        host,
        windows,
        gpu,
        ..
    } = renderer;
    let mut presenting: Vec<_> = windows
        .iter_mut()
        .filter(|target| {
            let image = target.image();
            image.is_some_and(|image| collector.uses(image.id()))
        })
        .collect();
    let mut swapchains: Vec<&mut Swapchain> = presenting
        .iter_mut()
        .filter_map(|target| target.swapchain())
        .collect();
    let timeout = gpu.info().timeout();
    host.run_before((frames, timeout), |id| collector.uses(id))?;
    let mut run = |pass| host.run(pass);
    let submitted = frames.submit_with_host(input, recorded, states, &mut swapchains, &mut run)?;
    host.defer(input.frame, input.plan, states);
    for (id, presented) in submitted.presented {
        let is_shown = |target: &&mut &mut WindowTarget| {
            let image = target.image();
            image.is_some_and(|image| image.id() == id)
        };
        if let Some(target) = presenting.iter_mut().find(is_shown) {
            target.presented(presented);
        }
    }
    Ok(())
}

/// Retires resources that no queue can use any more, and takes the results of readbacks.
fn finish(
    world: &mut World,
    renderer: &mut Renderer,
) -> Result<Vec<ReadbackComplete>, RenderError> {
    let points = renderer.signalled();
    world.resource_mut::<Uploads>().submitted(&points);
    let progress = renderer.progress.clone();
    renderer.host.run_reached(|point| progress.reached(point));
    let mut readbacks = world.resource_mut::<Readbacks>();
    readbacks.submitted(&points);
    let done = readbacks.take_done(|point| progress.reached(point))?;
    windows::report(world, renderer);
    world.resource_scope(|world, collector: Mut<Collector>| {
        Histories::advance(world, &|id| collector.uses(id));
        let Renderer {
            choices,
            frames,
            states,
            ..
        } = &mut *renderer;
        let submitted = Submitted {
            frame: &collector.frame,
            open: &collector.open_passes,
            handles: &collector.handles,
        };
        choices.observe(submitted, (frames.topology(), states));
    });
    renderer.frames.retire(&mut renderer.states, &progress);
    Ok(done)
}

/// Applies the handler's policy to errors of a frame, or to errors before the first frame.
pub(crate) fn handle(world: &mut World, errors: &[RenderError]) {
    if errors.iter().any(RenderError::needs_another_device)
        && let Some(renderer) = world.get_resource::<Renderer>()
    {
        for work in renderer.frames.describe_work() {
            tracing::error!("when the device failed, {work}");
        }
    }
    match ask(world, errors) {
        RenderErrorPolicy::Ignore => {
            // Without a device no frames can follow.
            if errors.iter().any(RenderError::needs_another_device) {
                world.insert_resource(Stopped);
            }
        }
        RenderErrorPolicy::Recover => {
            if let Err(errors) = recover(world) {
                ask(world, &errors);
                stop(world);
            }
        }
        RenderErrorPolicy::StopRendering => stop(world),
    }
}

/// Returns the strictest policy of the handler for these errors.
fn ask(world: &mut World, errors: &[RenderError]) -> RenderErrorPolicy {
    let handler = world
        .get_resource::<RenderErrorHandler>()
        .copied()
        .unwrap_or_default();
    let answers = errors.iter().map(|error| (handler.0)(error, world));
    answers.max().unwrap_or(RenderErrorPolicy::Ignore)
}

fn stop(world: &mut World) {
    world.insert_resource(Stopped);
    world.write_message(AppExit::error());
}

fn one(error: RenderError) -> Vec<RenderError> {
    vec![error]
}

/// Bevy's compute task pool.
struct Pool;

impl Parallel for Pool {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        if count < 2 {
            return (0..count).for_each(task);
        }
        ComputeTaskPool::get().scope(|scope| {
            for index in 0..count {
                scope.spawn(async move { task(index) });
            }
        });
    }
}
