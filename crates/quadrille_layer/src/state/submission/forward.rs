//! Forwarding: rebuilds the driver's structures from the copies, and submits them.

use ash::vk;

use super::{Batch, Body, Commands, Sparse, Submission};
use crate::state::driver::Driver;

impl Submission {
    /// Submits to the real queue.
    ///
    /// # Safety
    /// The handles must be valid, and the caller must have exclusive use of the real queue.
    pub(crate) unsafe fn forward(&self, driver: &Driver, fence: vk::Fence) -> vk::Result {
        let Some(batch) = &self.batch else {
            let submit = driver.next.core.fp_v1_0().queue_submit;
            // SAFETY: no batch, only the fence, which is valid by the caller's contract.
            return unsafe { submit(driver.queue, 0, std::ptr::null(), fence) };
        };
        match &batch.body {
            // SAFETY: by the caller's contract.
            Body::Submit(commands) => unsafe { submit(batch, commands, driver, fence) },
            // SAFETY: by the caller's contract.
            Body::Submit2(commands) => unsafe { submit2(batch, commands, driver, fence) },
            // SAFETY: by the caller's contract.
            Body::Sparse(sparse) => unsafe { bind_sparse(batch, sparse, driver, fence) },
        }
    }
}

/// # Safety
/// As for [`Submission::forward`].
unsafe fn submit2(
    batch: &Batch,
    commands: &Commands,
    driver: &Driver,
    fence: vk::Fence,
) -> vk::Result {
    let info = vk::SubmitInfo2::default()
        .flags(commands.flags)
        .wait_semaphore_infos(&batch.waits)
        .command_buffer_infos(&commands.buffers)
        .signal_semaphore_infos(&batch.signals);
    // SAFETY: the structures live until the call returns; the handles are valid by contract.
    unsafe { (driver.next.core.fp_v1_3().queue_submit2)(driver.queue, 1, &info, fence) }
}

/// # Safety
/// As for [`Submission::forward`].
unsafe fn submit(
    batch: &Batch,
    commands: &Commands,
    driver: &Driver,
    fence: vk::Fence,
) -> vk::Result {
    let (waits, wait_values) = split(&batch.waits);
    let (signals, signal_values) = split(&batch.signals);
    // Stages of vkQueueSubmit have 32 bits, so the conversion back loses no bit.
    let stages = batch
        .waits
        .iter()
        .map(|wait| wait.stage_mask.as_raw() as u32);
    let stages: Vec<_> = stages.map(vk::PipelineStageFlags::from_raw).collect();
    let buffers: Vec<_> = commands
        .buffers
        .iter()
        .map(|info| info.command_buffer)
        .collect();
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&wait_values)
        .signal_semaphore_values(&signal_values);
    let mut info = vk::SubmitInfo::default()
        .wait_semaphores(&waits)
        .wait_dst_stage_mask(&stages)
        .command_buffers(&buffers)
        .signal_semaphores(&signals);
    if wait_values
        .iter()
        .chain(&signal_values)
        .any(|value| *value != 0)
    {
        info = info.push_next(&mut timeline);
    }
    // SAFETY: the structures live until the call returns; the handles are valid by contract.
    unsafe { (driver.next.core.fp_v1_0().queue_submit)(driver.queue, 1, &info, fence) }
}

/// # Safety
/// As for [`Submission::forward`].
unsafe fn bind_sparse(
    batch: &Batch,
    sparse: &Sparse,
    driver: &Driver,
    fence: vk::Fence,
) -> vk::Result {
    let (waits, wait_values) = split(&batch.waits);
    let (signals, signal_values) = split(&batch.signals);
    let buffers: Vec<_> = sparse
        .buffers
        .iter()
        .map(|(buffer, binds)| {
            vk::SparseBufferMemoryBindInfo::default()
                .buffer(*buffer)
                .binds(binds)
        })
        .collect();
    let opaque: Vec<_> = sparse
        .opaque_images
        .iter()
        .map(|(image, binds)| {
            vk::SparseImageOpaqueMemoryBindInfo::default()
                .image(*image)
                .binds(binds)
        })
        .collect();
    let images: Vec<_> = sparse
        .images
        .iter()
        .map(|(image, binds)| {
            vk::SparseImageMemoryBindInfo::default()
                .image(*image)
                .binds(binds)
        })
        .collect();
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&wait_values)
        .signal_semaphore_values(&signal_values);
    let mut info = vk::BindSparseInfo::default()
        .wait_semaphores(&waits)
        .buffer_binds(&buffers)
        .image_opaque_binds(&opaque)
        .image_binds(&images)
        .signal_semaphores(&signals);
    if wait_values
        .iter()
        .chain(&signal_values)
        .any(|value| *value != 0)
    {
        info = info.push_next(&mut timeline);
    }
    // SAFETY: the structures live until the call returns; the handles are valid by contract.
    unsafe { (driver.next.core.fp_v1_0().queue_bind_sparse)(driver.queue, 1, &info, fence) }
}

/// Splits semaphores and values into separate arrays.
fn split(infos: &[vk::SemaphoreSubmitInfo<'_>]) -> (Vec<vk::Semaphore>, Vec<u64>) {
    (
        infos.iter().map(|info| info.semaphore).collect(),
        infos.iter().map(|info| info.value).collect(),
    )
}
