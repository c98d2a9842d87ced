//! Copies of submissions: a held submission outlives the call that made it.
//!
//! Unknown structures in a chain are dropped, and reported to the caller.

use ash::vk::{self, Handle};

use crate::dispatch::chain::{chain, find, slice};
use crate::queues::fifo::Point;
use crate::settings::script::FenceFault;

/// Unit of forwarding to the real queue: at most one batch, and at most one fence.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) batch: Option<Batch>,
    pub(crate) fence: vk::Fence,
    /// Fault of the fence.
    pub(crate) fault: Option<FenceFault>,
}

/// A batch of work with its semaphores.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    pub(crate) signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    body: Body,
    /// Types of dropped chained structures.
    pub(crate) left_out: Vec<vk::StructureType>,
}

/// Contents of a batch, by the command that submitted it.
#[derive(Debug)]
enum Body {
    Submit(Commands),
    Submit2(Commands),
    Sparse(Sparse),
}

#[derive(Debug)]
struct Commands {
    flags: vk::SubmitFlags,
    buffers: Vec<vk::CommandBufferSubmitInfo<'static>>,
}

#[derive(Debug)]
struct Sparse {
    buffers: Vec<(vk::Buffer, Vec<vk::SparseMemoryBind>)>,
    opaque_images: Vec<(vk::Image, Vec<vk::SparseMemoryBind>)>,
    images: Vec<(vk::Image, Vec<vk::SparseImageMemoryBind>)>,
}

/// Converts the semaphores of a batch for the hold-back model.
pub(crate) fn points(infos: &[vk::SemaphoreSubmitInfo<'_>]) -> Vec<Point> {
    let point = |info: &vk::SemaphoreSubmitInfo<'_>| Point {
        semaphore: info.semaphore.as_raw(),
        value: info.value,
    };
    infos.iter().map(point).collect()
}

impl Batch {
    /// Copies a batch of `vkQueueSubmit2`.
    ///
    /// # Safety
    /// `info` and everything it points to must be valid.
    pub(crate) unsafe fn from_submit2(info: &vk::SubmitInfo2<'_>) -> Self {
        // SAFETY: valid by the caller's contract.
        let waits = unsafe { slice(info.p_wait_semaphore_infos, info.wait_semaphore_info_count) };
        // SAFETY: as above.
        let signals = unsafe {
            slice(
                info.p_signal_semaphore_infos,
                info.signal_semaphore_info_count,
            )
        };
        // SAFETY: as above.
        let buffers = unsafe { slice(info.p_command_buffer_infos, info.command_buffer_info_count) };
        // SAFETY: valid by the caller's contract.
        let left_out = unsafe { left_out(info.p_next, &[]) };
        Self {
            waits: waits.iter().map(unchained).collect(),
            signals: signals.iter().map(unchained).collect(),
            body: Body::Submit2(Commands {
                flags: info.flags,
                buffers: buffers
                    .iter()
                    .map(|buffer| buffer_info(buffer.command_buffer, buffer.device_mask))
                    .collect(),
            }),
            left_out,
        }
    }

    /// Copies a batch of `vkQueueSubmit`.
    ///
    /// # Safety
    /// `info` and everything it points to must be valid.
    pub(crate) unsafe fn from_submit(info: &vk::SubmitInfo<'_>) -> Self {
        // SAFETY: valid by the caller's contract.
        let mut waits = unsafe { named(info.p_wait_semaphores, info.wait_semaphore_count) };
        // SAFETY: as above.
        let mut signals = unsafe { named(info.p_signal_semaphores, info.signal_semaphore_count) };
        // SAFETY: as above.
        unsafe { add_values(&mut waits, &mut signals, info.p_next) };
        // SAFETY: as above.
        let stages = unsafe { slice(info.p_wait_dst_stage_mask, info.wait_semaphore_count) };
        for (wait, stages) in waits.iter_mut().zip(stages) {
            wait.stage_mask = vk::PipelineStageFlags2::from_raw(u64::from(stages.as_raw()));
        }
        // SAFETY: as above.
        let buffers = unsafe { slice(info.p_command_buffers, info.command_buffer_count) };
        let known = [vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO];
        // SAFETY: as above.
        let left_out = unsafe { left_out(info.p_next, &known) };
        Self {
            waits,
            signals,
            body: Body::Submit(Commands {
                flags: vk::SubmitFlags::empty(),
                buffers: buffers
                    .iter()
                    .map(|buffer| buffer_info(*buffer, 0))
                    .collect(),
            }),
            left_out,
        }
    }

