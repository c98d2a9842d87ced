//! Validation of images as operands of copies and blits, and as views of shaders.

use ash::vk;

use crate::device::Device;
use crate::error::CommandError;
use crate::resources::format::{aspects, block, scalar_kind};
use crate::resources::image::GpuImage;
use crate::resources::region::ImageRegion;
use crate::resources::view::{View, ViewKey};

/// An image and a region of it.
pub(crate) type Part<'a> = (&'a GpuImage, &'a ImageRegion);

/// Checks a copy (section "Copying Data Between Images"): equal extents and texel sizes. Compressed and
/// depth-stencil formats have to be equal.
pub(crate) fn check_copy(src: Part<'_>, dst: Part<'_>) -> Result<(), CommandError> {
    let [from, to] = [src.0.format(), dst.0.format()];
    let is_plain = |format| {
        aspects(format) == vk::ImageAspectFlags::COLOR
            && block(format).is_some_and(|block| block.size == [1, 1])
    };
    let is_same_size = is_plain(from) && is_plain(to) && block(from) == block(to);
    let problem = if src.1.extent != dst.1.extent || src.1.layer_count != dst.1.layer_count {
        Some(format!("{} are not {}", texels(src.1), texels(dst.1)))
    } else if src.0.desc().samples != dst.0.desc().samples {
        let (from, to) = (src.0.desc().samples, dst.0.desc().samples);
        Some(format!("one has {from} samples, the other {to}"))
    } else if from != to && !is_same_size {
        Some(format!("texels of {from:?} and {to:?} are of other kinds"))
    } else {
        None
    };
    refuse_if(problem, src.0, dst.0)
}

/// Checks a blit (section "Image Copies With Scaling").
pub(crate) fn check_blit(
    device: &Device,
    src: Part<'_>,
    dst: Part<'_>,
    linear: bool,
) -> Result<(), CommandError> {
    use vk::FormatFeatureFlags as Feature;
    let [from, to] = [src.0.format(), dst.0.format()];
    let is_color = |format| aspects(format) == vk::ImageAspectFlags::COLOR;
    let [from_can, to_can] = [from, to].map(|format| features(device, format));
    let is_solid = |image: &GpuImage| image.desc().extent[2] > 1;
    let problem = if src.1.layer_count != dst.1.layer_count {
        let [from, to] = [src.1, dst.1].map(|region| region.layer_count);
        Some(format!("{from} layers are not {to}"))
    } else if is_solid(src.0) != is_solid(dst.0) {
        Some("one has depth, the other has not".to_owned())
    } else if [src.0, dst.0].iter().any(|image| image.desc().samples > 1) {
        Some("blits are of images with one sample; resolve it first".to_owned())
    } else if (!is_color(from) || !is_color(to)) && (from != to || linear) {
        Some("depth and stencil go to the same format, with the nearest texel".to_owned())
    } else if scalar_kind(from) != scalar_kind(to) {
        Some(format!("numbers of {from:?} and {to:?} are of other kinds"))
    } else if !from_can.contains(Feature::BLIT_SRC) {
        Some(format!("the device does not blit from {from:?}"))
    } else if !to_can.contains(Feature::BLIT_DST) {
        Some(format!("the device does not blit to {to:?}"))
    } else if linear && !from_can.contains(Feature::SAMPLED_IMAGE_FILTER_LINEAR) {
        Some(format!("the device does not filter {from:?}"))
    } else {
        None
    };
    refuse_if(problem, src.0, dst.0)
}

/// Checks that a view is within its image.
pub(crate) fn check_view(image: &GpuImage, view: View) -> Result<(), CommandError> {
    let desc = image.desc();
    if view.fits(desc.mip_levels, desc.array_layers) {
        Ok(())
    } else {
        let part = |word: &str, first: u64, count: u64| match count {
            0 => format!("{word}s from {first} on"),
            1 => format!("{word} {first}"),
            _ => format!("{word}s {first} to {}", first + count - 1),
        };
        let mips = part("mip level", view.base_mip.into(), view.mip_count.into());
        let layers = part("layer", view.base_layer.into(), view.layer_count.into());
        Err(outside(image, format!("the view of {mips} and {layers}")))
    }
}

/// Returns the error for a part outside an image.
pub(crate) fn outside(image: &GpuImage, what: String) -> CommandError {
    let desc = image.desc();
    let [width, height, depth] = desc.extent;
    let (mips, layers) = (desc.mip_levels, desc.array_layers);
    CommandError::Outside {
        what,
        name: image.name().to_owned(),
        room: format!("{width}x{height}x{depth} texels, {mips} mip levels and {layers} layers"),
    }
}

/// Checks that an image supports a view type (section "Image Views", table of compatibility).
pub(crate) fn check_kind(image: &GpuImage, key: ViewKey) -> Result<(), CommandError> {
    use vk::ImageViewType as Kind;
    let desc = image.desc();
    let is_solid = desc.extent[2] > 1;
    let layers = key.view.subresources(image).layer_count;
    let is_1d_view = matches!(key.kind, Kind::TYPE_1D | Kind::TYPE_1D_ARRAY);
    let problem = match key.kind {
        _ if is_1d_view && !desc.one_dimensional => {
            Some("it was made without `one_dimensional: true`".to_owned())
        }
        _ if desc.one_dimensional && !is_1d_view => Some("it is a 1D image".to_owned()),
        Kind::TYPE_3D if is_solid => None,
        Kind::TYPE_3D => Some("it has no depth".to_owned()),
        _ if is_solid => Some("it has depth".to_owned()),
        Kind::TYPE_1D | Kind::TYPE_2D if layers != 1 => Some(format!(
            "the view has {layers} array layers; bind one, by `.layer(..)`"
        )),
        Kind::CUBE | Kind::CUBE_ARRAY if !desc.cube => {
            Some("it was made without `cube: true`".to_owned())
        }
        Kind::CUBE if layers != 6 => Some(format!(
            "the view has {layers} array layers, and a cube has 6"
        )),
        Kind::CUBE_ARRAY if !layers.is_multiple_of(6) => Some(format!(
            "the view has {layers} array layers, and a cube has 6"
        )),
        _ => None,
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(CommandError::View {
            name: image.name().to_owned(),
            kind: key.kind,
            problem,
        }),
    }
}

fn refuse_if(problem: Option<String>, src: &GpuImage, dst: &GpuImage) -> Result<(), CommandError> {
    match problem {
        None => Ok(()),
        Some(problem) => Err(CommandError::Incompatible {
            src: src.name().to_owned(),
            dst: dst.name().to_owned(),
            problem,
        }),
    }
}

/// Formats the extent of a region for errors.
fn texels(region: &ImageRegion) -> String {
    let [width, height, depth] = region.extent;
    let layers = region.layer_count;
    format!("{width}x{height}x{depth} texels on {layers} layers")
}

fn features(device: &Device, format: vk::Format) -> vk::FormatFeatureFlags {
    crate::resources::format::properties(device, format).optimal_tiling_features
}
