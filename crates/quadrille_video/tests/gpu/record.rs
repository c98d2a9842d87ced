//! Recording of windows and images.

use std::time::Duration;

use bevy_app::App;
use bevy_asset::{Assets, Handle};
use bevy_camera::visibility::RenderLayers;
use bevy_camera::{Camera, Camera2d, RenderTarget};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_log::LogPlugin;
use bevy_time::TimeUpdateStrategy;
use quadrille::prelude::{QuadrillePlugins, Readback};
use quadrille_2d::Quadrille2dPlugin;
use quadrille_content::images::DeviceImages;
use quadrille_video::{VideoRecorder, VideoRecorderPlugin, VideoStream};
use wgpu_types::{TextureFormat, TextureUsages};

fn app() -> App {
    let mut app = App::new();
    let plugins = QuadrillePlugins::headless(160, 96).disable::<LogPlugin>();
    let step = TimeUpdateStrategy::ManualDuration(Duration::from_millis(40));
    app.add_plugins((plugins, Quadrille2dPlugin::default(), VideoRecorderPlugin))
        .insert_resource(step);
    app.finish();
    app.cleanup();
    app.world_mut().spawn(Camera2d);
    app
}

fn file(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("quadrille-{}-{name}", std::process::id()))
}

/// Draws frames until all pictures have arrived, and returns the video.
fn finish(app: &mut App, recorder: Entity) -> VideoStream {
    let mut state = app.world_mut().get_mut::<VideoRecorder>(recorder).unwrap();
    state.stop();
    for _ in 0..20 {
        app.update();
        if app
            .world()
            .get::<VideoRecorder>(recorder)
            .unwrap()
            .is_complete()
        {
            break;
        }
    }
    let mut state = app.world_mut().get_mut::<VideoRecorder>(recorder).unwrap();
    let recorded = state.finish().unwrap();
    let path = state.file().to_owned();
    let stream = VideoStream::parse(std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(recorded.pictures, stream.samples().len() as u64);
    assert!((recorded.duration.as_secs_f64() - stream.duration()).abs() < 1e-3);
    stream
}

#[test]
#[ignore = "needs a device"]
fn each_frame_of_a_window_is_a_picture_of_the_video() {
    let mut app = app();
    let source = Readback::primary_window();
    let recorder = VideoRecorder::new(file("window.mp4"), source).with_frame_rate(25.0);
    let recorder = app.world_mut().spawn(recorder).id();
    for _ in 0..30 {
        app.update();
    }
    let stream = finish(&mut app, recorder);
    assert_eq!(stream.samples().len(), 30);
    assert!(
        (stream.duration() - 1.2).abs() < 1e-3,
        "{}",
        stream.duration()
    );
    assert!(
        app.world().get::<VideoRecorder>(recorder).is_some(),
        "it can be asked again"
    );
}

#[test]
#[ignore = "needs a device"]
fn images_are_recorded_at_the_times_of_their_frames() {
    let mut app = app();
    let world = app.world_mut();
    let mut target = Image::new_target_texture(64, 48, TextureFormat::Rgba8UnormSrgb, None);
    target.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let target: Handle<Image> = world.resource_mut::<Assets<Image>>().add(target);
    let camera = (
        Camera2d,
        Camera::default(),
        RenderTarget::from(target.clone()),
        RenderLayers::layer(1),
    );
    world.spawn(camera);
    for _ in 0..3 {
        app.update();
    }
    let image = app.world().resource::<DeviceImages>().image(&target);
    let source = Readback::image(image.expect("it is drawn"));
    let recorder = VideoRecorder::new(file("image.mp4"), source);
    let recorder = app.world_mut().spawn(recorder).id();
    for _ in 0..5 {
        app.update();
    }
    let stream = finish(&mut app, recorder);
    // The encoder of a busy machine may leave pictures out.
    let times: Vec<_> = stream.samples().iter().map(|it| it.time).collect();
    assert!(
        times.len() >= 2 && times.iter().all(|time| time % 3600 == 0),
        "{times:?}"
    );
}
