//! A headless app that draws a scene and reads the picture back: what tests of 2D and of 3D share.
//!
//! The module around it says what is drawn with, and what else an app needs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bevy_app::{App, PluginGroupBuilder, Plugins, Startup};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_log::LogPlugin;
use quadrille::ecs::{RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::*;
use quadrille::vulkan::Format;

use super::{DrawingPlugin, FOLDER, SETTLING};

/// Errors of frames.
#[derive(Resource, Default)]
struct Errors(Vec<String>);

/// Red, green, blue and alpha, 8 bits each, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) pixels: Vec<[u8; 4]>,
}

impl Picture {
    pub(crate) fn at(&self, x: u32, y: u32) -> [u8; 4] {
        self.pixels[(y * self.width + x) as usize]
    }
}

/// A headless app that draws.
pub(crate) struct Rig {
    pub(crate) app: App,
}

impl Rig {
    /// An app whose window has this size.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self::with(width, height, DrawingPlugin::default())
    }

    /// The same with plugins that are set up.
    pub(crate) fn with<M>(width: u32, height: u32, plugins: impl Plugins<M>) -> Self {
        let mut rig = Self::built(width, height, |app, renderer| {
            app.add_plugins(renderer).add_plugins(plugins);
        });
        super::prepare(&mut rig.app, width, height);
        rig
    }

    /// The same with plugins in an order of one's own, among them the renderer that is passed.
    pub(crate) fn built(
        width: u32,
        height: u32,
        add: impl FnOnce(&mut App, PluginGroupBuilder),
    ) -> Self {
        super::log::share();
        let renderer = QuadrillePlugins::headless(width, height).disable::<LogPlugin>();
        let mut app = App::new();
        // Errors are collected, not logged; the log can be set up once per process only.
        add(&mut app, renderer);
        app.init_resource::<Errors>()
            .insert_resource(RenderErrorHandler(|error, world| {
                world.resource_mut::<Errors>().0.push(error.to_string());
                RenderErrorPolicy::Ignore
            }));
        assert!(
            app.world().contains_resource::<GpuDevice>(),
            "this test needs a device"
        );
        Self { app }
    }

    /// An app with a scene.
    pub(crate) fn scene<M>(
        width: u32,
        height: u32,
        setup: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
    ) -> Self {
        let mut rig = Self::new(width, height);
        rig.app.add_systems(Startup, setup);
        rig.start();
        rig
    }

    /// Ends the building of the app.
    pub(crate) fn start(&mut self) {
        self.app.finish();
        self.app.cleanup();
    }

    /// Runs frames.
    pub(crate) fn update(&mut self, frames: u32) {
        for _ in 0..frames {
            self.app.update();
        }
        let errors = &self.app.world().resource::<Errors>().0;
        assert!(errors.is_empty(), "{errors:#?}");
    }

    /// Reads back the window's image.
    pub(crate) fn picture(&mut self) -> Picture {
        self.update(SETTLING);
        self.read(Readback::primary_window())
    }

    /// The contents of an image of 4 bytes per texel.
    pub(crate) fn read(&mut self, readback: Readback) -> Picture {
        to_picture(&self.read_back(readback))
    }

    /// The bytes of a resource.
    pub(crate) fn read_back(&mut self, readback: Readback) -> ReadbackComplete {
        let done: Arc<Mutex<Option<ReadbackComplete>>> = Arc::default();
        let slot = Arc::clone(&done);
        self.app
            .world_mut()
            .spawn(readback)
            .observe(move |event: On<ReadbackComplete>| {
                *slot.lock().expect("no panic") = Some(event.event().clone());
            });
        for _ in 0..100 {
            self.update(1);
            if let Some(done) = done.lock().expect("no panic").take() {
                return done;
            }
        }
        panic!("the picture does not come");
    }
}

fn to_picture(done: &ReadbackComplete) -> Picture {
    let ([width, height], format) = done.image.expect("an image was read back");
    let swapped = format == Format::B8G8R8A8_SRGB || format == Format::B8G8R8A8_UNORM;
    let pixel = |texel: &[u8]| match (swapped, texel) {
        (true, &[b, g, r, a]) | (false, &[r, g, b, a]) => [r, g, b, a],
        _ => panic!("{format:?} has not 4 bytes per texel"),
    };
    Picture {
        width,
        height,
        pixels: done.bytes.chunks(4).map(pixel).collect(),
    }
}

/// A file of the test's own: programs run side by side on several topologies.
pub(crate) fn temporary(name: &str) -> PathBuf {
    let queues = std::env::var("QUADRILLE_LAYER_FAMILIES").unwrap_or_default();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{FOLDER} {queues}"));
    std::fs::create_dir_all(&folder).expect("folders can be made");
    folder.join(name)
}

pub(crate) fn write_png(path: &Path, picture: &Picture) {
    let file = std::fs::File::create(path).expect("the picture can be written");
    let mut encoder = png::Encoder::new(file, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("a header");
    writer
        .write_image_data(picture.pixels.as_flattened())
        .expect("the picture is written");
}
