//! Validation of attachment formats against a device and the shaders' outputs.

use ash::vk;

use super::formats::Formats;
use crate::device::Device;
use crate::resources::format::{aspects, properties, scalar_kind};
use crate::shader::{EntryPoint, Location};

/// Describes why formats are invalid (section "Graphics Pipelines", the valid usage of
/// `VkGraphicsPipelineCreateInfo` with `VkPipelineRenderingCreateInfo`).
pub(super) fn problem(
    device: &Device,
    formats: &Formats,
    fragment: Option<&EntryPoint>,
    tests: vk::ImageAspectFlags,
) -> Option<String> {
    let limits = &device.limits;
    if let Err(error) = device.check_views(formats.view_mask) {
        return Some(format!("it draws to several views: {error}"));
    }
    let colors = formats.used_colors();
    if colors.len() > limits.max_color_attachments as usize {
        let (count, most) = (colors.len(), limits.max_color_attachments);
        return Some(format!(
            "it draws to {count} color attachments; the device allows {most}"
        ));
    }
    let allowed = limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts;
    let samples = formats.samples;
    if !samples.is_power_of_two() || !allowed.contains(vk::SampleCountFlags::from_raw(samples)) {
        return Some(format!(
            "it draws to {samples} samples; the device has {allowed:?}"
        ));
    }
    let color = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
    let mut colors = colors.iter();
    let unfit = colors.find(|&&format| !features(device, format).contains(color));
    if let Some(format) = unfit {
        return Some(format!("the device does not draw to colors of {format:?}"));
    }
    let depth = formats.depth;
    let missing = tests & !aspects(depth);
    if missing.contains(vk::ImageAspectFlags::STENCIL) {
        return Some(format!(
            "it has a stencil test, and the rendering has no attachment with stencil; the format of depth is \
             {depth:?}"
        ));
    }
    if missing.contains(vk::ImageAspectFlags::DEPTH) {
        return Some(
            "it has a `DepthState`, and the rendering has no attachment with depth; draw with a \
             `DepthTarget` or `DepthRead` too, or describe the pipeline with `depth: None`"
                .to_owned(),
        );
    }
    let is_depth = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
    if depth != vk::Format::UNDEFINED && !features(device, depth).contains(is_depth) {
        return Some(format!("the device has no depth attachments of {depth:?}"));
    }
    let fragment = fragment?;
    let colors = formats.used_colors();
    output_problem(fragment, colors).or_else(|| missing_output(device, fragment, colors))
}

/// Whether a shader has an output for a color attachment.
pub(super) fn is_written(outputs: &[Location], location: u32) -> bool {
    outputs.iter().any(|output| output.location == location)
}

/// Describes a missing output: its attachment has to be masked while others are written, which needs
/// `independentBlend`.
fn missing_output(device: &Device, fragment: &EntryPoint, colors: &[vk::Format]) -> Option<String> {
    let outputs = &fragment.outputs;
    let mut locations = 0..colors.len() as u32;
    let is_some_written = locations.clone().any(|at| is_written(outputs, at));
    if device.core.independent_blend == vk::TRUE || !is_some_written {
        return None;
    }
    let missing = locations.find(|&at| !is_written(outputs, at))?;
    let name = &fragment.name;
    Some(format!(
        "{name} has no output @location({missing}), and this device cannot leave one of several \
         attachments as it is; add the output, or leave that attachment out"
    ))
}

/// Describes an output whose scalar kind differs from that of its attachment's format (section "Fragment Output
/// Interface").
fn output_problem(fragment: &EntryPoint, colors: &[vk::Format]) -> Option<String> {
    fragment.outputs.iter().find_map(|output| {
        let format = *colors.get(output.location as usize)?;
        let scalar = scalar_kind(format);
        (!output.can_have_attribute(scalar)).then(|| {
            let (name, are) = (&fragment.name, scalar.word());
            format!("{name} writes {output} to an attachment of {format:?}: {are}")
        })
    })
}

fn features(device: &Device, format: vk::Format) -> vk::FormatFeatureFlags {
    properties(device, format).optimal_tiling_features
}
