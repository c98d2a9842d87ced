//! Replacement of a lost device.

use bevy_ecs::prelude::*;
use quadrille_vulkan::{Gpu, Settings};

use crate::collect::Collector;
use crate::collect::tables::Tables;
use crate::data::readback::Readbacks;
use crate::data::upload::Uploads;
use crate::declare::declaration::Bound;
use crate::error::RenderError;
use crate::frame::{startup, windows};
use crate::gpu_device::GpuDevice;
use crate::record::recording::Recordings;
use crate::renderer::{Outliving, Renderer};

/// Number of frames within which a rebuilt device that is lost is not rebuilt again.
const SETTLED: u64 = 60;

/// Event: a lost device was replaced, and [`RenderStartup`](crate::RenderStartup) has run again.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceRebuilt {
    /// Number of replacements since the app started.
    pub times: u32,
}

/// How to make the device, and how often that had to be done.
#[derive(Resource)]
pub(crate) struct Recovery {
    settings: Settings,
    times: u32,
    /// Frames drawn since the last time.
    frames: u64,
}

impl Recovery {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            times: 0,
            frames: 0,
        }
    }

    /// Counts a frame that was drawn.
    pub(crate) fn count_frame(&mut self) {
        self.frames += 1;
    }
}

/// Creates another device and the renderer's own resources on it, then runs
/// [`RenderStartup`](crate::RenderStartup), which creates the app's. Measurements and counts go on.
pub(crate) fn recover(world: &mut World) -> Result<(), Vec<RenderError>> {
    let Some(old) = world.remove_resource::<Renderer>() else {
        return Err(not_recovered("there is no renderer".to_owned()));
    };
    let mut recovery = world.resource_mut::<Recovery>();
    if recovery.times > 0 && recovery.frames < SETTLED {
        let frames = recovery.frames;
        let problem = format!("the device fails again {frames} frames after it was recreated");
        return Err(not_recovered(problem));
    }
    recovery.times += 1;
    recovery.frames = 0;
    let (times, settings) = (recovery.times, recovery.settings.clone());

    // Surfaces go before others are made for the same windows.
    let (gpu, outliving) = old.close();
    forget(world, &gpu);
    let renderer = rebuild(&gpu, &settings, outliving)?;
    drop(gpu);
    world.insert_resource(GpuDevice::of(renderer.gpu()));
    world.insert_resource(renderer);
    let failures = startup::run(world);
    if !failures.is_empty() {
        return Err(failures);
    }
    tracing::warn!("the device was recreated");
    world.trigger(DeviceRebuilt { times });
    Ok(())
}

fn rebuild(
    gpu: &Gpu,
    settings: &Settings,
    outliving: Outliving,
) -> Result<Renderer, Vec<RenderError>> {
    let gpu = gpu
        .rebuild(settings)
        .map_err(|error| not_recovered(error.to_string()))?;
    let mut renderer = Renderer::new(gpu).map_err(|error| vec![error])?;
    renderer.resume(outliving);
    Ok(renderer)
}

/// Drops all objects of the old device.
fn forget(world: &mut World, gpu: &Gpu) {
    gpu.give_up();
    world.remove_resource::<GpuDevice>();
    world.insert_resource(Collector::default());
    world.insert_resource(Tables::default());
    world.resource_mut::<Recordings>().forget();
    world.insert_resource(Uploads::default());
    world.resource_mut::<Readbacks>().forget();
    windows::forget_images(world);
    release(world, gpu);
}

/// Lets resource entities go of the handles that they were given of the old device. Passes that
/// hold them too do so when they run next (`any`).
fn release(world: &mut World, gpu: &Gpu) {
    let mut entities = world.query::<(Entity, &Bound)>();
    let old: Vec<(Entity, String)> = entities
        .iter(world)
        .filter_map(|(entity, bound)| match bound {
            Bound::Handle(handle) if handle.is_of(gpu) => Some((entity, handle.name().to_owned())),
            _ => None,
        })
        .collect();
    for (entity, name) in old {
        world.entity_mut(entity).insert(Bound::Gone(name.into()));
    }
}

fn not_recovered(reason: String) -> Vec<RenderError> {
    vec![RenderError::NotRecovered { reason }]
}
