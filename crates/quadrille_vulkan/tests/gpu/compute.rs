//! Compute passes, readback, several queues, parallel recording.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{QueueRequest, Use};
use quadrille_sync::solve::plan;
use quadrille_sync::topology::{Capabilities, QueueIndex, SubmitPolicy};
use quadrille_vulkan::instance::Settings;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, BufferUsage};
use quadrille_vulkan::shader::{GpuShader, ShaderModule};

use crate::rig::{Rig, async_compute, compute, discard, settings, transfer};

const FILL: &str = "
var<immediate> value: u32;
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { cells[id.x] = id.x * value; }
";

const ADD: &str = "
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { next[id.x] = now[id.x] + 1; }
";

fn pipeline(rig: &Rig, name: &str, source: &str) -> ComputePipeline {
    let shader = GpuShader::wgsl(name, source).unwrap_or_else(|error| panic!("{error}"));
    let desc = ComputePipelineDesc::of(name, &shader).entry("main");
    rig.gpu.compute_pipeline(&desc).unwrap()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn compute_fills_and_the_cpu_reads() {
    let mut rig = Rig::new();
    let fill = pipeline(&rig, "fill", FILL);
    let (cells, back) = (rig.storage("cells", 1024), rig.readback(1024));
    rig.frame(|frame| {
        let at = frame.resource(cells.clone());
        let uses = [discard(at, Access::StorageWriteCompute)];
        frame.pass("fill", compute(), &uses, |list| {
            list.bind_compute(&fill);
            list.bind_buffer(0, &cells, 0, 0);
            list.push_constants(&3u32.to_le_bytes());
            list.dispatch([4, 1, 1]);
        });
        frame.read_back(&cells, &back);
    });
    let expected: Vec<u32> = (0..256).map(|at| at * 3).collect();
    assert_eq!(rig.words(&back), expected);
}

const CONSTANTS: &str = "
import of_tests::numbers::{base, STEP};
override SIZE: u32;
override FIRST: i32 = 5;
var<workgroup> parts: array<u32, SIZE>;
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(SIZE)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    parts[at] = base(id.x);
    workgroupBarrier();
    cells[id.x] = parts[SIZE - 1 - at] * STEP + u32(FIRST);
}
";

/// Pipelines of one shader with its own constants and those of what it imports.
#[test]
#[ignore = "needs a Vulkan device"]
fn constants_are_set_for_each_pipeline() {
    let mut rig = Rig::new();
    let numbers = "override STEP: u32 = 1u; fn base(at: u32) -> u32 { return at + 1u; }";
    let module = ShaderModule::new("of_tests::numbers", numbers);
    module.publish().unwrap();
    let shader = GpuShader::wgsl("constants", CONSTANTS).unwrap_or_else(|error| panic!("{error}"));
    let plain = ComputePipelineDesc::of("plain", &shader).constant("SIZE", 64_u32);
    let other = ComputePipelineDesc::of("other", &shader)
        .constant("SIZE", 16_u32)
        .constant("FIRST", -7)
        .constant("numbers::STEP", 100_u32);
    for (desc, size, step, first) in [(plain, 64, 1, 5), (other, 16, 100, -7)] {
        let pipeline = rig.gpu.compute_pipeline(&desc).unwrap();
        assert_eq!(pipeline.workgroup_size(), [size, 1, 1]);
        let (cells, back) = (rig.storage("cells", 1024), rig.readback(1024));
        rig.frame(|frame| {
            let at = frame.resource(cells.clone());
            let uses = [discard(at, Access::StorageWriteCompute)];
            frame.pass("fill", compute(), &uses, |list| {
                list.bind_compute(&pipeline);
                list.bind_buffer(0, &cells, 0, 0);
                list.dispatch([256 / size, 1, 1]);
            });
            frame.read_back(&cells, &back);
        });
        // Each workgroup is reversed.
        let number = |at: u32| (at / size * size + size - 1 - at % size + 1) * step;
        let expected: Vec<u32> = (0..256)
            .map(|at| number(at).wrapping_add_signed(first))
            .collect();
        assert_eq!(rig.words(&back), expected);
    }
    let too_large = ComputePipelineDesc::of("large", &shader).constant("SIZE", 4096_u32);
    let error = rig.gpu.compute_pipeline(&too_large).unwrap_err().line();
    assert!(error.contains("its workgroup of [4096, 1, 1]"), "{error}");
}

