//! Random frames of the oracle, executed on the device: plans respect the enabled features, in addition to the rules of
//! synchronization. Passes record nothing, so the validation layer checks barriers, waits and transfers.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ash::vk;
use quadrille_oracle::generate::{self, Shape};
use quadrille_oracle::{Random, Sequence};
use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::PassKind;
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::{Lifetime, Resource, ResourceId, ResourceKind};
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, Handle, ImageDesc, ImageUsage, Sharing,
};

use crate::rig::{Rig, TIMEOUT};

/// Duration of the test; at least [`LEAST`] sequences are executed.
const TIME: Duration = Duration::from_secs(5);
const LEAST: usize = 25;

/// Accesses that need an extension or feature that is not enabled.
const OPTIONAL: &[Access] = &[
    Access::UniformReadTaskMesh,
    Access::UniformReadRayTracing,
    Access::ConditionalRenderingRead,
    Access::TransformFeedbackWrite,
    Access::TransformFeedbackCounterReadWrite,
    Access::AccelerationStructureBuildInput,
    Access::AccelerationStructureBuildRead,
    Access::AccelerationStructureBuildWrite,
    Access::AccelerationStructureBuildScratch,
    Access::AccelerationStructureCopyRead,
    Access::AccelerationStructureTraceReadRayTracing,
    Access::AccelerationStructureTraceReadCompute,
    Access::ShaderBindingTableRead,
    Access::StorageWriteRayTracing,
];

const BOTH: Aspects = Aspects::DEPTH.union(Aspects::STENCIL);

/// Whether the backend can execute a sequence, and the sequence has depth and stencil of one image.
fn suits(sequence: &Sequence) -> bool {
    let of_backend = |resource: &Resource| resource.lifetime != Lifetime::Swapchain;
    let is_both = |resource: &Resource| matches!(resource.kind, ResourceKind::Image { aspects, .. } if aspects == BOTH);
    let is_enabled = |frame: &quadrille_sync::frame::Frame| {
        frame.gives.is_empty()
            && frame.timelines.is_empty()
            && frame.resources.iter().all(of_backend)
            && (frame.passes.iter()).all(|pass| pass.kind == PassKind::Device)
            && (frame.uses.iter()).all(|of| !OPTIONAL.contains(&of.access))
    };
    sequence.imports.is_empty()
        && sequence.frames.iter().all(is_enabled)
        && (sequence.frames.iter()).any(|frame| frame.resources.iter().any(is_both))
}

/// The device's resource for a generated one. Its contents survive the frame in either case.
fn make(rig: &Rig, resource: &Resource) -> Handle {
    let sharing = match resource.sharing {
        quadrille_sync::resource::Sharing::Exclusive => Sharing::Exclusive,
        quadrille_sync::resource::Sharing::Concurrent => Sharing::Concurrent,
    };
    let name = resource.name.to_string();
    match resource.kind {
        ResourceKind::Buffer { bytes } => {
            let usage = BufferUsage::all();
            let desc = BufferDesc {
                sharing,
                ..BufferDesc::new(name, bytes, usage)
            };
            rig.gpu.create_buffer(&desc).unwrap().into()
        }
        ResourceKind::Image {
            aspects,
            mip_levels,
            array_layers,
            slices,
        } => {
            let (format, usage) = match aspects {
                Aspects::COLOR => (vk::Format::R8G8B8A8_UNORM, ImageUsage::all() & !DEPTH),
                Aspects::DEPTH => (vk::Format::D32_SFLOAT, DEPTH | READ),
                _ => (vk::Format::D32_SFLOAT_S8_UINT, DEPTH | READ),
            };
            let desc = ImageDesc {
                sharing,
                extent: [8, 8, slices],
                mip_levels,
                array_layers,
                ..ImageDesc::new(name, [8, 8], format, usage)
            };
            rig.gpu.create_image(&desc).unwrap().into()
        }
    }
}

const DEPTH: ImageUsage = ImageUsage::DEPTH_STENCIL_ATTACHMENT;
const READ: ImageUsage = ImageUsage::SAMPLED
    .union(ImageUsage::TRANSFER_SRC)
    .union(ImageUsage::TRANSFER_DST)
    .union(ImageUsage::INPUT_ATTACHMENT);

/// Executes a sequence with new resources.
fn carry_out(rig: &mut Rig, sequence: &Sequence) {
    let mut made: HashMap<ResourceId, Handle> = HashMap::new();
    let mut planner = Planner::default();
    for frame in &sequence.frames {
        let mut frame = frame.clone();
        let mut handles = Vec::new();
        for resource in &mut frame.resources {
            let handle = made
                .entry(resource.id)
                .or_insert_with(|| make(rig, resource));
            *resource = handle.declare();
            handles.push(handle.clone());
        }
        let lists: Vec<_> = (frame.passes.iter())
            .map(|_| CommandList::default())
            .collect();
        rig.frames.begin(TIMEOUT).unwrap();
        rig.planned_frame(&mut planner, &frame, (&lists, &handles), &mut []);
    }
    drop(made);
    rig.finish();
}

#[test]
#[ignore = "needs a Vulkan device"]
fn random_plans_obey_the_features_of_the_device() {
    let mut rig = Rig::new();
    let shape = Shape {
        passes: 5,
        resources: 4,
        ..Shape::default()
    };
    let begin = Instant::now();
    let mut count = 0;
    for seed in 0..100_000 {
        let topology = rig.frames.topology().clone();
        let sequence = generate::sequence_on(&mut Random::new(seed), &shape, topology);
        if !suits(&sequence) {
            continue;
        }
        let before = quadrille_vulkan::instance::validation_messages();
        carry_out(&mut rig, &sequence);
        let messages = quadrille_vulkan::instance::validation_messages() - before;
        assert_eq!(messages, 0, "the validation layer objects to seed {seed}");
        count += 1;
        if count >= LEAST && begin.elapsed() > TIME {
            break;
        }
    }
    assert!(count >= LEAST, "only {count} sequences suit the device");
}
