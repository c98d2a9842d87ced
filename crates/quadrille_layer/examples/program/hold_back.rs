//! Waits and signals in all orders, and deadlocks.

use ash::vk;

use crate::Outcome;
use crate::gpu::{Gpu, LONG_NS, Point};

const NONE: vk::Fence = vk::Fence::null();

/// Queues wait for each other in a chain, submitted from the last link to the first.
fn submit_backwards(gpu: &Gpu) -> Result<vk::Semaphore, vk::Result> {
    let timeline = gpu.timeline()?;
    let queues: Vec<_> = gpu.queues.iter().flatten().collect();
    for (value, queue) in (1..).zip(&queues).collect::<Vec<_>>().into_iter().rev() {
        let waits = [(timeline, value - 1)];
        gpu.submit(**queue, &waits, &[], &[(timeline, value)], NONE)?;
    }
    Ok(timeline)
}

pub(crate) fn wait_first() -> Outcome {
    let gpu = Gpu::new()?;
    let last = gpu.queues.iter().flatten().count() as u64;
    let timeline = submit_backwards(&gpu)?;
    gpu.wait((timeline, last), LONG_NS)?;
    println!("value {}", gpu.value(timeline)? == last);
    gpu.idle()?;
    Ok(())
}

pub(crate) fn wait_first_idle() -> Outcome {
    let gpu = Gpu::new()?;
    let last = gpu.queues.iter().flatten().count() as u64;
    let timeline = submit_backwards(&gpu)?;
    gpu.idle()?;
    println!("value {}", gpu.value(timeline)? == last);
    Ok(())
}

/// Nothing executes before a host signal; after it a fence, a poll and a wait for the queue all end.
pub(crate) fn host_signal() -> Outcome {
    let gpu = Gpu::new()?;
    let (gate, done) = (gpu.timeline()?, gpu.timeline()?);
    let fence = gpu.fence()?;
    let queue = gpu.queues[0][0];
    gpu.submit(queue, &[(gate, 1)], &[], &[(done, 1)], fence)?;
    println!("early {:?}", gpu.wait((done, 1), 10_000_000).err());
    // SAFETY: a valid fence.
    println!("fence {}", unsafe { gpu.device.get_fence_status(fence) }?);
    let info = vk::SemaphoreSignalInfo::default().semaphore(gate).value(1);
    // SAFETY: a timeline below this value.
    unsafe { gpu.device.signal_semaphore(&info) }?;
    // SAFETY: a valid fence, in use.
    while !unsafe { gpu.device.get_fence_status(fence) }? {
        std::thread::yield_now();
    }
    // SAFETY: no other thread uses the queue.
    unsafe { gpu.device.queue_wait_idle(queue) }?;
    println!("value {}", gpu.value(done)?);
    Ok(())
}

/// Two queues pass a binary semaphore back and forth.
pub(crate) fn binary() -> Outcome {
    let gpu = Gpu::new()?;
    let (ball, done) = (gpu.binary()?, gpu.timeline()?);
    let (first, second) = (gpu.queues[0][0], gpu.queues[1][0]);
    for round in 0..8_u64 {
        // The wait of the previous round must have executed before the semaphore is reused.
        gpu.submit(first, &[(done, round)], &[], &[(ball, 0)], NONE)?;
        gpu.submit(second, &[(ball, 0)], &[], &[(done, round + 1)], NONE)?;
    }
    gpu.wait((done, 8), LONG_NS)?;
    println!("value {}", gpu.value(done)?);
    gpu.idle()?;
    Ok(())
}

/// Every queue appends its number to a list twice, without any order between queues.
pub(crate) fn order() -> Outcome {
    let gpu = Gpu::new()?;
    let queues: Vec<_> = (0..)
        .zip(&gpu.queues)
        .map(|(family, queues)| (family, queues[0]))
        .collect();
    let families: Vec<u32> = queues.iter().map(|(family, _)| *family).collect();
    let slots = 2 * queues.len() as u64;
    // Each entry is inserted at the front after shifting the list by one word, so the list shows the order of
    // execution.
    let (list, memory) = gpu.buffer(4 * slots, &families)?;
    let (copy, _) = gpu.buffer(4 * slots, &families)?;
    for _ in 0..2 {
        for (family, queue) in &queues {
            let commands = gpu.record(*family, |commands| {
                push(&gpu, commands, list, copy, slots, *family)
            })?;
            gpu.submit(*queue, &[], &[commands], &[], NONE)?;
        }
    }
    gpu.idle()?;
    let mut order = gpu.read(memory, 2 * queues.len())?;
    order.reverse();
    println!("order {order:?}");
    Ok(())
}

