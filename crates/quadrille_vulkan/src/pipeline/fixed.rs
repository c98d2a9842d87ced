//! The fixed state of graphics pipelines that few of them change, and whether a device has it.

use ash::vk;

use super::state::{Blend, ColorState};
use crate::device::Device;
use crate::shader::EntryPoint;

/// The state of a graphics pipeline that few pipelines change; the default changes nothing. What takes
/// a feature that the device lacks is an error when the pipeline is made.
///
/// ```
/// use quadrille_vulkan::{DepthBias, GpuShader, GraphicsPipelineDesc, PipelineState};
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
    /// How colour attachments mix and which of their components are written, by `@location`. Those
    /// that are not in it have the pipeline's [`blend`](super::GraphicsPipelineDesc::blend). Attachments
    /// that differ take the feature `independentBlend`.
    pub colors: Vec<ColorState>,
    /// Colours are combined with what is there bit by bit, in formats of integers and of normalised
    /// values; nothing blends. Feature `logicOp`.
    pub logic: Option<vk::LogicOp>,
    /// The alpha of `@location(0)` decides which samples are covered.
    pub alpha_to_coverage: bool,
    /// Fragment shaders run for at least this part of the samples, from 0 to 1. Feature
    /// `sampleRateShading`.
    pub sample_shading: Option<f32>,
    /// The winding of front faces; counter-clockwise by default.
    pub front_face: vk::FrontFace,
    /// The rasterized part of polygons: all of it by default, or edges or corners (`LINE`, `POINT`),
    /// which takes the feature `fillModeNonSolid`.
    pub polygon: vk::PolygonMode,
    /// The bias that is added to depth.
    pub depth_bias: Option<DepthBias>,
    /// Depth is clamped to the viewport's, and nothing is cut off by it. Feature `depthClamp`.
    pub depth_clamp: bool,
    /// Fragments pass where the depth that is there lies between these two. Feature `depthBounds`.
    pub depth_bounds: Option<[f32; 2]>,
    /// Stencil test; `None` for none.
    pub stencil: Option<StencilState>,
}

/// Bias that is added to the depth of polygons (section "Depth Bias").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// In the smallest steps of the depth format.
    pub constant: f32,
    /// Times the largest slope of the polygon.
    pub slope: f32,
    /// The most that is added, or the least if it is negative; 0 for no limit. Others take the feature
    /// `depthBiasClamp`.
    pub clamp: f32,
}

/// How stencil is tested and written (section "Stencil Test").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilState {
    /// For front faces.
    pub front: StencilFace,
    /// For back faces.
    pub back: StencilFace,
    /// The bits that are compared.
    pub read_mask: u8,
    /// The bits that are written; 0 where passes only read stencil.
    pub write_mask: u8,
    /// The reference of the test, written by `REPLACE`, unless a pass sets another for its draws
    /// ([`CommandList::stencil_reference`](crate::CommandList::stencil_reference)).
    pub reference: u8,
}

/// Stencil test and operations for the fragments of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// The test: how the reference compares with the stored value.
    pub compare: vk::CompareOp,
    /// The operation where the test fails.
    pub fail: vk::StencilOp,
    /// The operation where it passes, and depth fails.
    pub depth_fail: vk::StencilOp,
    /// The operation where both pass.
    pub pass: vk::StencilOp,
}

impl StencilState {
    /// Both faces alike, with all bits.
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

    /// Fragments pass where this holds of the reference and what is there; nothing is written.
    pub fn test(reference: u8, compare: vk::CompareOp) -> Self {
        Self {
            write_mask: 0,
            ..Self::new(reference, StencilFace::only(compare))
        }
    }

    /// Whether it may change what is there.
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
    /// Tests, and writes nothing.
    pub fn only(compare: vk::CompareOp) -> Self {
        Self {
            compare,
            fail: vk::StencilOp::KEEP,
            depth_fail: vk::StencilOp::KEEP,
            pass: vk::StencilOp::KEEP,
        }
    }
}

/// Describes why state is invalid, whatever its targets.
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

/// Returns the feature for some state that a device lacks.
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

/// A value that Vulkan does not allow.
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
    odd.map(|(what, value, _)| format!("its {what} is {value}, which there is not"))
}
