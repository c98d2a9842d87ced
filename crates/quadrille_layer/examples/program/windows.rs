//! Acquisition and presentation on a surface without a window.

use ash::{ext, khr, vk};

use crate::Outcome;
use crate::gpu::{COLOR, Gpu, LONG_NS};
use crate::inject::word;

const FRAMES: u64 = 8;

/// Presents a few frames. Family 0 draws; the last family that can present presents.
pub(crate) fn present() -> Outcome {
    let gpu = Gpu::with(
        &[khr::surface::NAME, ext::headless_surface::NAME],
        &[khr::swapchain::NAME],
    )?;
    let surfaces = khr::surface::Instance::new(&gpu.entry, &gpu.instance);
    let headless = ext::headless_surface::Instance::new(&gpu.entry, &gpu.instance);
    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
    // SAFETY: a valid structure.
    let surface = unsafe { headless.create_headless_surface(&info, None) }?;
    let mut present_family = None;
    for family in 0..u32::try_from(gpu.families.len())? {
        // SAFETY: valid handles.
        let able =
            unsafe { surfaces.get_physical_device_surface_support(gpu.physical, family, surface) }?;
        println!("support {family} {able}");
        if able {
            present_family = Some(family);
        }
    }
    // SAFETY: valid handles.
    let capabilities =
        unsafe { surfaces.get_physical_device_surface_capabilities(gpu.physical, surface) }?;
    println!(
        "extent {}x{}",
        capabilities.current_extent.width, capabilities.current_extent.height
    );
    // SAFETY: valid handles.
    let formats = unsafe { surfaces.get_physical_device_surface_formats(gpu.physical, surface) }?;
    let swapchains = khr::swapchain::Device::new(&gpu.instance, &gpu.device);
    let families = [0, present_family.ok_or("no family may present")?];
    let mut info = vk::SwapchainCreateInfoKHR::default()
        .surface(surface)
        .min_image_count(capabilities.min_image_count.max(3))
        .image_format(formats[0].format)
        .image_color_space(formats[0].color_space)
        .image_extent(vk::Extent2D {
            width: 16,
            height: 16,
        })
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
        .pre_transform(capabilities.current_transform)
        .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
        .present_mode(vk::PresentModeKHR::FIFO)
        .clipped(true);
    if families[0] != families[1] {
        info = info
            .image_sharing_mode(vk::SharingMode::CONCURRENT)
            .queue_family_indices(&families);
    }
    // SAFETY: a valid structure.
    let swapchain = unsafe { swapchains.create_swapchain(&info, None) }?;
    // SAFETY: a valid handle.
    let images = unsafe { swapchains.get_swapchain_images(swapchain) }?;
    let present_queue = gpu.queues[families[1] as usize][0];
    frames(&gpu, &swapchains, swapchain, &images, present_queue)?;
    // SAFETY: no other thread uses the queues.
    println!("idle {}", word(unsafe { gpu.device.device_wait_idle() }));
    // SAFETY: the device is idle.
    unsafe { swapchains.destroy_swapchain(swapchain, None) };
    // SAFETY: its swapchain was destroyed.
    unsafe { surfaces.destroy_surface(surface, None) };
    Ok(())
}

fn frames(
    gpu: &Gpu,
    swapchains: &khr::swapchain::Device,
    swapchain: vk::SwapchainKHR,
    images: &[vk::Image],
    present_queue: vk::Queue,
) -> Outcome {
    let timeline = gpu.timeline()?;
    let mut order = Vec::new();
    for frame in 1..=FRAMES {
        let (acquired, drawn) = (gpu.binary()?, gpu.binary()?);
        let none = vk::Fence::null();
        // SAFETY: valid handles.
        let next = unsafe { swapchains.acquire_next_image(swapchain, LONG_NS, acquired, none) };
        let (index, suboptimal) = match next {
            Ok(next) => next,
            Err(error) => {
                println!("acquire {frame} {error:?}");
                continue;
            }
        };
        if suboptimal {
            println!("acquire {frame} SUBOPTIMAL_KHR");
        }
        order.push(index);
        let commands = gpu.record(0, |commands| {
            to_present(gpu, commands, images[index as usize])
        })?;
        let signals = [(drawn, 0), (timeline, frame)];
        gpu.submit(
            gpu.queues[0][0],
            &[(acquired, 0)],
            &[commands],
            &signals,
            none,
        )?;
        let (waits, chains, indices) = ([drawn], [swapchain], [index]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&chains)
            .image_indices(&indices);
        // SAFETY: a valid structure.
        match unsafe { swapchains.queue_present(present_queue, &info) } {
            Ok(false) => {}
            Ok(true) => println!("present {frame} SUBOPTIMAL_KHR"),
            Err(error) => println!("present {frame} {error:?}"),
        }
    }
    println!("order {order:?}");
    Ok(())
}

fn to_present(gpu: &Gpu, commands: vk::CommandBuffer, image: vk::Image) {
    let images = [vk::ImageMemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .dst_stage_mask(vk::PipelineStageFlags2::NONE)
        .old_layout(vk::ImageLayout::UNDEFINED)
        .new_layout(vk::ImageLayout::PRESENT_SRC_KHR)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(COLOR)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&images);
    // SAFETY: recording.
    unsafe { gpu.device.cmd_pipeline_barrier2(commands, &info) };
}