fn push(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    list: vk::Buffer,
    copy: vk::Buffer,
    slots: u64,
    entry: u32,
) {
    let size = 4 * (slots - 1);
    let barrier = || {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let access = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        let memory = [vk::MemoryBarrier2::default()
            .src_stage_mask(all)
            .src_access_mask(access)
            .dst_stage_mask(all)
            .dst_access_mask(access)];
        let info = vk::DependencyInfo::default().memory_barriers(&memory);
        // SAFETY: recording.
        unsafe { gpu.device.cmd_pipeline_barrier2(commands, &info) };
    };
    barrier();
    let out = vk::BufferCopy::default().size(size);
    // SAFETY: recording; the buffers have `slots` words.
    unsafe { gpu.device.cmd_copy_buffer(commands, list, copy, &[out]) };
    barrier();
    let back = vk::BufferCopy::default().dst_offset(4).size(size);
    // SAFETY: as above.
    unsafe { gpu.device.cmd_copy_buffer(commands, copy, list, &[back]) };
    // SAFETY: as above.
    unsafe { gpu.device.cmd_fill_buffer(commands, list, 0, 4, entry) };
}

/// One thread per queue; each round waits for the previous round of the neighbor.
pub(crate) fn threads() -> Outcome {
    const ROUNDS: u64 = 50;
    let gpu = Gpu::new()?;
    let queues: Vec<_> = gpu.queues.iter().flatten().copied().collect();
    let timelines: Vec<_> = queues
        .iter()
        .map(|_| gpu.timeline())
        .collect::<Result<_, _>>()?;
    let device = &gpu.device;
    let run = |index: usize| -> Result<(), vk::Result> {
        let neighbour = timelines[(index + 1) % queues.len()];
        for round in 1..=ROUNDS {
            let waits = [(neighbour, round - 1)];
            submit_from_thread(device, queues[index], &waits, (timelines[index], round))?;
            if round % 10 == 0 {
                wait_in_thread(device, (timelines[index], round - 5))?;
            }
        }
        wait_in_thread(device, (timelines[index], ROUNDS))
    };
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..queues.len())
            .map(|index| scope.spawn(move || run(index)))
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Err(vk::Result::ERROR_UNKNOWN)))
    })?;
    let values: Vec<_> = timelines
        .iter()
        .map(|one| gpu.value(*one))
        .collect::<Result<_, _>>()?;
    println!("done {}", values.iter().all(|value| *value == ROUNDS));
    gpu.idle()?;
    Ok(())
}

fn submit_from_thread(
    device: &ash::Device,
    queue: vk::Queue,
    waits: &[Point],
    signal: Point,
) -> Result<(), vk::Result> {
    let info = |point: &Point| {
        vk::SemaphoreSubmitInfo::default()
            .semaphore(point.0)
            .value(point.1)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
    };
    let waits: Vec<_> = waits.iter().map(info).collect();
    let signals = [info(&signal)];
    let submit = vk::SubmitInfo2::default()
        .wait_semaphore_infos(&waits)
        .signal_semaphore_infos(&signals);
    // SAFETY: this thread alone uses the queue.
    unsafe { device.queue_submit2(queue, &[submit], NONE) }
}

