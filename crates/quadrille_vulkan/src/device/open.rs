//! Creation of a device from an instance: choice of physical device and queues.

use std::sync::{Arc, Mutex};

use ash::{ext, vk};
use quadrille_sync::topology::{BarrierStyle, Capabilities, Topology};

use crate::device::DeviceQueue;
use crate::device::memory::MemoryPool;
use crate::device::properties::text;
use crate::device::timeline::Timeline;
use crate::error::SetupError;
use crate::instance::device_choice::{self, Candidate};
use crate::instance::environment;
use crate::instance::features::{self, Support};
use crate::instance::queues::{self, Family};
use crate::instance::settings::Settings;
use crate::instance::source::Source;
use crate::instance::{Instance, vulkan};

/// Chooses the physical device, and returns it with its support.
pub(super) fn choose(
    instance: &Instance,
    settings: &Settings,
) -> Result<(vk::PhysicalDevice, Support), SetupError> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(vulkan("vkEnumeratePhysicalDevices"))?;
    let mut supports = Vec::with_capacity(devices.len());
    let mut candidates = Vec::with_capacity(devices.len());
    for &physical in &devices {
        let support = features::probe(&Source::physical(instance, physical)?, settings)?;
        // SAFETY: `physical` was just enumerated.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        candidates.push(Candidate {
            name: text(properties.device_name_as_c_str().unwrap_or_default()),
            kind: properties.device_type,
            missing: support.missing.clone(),
            lacking: support.granted.lacking.clone(),
        });
        supports.push(support);
    }
    let wanted = settings.device.as_deref().filter(|name| !name.is_empty());
    let chosen = device_choice::choose(&candidates, wanted)?;
    Ok((devices[chosen], supports.swap_remove(chosen)))
}

/// Plans the queues to create.
pub(super) fn plan_queues(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    support: &Support,
    settings: &Settings,
    made_by: Option<&[vk::DeviceQueueCreateInfo<'_>]>,
) -> Result<Topology, SetupError> {
    let mut families = families(instance, physical);
    if let Some(made_by) = made_by {
        for (at, family) in families.iter_mut().enumerate() {
            // Queues created with flags need `vkGetDeviceQueue2`.
            let of_family = made_by
                .iter()
                .filter(|made| made.queue_family_index as usize == at && made.flags.is_empty());
            family.count = of_family.map(|made| made.queue_count).sum();
        }
    }
    let mut topology = queues::choose(&families, &settings.queues);
    if topology.queues.is_empty() {
        let missing = vec!["a queue for graphics, compute or transfer".to_owned()];
        return Err(SetupError::Lacks {
            device: "the device".to_owned(),
            missing,
        });
    }
    // SAFETY: `physical` was enumerated from this instance.
    let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
    topology.maintenance8 = support.maintenance8;
    topology.order = settings.order;
    topology.submit = settings.submit;
    topology.barriers = settings.barriers.unwrap_or(match properties.device_type {
        vk::PhysicalDeviceType::INTEGRATED_GPU => BarrierStyle::Precise,
        _ => BarrierStyle::Merged,
    });
    Ok(topology)
}

/// Returns the queue families, with an estimate of present support: there is no window yet to query.
/// A headless surface is queried if the instance supports one; else families with graphics are assumed to present,
/// as on all known desktops. The real surface is queried at its creation.
fn families(instance: &Instance, physical: vk::PhysicalDevice) -> Vec<Family> {
    // SAFETY: `physical` was enumerated from this instance.
    let properties = unsafe {
        instance
            .raw
            .get_physical_device_queue_family_properties(physical)
    };
    let probed = probe_present(instance, physical, properties.len());
    let family = |(at, family): (usize, &vk::QueueFamilyProperties)| {
        let capabilities = Capabilities::from_bits_truncate(family.queue_flags.as_raw());
        let can_present = match &probed {
            Some(answers) => answers[at],
            None => capabilities.contains(Capabilities::GRAPHICS),
        };
        Family {
            capabilities,
            count: family.queue_count,
            can_present,
        }
    };
    properties.iter().enumerate().map(family).collect()
}

/// Returns the families that can present to a headless surface; `None` if that is not known or if none can.
fn probe_present(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    count: usize,
) -> Option<Vec<bool>> {
    let surfaces = instance.surfaces()?;
    if !instance.has(ext::headless_surface::NAME) {
        return None;
    }
    let headless = ext::headless_surface::Instance::new(&instance.entry, &instance.raw);
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    // SAFETY: the extension is enabled.
    let surface = unsafe { headless.create_headless_surface(&info, None) }.ok()?;
    let supports = |family: usize| {
        // SAFETY: the family index is below the count that was enumerated; the surface is alive.
        unsafe { surfaces.get_physical_device_surface_support(physical, family as u32, surface) }
            .unwrap_or(false)
    };
    let answers: Vec<bool> = (0..count).map(supports).collect();
    // SAFETY: created above, and no swapchain was created from it.
    unsafe { surfaces.destroy_surface(surface, None) };
    answers.contains(&true).then_some(answers)
}

/// Creates the device.
pub(super) fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    support: &Support,
    topology: &Topology,
) -> Result<ash::Device, SetupError> {
    with_queue_infos(topology, |infos| {
        support.create_device(instance, physical, infos)
    })
}

/// Calls a function with the queue create infos.
pub(super) fn with_queue_infos<R>(
    topology: &Topology,
    call: impl FnOnce(&[vk::DeviceQueueCreateInfo<'_>]) -> R,
) -> R {
    let mut counts: Vec<(u32, usize)> = Vec::new();
    for queue in &topology.queues {
        match counts
            .iter_mut()
            .find(|(family, _)| *family == queue.family.0)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((queue.family.0, 1)),
        }
    }
    let priorities = [1.0; Topology::MAX_QUEUES];
    let infos: Vec<_> = counts
        .iter()
        .map(|&(family, count)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..count])
        })
        .collect();
    call(&infos)
}

/// Gets the queues, and creates their timelines and the allocator. Also returns whether values count as reached only if
/// the host waited for them. Cleans up after an error.
pub(super) fn open(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
    topology: &Topology,
    support: &Support,
) -> Result<(Vec<DeviceQueue>, MemoryPool, bool), SetupError> {
    let only_waited = environment::counts_only_waits()?;
    let mut queues: Vec<DeviceQueue> = Vec::with_capacity(topology.queues.len());
    // SAFETY: `physical` was enumerated from this instance.
    let families = unsafe {
        instance
            .raw
            .get_physical_device_queue_family_properties(physical)
    };
    let opened = topology.queues.iter().try_for_each(|queue| {
        let family = &families[queue.family.0 as usize];
        let vk::Extent3D {
            width,
            height,
            depth,
        } = family.min_image_transfer_granularity;
        // SAFETY: the device was created with this many queues of this family.
        let raw = unsafe { device.get_device_queue(queue.family.0, queue.index) };
        let timeline = Timeline::new(device).map_err(vulkan("vkCreateSemaphore"))?;
        queues.push(DeviceQueue {
            granularity: [width, height, depth],
            timestamp_bits: family.timestamp_valid_bits,
            raw: Mutex::new(raw),
            timeline: Arc::new(timeline),
        });
        Ok(())
    });
    let allocator = |()| MemoryPool::new(&instance.raw, device, physical, support.device_fault);
    match opened.and_then(allocator) {
        Ok(memory) => Ok((queues, memory, only_waited)),
        Err(error) => {
            for queue in queues {
                queue.timeline.destroy(device);
            }
            Err(error)
        }
    }
}