/// Two buffers alternate; one pass reads what another one wrote on another queue, if there is one.
#[test]
#[ignore = "needs a Vulkan device"]
fn buffers_take_turns_between_queues() {
    let mut rig = Rig::new();
    let add = pipeline(&rig, "add", ADD);
    let buffers = [rig.storage("even", 1024), rig.storage("odd", 1024)];
    let back = rig.readback(1024);
    rig.frame(|frame| {
        let uses = [discard(frame.resource(buffers[0].clone()), Access::Clear)];
        frame.pass("clear", transfer(), &uses, |list| {
            list.fill_buffer(&buffers[0], 0, 0, 7)
        });
    });
    for step in 0..10 {
        let (now, next) = (&buffers[step % 2], &buffers[(step + 1) % 2]);
        rig.frame(|frame| {
            let uses = [
                Use::whole(frame.resource(now.clone()), Access::StorageReadCompute),
                discard(frame.resource(next.clone()), Access::StorageWriteCompute),
            ];
            let queue = if step % 2 == 0 {
                async_compute()
            } else {
                compute()
            };
            frame.pass("add", queue, &uses, |list| {
                list.bind_compute(&add);
                list.bind_buffer(0, now, 0, 0);
                list.bind_buffer(1, next, 0, 0);
                list.dispatch([4, 1, 1]);
            });
            if step == 9 {
                frame.read_back(next, &back);
            }
        });
    }
    assert_eq!(rig.words(&back), [17; 256]);
}

