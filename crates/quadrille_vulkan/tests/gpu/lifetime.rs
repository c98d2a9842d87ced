//! Dropping resources: in flight, in any order, and without leaks.

use std::collections::BTreeSet;

use quadrille_sync::access::Access;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::resources::{BufferDesc, ImageDesc, SamplerDesc};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Error, Format};

use crate::rig::{Rig, TIMEOUT, compute, discard, settings};

#[test]
#[ignore = "needs a Vulkan device"]
fn objects_dropped_in_flight_are_retired() {
    let mut rig = Rig::new();
    let mut highest = 0;
    for _ in 0..300 {
        let buffer = rig.storage("short-lived", 4096);
        highest = highest.max(buffer.id().0);
        rig.frame(|frame| {
            let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
            frame.pass("fill", compute(), &uses, |list| {
                list.fill_buffer(&buffer, 0, 0, 1)
            });
        });
        drop(buffer);
    }
    // Ids are reused with their resources: those of a few frames are in use at a time.
    assert!(highest < 16, "{highest} buffers were alive at once");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn things_are_dropped_in_any_order() {
    for order in 0..4 {
        let mut rig = Rig::new();
        let buffer = rig.storage("last", 256);
        let desc = ImageDesc::storage("image", [8, 8], Format::R8G8B8A8_UNORM);
        let image = rig.gpu.create_image(&desc).unwrap();
        let shader = GpuShader::wgsl("idle", "@compute @workgroup_size(1) fn main() {}").unwrap();
        let desc = ComputePipelineDesc::of("idle", &shader).entry("main");
        let pipeline = rig.gpu.compute_pipeline(&desc).unwrap();
        rig.frame(|frame| {
            let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
            frame.pass("fill", compute(), &uses, |list| {
                list.fill_buffer(&buffer, 0, 0, 1)
            });
        });
        match order {
            0 => {
                drop(rig);
                drop((buffer, image, pipeline));
            }
            1 => {
                drop((buffer, image, pipeline));
                drop(rig);
            }
            2 => {
                drop(pipeline);
                drop(rig);
                drop((image, buffer));
            }
            _ => {
                // A pipeline that is dropped before the background thread has compiled it.
                drop((rig, pipeline));
                drop((buffer, image));
            }
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn queues_have_one_owner() {
    let gpu = Gpu::new(&settings(), None).unwrap();
    let frames = gpu.frames().unwrap();
    assert!(matches!(gpu.frames(), Err(Error::FramesTaken)));
    drop(frames);
    assert!(gpu.frames().is_ok());
}

#[test]
#[ignore = "needs a Vulkan device"]
fn impossible_resources_are_errors() {
    let rig = Rig::new();
    let buffer = |bytes| {
        rig.gpu
            .create_buffer(&BufferDesc::storage("impossible", bytes))
    };
    assert!(matches!(buffer(0), Err(Error::Invalid { .. })));
    assert!(matches!(buffer(1 << 50), Err(Error::Invalid { .. })));
    let image = |width, height| {
        let desc = ImageDesc::color_target("impossible", [width, height], Format::R8G8B8A8_UNORM);
        rig.gpu.create_image(&desc)
    };
    assert!(matches!(image(0, 4), Err(Error::Invalid { .. })));
    assert!(matches!(image(1 << 30, 4), Err(Error::Invalid { .. })));
    let device = rig.storage("device", 64);
    assert!(matches!(
        device.write(0, &[0]),
        Err(Error::NotMapped { .. })
    ));
    let readback = rig.readback(64);
    assert!(matches!(
        readback.read(60, &mut [0; 8]),
        Err(Error::OutOfBounds { .. })
    ));
    assert!(matches!(
        readback.read(u64::MAX, &mut [0; 8]),
        Err(Error::OutOfBounds { .. })
    ));
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_unknown_device_is_reported_with_the_available_ones() {
    let wanted = Some("no such device".to_owned());
    let error = Gpu::new(
        &Settings {
            device: wanted,
            ..settings()
        },
        None,
    )
    .unwrap_err();
    assert!(error.to_string().contains("no such device"), "{error}");
    let mut rig = Rig::new();
    assert!(error.to_string().contains(&rig.gpu.info().name), "{error}");
    rig.frames.drain(TIMEOUT).unwrap();
}

#[test]
#[ignore = "needs a device"]
fn more_samplers_than_the_device_has_are_an_error_and_dropped_ones_make_room() {
    let mut rig = Rig::new();
    let most = rig.gpu.limits().max_sampler_allocation_count;
    let make = |gpu: &Gpu| gpu.create_sampler(&SamplerDesc::nearest());
    // Some drivers have a very large limit.
    let wanted = most.min(40_000);
    let samplers: Vec<_> = (0..wanted).map(|_| make(&rig.gpu).unwrap()).collect();
    if wanted == most {
        let error = make(&rig.gpu).unwrap_err().to_string();
        assert!(
            error.contains(&format!("at most {most} samplers")),
            "{error}"
        );
    }
    drop(samplers);
    rig.frame(|_| ());
    rig.frame(|_| ());
    make(&rig.gpu).unwrap();
}

/// The driver libraries that the process has mapped.
fn mapped_drivers() -> BTreeSet<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let is_driver = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with("libvulkan_") || name.starts_with("libGLX_nvidia")
    };
    paths.filter(is_driver).map(str::to_owned).collect()
}

/// Each load of NVIDIA's driver takes memory that unloading does not free. (lavapipe is never unloaded.)
#[test]
#[ignore = "needs a Vulkan device"]
fn drivers_stay_loaded_over_many_instances() {
    let mut loaded = BTreeSet::new();
    for _ in 0..40 {
        let gpu = Gpu::new(&settings(), None).unwrap();
        loaded = mapped_drivers();
        drop(gpu);
    }
    assert!(!loaded.is_empty(), "no driver of a known name is loaded");
    assert_eq!(mapped_drivers(), loaded);
}
