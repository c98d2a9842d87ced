//! Multisampling: smooth edges of meshes and of sprites that are turned.
//!
//! All cameras of a target draw to one image of several samples per pixel, those with the most
//! samples deciding how many, and the last one on the target resolves it. So nothing is ever
//! copied back into the samples, whatever number of cameras and nodes share a target.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille_content::{CameraTargets, Msaa};

use crate::phase::{Phase2d, View2d};

/// The images with several samples that cameras draw to in this frame: the list behind the
/// multisampled targets of [`draw_2d`](crate::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct Multisampled2d(Vec<GpuImage>);

/// Finds out which targets are drawn to with several samples, and makes images for these.
pub(crate) fn prepare_samples(
    mut phase: ResMut<Phase2d>,
    mut images: ResMut<Multisampled2d>,
    targets: Res<CameraTargets>,
    gpu: Res<GpuDevice>,
    mut most: Local<Option<u32>>,
) {
    // Those of the frame before, to be used again.
    let mut kept = std::mem::take(&mut images.0);
    for (index, target) in targets.iter().enumerate() {
        let views = &mut phase.views;
        let wanted = samples(views.iter().filter(|view| view.target as usize == index));
        let wanted = wanted.min(most.unwrap_or(u32::MAX));
        if wanted == 1 {
            continue;
        }
        match find_or_make(&gpu, &mut kept, target, wanted) {
            Ok(image) => {
                let place = images.0.len() as u32;
                images.0.push(image);
                for view in views
                    .iter_mut()
                    .filter(|view| view.target as usize == index)
                {
                    view.multisampled = Some(place);
                }
            }
            Err(error) => {
                tracing::warn!(
                    "cameras get {} samples per pixel instead of {wanted}: {error}",
                    wanted / 2
                );
                *most = Some(wanted / 2);
            }
        }
    }
}

/// How many samples a target has whose views are these.
fn samples<'a>(views: impl Iterator<Item = &'a View2d> + Clone) -> u32 {
    match views.clone().next() {
        Some(first) if first.clear.is_some() => {
            views.map(|view| view.msaa).max().map_or(1, Msaa::samples)
        }
        _ => 1,
    }
}

fn find_or_make(
    gpu: &GpuDevice,
    kept: &mut Vec<GpuImage>,
    target: &GpuImage,
    samples: u32,
) -> Result<GpuImage, quadrille::vulkan::Error> {
    let [width, height, _] = target.extent();
    let desc = ImageDesc {
        samples,
        ..ImageDesc::color_target("2d samples", [width, height], target.format())
    };
    match kept.iter().position(|image| *image.desc() == desc) {
        Some(place) => Ok(kept.swap_remove(place)),
        None => gpu.create_image(&desc),
    }
}

#[cfg(test)]
mod tests;
