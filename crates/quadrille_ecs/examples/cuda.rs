//! A CUDA program in another process works on a buffer of this one, frame by frame: `cuda.py` beside this file, which
//! needs Python and libcuda alone.
//!
//! `cargo run -p quadrille_ecs --example cuda -- [FRAMES]`. In frame `n` each number is checked, set to its index + n,
//! and released; CUDA waits for 2 n + 1, makes it 3 x + 1, and signals 2 n + 2. The device counts what is wrong.

#![expect(clippy::print_stdout, reason = "its result is for the terminal")]

extern crate quadrille_ecs as quadrille;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::flags::Layout;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, MemoryHandle, PeerSide, PeerTimeline};
use quadrille_vulkan::shader::GpuShader;

/// Numbers in the buffer: 16 workgroups of 64 by 1024.
const COUNT: u32 = 1 << 20;

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    @group(0) @binding(1) var<storage, read_write> wrong: array<atomic<u32>, 4>;
    var<immediate> frame: u32;

    @compute @workgroup_size(64)
    fn step(@builtin(global_invocation_id) id: vec3u) {
        if frame > 0 && numbers[id.x] != 3 * (id.x + frame - 1) + 1 {
            atomicAdd(&wrong[0], 1u);
        }
        atomicAdd(&wrong[1], 1u);
        numbers[id.x] = id.x + frame;
    }";

#[derive(Resource, Deref)]
struct Shared(GpuBuffer);

/// The number of wrong numbers, and of those that were checked modulo 2^32.
#[derive(Resource, Deref)]
struct Wrong(GpuBuffer);

#[derive(Resource)]
struct Step(ComputePipeline);

#[derive(Resource)]
struct Cuda {
    turns: PeerTimeline,
    frame: u64,
    process: Process,
}

/// The CUDA program. One that waits for a value that never comes does not end by itself.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The counts, once they are read back.
#[derive(Resource, Default)]
struct Counts(Option<Vec<u32>>);

fn main() -> ExitCode {
    let frames = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let frames: u64 = frames.unwrap_or(1000);
    let mut app = App::new();
    app.add_plugins(QuadrillePlugins::headless(64, 64))
        .init_resource::<Counts>()
        .add_systems(RenderStartup, setup)
        .add_systems(
            Render,
            (exchange.in_set(RenderSystems::Declare), step).run_if(resource_exists::<Cuda>),
        );
    app.finish();
    app.cleanup();
    let mut start = Instant::now();
    for frame in 0..=frames {
        if frame == 1 {
            start = Instant::now();
        }
        if let Some(mut cuda) = app.world_mut().get_resource_mut::<Cuda>() {
            cuda.frame = frame;
        }
        app.update();
        let cuda = app.world().get_resource::<Cuda>();
        if cuda.is_none_or(|cuda| cuda.turns.is_peer_gone() && frame < frames) {
            println!("frame {frame}: the CUDA program has ended");
            return ExitCode::FAILURE;
        }
        if app.world().resource::<Renderer>().submitted_frames() != frame + 1 {
            println!("frame {frame} failed");
            return ExitCode::FAILURE;
        }
    }
    let wrong = app.world().resource::<Wrong>().0.clone();
    let ended = app.world_mut().remove_resource::<Cuda>();
    let status = ended.map(|cuda| {
        let Cuda {
            turns, mut process, ..
        } = cuda;
        // CUDA ends when the socket is closed.
        drop(turns);
        process.0.wait()
    });
    app.world_mut().spawn(Readback::buffer(&wrong)).observe(
        |done: On<ReadbackComplete>, mut counts: ResMut<Counts>| {
            counts.0 = Some(done.values());
        },
    );
    let took = start.elapsed();
    for _ in 0..10 {
        app.update();
    }
    println!("CUDA: {status:?}; {frames} frames took {took:?}");
    match &app.world().resource::<Counts>().0 {
        Some(counts) => {
            let steps = (frames as u32 + 1).wrapping_mul(COUNT);
            println!("wrong numbers: {}, of {}", counts[0], counts[1]);
            ExitCode::from(u8::from(counts[0] != 0 || counts[1] != steps))
        }
        None => ExitCode::FAILURE,
    }
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let (own, others) = UnixStream::pair()?;
    // Python imports the semaphore before it starts CUDA.
    own.set_read_timeout(Some(Duration::from_secs(60)))?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/cuda.py");
    let script = std::env::var("QUADRILLE_CUDA").unwrap_or_else(|_| script.to_owned());
    let frames = std::env::args().nth(1).unwrap_or_else(|| "1000".to_owned());
    let mut python = Command::new("python3");
    python.args([script, frames]).stdin(OwnedFd::from(others));
    let process = Process(python.spawn()?);
    let desc = BufferDesc::storage("shared", u64::from(COUNT) * 4);
    let shared = gpu.create_exportable_buffer(&desc, MemoryHandle::OpaqueFd)?;
    shared.export()?.send(&own)?;
    // The first frame checks nothing, but its shader may read.
    uploads.write_buffer(&shared, 0, &vec![0; COUNT as usize * 4]);
    let turns = gpu.peer_timeline("turns", own, PeerSide::First)?;
    let wrong = gpu.create_buffer(&BufferDesc::storage("wrong", 16))?;
    uploads.write_buffer(&wrong, 0, &[0; 16]);
    let shader = GpuShader::wgsl("step", SHADER)?;
    commands.insert_resource(Step(
        gpu.compute_pipeline(&ComputePipelineDesc::of("step", &shader))?,
    ));
    commands.insert_resource(Shared(shared));
    commands.insert_resource(Wrong(wrong));
    commands.insert_resource(Cuda {
        turns,
        frame: 0,
        process,
    });
    Ok(())
}

fn exchange(cuda: Res<Cuda>, shared: Res<Shared>, mut exchanges: ResMut<Exchanges>) {
    let (owner, layout) = (ExternalOwner::External, Layout::Undefined);
    let turn = 2 * cuda.frame;
    if turn > 0 {
        let acquired = exchanges.acquire(shared.0.clone(), owner, layout);
        acquired.at(cuda.turns.semaphore(), turn);
    }
    let released = exchanges.release(shared.0.clone(), owner, layout);
    released.at(cuda.turns.semaphore(), turn + 1);
}

fn step(
    mut recorder: Recorder,
    shared: StorageReadWrite<Shared>,
    wrong: StorageReadWrite<Wrong>,
    step: Res<Step>,
    cuda: Res<Cuda>,
) {
    recorder
        .compute(&step.0)
        .bind(0, &shared)
        .bind(1, &wrong)
        .push(&(cuda.frame as u32))
        .dispatch([COUNT / 64, 1, 1]);
}
