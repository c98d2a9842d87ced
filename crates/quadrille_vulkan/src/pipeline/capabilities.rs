//! SPIR-V capabilities that need optional device features (appendix "Vulkan Environment for SPIR-V", section
//! "Capabilities").

use ash::vk;

use crate::device::Device;
use crate::error::ShaderError;
use crate::shader::{GpuShader, control_flow_depth};

const CAPABILITY: u32 = 17;

/// Feature for reading attachments within their rendering.
pub(crate) const LOCAL_READ: &str =
    "dynamicRenderingLocalRead of VK_KHR_dynamic_rendering_local_read";

/// Returns the feature that a capability needs, and whether the device has it.
fn feature(device: &Device, capability: u32) -> Option<(&'static str, bool)> {
    let (core, optional) = (&device.core, &device.optional);
    let of_core = |has: vk::Bool32| has == vk::TRUE;
    Some(match capability {
        10 => ("shaderFloat64", of_core(core.shader_float64)),
        11 => ("shaderInt64", of_core(core.shader_int64)),
        22 => ("shaderInt16", of_core(core.shader_int16)),
        32 => ("shaderClipDistance", of_core(core.shader_clip_distance)),
        34 | 45 => ("imageCubeArray", of_core(core.image_cube_array)),
        35 => ("sampleRateShading", of_core(core.sample_rate_shading)),
        40 => (LOCAL_READ, optional.local_read),
        49 => (
            "shaderStorageImageExtendedFormats",
            of_core(core.shader_storage_image_extended_formats),
        ),
        55 => (
            "shaderStorageImageReadWithoutFormat",
            of_core(core.shader_storage_image_read_without_format),
        ),
        56 => (
            "shaderStorageImageWriteWithoutFormat",
            of_core(core.shader_storage_image_write_without_format),
        ),
        4427 => ("shaderDrawParameters", optional.draw_parameters),
        4439 => ("multiview", optional.multiview),
        _ => return None,
    })
}

/// Maximum nesting of selections and loops on software drivers: Mesa's llvmpipe 25.0 has tables of 80 entries
/// (`LP_MAX_TGSI_NESTING`) and writes beyond their end.
const MAX_NESTED_IN_SOFTWARE: usize = 78;

/// Checks that a driver can compile the nesting depth of a pipeline's shaders.
fn check_nesting(
    device: &Device,
    pipeline: &str,
    shaders: &[&GpuShader],
) -> Result<(), ShaderError> {
    let most = MAX_NESTED_IN_SOFTWARE;
    let mut shaders = shaders.iter().filter(|_| device.info.software);
    let depth_of = |shader: &&&GpuShader| control_flow_depth(shader.words(), most) > most;
    match shaders.find(depth_of) {
        None => Ok(()),
        Some(shader) => Err(ShaderError::Pipeline {
            pipeline: pipeline.to_owned(),
            problem: format!(
                "the control flow of `{}` is nested more than {most} deep, cases of a switch and called \
                 functions included, which the driver of `{}` cannot compile; look values up in an \
                 array, or return early",
                shader.label(),
                device.info.name
            ),
        }),
    }
}

/// Checks that a device has the features that a pipeline's shaders need, and can compile them.
pub(crate) fn check_features(
    device: &Device,
    pipeline: &str,
    shaders: &[&GpuShader],
) -> Result<(), ShaderError> {
    check_nesting(device, pipeline, shaders)?;
    let lacking = shaders.iter().find_map(|shader| {
        let mut words = shader.words().get(5..).unwrap_or_default().chunks_exact(2);
        // Capabilities come before every other instruction (SPIR-V, "Logical Layout of a Module").
        let mut capabilities = std::iter::from_fn(|| match words.next() {
            Some(&[first, capability]) if first == 2 << 16 | CAPABILITY => Some(capability),
            _ => None,
        });
        capabilities.find_map(|it| feature(device, it).filter(|(_, has)| !has))
    });
    match lacking {
        None => Ok(()),
        Some((feature, _)) => Err(ShaderError::Pipeline {
            pipeline: pipeline.to_owned(),
            problem: format!(
                "its shaders take the feature {feature}, which the device `{}` lacks",
                device.info.name
            ),
        }),
    }
}
