//! Rarely changed fixed-function state of graphics pipelines, and its validation against a device.

use ash::vk;

use super::state::{Blend, ColorState};
use crate::device::Device;
use crate::shader::EntryPoint;

/// Rarely changed state of a graphics pipeline. State that needs a feature which the device lacks is an error at
/// creation of the pipeline.
///
/// ```
/// use quadrille_vulkan::pipeline::{DepthBias, GraphicsPipelineDesc, PipelineState};
/// use quadrille_vulkan::shader::GpuShader;
/// # fn shadow(shader: &GpuShader) {
/// let shadow = GraphicsPipelineDesc {
///     state: PipelineState {
///         depth_bias: Some(DepthBias { constant: 2.0, slope: 1.5, clamp: 0.0 }),
///         depth_clamp: true,
///         ..PipelineState::default()
///     },
///     ..GraphicsPipelineDesc::of("shadow", shader)
/// };
/// # drop(shadow); }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineState {
    /// Blending and write masks of color attachments, by `@location`. Further attachments use the pipeline's
    /// [`blend`](super::GraphicsPipelineDesc::blend). Different state per attachment needs the feature
    /// `independentBlend`.
    pub colors: Vec<ColorState>,
    /// Logical operation between fragment and attachment, for integer and normalized formats; disables blending.
    /// Needs the feature `logicOp`.
    pub logic: Option<vk::LogicOp>,
    /// Alpha to coverage: the alpha of `@location(0)` determines the covered samples.
    pub alpha_to_coverage: bool,
    /// Alpha to one: replaces the alpha of outputs by 1, after alpha to coverage and before blending. Needs the feature
    /// `alphaToOne`.
    pub alpha_to_one: bool,
    /// Minimum fraction of samples that are shaded separately, from 0 to 1 (`minSampleShading`). Needs the feature
    /// `sampleRateShading`.
    pub sample_shading: Option<f32>,
    /// The winding of front faces; counter-clockwise by default.
    pub front_face: vk::FrontFace,
    /// Polygon mode: `FILL` by default; `LINE` and `POINT` need the feature `fillModeNonSolid`.
    pub polygon: vk::PolygonMode,
    /// Depth bias; `None` for none.
    pub depth_bias: Option<DepthBias>,
    /// Clamps depth to the range of the viewport instead of clipping primitives. Needs the feature `depthClamp`.
    pub depth_clamp: bool,
    /// Depth bounds test: minimum and maximum of the attachment's depth. Needs the feature `depthBounds`.
    pub depth_bounds: Option<[f32; 2]>,
    /// Stencil test; `None` for none.
    pub stencil: Option<StencilState>,
}

/// Bias that is added to the depth of polygons (section "Depth Bias").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// Constant factor, in units of the minimum resolvable difference of the depth format.
    pub constant: f32,
    /// Factor of the polygon's maximum depth slope.
    pub slope: f32,
    /// Maximum of the bias, or minimum if negative; 0 for no limit. Other values need the feature
    /// `depthBiasClamp`.
    pub clamp: f32,
}

/// Stencil test and stencil writes (section "Stencil Test").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilState {
    /// For front faces.
    pub front: StencilFace,
    /// For back faces.
    pub back: StencilFace,
    /// Mask of compared bits.
    pub read_mask: u8,
    /// Mask of written bits; 0 if the pass only reads stencil.
    pub write_mask: u8,
    /// Reference value of the test and of `REPLACE`, unless a pass overrides it
    /// ([`CommandList::stencil_reference`](crate::commands::CommandList::stencil_reference)).
    pub reference: u8,
}

/// Stencil test and operations for the fragments of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// The comparison of the reference with the stored value.
    pub compare: vk::CompareOp,
    /// The operation if the stencil test fails.
    pub fail: vk::StencilOp,
    /// The operation if the stencil test passes and the depth test fails.
    pub depth_fail: vk::StencilOp,
    /// The operation if both tests pass.
    pub pass: vk::StencilOp,
}

impl StencilState {
    /// Uses the same state for both faces, with all mask bits set.
    pub fn new(reference: u8, face: StencilFace) -> Self {
        Self {
            front: face,
            back: face,
            read_mask: u8::MAX,
            write_mask: u8::MAX,
            reference,
        }
    }

    /// All fragments pass and write the reference.
    pub fn write(reference: u8) -> Self {
        let face = StencilFace {
            pass: vk::StencilOp::REPLACE,
            ..StencilFace::only(vk::CompareOp::ALWAYS)
        };
        Self::new(reference, face)
    }

    /// Fragments pass if the comparison of reference and stored value is true; nothing is written.
    pub fn test(reference: u8, compare: vk::CompareOp) -> Self {
        Self {
            write_mask: 0,
            ..Self::new(reference, StencilFace::only(compare))
        }
    }

    /// Whether it may write stencil.
    pub(super) fn writes(&self) -> bool {
        let keeps = |face: StencilFace| {
            [face.fail, face.depth_fail, face.pass].map(|it| it == vk::StencilOp::KEEP) == [true; 3]
        };
        self.write_mask != 0 && !(keeps(self.front) && keeps(self.back))
    }

