//! bevy without a window: cameras draw to an image, at most two frames are in flight, as on Quadrille.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bevy::app::ScheduleRunnerPlugin;
use bevy::audio::AudioPlugin;
use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::render::render_resource::{CachedPipelineState, PipelineCache, PollType, TextureFormat};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice, RenderQueue};
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy::shader::ShaderCacheError;
use bevy::ui::IsDefaultUiCamera;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;

use crate::player::FollowCamera;
use crate::quality::Quality;
use crate::settings::Settings;

/// Timeout of a frame on the device.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Frames since the last one that waited for a pipeline: bevy compiles them in the background, and leaves out what has
/// none yet.
static SETTLED: AtomicU32 = AtomicU32::new(0);

/// Error of a pipeline; what needs it is not drawn.
static FAILED: Mutex<Option<String>> = Mutex::new(None);

/// Returns whether all pipelines that were compiled are right.
///
/// # Errors
/// A pipeline cannot be created: frames without what it draws would be too short.
pub fn check_pipelines() -> Result<()> {
    let failed = FAILED
        .lock()
        .map_err(|_| "the render thread has panicked")?;
    match &*failed {
        Some(error) => Err(error.clone().into()),
        None => Ok(()),
    }
}

/// Frames in which no pipeline was awaited.
pub fn settled_frames() -> u32 {
    SETTLED.load(Ordering::Relaxed)
}

/// Image that is drawn.
#[derive(Resource)]
pub struct Canvas(pub Handle<Image>);

/// Returns bevy's plugins, drawing to an image of this size.
pub fn plugins(size: [u32; 2]) -> impl PluginGroup {
    DefaultPlugins
        .build()
        .disable::<WinitPlugin>()
        .disable::<AudioPlugin>()
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..WindowPlugin::default()
        })
        .add(ScheduleRunnerPlugin::default())
        .add(CanvasPlugin { size })
}

struct CanvasPlugin {
    size: [u32; 2],
}

impl Plugin for CanvasPlugin {
    fn build(&self, app: &mut App) {
        let [width, height] = self.size;
        let image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
        let canvas = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        app.insert_resource(Canvas(canvas))
            .add_systems(Startup, follow_device)
            .add_systems(PostStartup, redirect);
    }

    fn finish(&self, app: &mut App) {
        if let Some(render) = app.get_sub_app_mut(RenderApp) {
            render.add_systems(
                Render,
                (limit_flight, settle).in_set(RenderSystems::Cleanup),
            );
        }
    }
}

/// Applies the settings that the game has on such a device.
fn follow_device(
    info: Res<RenderAdapterInfo>,
    quality: Res<Quality>,
    mut settings: ResMut<Settings>,
) {
    let is_software = info.device_type == wgpu_types::DeviceType::Cpu;
    *settings = Settings::of_quality(*quality, is_software);
}

fn redirect(
    mut commands: Commands,
    canvas: Res<Canvas>,
    camera: Single<(Entity, &mut RenderTarget), With<FollowCamera>>,
) {
    let (camera, mut target) = camera.into_inner();
    *target = RenderTarget::Image(canvas.0.clone().into());
    // bevy looks for the camera of nodes among those of windows.
    commands.entity(camera).insert(IsDefaultUiCamera);
}

/// Waits for the frame before the last. The driver sleeps meanwhile; polling would count as CPU time.
fn limit_flight(
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    mut before: Local<Option<PollType>>,
) -> Result {
    let now = PollType::Wait {
        submission_index: Some(queue.submit([])),
        timeout: Some(TIMEOUT),
    };
    if let Some(before) = before.replace(now) {
        device.poll(before)?;
    }
    Ok(())
}

/// Counts frames in which no pipeline is awaited, and notes errors of others.
fn settle(pipelines: Res<PipelineCache>) {
    for pipeline in pipelines.pipelines() {
        if let CachedPipelineState::Err(error) = &pipeline.state
            && !matches!(
                error,
                ShaderCacheError::ShaderNotLoaded(_)
                    | ShaderCacheError::ShaderImportNotYetAvailable
            )
            && let Ok(mut failed) = FAILED.lock()
        {
            failed.get_or_insert_with(|| format!("a pipeline of bevy: {error}"));
        }
    }
    if pipelines.waiting_pipelines().next().is_none() {
        SETTLED.fetch_add(1, Ordering::Relaxed);
    } else {
        SETTLED.store(0, Ordering::Relaxed);
    }
}
