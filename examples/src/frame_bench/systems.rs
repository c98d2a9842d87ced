//! The frame through the full front end: each pass a bevy system.

use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use quadrille::ecs::{AccessKind, AnyAccess, RecordOn, Renderer, declared};
use quadrille::prelude::*;
use quadrille_bench::{Contents, FrameTimes, PassWork, Workload};

use super::engine::{Resources, settings};
use super::watched::Watched;
use super::{Contestant, Counts, Mode, Outcome};

/// The pipelines of all passes, and how long each pretends to work.
#[derive(Resource)]
struct Shared {
    buffer_pipeline: ComputePipeline,
    image_pipeline: ComputePipeline,
    work: Duration,
}

/// Where a pass stands, for those that come after it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place(usize);

/// Words that were read back so far.
#[derive(Resource, Default)]
struct ReadBack {
    words: Vec<Option<u32>>,
}

/// The frame as an app.
pub struct Systems {
    watched: Watched,
    mode: Mode,
    workload: Workload,
    resources: Resources,
}

impl Systems {
    /// An app with a system for each pass, which pretends to record for `work`.
    ///
    /// # Errors
    /// There is no device, or it has no memory.
    pub fn new(mode: Mode, workload: &Workload, work: Duration) -> Outcome<Self> {
        let record_on = match mode {
            Mode::Threads => RecordOn::AllThreads,
            _ => RecordOn::OneThread,
        };
        let mut watched = Watched::new(settings(mode), record_on);
        let app = &mut watched.app;
        let Some(gpu) = app.world().get_resource::<GpuDevice>().cloned() else {
            return Err("there is no device; the log says why".into());
        };
        let resources = Resources::new(&gpu, workload)?;
        app.insert_resource(Shared {
            buffer_pipeline: resources.buffer_pipeline.clone(),
            image_pipeline: resources.image_pipeline.clone(),
            work,
        });
        app.init_resource::<ReadBack>();
        add_passes(app, workload, &resources);
        watched.begin();
        let mut systems = Self {
            watched,
            mode,
            workload: workload.clone(),
            resources,
        };
        systems.fill();
        Ok(systems)
    }

    /// The device's name.
    pub fn device(&self) -> String {
        let renderer = self.watched.app.world().get_resource::<Renderer>();
        renderer.map_or_else(String::new, |renderer| renderer.gpu().info().name.clone())
    }

    /// The start values are uploaded before the first frame's passes.
    fn fill(&mut self) {
        let start = self.workload.start();
        let mut uploads = self.watched.app.world_mut().resource_mut::<Uploads>();
        for (buffer, value) in self.resources.buffers.iter().zip(&start.buffers) {
            uploads.write_buffer(buffer, 0, &value.to_ne_bytes());
        }
        let texels = (Workload::IMAGE_SIDE * Workload::IMAGE_SIDE) as usize;
        for (image, &value) in self.resources.images.iter().zip(&start.images) {
            uploads.write_image(image, bytemuck::cast_slice(&vec![value; texels]));
        }
    }
}

fn add_passes(app: &mut App, workload: &Workload, resources: &Resources) {
    let all_before = workload.predecessors();
    for (at, (pass, before)) in workload.passes.iter().zip(&all_before).enumerate() {
        let shared = || ParamBuilder::resource::<Shared>();
        let recorder = || ParamBuilder::of::<Recorder>();
        let configs = match *pass {
            PassWork::Buffer {
                writes,
                reads: [a, b],
            } => (
                recorder(),
                declared(AccessKind::StorageRead, &resources.buffers[a]),
                declared(AccessKind::StorageRead, &resources.buffers[b]),
                declared(AccessKind::StorageWrite, &resources.buffers[writes]),
                shared(),
            )
                .build_system(buffer_pass)
                .in_set(Place(at)),
            PassWork::Image {
                buffer,
                writes,
                reads,
            } => (
                recorder(),
                declared(AccessKind::StorageRead, &resources.buffers[buffer]),
                declared(AccessKind::Sampled, &resources.images[reads]),
                declared(AccessKind::StorageWrite, &resources.images[writes]),
                shared(),
            )
                .build_system(image_pass)
                .in_set(Place(at)),
        };
        let configs = before
            .iter()
            .fold(configs, |configs, &earlier| configs.after(Place(earlier)));
        app.add_systems(Render, configs);
    }
}

fn buffer_pass(
    mut recorder: Recorder,
    a: AnyAccess,
    b: AnyAccess,
    to: AnyAccess,
    shared: Res<Shared>,
) {
    pretend(shared.work);
    let mut compute = recorder.compute(&shared.buffer_pipeline);
    compute
        .bind(0, &a)
        .bind(1, &b)
        .bind(2, &to)
        .dispatch([1; 3]);
}

fn image_pass(
    mut recorder: Recorder,
    a: AnyAccess,
    from: AnyAccess,
    to: AnyAccess,
    shared: Res<Shared>,
) {
    pretend(shared.work);
    let mut compute = recorder.compute(&shared.image_pipeline);
    compute
        .bind(0, &a)
        .bind(1, &from)
        .bind(2, &to)
        .dispatch([1; 3]);
}

/// Works for a while, as a pass with many draws would.
fn pretend(work: Duration) {
    if work > Duration::ZERO {
        let start = Instant::now();
        while start.elapsed() < work {
            std::hint::spin_loop();
        }
    }
}

impl Contestant for Systems {
    fn name(&self) -> &'static str {
        self.mode.contestant()
    }

    fn frame(&mut self) -> Outcome<FrameTimes> {
        self.watched.frame()
    }

    fn contents(&mut self) -> Outcome<Option<Contents>> {
        // The passes run no more; what reads back is all that is left of the frame.
        let world = self.watched.app.world_mut();
        for pass in world
            .query_filtered::<Entity, With<quadrille::ecs::Pass>>()
            .iter(world)
            .collect::<Vec<_>>()
        {
            world
                .entity_mut(pass)
                .insert(bevy_ecs::entity_disabling::Disabled);
        }
        let Resources {
            buffers, images, ..
        } = &self.resources;
        let readbacks = buffers.iter().map(Readback::buffer);
        let readbacks = readbacks.chain(images.iter().map(Readback::image));
        let count = buffers.len() + images.len();
        world.resource_mut::<ReadBack>().words = vec![None; count];
        for (at, readback) in readbacks.enumerate() {
            world.spawn(readback).observe(
                move |done: On<ReadbackComplete>, mut all: ResMut<ReadBack>| {
                    let word = done
                        .bytes
                        .first_chunk()
                        .map(|word| u32::from_ne_bytes(*word));
                    all.words[at] = word;
                },
            );
        }
        for _ in 0..8 {
            self.watched.app.update();
        }
        let all = &self.watched.app.world().resource::<ReadBack>().words;
        let words: Option<Vec<u32>> = all.iter().copied().collect();
        let mut words = words.ok_or("not everything was read back")?;
        let images = words.split_off(self.workload.buffers);
        Ok(Some(Contents {
            buffers: words,
            images,
        }))
    }

    fn counts(&self) -> Option<Counts> {
        self.watched.counts()
    }
}