    pub(super) fn to_vk(self) -> [vk::StencilOpState; 2] {
        [self.front, self.back].map(|face| vk::StencilOpState {
            fail_op: face.fail,
            pass_op: face.pass,
            depth_fail_op: face.depth_fail,
            compare_op: face.compare,
            compare_mask: self.read_mask.into(),
            write_mask: self.write_mask.into(),
            reference: self.reference.into(),
        })
    }
}

impl StencilFace {
    /// Tests only; nothing is written.
    pub fn only(compare: vk::CompareOp) -> Self {
        Self {
            compare,
            fail: vk::StencilOp::KEEP,
            depth_fail: vk::StencilOp::KEEP,
            pass: vk::StencilOp::KEEP,
        }
    }
}

/// Describes why state is invalid for any attachments.
pub(super) fn problem(
    device: &Device,
    state: &PipelineState,
    blend: Blend,
    compare: Option<vk::CompareOp>,
    fragment: Option<&EntryPoint>,
) -> Option<String> {
    if let Some((what, feature)) = lacking(device, state) {
        let device = &device.info.name;
        return Some(format!(
            "{what} takes the feature {feature}, which the device `{device}` lacks"
        ));
    }
    let blends = state.colors.iter().map(|it| it.blend);
    if let Some(blend) = blends.chain([blend]).find(|it| !it.is_known()) {
        return Some(format!(
            "its blend {blend:?} has a factor or an operation that Vulkan does not have, or factors of a \
             second source, which shaders cannot write here"
        ));
    }
    let odd = invalid_value(state, compare);
    odd.or_else(|| {
        let first = fragment?.outputs.iter().find(|it| it.location == 0);
        let components = first.and_then(|it| it.ty).map_or(0, |ty| ty.components);
        (state.alpha_to_coverage && components < 4)
            .then(|| "alpha to coverage takes an output @location(0) with alpha, a vec4".to_owned())
    })
}

/// Returns the first part of the state that needs a feature which the device lacks, and that feature.
fn lacking(device: &Device, state: &PipelineState) -> Option<(&'static str, &'static str)> {
    let core = &device.core;
    let is_clamped = state.depth_bias.is_some_and(|bias| bias.clamp != 0.0);
    let wanted = [
        (
            state.logic.is_some(),
            core.logic_op,
            "its logic operation",
            "logicOp",
        ),
        (
            state.alpha_to_one,
            core.alpha_to_one,
            "alpha to one",
            "alphaToOne",
        ),
        (
            state.sample_shading.is_some(),
            core.sample_rate_shading,
            "sample shading",
            "sampleRateShading",
        ),
        (
            state.polygon != vk::PolygonMode::FILL,
            core.fill_mode_non_solid,
            "drawing edges or corners",
            "fillModeNonSolid",
        ),
        (
            is_clamped,
            core.depth_bias_clamp,
            "a clamped depth bias",
            "depthBiasClamp",
        ),
        (
            state.depth_clamp,
            core.depth_clamp,
            "clamping depth",
            "depthClamp",
        ),
        (
            state.depth_bounds.is_some(),
            core.depth_bounds,
            "a depth bounds test",
            "depthBounds",
        ),
    ];
    let mut lacking = wanted.into_iter().filter(|it| it.0 && it.1 == vk::FALSE);
    lacking.next().map(|(_, _, what, feature)| (what, feature))
}

/// Describes a value that Vulkan does not allow.
fn invalid_value(state: &PipelineState, compare: Option<vk::CompareOp>) -> Option<String> {
    let is_part = |it: f32| (0.0..=1.0).contains(&it);
    if let Some(part) = state.sample_shading.filter(|&it| !is_part(it)) {
        return Some(format!(
            "its sample shading is {part}; it can be from 0 to 1"
        ));
    }
    if let Some(bounds) = state
        .depth_bounds
        .filter(|it| !it.iter().all(|&it| is_part(it)))
    {
        return Some(format!(
            "its depth bounds are {bounds:?}; they can be from 0 to 1"
        ));
    }
    let bias = state.depth_bias.unwrap_or_default();
    if ![bias.constant, bias.slope, bias.clamp]
        .iter()
        .all(|it| it.is_finite())
    {
        return Some(format!(
            "its depth bias is {bias:?}; its values must be finite"
        ));
    }
    let faces = state.stencil.map(|it| [it.front, it.back]);
    let faces = faces.into_iter().flatten();
    let compares = faces.clone().map(|face| face.compare).chain(compare);
    let ops = faces.flat_map(|face| [face.fail, face.depth_fail, face.pass]);
    let mut values = compares
        .map(|it| ("comparison", it.as_raw(), vk::CompareOp::ALWAYS.as_raw()))
        .chain(ops.map(|it| {
            let last = vk::StencilOp::DECREMENT_AND_WRAP.as_raw();
            ("stencil operation", it.as_raw(), last)
        }))
        .chain(
            state
                .logic
                .map(|it| ("logic operation", it.as_raw(), vk::LogicOp::SET.as_raw())),
        )
        .chain([
            (
                "front face",
                state.front_face.as_raw(),
                vk::FrontFace::CLOCKWISE.as_raw(),
            ),
            (
                "polygon mode",
                state.polygon.as_raw(),
                vk::PolygonMode::POINT.as_raw(),
            ),
        ]);
    let odd = values.find(|(_, value, last)| !(0..=*last).contains(value));
    odd.map(|(what, value, _)| format!("its {what} is {value}, which is no value of Vulkan"))
}
