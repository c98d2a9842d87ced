//! A compute library outside of Quadrille takes turns with the passes of a frame, by a timeline semaphore.
//!
//! The library is a thread here, which signals from the host; one on another queue of the device would signal from
//! there. In frame `n`, `ask` signals 3 n + 1 when its data is written; the library works, and signals 3 n + 2; `show`
//! waits for that, draws, and signals 3 n + 3. The frame is planned, recorded and submitted before the library has begun.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use bevy_app::{App, AppExit, Update};
use bevy_ecs::prelude::*;
use clap::Parser;
use examples::{CommonArgs, args};
use quadrille::prelude::*;
use quadrille::vulkan::resources::TimelineSemaphore;

/// Draws a triangle when a library outside has done its part of the frame.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Resource)]
struct Triangle(GraphicsPipeline);

/// The semaphore that both sides signal, and whose turn is next.
#[derive(Resource)]
struct Library {
    turns: TimelineSemaphore,
    frame: u64,
    _worker: Worker,
}

/// The library's thread, which ends when this is dropped, with the app or with a lost device. Dropping waits for it: the
/// process must not end while a thread is in a call of the driver.
struct Worker {
    alive: Option<Arc<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has printed its message.
            drop(thread.join());
        }
    }
}

fn main() -> AppExit {
    let args: Args = args::parse();
    App::new()
        .add_plugins((args.common.plugins("Turns", [960, 540]), args.common))
        .add_systems(RenderStartup, setup)
        .add_systems(Update, count.run_if(resource_exists::<Library>))
        .add_systems(Render, (ask, show.after(ask)))
        .run()
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../shaders/triangle/triangle.wgsl");
    let shader = GpuShader::wgsl("triangle.wgsl", source)?;
    let desc = GraphicsPipelineDesc::of("triangle", &shader);
    commands.insert_resource(Triangle(gpu.graphics_pipeline(&desc)?));

    let (turns, alive) = (gpu.timeline_semaphore("library", 0)?, Arc::new(()));
    let thread = std::thread::spawn({
        let (turns, app) = (turns.clone(), Arc::downgrade(&alive));
        move || work(&turns, &app)
    });
    commands.insert_resource(Library {
        turns,
        frame: 0,
        _worker: Worker {
            alive: Some(alive),
            thread: Some(thread),
        },
    });
    Ok(())
}

/// The library. It ends when it has nobody to work for: the app has ended, or its device is lost.
fn work(turns: &TimelineSemaphore, app: &Weak<()>) {
    let mut frame = 0;
    while app.strong_count() > 0 {
        match turns.wait(3 * frame + 1, Duration::from_millis(100)) {
            // Here it would read what `ask` wrote, and write what `show` reads.
            Ok(true) if turns.signal(3 * frame + 2).is_ok() => frame += 1,
            Ok(false) => {}
            _ => return,
        }
    }
}

/// Counts frames that were submitted: one that failed has signalled nothing, and its values are used again.
fn count(mut library: ResMut<Library>, renderer: Res<Renderer>, mut before: Local<u64>) {
    let submitted = renderer.submitted_frames();
    library.frame += submitted - *before;
    *before = submitted;
}

/// Prepares the library's data: nothing, here.
fn ask(mut recorder: Recorder, library: Res<Library>) {
    recorder.signal(&library.turns, 3 * library.frame + 1);
}

fn show(
    mut recorder: Recorder,
    window: ColorTarget<PrimaryWindowImage>,
    pass: Res<Triangle>,
    library: Res<Library>,
) {
    recorder.wait_for(&library.turns, 3 * library.frame + 2);
    recorder.signal(&library.turns, 3 * library.frame + 3);
    let mut rendering = recorder.render(window.clear([0.01, 0.012, 0.02, 1.0]));
    rendering.pipeline(&pass.0).draw(0..3, 0..1);
}
