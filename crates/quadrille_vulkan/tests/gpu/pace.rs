//! A slow device: the CPU is never more frames ahead of it than the limit.

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::resources::BufferDesc;
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Declared, Rig, TIMEOUT, async_compute, discard, settings};

/// With [`rounds`], takes much longer on any device than the declaration of a frame.
const SLOW: &str = "
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var state = id.x + 1u;
    for (var round = 0u; round < ROUNDS; round++) { state = state * 1664525u + 1013904223u; }
    cells[id.x] = state;
}
";
/// Number of rounds that take much longer than the declaration of a frame: some 60 ms on a GPU.
fn rounds(gpu: &Gpu) -> u32 {
    // SAFETY: both belong together.
    let properties = unsafe {
        let physical = gpu.physical_device();
        gpu.instance().get_physical_device_properties(physical)
    };
    match properties.device_type {
        vk::PhysicalDeviceType::CPU => 100_000,
        _ => 10_000_000,
    }
}

const GROUPS: u32 = 32;
const CELL_BYTES: u64 = 64 * 4;
const FRAMES: u64 = 12;

/// Number of incomplete submissions, one for each frame.
fn ahead(rig: &Rig, submitted: u64) -> u64 {
    submitted - rig.frames.progress().unwrap().values.iter().sum::<u64>()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_slow_device_is_at_most_so_many_frames_behind() {
    for frames_in_flight in [1, 2, 3] {
        let mut rig = Rig::with(&Settings {
            frames_in_flight,
            ..settings()
        });
        let code = SLOW.replace("ROUNDS", &format!("{}u", rounds(&rig.gpu)));
        let shader = GpuShader::wgsl("slow", &code).unwrap();
        let slow = rig
            .gpu
            .compute_pipeline(&ComputePipelineDesc::of("slow", &shader));
        let slow = slow.unwrap();
        let cells = rig.gpu.create_buffer(&BufferDesc::storage(
            "cells",
            CELL_BYTES * u64::from(GROUPS),
        ));
        let cells = cells.unwrap();
        let mut most = 0;
        for frame in 0..FRAMES {
            rig.frames.begin(TIMEOUT).unwrap();
            most = most.max(ahead(&rig, frame));
            assert!(
                most < u64::from(frames_in_flight),
                "{most} frames are on their way"
            );
            rig.begun_frame(|frame: &mut Declared| {
                let uses = [discard(
                    frame.resource(cells.clone()),
                    Access::StorageWriteCompute,
                )];
                frame.pass("slow", async_compute(), &uses, |list| {
                    list.bind_compute(&slow);
                    list.bind_buffer(0, &cells, 0, 0);
                    list.dispatch([GROUPS, 1, 1]);
                });
            });
        }
        assert_eq!(most + 1, u64::from(frames_in_flight), "the device is slow");
    }
}