/// A chain of passes alternates between queues, so that each queue waits for later submissions of the other. Submitting
/// in order takes a call for each; coalesced, one for each queue.
#[test]
#[ignore = "needs a Vulkan device"]
fn coalesced_calls_wait_before_signals() {
    const STEPS: usize = 6;
    for submit in [SubmitPolicy::InOrder, SubmitPolicy::Coalesced] {
        let mut rig = Rig::with(&Settings {
            submit,
            ..settings()
        });
        let add = pipeline(&rig, "add", ADD);
        let buffers = [rig.storage("even", 1024), rig.storage("odd", 1024)];
        let back = rig.readback(1024);
        rig.frame(|frame| {
            let uses = [discard(frame.resource(buffers[0].clone()), Access::Clear)];
            frame.pass("clear", transfer(), &uses, |list| {
                list.fill_buffer(&buffers[0], 0, 0, 7)
            });
        });
        let (topology, states) = (rig.frames.topology().clone(), rig.states.clone());
        let second = topology.queues.get(1);
        let computes = second.is_some_and(|it| it.capabilities.contains(Capabilities::COMPUTE));
        let queues = 1 + usize::from(computes);
        for round in 0..3 {
            rig.frame(|frame| {
                for step in 0..STEPS {
                    let (now, next) = (&buffers[step % 2], &buffers[(step + 1) % 2]);
                    let uses = [
                        Use::whole(frame.resource(now.clone()), Access::StorageReadCompute),
                        discard(frame.resource(next.clone()), Access::StorageWriteCompute),
                    ];
                    let queue = QueueRequest {
                        fixed: Some(QueueIndex((step % queues) as u8)),
                        ..compute()
                    };
                    frame.pass(&format!("add {step}"), queue, &uses, |list| {
                        list.bind_compute(&add);
                        list.bind_buffer(0, now, 0, 0);
                        list.bind_buffer(1, next, 0, 0);
                        list.dispatch([4, 1, 1]);
                    });
                }
                if round == 0 {
                    let plan = plan(&frame.frame, &topology, &states).unwrap();
                    let calls = plan.submit_calls(&topology).len();
                    let used = plan.submissions.iter().map(|it| it.queue);
                    let used: std::collections::BTreeSet<_> = used.collect();
                    match submit {
                        SubmitPolicy::Coalesced => assert_eq!(calls, used.len(), "{topology}"),
                        SubmitPolicy::InOrder if queues == 2 => assert!(calls >= STEPS),
                        SubmitPolicy::InOrder => assert_eq!(calls, used.len()),
                    }
                }
            });
        }
        rig.frame(|frame| frame.read_back(&buffers[0], &back));
        assert_eq!(rig.words(&back), [7 + 3 * STEPS as u32; 256], "{submit:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn many_passes_are_recorded_by_several_threads() {
    let mut rig = Rig::new();
    rig.chunks = 4;
    let add = pipeline(&rig, "add", ADD);
    let buffers = [rig.storage("even", 256), rig.storage("odd", 256)];
    let back = rig.readback(256);
    for _ in 0..3 {
        rig.frame(|frame| {
            let uses = [discard(frame.resource(buffers[0].clone()), Access::Clear)];
            frame.pass("clear", compute(), &uses, |list| {
                list.fill_buffer(&buffers[0], 0, 0, 0)
            });
            for step in 0..100 {
                let (now, next) = (&buffers[step % 2], &buffers[(step + 1) % 2]);
                let uses = [
                    Use::whole(frame.resource(now.clone()), Access::StorageReadCompute),
                    discard(frame.resource(next.clone()), Access::StorageWriteCompute),
                ];
                frame.pass("add", compute(), &uses, |list| {
                    list.bind_compute(&add);
                    list.bind_buffer(0, now, 0, 0);
                    list.bind_buffer(1, next, 0, 0);
                    list.dispatch([1, 1, 1]);
                });
            }
            frame.read_back(&buffers[0], &back);
        });
    }
    assert_eq!(rig.words(&back), [100; 64]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn uploads_updates_and_indirect_dispatches() {
    let mut rig = Rig::new();
    let add = pipeline(&rig, "add", ADD);
    let upload = rig
        .gpu
        .create_buffer(&BufferDesc::upload("upload", 1024))
        .unwrap();
    let words: Vec<u8> = (0..256u32).flat_map(u32::to_le_bytes).collect();
    upload.write(0, &words).unwrap();
    let arguments = BufferDesc::new("arguments", 12, BufferUsage::INDIRECT)
        .with_usage(BufferUsage::TRANSFER_DST);
    let arguments = rig.gpu.create_buffer(&arguments).unwrap();
    let (now, next) = (rig.storage("now", 1024), rig.storage("next", 1024));
    let back = rig.readback(1024);
    // Written by the host before the frame: no pass of a frame has written it.
    rig.states.import(upload.id(), Layout::Undefined, None);
    rig.frame(|frame| {
        let uses = [
            Use::whole(frame.resource(upload.clone()), Access::CopyRead),
            discard(frame.resource(now.clone()), Access::CopyWrite),
        ];
        frame.pass("upload", transfer(), &uses, |list| {
            list.copy_buffer(&upload, 0, &now, 0, 1024);
        });
        let uses = [discard(frame.resource(arguments.clone()), Access::Clear)];
        frame.pass("arguments", compute(), &uses, |list| {
            let groups: Vec<u8> = [4u32, 1, 1]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            list.update_buffer(&arguments, 0, &groups);
        });
        let uses = [
            Use::whole(frame.resource(now.clone()), Access::StorageReadCompute),
            discard(frame.resource(next.clone()), Access::StorageWriteCompute),
            Use::whole(frame.resource(arguments.clone()), Access::IndirectRead),
        ];
        frame.pass("add", compute(), &uses, |list| {
            list.bind_compute(&add);
            list.bind_buffer(0, &now, 0, 0);
            list.bind_buffer(1, &next, 0, 0);
            list.dispatch_indirect(&arguments, 0);
        });
        frame.read_back(&next, &back);
    });
    assert_eq!(rig.words(&back), (1..257).collect::<Vec<u32>>());
}
