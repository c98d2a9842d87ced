//! What a table can be, and what can be in it.

use std::sync::Arc;

use ash::vk;

use super::{Contents, ImageTableDesc, TableError, TableIndex, TableInner};
use crate::device::Device;
use crate::device::table_layout::limits;
use crate::error::CommandError;
use crate::error::Error;
use crate::resources::compatible::check_kind;
use crate::resources::image::{GpuImage, ImageUsage};
use crate::resources::texels::Texels;
use crate::resources::view::{View, ViewKey};
use crate::shader::TableBinding;

/// Checks a description.
pub(super) fn check(device: &Arc<Device>, desc: &ImageTableDesc) -> Result<(), Error> {
    let limits = limits(device);
    let frames = device.frames_in_flight;
    let most = limits.images.min(limits.all / frames);
    let (capacity, samplers) = (desc.capacity, desc.samplers.len());
    let problem = if capacity == 0 {
        "it has room for no image; give it a capacity of at least 1".to_owned()
    } else if capacity > most {
        format!(
            "it has room for {capacity} images, which is above the limit of {most} that the device \
             or `Settings::table_images` has for a table"
        )
    } else if samplers > TableBinding::MOST_SAMPLERS as usize {
        format!(
            "it has {samplers} samplers, and a table has at most {}",
            TableBinding::MOST_SAMPLERS
        )
    } else if desc.image.multisampled || desc.image.format.is_some() {
        "its images are multisampled or storage images, and a table's are sampled".to_owned()
    } else if let Some(other) = desc
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
        name: desc.name.clone(),
        problem,
    })
}

/// The view of an image that a table shows.
pub(super) fn key(image: &GpuImage, kind: vk::ImageViewType) -> ViewKey {
    ViewKey {
        view: View::WHOLE,
        aspects: Texels::of(image).aspects(),
        kind,
    }
}

/// Checks an image, and makes its view.
pub(super) fn image(table: &TableInner, image: &GpuImage) -> Result<(), TableError> {
    let seen = &table.desc.image;
    let key = key(image, seen.view);
    let problem = if !std::ptr::eq(&*image.object().device, &*table.device) {
        Some("it was made from another device".to_owned())
    } else if image.is_swapchain() {
        Some("it is another image of its swapchain in each frame".to_owned())
    } else if image.desc().transient {
        Some("it is transient, so it has no contents when a frame begins".to_owned())
    } else if !image.desc().usage.contains(ImageUsage::SAMPLED) {
        Some("it lacks the usage SAMPLED".to_owned())
    } else if let Err(CommandError::View { problem, .. }) = check_kind(image, key) {
        // What passes could bind instead, a table cannot show.
        let (problem, _) = problem.split_once(';').unwrap_or((&problem, ""));
        Some(problem.to_owned())
    } else {
        Texels::of(image).problem(seen)
    };
    if let Some(problem) = problem {
        return Err(TableError::Image {
            table: table.desc.name.clone(),
            kind: seen.words(),
            image: image.name().to_owned(),
            problem,
        });
    }
    image.view(key)?;
    Ok(())
}

/// Checks that there is an image at an index.
pub(super) fn taken(
    table: &TableInner,
    contents: &Contents,
    index: TableIndex,
) -> Result<(), TableError> {
    let entry = contents.entries.get(index.0 as usize);
    if entry.is_some_and(|entry| entry.image.is_some()) {
        Ok(())
    } else {
        Err(TableError::Vacant {
            table: table.desc.name.clone(),
            index: index.0,
            len: contents.entries.len() - contents.free.len(),
            capacity: table.desc.capacity,
        })
    }
}
