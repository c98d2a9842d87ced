//! Replacement of a lost device.

use bevy_ecs::prelude::*;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::Settings;

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

/// A replaced device that is lost within this number of frames is not replaced again.
const SETTLED: u64 = 60;

/// Event: a lost device was replaced, and [`RenderStartup`](crate::RenderStartup) has run again.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceRebuilt {
    /// Number of replacements since the app started.
    pub times: u32,
}

/// Settings for a new device, and counts of replacements.
#[derive(Resource)]
pub(crate) struct Recovery {
    settings: Settings,
    times: u32,
    /// Frames drawn since the last replacement.
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

    /// Counts a completed frame.
    pub(crate) fn count_frame(&mut self) {
        self.frames += 1;
    }
}

/// Creates another device and the renderer's own resources on it, then runs [`RenderStartup`](crate::RenderStartup),
/// which creates the app's. Measurements and frame counts continue.
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

    // A window can have only one surface, so the old surfaces are destroyed first.
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

/// Drops the handles of the old device that resource entities hold. Passes with such handles drop them in their next
/// run (`declare/any.rs`).
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
