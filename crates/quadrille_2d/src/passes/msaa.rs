//! Multisampling: antialiased edges of meshes and rotated sprites.
//!
//! A camera that clears its target draws to a multisampled image, which is resolved to the target. A camera that
//! does not clear draws to a transparent multisampled image, which is resolved to a layer and composited over the
//! target. So the target's contents are never copied into a multisampled image, which would require targets that can
//! be sampled. UI nodes are drawn to the target itself, as in bevy.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::Format;
use quadrille_content::views::CameraTargets;

use crate::scene::phase::{Multisampled, Phase2d, View2d};

/// Multisampled color targets of this frame, declared by [`draw_2d`](crate::systems::draw_2d).
#[derive(Resource, Default, Deref)]
pub struct MsaaTargets2d(Vec<GpuImage>);

/// Resolved layers of multisampled cameras that do not clear their target: linear, premultiplied alpha, of the
/// target's size.
#[derive(Resource, Default, Deref)]
pub struct ResolvedLayers2d(Vec<GpuImage>);

/// Format of layers: linear, with enough precision for premultiplied colors.
const LAYER_FORMAT: Format = Format::R16G16B16A16_SFLOAT;

/// Creates or reuses the multisampled targets and layers of this frame's views.
pub(crate) fn prepare_msaa_targets(
    mut phase: ResMut<Phase2d>,
    (mut samples, mut layers): (ResMut<MsaaTargets2d>, ResMut<ResolvedLayers2d>),
    targets: Res<CameraTargets>,
    gpu: Res<GpuDevice>,
    // Unsupported sample counts by format, with their fallback. A device without 2 samples may support 4.
    mut fallbacks: Local<HashMap<(Format, u32), u32>>,
) {
    // Images of the previous frame, for reuse.
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
            if let Some(less) = fallbacks.get(&(format, wanted)) {
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
                find_or_create(&gpu, &mut samples.0, &mut old.0, &desc).and_then(|color_target| {
                    let layer = match view.clear {
                        Some(_) => None,
                        None => Some(find_or_create(&gpu, &mut layers.0, &mut old.1, &layer)?),
                    };
                    Ok(Multisampled {
                        color_target,
                        layer,
                    })
                });
            match made {
                Ok(made) => {
                    view.multisampled = Some(made);
                    break;
                }
                Err(error) => {
                    let less = wanted / 2;
                    tracing::warn!(
                        "2D cameras use {less} samples per pixel of {format:?} instead of {wanted}: {error}"
                    );
                    fallbacks.insert((format, wanted), less);
                }
            }
        }
    }
}

/// Whether a view needs a multisampled target: one without draws is only cleared.
fn is_multisampled(view: &View2d) -> bool {
    view.msaa.samples() > 1 && !view.batches.is_empty()
}

/// Returns the index of an image with this description in `images`. Views share images with equal descriptions: they
/// are drawn sequentially, and the contents are not needed after a view's resolve and composite.
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
