//! Cost of a frame on the CPU: declare, plan, record, submit. Prints times, and asserts nothing about them.

use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, PassIndex, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::ResourceIndex;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::record::{FrameInput, Serial};
use quadrille_vulkan::resources::{GpuBuffer, Handle};
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Rig, TIMEOUT, compute, discard};

const ADD: &str = "
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@compute @workgroup_size(1) fn main() { c[0] = 3 * a[0] + 5 * b[0] + 1; }
";

/// One frame in which pass `p` writes a buffer from two others.
struct Load {
    frame: Frame,
    handles: Vec<Handle>,
    touched: Vec<[usize; 3]>,
}

fn load(passes: usize, buffers: &[GpuBuffer]) -> Load {
    let mut frame = Frame::default();
    let handles: Vec<Handle> = buffers.iter().cloned().map(Handle::from).collect();
    for handle in &handles {
        frame.add_resource(handle.declare());
    }
    let count = buffers.len();
    let mut touched = Vec::new();
    for pass in 0..passes {
        let [a, b, c] = [
            pass * 7 % count,
            (pass * 7 + 1) % count,
            (pass * 7 + 2) % count,
        ];
        let at = |index: usize| ResourceIndex(index as u32);
        let uses = [
            Use::whole(at(a), Access::StorageReadCompute),
            Use::whole(at(b), Access::StorageReadCompute),
            discard(at(c), Access::StorageWriteCompute),
        ];
        let after: Vec<_> = pass
            .checked_sub(1)
            .map(|before| PassIndex(before as u32))
            .into_iter()
            .collect();
        frame.add_pass("add", compute(), &uses, &after);
        touched.push([a, b, c]);
    }
    Load {
        frame,
        handles,
        touched,
    }
}

fn write(list: &mut CommandList, pipeline: &ComputePipeline, buffers: [&GpuBuffer; 3]) {
    list.clear();
    list.bind_compute(pipeline);
    for (binding, buffer) in (0..).zip(buffers) {
        list.bind_buffer(binding, buffer, 0, 0);
    }
    list.dispatch([1, 1, 1]);
}

#[test]
#[ignore = "needs a Vulkan device; prints what frames cost"]
fn frames_cost() {
    for passes in [10, 100, 1000] {
        let mut rig = Rig::new();
        let shader = GpuShader::wgsl("add", ADD).unwrap();
        let desc = ComputePipelineDesc::of("add", &shader).entry("main");
        let pipeline = rig.gpu.compute_pipeline(&desc).unwrap();
        pipeline.wait().unwrap();
        let buffers: Vec<_> = (0..(passes / 2).max(4))
            .map(|_| rig.storage("buffer", 256))
            .collect();
        for buffer in &buffers {
            rig.states
                .import(buffer.id(), quadrille_sync::flags::Layout::Undefined, None);
        }
        let Load {
            frame,
            handles,
            touched,
        } = load(passes, &buffers);
        let mut lists: Vec<_> = (0..passes).map(|_| CommandList::default()).collect();
        let mut planner = Planner::default();
        let mut times: [Vec<Duration>; 4] = Default::default();
        let frames = if cfg!(debug_assertions) { 20 } else { 200 };
        for _ in 0..frames {
            rig.frames.begin(TIMEOUT).unwrap();
            let start = Instant::now();
            for (list, &[a, b, c]) in lists.iter_mut().zip(&touched) {
                write(list, &pipeline, [&buffers[a], &buffers[b], &buffers[c]]);
            }
            let written = Instant::now();
            let topology = rig.gpu.topology();
            let plan = planner.plan(&frame, topology, &rig.states).unwrap().plan;
            let planned = Instant::now();
            let refs: Vec<_> = lists.iter().map(Some).collect();
            let input = FrameInput {
                frame: &frame,
                plan: &plan,
                lists: &refs,
                handles: &handles,
                timelines: &[],
            };
            let recorded = rig.frames.record(input, &Serial, 1).unwrap();
            let translated = Instant::now();
            rig.frames
                .submit(input, recorded, &rig.states, &mut [])
                .unwrap();
            let submitted = Instant::now();
            rig.states.commit(&frame, rig.gpu.topology(), &plan);
            rig.frames.drain(TIMEOUT).unwrap();
            let steps = [
                written - start,
                planned - written,
                translated - planned,
                submitted - translated,
            ];
            for (times, step) in times.iter_mut().zip(steps) {
                times.push(step);
            }
        }
        let median = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            times[times.len() / 2].as_nanos() as usize / passes
        };
        let [written, planned, recorded, submitted] = times.each_mut().map(median);
        println!(
            "{} ({}) {passes} passes, ns a pass: write {written}, plan {planned}, record {recorded}, \
             submit {submitted}",
            rig.gpu.info().name,
            rig.gpu.topology()
        );
    }
}