fn wait_in_thread(device: &ash::Device, point: Point) -> Result<(), vk::Result> {
    let (semaphores, values) = ([point.0], [point.1]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    // SAFETY: a valid structure.
    unsafe { device.wait_semaphores(&info, LONG_NS) }
}

/// Sparse memory is bound between two submissions of other queues.
pub(crate) fn sparse() -> Outcome {
    let gpu = Gpu::new()?;
    let timeline = gpu.timeline()?;
    let info = vk::BufferCreateInfo::default()
        .size(1 << 16)
        .usage(vk::BufferUsageFlags::TRANSFER_DST)
        .flags(vk::BufferCreateFlags::SPARSE_BINDING);
    // SAFETY: a valid structure.
    let buffer = unsafe { gpu.device.create_buffer(&info, None) }?;
    // SAFETY: the buffer is valid.
    let needs = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
    let memory = gpu.memory(needs, vk::MemoryPropertyFlags::empty())?;
    let binds = [vk::SparseMemoryBind::default()
        .size(needs.size)
        .memory(memory)];
    let buffers = [vk::SparseBufferMemoryBindInfo::default()
        .buffer(buffer)
        .binds(&binds)];
    let (semaphores, waits, signals) = ([timeline], [1], [2]);
    let mut values = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&waits)
        .signal_semaphore_values(&signals);
    let bind = vk::BindSparseInfo::default()
        .wait_semaphores(&semaphores)
        .signal_semaphores(&semaphores)
        .buffer_binds(&buffers)
        .push_next(&mut values);
    let fill = gpu.fill(1, buffer, 4)?;
    gpu.submit(
        gpu.queues[1][0],
        &[(timeline, 2)],
        &[fill],
        &[(timeline, 3)],
        NONE,
    )?;
    // SAFETY: valid structures.
    unsafe {
        gpu.device
            .queue_bind_sparse(gpu.queues[0][0], &[bind], NONE)
    }?;
    gpu.submit(gpu.queues[1][1], &[], &[], &[(timeline, 1)], NONE)?;
    gpu.wait((timeline, 3), LONG_NS)?;
    println!("value {}", gpu.value(timeline)?);
    gpu.idle()?;
    // SAFETY: the device is idle.
    unsafe { gpu.device.destroy_buffer(buffer, None) };
    Ok(())
}

/// A submission waits for a value that is never signalled.
pub(crate) fn deadlock_queue() -> Outcome {
    let gpu = Gpu::new()?;
    let timeline = gpu.timeline()?;
    gpu.submit(gpu.queues[0][0], &[(timeline, 1)], &[], &[], NONE)?;
    // SAFETY: no other thread uses the queue.
    println!("idle {:?}", unsafe {
        gpu.device.queue_wait_idle(gpu.queues[0][0])
    });
    println!(
        "submit {:?}",
        gpu.submit(gpu.queues[0][0], &[], &[], &[], NONE)
    );
    Ok(())
}

fn submit_cycle(gpu: &Gpu, fence: vk::Fence) -> Result<(), vk::Result> {
    let (left, right) = (gpu.timeline()?, gpu.timeline()?);
    gpu.submit(gpu.queues[0][0], &[(left, 1)], &[], &[(right, 1)], fence)?;
    gpu.submit(gpu.queues[1][0], &[(right, 1)], &[], &[(left, 1)], NONE)
}

/// Two queues wait for each other.
pub(crate) fn deadlock_device() -> Outcome {
    let gpu = Gpu::new()?;
    submit_cycle(&gpu, NONE)?;
    println!("idle {:?}", gpu.idle());
    Ok(())
}

/// Waits for a fence of a deadlocked submission, with a short timeout and without one.
pub(crate) fn deadlock_fence() -> Outcome {
    let gpu = Gpu::new()?;
    let fence = gpu.fence()?;
    submit_cycle(&gpu, fence)?;
    for ns in [1_000_000, u64::MAX] {
        // SAFETY: a valid fence, in use.
        println!("wait {:?}", unsafe {
            gpu.device.wait_for_fences(&[fence], true, ns)
        });
    }
    Ok(())
}

/// The host waits for a value that no submission signals.
pub(crate) fn deadlock_host() -> Outcome {
    let gpu = Gpu::new()?;
    let timeline = gpu.timeline()?;
    gpu.submit(gpu.queues[0][0], &[], &[], &[(timeline, 1)], NONE)?;
    for (value, ns) in [(1, u64::MAX), (2, 1_000_000), (2, u64::MAX)] {
        println!("wait {:?}", gpu.wait((timeline, value), ns));
    }
    Ok(())
}

/// The device is destroyed while work is held.
pub(crate) fn left_over() -> Outcome {
    let gpu = Gpu::new()?;
    submit_cycle(&gpu, NONE)?;
    println!("destroyed");
    Ok(())
}

/// The process exits while work is held.
pub(crate) fn exit() -> Outcome {
    let gpu = Gpu::new()?;
    submit_cycle(&gpu, NONE)?;
    std::process::exit(0)
}
