//! Multisampling: smooth edges of meshes and of sprites that are turned.
//!
//! A camera that clears its target draws to an image of several samples per pixel, which is resolved to the
//! target. One that draws over what is there does so to samples that begin transparent; these are resolved to
//! a layer, and the layer is put over the target. So nothing is ever copied back into samples, which would need
//! targets that can be sampled. Nodes are drawn to the target itself, as in bevy.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{Format, GpuDevice, GpuImage, ImageDesc};
use quadrille_content::CameraTargets;

use crate::scene::phase::{Multisampled, Phase2d, View2d};

/// The images with several samples that cameras draw to in this frame: the list behind the
/// multisampled targets of [`draw_2d`](crate::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct MsaaTargets2d(Vec<GpuImage>);

/// Pictures of cameras that draw over what is there with several samples, resolved: linear, multiplied with
/// alpha, as large as the camera's target.
#[derive(Resource, Default, Deref)]
pub struct ResolvedLayers2d(Vec<GpuImage>);

/// Format of layers and their samples: linear, and fine enough for colours multiplied with alpha.
const LAYER_FORMAT: Format = Format::R16G16B16A16_SFLOAT;

/// Finds out which cameras draw with several samples, and makes images for these.
pub(crate) fn prepare_msaa_targets(
    mut phase: ResMut<Phase2d>,
    (mut samples, mut layers): (ResMut<MsaaTargets2d>, ResMut<ResolvedLayers2d>),
    targets: Res<CameraTargets>,
    gpu: Res<GpuDevice>,
    // Counts of samples that a format does not have, with those taken instead. A device that has no 2 may have 4.
    mut instead: Local<HashMap<(Format, u32), u32>>,
) {
    // Images of the frame before, for reuse.
    let mut old = (
        std::mem::take(&mut samples.0),
        std::mem::take(&mut layers.0),
    );
    for view in &mut phase.views {
        let Some(target) = targets.get(view.target as usize) else {
            continue;
        };
        let format = match view.clear {
            Some(_) => target.format(),
            None => LAYER_FORMAT,
        };
        let [width, height, _] = target.extent();
        let layer = ImageDesc::color_target("2d layer", [width, height], LAYER_FORMAT).transient();
        let mut wanted = view.msaa.samples();
        while is_multisampled(view) {
            if let Some(less) = instead.get(&(format, wanted)) {
                wanted = *less;
                continue;
            }
            if wanted == 1 {
                break;
            }
            let desc = ImageDesc {
                samples: wanted,
                ..ImageDesc::color_target("2d samples", [width, height], format).transient()
            };
            let made =
                find_or_create(&gpu, &mut samples.0, &mut old.0, &desc).and_then(|samples| {
                    let layer = match view.clear {
                        Some(_) => None,
                        None => Some(find_or_create(&gpu, &mut layers.0, &mut old.1, &layer)?),
                    };
                    Ok(Multisampled { samples, layer })
                });
            match made {
                Ok(made) => {
                    view.multisampled = Some(made);
                    break;
                }
                Err(error) => {
                    let less = wanted / 2;
                    tracing::warn!(
                        "2D cameras get {less} samples per pixel of {format:?} instead of {wanted}: {error}"
                    );
                    instead.insert((format, wanted), less);
                }
            }
        }
    }
}

/// Whether a view is drawn with several samples: where it draws nothing, its clear colour needs no more than one.
fn is_multisampled(view: &View2d) -> bool {
    view.msaa.samples() > 1 && !view.batches.is_empty()
}

/// The place of an image among those of this frame: views are drawn one after the other, and nothing of an
/// image is needed behind its view, so those alike share one.
fn find_or_create(
    gpu: &GpuDevice,
    images: &mut Vec<GpuImage>,
    old: &mut Vec<GpuImage>,
    desc: &ImageDesc,
) -> Result<u32, quadrille::vulkan::Error> {
    let is_alike = |image: &GpuImage| image.desc() == desc;
    if let Some(index) = images.iter().position(is_alike) {
        return Ok(index as u32);
    }
    let image = match old.iter().position(is_alike) {
        Some(index) => old.swap_remove(index),
        None => gpu.create_image(desc)?,
    };
    images.push(image);
    Ok(images.len() as u32 - 1)
}

#[cfg(test)]
mod tests;
