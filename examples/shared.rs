//! Two windows of two processes, one image: the first process draws to it, and both show it.
//!
//! The first process makes the image and starts the second, whose standard input is a socket: the image's memory and a
//! timeline of both go through it. In frame `n` the first process waits for 2 n, draws, and signals 2 n + 1; the second
//! waits for that, shows the image, and signals 2 n + 2. When one of them ends or is killed, so does the other.

use std::f32::consts::TAU;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_log::info;
use clap::Parser;
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille::ecs::{Exchanges, ExternalOwner};
use quadrille::prelude::*;
use quadrille::sync::flags::Layout;
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{MemoryHandle, PeerSide, PeerTimeline, SharedMemory};

/// Draws to an image that a second process shows as well.
#[derive(Parser, Resource, Clone)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,

    /// Write the second process's last picture
    #[arg(long, value_name = "FILE.png")]
    second_screenshot: Option<PathBuf>,

    /// Run as the second process; the socket is its standard input
    #[arg(long, hide = true)]
    second: bool,
}

const SIZE: [u32; 2] = [960, 540];
/// How long one process waits for the other to answer at the start.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time that the second process takes to end after its socket is closed.
const END_TIMEOUT: Duration = Duration::from_secs(20);
/// Frame after which the log says that both processes run.
const LOGGED_FRAME: u64 = 10;

#[derive(Resource, Deref)]
struct Picture(GpuImage);

#[derive(Resource)]
struct Pipelines {
    turning: GraphicsPipeline,
    show: GraphicsPipeline,
    sampler: Sampler,
}

/// The other process.
#[derive(Resource)]
struct Peer {
    turns: PeerTimeline,
    frame: u64,
    /// The angle of the triangle, by frames.
    angle: f32,
    _second: Option<Second>,
}

/// Second process, which ends when its socket is closed, and is killed if it does not.
struct Second(Child);

impl Drop for Second {
    fn drop(&mut self) {
        let start = Instant::now();
        while start.elapsed() < END_TIMEOUT {
            match self.0.try_wait() {
                Ok(Some(_)) => return,
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => {
                    bevy_log::error!("the second process is lost: {error}");
                    return;
                }
            }
        }
        bevy_log::error!("the second process is killed: it does not end in {END_TIMEOUT:?}");
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            bevy_log::error!("the second process is lost: {error}");
        }
    }
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let title = if args.second { "Second" } else { "First" };
    let mut app = App::new();
    let mut run = Run::new(&args.common);
    if args.second {
        run = run.until_finished();
    }
    app.insert_resource(run)
        .insert_resource(args.clone())
        .add_plugins((args.common.plugins(title, SIZE), args.common.clone()))
        .add_systems(Update, count.run_if(resource_exists::<Peer>))
        .add_systems(Render, exchange.in_set(RenderSystems::Declare));
    if args.second {
        app.add_systems(RenderStartup, setup_second)
            .add_systems(Render, show);
    } else {
        app.add_systems(RenderStartup, setup_first)
            .add_systems(Render, (draw, show.after(draw)));
    }
    app.run()
}

/// Description of the image, the same on both sides.
fn picture() -> ImageDesc {
    ImageDesc::color_target("picture", SIZE, Format::R8G8B8A8_UNORM)
}

fn setup_first(mut commands: Commands, gpu: Res<GpuDevice>, args: Res<Args>) -> Result {
    // An error here ends the program before there is a second one.
    let picture = gpu.create_exportable_image(&picture(), MemoryHandle::OpaqueFd)?;
    let memory = picture.export()?;
    let (own, others) = UnixStream::pair()?;
    let program = std::env::args_os().next().unwrap_or_default();
    let mut second = match std::env::var_os("QUADRILLE_VALIDATED") {
        // The script that runs programs under the validation layer.
        Some(script) => {
            let mut command = Command::new(script);
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    second.arg("--second").stdin(OwnedFd::from(others));
    if args.common.is_headless() {
        second.arg("--headless");
    }
    if let Some(path) = &args.second_screenshot {
        second.arg("--screenshot").arg(path);
    }
    let second = Second(second.spawn()?);
    own.set_read_timeout(Some(TIMEOUT))?;

    memory.send(&own)?;
    let turns = gpu.peer_timeline("turns", own, PeerSide::First)?;
    add(commands.reborrow(), &gpu, Some(second), (picture, turns))
}

fn setup_second(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_read_timeout(Some(TIMEOUT))?;
    let picture = gpu.import_image(&picture(), SharedMemory::receive(&socket)?)?;
    let turns = gpu.peer_timeline("turns", socket, PeerSide::Second)?;
    add(commands.reborrow(), &gpu, None, (picture, turns))
}

/// On errors the socket in `turns` is closed before `second` is waited for: parameters drop from the last to the first.
fn add(
    mut commands: Commands,
    gpu: &GpuDevice,
    second: Option<Second>,
    (picture, turns): (GpuImage, PeerTimeline),
) -> Result {
    let pipeline = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?;
        Ok(gpu.graphics_pipeline(&GraphicsPipelineDesc::of(name, &shader))?)
    };
    let turning = include_str!("../shaders/shared/turning.wgsl");
    let show = include_str!("../shaders/shared/show.wgsl");
    commands.insert_resource(Pipelines {
        turning: pipeline("turning.wgsl", turning)?,
        show: pipeline("show.wgsl", show)?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    commands.insert_resource(Picture(picture));
    commands.insert_resource(Peer {
        turns,
        frame: 0,
        angle: 0.0,
        _second: second,
    });
    Ok(())
}

/// Counts frames that were submitted: one that failed has signalled nothing, and its values are used again.
fn count(
    mut peer: ResMut<Peer>,
    mut run: ResMut<Run>,
    renderer: Res<Renderer>,
    mut before: Local<u64>,
) {
    let submitted = renderer.submitted_frames();
    peer.frame += submitted - *before;
    if peer.frame >= LOGGED_FRAME && peer.frame - (submitted - *before) < LOGGED_FRAME {
        info!("{LOGGED_FRAME} frames are shared");
    }
    *before = submitted;
    if !run.is_over() {
        peer.angle += TAU / 240.0;
    }
    if peer.turns.is_peer_gone() {
        run.finish();
    }
}

/// This process's turn: it acquires the image, and releases it after its passes.
fn exchange(
    args: Res<Args>,
    picture: Res<Picture>,
    peer: Res<Peer>,
    mut exchanges: ResMut<Exchanges>,
) {
    let (owner, layout) = (ExternalOwner::External, Layout::General);
    let turn = 2 * peer.frame + u64::from(args.second);
    // Nobody has released the new image yet.
    if turn > 0 {
        let acquired = exchanges.acquire(picture.0.clone(), owner, layout);
        acquired.at(peer.turns.semaphore(), turn);
    }
    let released = exchanges.release(picture.0.clone(), owner, layout);
    released.at(peer.turns.semaphore(), turn + 1);
}

fn draw(
    mut recorder: Recorder,
    picture: ColorTarget<Picture>,
    pipelines: Res<Pipelines>,
    peer: Res<Peer>,
) {
    let mut rendering = recorder.render(picture.clear([0.01, 0.012, 0.02, 1.0]));
    let turning = rendering.pipeline(&pipelines.turning);
    turning.push(&peer.angle).draw(0..3, 0..1);
}

fn show(
    mut recorder: Recorder,
    picture: Sampled<Picture>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pipelines.show)
        .bind(0, &picture)
        .sampler(1, &pipelines.sampler)
        .draw(0..3, 0..1);
}