    /// Copies a batch of `vkQueueBindSparse`.
    ///
    /// # Safety
    /// `info` and everything it points to must be valid.
    pub(crate) unsafe fn from_sparse(info: &vk::BindSparseInfo<'_>) -> Self {
        // SAFETY: valid by the caller's contract.
        let mut waits = unsafe { named(info.p_wait_semaphores, info.wait_semaphore_count) };
        // SAFETY: as above.
        let mut signals = unsafe { named(info.p_signal_semaphores, info.signal_semaphore_count) };
        // SAFETY: as above.
        unsafe { add_values(&mut waits, &mut signals, info.p_next) };
        // SAFETY: as above.
        let buffers = unsafe { slice(info.p_buffer_binds, info.buffer_bind_count) };
        // SAFETY: as above.
        let opaque = unsafe { slice(info.p_image_opaque_binds, info.image_opaque_bind_count) };
        // SAFETY: as above.
        let images = unsafe { slice(info.p_image_binds, info.image_bind_count) };
        let known = [vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO];
        // SAFETY: as above.
        let left_out = unsafe { left_out(info.p_next, &known) };
        Self {
            waits,
            signals,
            body: Body::Sparse(Sparse {
                buffers: copy(buffers, |bind| {
                    // SAFETY: as above.
                    (bind.buffer, unsafe { slice(bind.p_binds, bind.bind_count) })
                }),
                opaque_images: copy(opaque, |bind| {
                    // SAFETY: as above.
                    (bind.image, unsafe { slice(bind.p_binds, bind.bind_count) })
                }),
                images: copy(images, |bind| {
                    // SAFETY: as above.
                    (bind.image, unsafe { slice(bind.p_binds, bind.bind_count) })
                }),
            }),
            left_out,
        }
    }
}

/// Returns the types of the structures in a chain that are not copied.
///
/// # Safety
/// `p_next` must be null or start a valid chain.
unsafe fn left_out(
    p_next: *const std::ffi::c_void,
    copied: &[vk::StructureType],
) -> Vec<vk::StructureType> {
    // SAFETY: by the caller's contract.
    let all = unsafe { chain(p_next) }.map(|base| base.s_type);
    all.filter(|s_type| !copied.contains(s_type)).collect()
}

fn unchained(info: &vk::SemaphoreSubmitInfo<'_>) -> vk::SemaphoreSubmitInfo<'static> {
    vk::SemaphoreSubmitInfo::default()
        .semaphore(info.semaphore)
        .value(info.value)
        .stage_mask(info.stage_mask)
        .device_index(info.device_index)
}

fn buffer_info(
    buffer: vk::CommandBuffer,
    device_mask: u32,
) -> vk::CommandBufferSubmitInfo<'static> {
    vk::CommandBufferSubmitInfo::default()
        .command_buffer(buffer)
        .device_mask(device_mask)
}

/// # Safety
/// `first` must be null or point to `count` semaphores.
unsafe fn named(first: *const vk::Semaphore, count: u32) -> Vec<vk::SemaphoreSubmitInfo<'static>> {
    // SAFETY: by the caller's contract.
    let semaphores = unsafe { slice(first, count) };
    let info = |semaphore: &vk::Semaphore| vk::SemaphoreSubmitInfo::default().semaphore(*semaphore);
    semaphores.iter().map(info).collect()
}

/// Adds the values of a `VkTimelineSemaphoreSubmitInfo`, if there is one.
///
/// # Safety
/// `p_next` must be null or start a valid chain.
unsafe fn add_values(
    waits: &mut [vk::SemaphoreSubmitInfo<'_>],
    signals: &mut [vk::SemaphoreSubmitInfo<'_>],
    p_next: *const std::ffi::c_void,
) {
    // SAFETY: by the caller's contract.
    let Some(values) = (unsafe { find::<vk::TimelineSemaphoreSubmitInfo<'_>>(p_next) }) else {
        return;
    };
    // SAFETY: the structure is valid, and so are its arrays.
    let wait_values = unsafe {
        slice(
            values.p_wait_semaphore_values,
            values.wait_semaphore_value_count,
        )
    };
    // SAFETY: as above.
    let signal_values = unsafe {
        slice(
            values.p_signal_semaphore_values,
            values.signal_semaphore_value_count,
        )
    };
    for (info, value) in waits.iter_mut().zip(wait_values) {
        info.value = *value;
    }
    for (info, value) in signals.iter_mut().zip(signal_values) {
        info.value = *value;
    }
}

fn copy<Info, Target, Bind: Copy>(
    infos: &[Info],
    read: impl Fn(&Info) -> (Target, &[Bind]),
) -> Vec<(Target, Vec<Bind>)> {
    let owned = |info| {
        let (target, binds) = read(info);
        (target, binds.to_vec())
    };
    infos.iter().map(owned).collect()
}

mod forward;

#[cfg(test)]
mod tests;
