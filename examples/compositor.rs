//! A camera draws to images that a compositor on the same device hands out, as OpenXR's runtimes do.
//!
//! [`Compositor`] stands for such a library: a thread that calls Vulkan itself. Each frame gets its next image, acquires
//! it in the layout that the two have agreed on, and releases it to the compositor, which reads what was drawn.
//! A second camera shows the same in the window.

use std::time::Duration;

use bevy_app::{App, AppExit, PreUpdate, Startup, Update};
use bevy_camera::ManualTextureViewHandle;
use bevy_ecs::prelude::*;
use bevy_log::error;
use bevy_math::Vec2;
use clap::Parser;
use examples::run::Run;
use examples::{CommonArgs, args};
use quadrille::ecs::{Exchanges, ExternalOwner};
use quadrille::prelude::*;
use quadrille::sync::flags::Layout;
use quadrille::vulkan::Error;
use quadrille_2d::prelude::*;
use quadrille_bench::Compositor;

/// Draws for a compositor, and to a window.
#[derive(Parser)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

const SIZE: [u32; 2] = [960, 540];
const VIEW: ManualTextureViewHandle = ManualTextureViewHandle(0);
/// Frames that a square takes to come round.
const PERIOD: u64 = 120;

/// Maximum wait for an image; a compositor that has ended says so in [`count`].
const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Resource)]
struct Headset {
    compositor: Compositor,
    /// The turn of this frame.
    frame: u64,
    /// Images that were composed, and how many of them had something in the middle.
    composed: [u64; 2],
}

#[derive(Component)]
struct Turning;

fn main() -> AppExit {
    let args: Args = args::parse();
    App::new()
        .add_plugins((args.common.plugins("Compositor", SIZE), args.common))
        .add_plugins(Quadrille2dPlugin::default())
        .add_systems(RenderStartup, start)
        .add_systems(Startup, spawn)
        .add_systems(PreUpdate, next_image.run_if(resource_exists::<Headset>))
        .add_systems(Update, (turn, count).run_if(resource_exists::<Headset>))
        .add_systems(
            Render,
            exchange
                .in_set(RenderSystems::Declare)
                .run_if(resource_exists::<Headset>),
        )
        .run()
}

fn start(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut views: ResMut<ManualTextureViews>,
) -> Result {
    let compositor = Compositor::start(&gpu, SIZE)?;
    views.insert(VIEW, compositor.frame(0).image.clone());
    commands.insert_resource(Headset {
        compositor,
        frame: 0,
        composed: [0; 2],
    });
    Ok(())
}

fn spawn(mut commands: Commands) {
    commands.spawn((Camera2d, RenderTarget::TextureView(VIEW)));
    commands.spawn(Camera2d);
    commands.spawn((
        Sprite::from_color(Color::srgb(0.2, 0.6, 1.0), Vec2::splat(160.0)),
        Turning,
    ));
    commands.spawn((
        Sprite::from_color(Color::srgb(1.0, 0.5, 0.1), Vec2::splat(40.0)),
        Transform::from_xyz(0.0, 180.0, 0.0),
    ));
}

/// The camera draws to the next image: a frame that failed was none, and has its turn again.
fn next_image(
    mut headset: ResMut<Headset>,
    mut views: ResMut<ManualTextureViews>,
    renderer: Res<Renderer>,
    mut before: Local<u64>,
) -> Result {
    let submitted = renderer.submitted_frames();
    headset.frame += submitted - *before;
    *before = submitted;
    let compositor = &headset.compositor;
    let frame = compositor.frame(headset.frame);
    // As `xrWaitSwapchainImage` does. The compositor may submit to this frame's queue, and its copy would be behind a frame
    // that waits for it.
    match compositor.read().wait(frame.ready, TIMEOUT) {
        // The renderer creates another device, and `start` another compositor.
        Err(Error::DeviceLost { .. }) => return Ok(()),
        waited => waited?,
    };
    views.insert(VIEW, frame.image.clone());
    Ok(())
}

fn turn(run: Res<Run>, mut turning: Query<&mut Transform, With<Turning>>) {
    if run.is_over() {
        return;
    }
    for mut transform in &mut turning {
        transform.rotate_z(std::f32::consts::TAU / PERIOD as f32);
    }
}

/// Counts what the compositor has read.
fn count(mut headset: ResMut<Headset>, mut run: ResMut<Run>, mut exits: MessageWriter<AppExit>) {
    let texels = headset.compositor.composed().unwrap_or_else(|problem| {
        if !problem.is_device_lost() {
            error!("the compositor has ended: {problem}");
            exits.write(AppExit::error());
        }
        Vec::new()
    });
    for [_, _, blue, _] in texels {
        headset.composed[0] += 1;
        headset.composed[1] += u64::from(blue > 200);
    }
    let composed = headset.composed.to_vec();
    run.report.insert("composed".into(), composed.into());
}

/// The image is this frame's once the compositor has read it, and the compositor's once it is drawn to.
fn exchange(headset: Res<Headset>, mut exchanges: ResMut<Exchanges>) {
    let (compositor, owner) = (&headset.compositor, ExternalOwner::Program);
    let frame = compositor.frame(headset.frame);
    let layout = Layout::ColorAttachmentOptimal;
    // A new image has no contents.
    if frame.ready > 0 {
        let acquired = exchanges.acquire(frame.image.clone(), owner, layout);
        acquired.at(compositor.read(), frame.ready);
    }
    let released = exchanges.release(frame.image.clone(), owner, layout);
    released.at(compositor.drawn(), frame.drawn);
}
