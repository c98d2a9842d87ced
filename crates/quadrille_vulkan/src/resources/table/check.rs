//! Validation of tables and of their members.

use std::sync::Arc;

use ash::vk;

use super::member::TablePlan;
use super::{Contents, TableError, TableIndex, TableInner, sets};
use crate::device::Device;
use crate::device::table_layout::limits;
use crate::error::CommandError;
use crate::error::Error;
use crate::resources::buffer::{BufferUsage, GpuBuffer};
use crate::resources::compatible::check_kind;
use crate::resources::handle::Handle;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::texels::Texels;
use crate::resources::view::{View, ViewKey};
use crate::shader::{ShaderImage, TableBinding, TableKind};

/// Maximum number of frames in flight for tables: each entry has one bit per frame.
const MAX_FRAMES: u32 = u32::BITS;

/// Checks a validated description against the device.
pub(super) fn check(device: &Arc<Device>, plan: &TablePlan) -> Result<(), Error> {
    let limits = limits(device);
    let frames = device.frames_in_flight;
    let most = limits.of(plan.kind.members()).min(limits.all / frames);
    let (capacity, samplers) = (plan.capacity, plan.samplers.len());
    let noun = plan.kind.noun();
    let problem = if frames > MAX_FRAMES {
        format!("there are {frames} frames in flight, and tables take at most {MAX_FRAMES}")
    } else if capacity == 0 {
        format!("it has room for no {noun}; give it a capacity of at least 1")
    } else if capacity > most {
        format!(
            "it has room for {capacity} {noun}s, which is above the limit of {most} that the device \
             or `Settings::table_entries` has for a table"
        )
    } else if samplers > TableBinding::MAX_SAMPLERS as usize {
        format!(
            "it has {samplers} samplers, and a table has at most {}",
            TableBinding::MAX_SAMPLERS
        )
    } else if let Some(other) = plan
        .samplers
        .iter()
        .find(|it| !std::ptr::eq(it.device(), &**device))
    {
        format!(
            "its sampler `{}` was made from another device",
            other.desc().name
        )
    } else {
        return Ok(());
    };
    Err(Error::Invalid {
        name: plan.name.clone(),
        problem,
    })
}

/// Key of the view of a member image.
pub(super) fn key(image: &GpuImage, kind: vk::ImageViewType) -> ViewKey {
    ViewKey {
        view: View::WHOLE,
        aspects: Texels::of(image).aspects(),
        kind,
    }
}

/// Checks a new member, and creates the view of an image.
pub(super) fn member(table: &TableInner, member: &Handle) -> Result<(), TableError> {
    let problem = if !member.is_made_from(&table.device) {
        Some("it was made from another device".to_owned())
    } else if let (Handle::Image(image), TableKind::Images(seen)) = (member, &table.kind) {
        image_problem(image, seen)
    } else if let Handle::Buffer(buffer) = member {
        buffer_problem(&table.device, buffer)
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(TableError::Member {
            table: table.name.clone(),
            kind: table.kind.elements(),
            member: member.name().to_owned(),
            problem,
        });
    }
    sets::describe(table.kind, member)?;
    Ok(())
}

const TRANSIENT: &str = "it is transient, so it has no contents when a frame begins";

/// Describes why the table's shaders cannot sample an image.
fn image_problem(image: &GpuImage, seen: &ShaderImage) -> Option<String> {
    if image.is_swapchain() {
        Some("it is another image of its swapchain in each frame".to_owned())
    } else if image.desc().transient {
        Some(TRANSIENT.to_owned())
    } else if !image.desc().usage.contains(ImageUsage::SAMPLED) {
        Some("it lacks the usage SAMPLED".to_owned())
    } else if let Err(CommandError::View { problem, .. }) = check_kind(image, key(image, seen.view))
    {
        // The suggestion after the semicolon is for passes; a table cannot bind other views.
        let (problem, _) = problem.split_once(';').unwrap_or((&problem, ""));
        Some(problem.to_owned())
    } else {
        Texels::of(image).problem(seen)
    }
}

/// Describes why the table's shaders cannot read a buffer.
fn buffer_problem(device: &Device, buffer: &GpuBuffer) -> Option<String> {
    let (bytes, most) = (buffer.bytes(), device.limits.max_storage_buffer_range);
    if buffer.desc().transient {
        Some(TRANSIENT.to_owned())
    } else if !buffer.desc().usage.contains(BufferUsage::STORAGE) {
        Some("it lacks the usage STORAGE".to_owned())
    } else if bytes > u64::from(most) {
        Some(format!(
            "it has {bytes} bytes, which is above the device's limit of {most} \
             (maxStorageBufferRange)"
        ))
    } else {
        None
    }
}

/// Checks that there is a member at an index.
pub(super) fn taken(
    table: &TableInner,
    contents: &Contents,
    index: TableIndex,
) -> Result<(), TableError> {
    let entry = contents.entries.get(index.0 as usize);
    if entry.is_some_and(|entry| entry.member.is_some()) {
        Ok(())
    } else {
        Err(TableError::Vacant {
            table: table.name.clone(),
            noun: table.kind.noun(),
            index: index.0,
            len: contents.entries.len() - contents.free.len(),
            capacity: table.capacity,
        })
    }
}
