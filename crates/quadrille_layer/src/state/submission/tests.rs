use ash::vk::{self, Handle};

use super::{Batch, Body, points};
use crate::queues::fifo::Point;

fn semaphore(raw: u64) -> vk::Semaphore {
    vk::Semaphore::from_raw(raw)
}

fn commands(batch: &Batch) -> Vec<(u64, u32)> {
    match &batch.body {
        Body::Submit(commands) | Body::Submit2(commands) => commands
            .buffers
            .iter()
            .map(|info| (info.command_buffer.as_raw(), info.device_mask))
            .collect(),
        Body::Sparse(_) => Vec::new(),
    }
}

#[test]
fn submit_copies_values_and_stages() {
    let (waits, signals) = ([semaphore(1), semaphore(2)], [semaphore(3)]);
    let stages = [
        vk::PipelineStageFlags::TRANSFER,
        vk::PipelineStageFlags::HOST,
    ];
    let buffers = [
        vk::CommandBuffer::from_raw(8),
        vk::CommandBuffer::from_raw(9),
    ];
    let (wait_values, signal_values) = ([10, 20], [30]);
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&wait_values)
        .signal_semaphore_values(&signal_values);
    let mut protected = vk::ProtectedSubmitInfo::default().protected_submit(true);
    let info = vk::SubmitInfo::default()
        .wait_semaphores(&waits)
        .wait_dst_stage_mask(&stages)
        .command_buffers(&buffers)
        .signal_semaphores(&signals)
        .push_next(&mut timeline)
        .push_next(&mut protected);

    // SAFETY: the structures above are valid; the handles are only copied.
    let batch = unsafe { Batch::from_submit(&info) };
    let point = |semaphore, value| Point { semaphore, value };
    assert_eq!(
        points(&batch.waits),
        [point(1, 10), point(2, 20)],
        "values come along"
    );
    assert_eq!(points(&batch.signals), [point(3, 30)], "values come along");
    let stages: Vec<_> = batch
        .waits
        .iter()
        .map(|wait| wait.stage_mask.as_raw())
        .collect();
    assert_eq!(
        stages,
        [0x1000, 0x4000],
        "the first 32 bits of both generations agree"
    );
    assert_eq!(commands(&batch), [(8, 0), (9, 0)], "copied");
    assert_eq!(
        batch.left_out,
        [vk::StructureType::PROTECTED_SUBMIT_INFO],
        "the rest of the chain is named"
    );
}

#[test]
fn submit2_copies_its_batch_and_names_what_it_leaves_out() {
    let waits = [vk::SemaphoreSubmitInfo::default()
        .semaphore(semaphore(1))
        .value(7)
        .stage_mask(vk::PipelineStageFlags2::COPY)];
    let buffers =
        [vk::CommandBufferSubmitInfo::default().command_buffer(vk::CommandBuffer::from_raw(8))];
    let mut boundary = vk::FrameBoundaryEXT::default();
    let info = vk::SubmitInfo2::default()
        .wait_semaphore_infos(&waits)
        .command_buffer_infos(&buffers)
        .push_next(&mut boundary);

    // SAFETY: the structures above are valid; the handles are only copied.
    let batch = unsafe { Batch::from_submit2(&info) };
    assert_eq!(
        points(&batch.waits),
        [Point {
            semaphore: 1,
            value: 7
        }],
        "copied"
    );
    assert_eq!(
        batch.waits[0].stage_mask,
        vk::PipelineStageFlags2::COPY,
        "64-bit stages stay"
    );
    assert_eq!(commands(&batch), [(8, 0)], "copied");
    assert_eq!(
        batch.left_out,
        [vk::StructureType::FRAME_BOUNDARY_EXT],
        "and said so"
    );
}

#[test]
fn sparse_binds_are_copied_in_depth() {
    let (semaphores, values) = ([semaphore(1)], [3]);
    let batch = {
        let binds = [vk::SparseMemoryBind::default()
            .size(64)
            .resource_offset(128)];
        let buffers = [vk::SparseBufferMemoryBindInfo::default()
            .buffer(vk::Buffer::from_raw(5))
            .binds(&binds)];
        let mut timeline =
            vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::BindSparseInfo::default()
            .signal_semaphores(&semaphores)
            .buffer_binds(&buffers)
            .push_next(&mut timeline);
        // SAFETY: the structures above are valid; the handles are only copied.
        unsafe { Batch::from_sparse(&info) }
    };
    let Body::Sparse(sparse) = &batch.body else {
        panic!("from vkQueueBindSparse")
    };
    let (buffer, binds) = &sparse.buffers[0];
    assert_eq!(
        (buffer.as_raw(), binds[0].size, binds[0].resource_offset),
        (5, 64, 128),
        "binds"
    );
    assert_eq!(
        points(&batch.signals),
        [Point {
            semaphore: 1,
            value: 3
        }],
        "values"
    );
}
