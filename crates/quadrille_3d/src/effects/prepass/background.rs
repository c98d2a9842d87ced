//! Motion vectors of the background.

use bevy_ecs::prelude::*;
use quadrille::ecs::{Rendering, Uniform};
use quadrille::prelude::{GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille::vulkan::pipeline::{Blend, ColorState, DepthState, PipelineState};
use quadrille::vulkan::vk;

use crate::camera_effect::ViewTransforms3d;
use crate::scene::frame::View3d;

/// Pipelines that draw the motion of the background where depth is 0: without normals, and with normals, which they keep;
/// then the same with a G-buffer, which they keep.
#[derive(Resource)]
pub struct BackgroundMotionPipelines([GraphicsPipeline; 4]);

impl BackgroundMotionPipelines {
    pub(super) fn new(gpu: &GpuDevice) -> Result<Self> {
        let source = include_str!("../../../shaders/background_motion.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/background_motion.wgsl", source)?;
        let pipeline = |entry, colors| {
            let (vertex, fragment) = ((&shader, "vertex_main"), (&shader, entry));
            gpu.graphics_pipeline(&GraphicsPipelineDesc {
                depth: Some(DepthState {
                    compare: vk::CompareOp::GREATER_OR_EQUAL,
                    write: false,
                }),
                state: PipelineState {
                    colors,
                    ..PipelineState::default()
                },
                ..GraphicsPipelineDesc::new("3d background motion", vertex, fragment)
            })
        };
        let motion = ColorState::new(Blend::Opaque);
        let normal = motion.with_mask(vk::ColorComponentFlags::empty());
        Ok(Self([
            pipeline("motion_main", vec![motion])?,
            pipeline("motion_after_normal_main", vec![normal, motion])?,
            pipeline("motion_main", vec![motion, normal])?,
            pipeline("motion_after_normal_main", vec![normal, motion, normal])?,
        ]))
    }

    /// Draws the motion of the background of a view, if it has any.
    pub(super) fn draw(
        &self,
        rendering: &mut Rendering<'_>,
        view: &View3d,
        transforms: &Uniform<'_, ViewTransforms3d>,
    ) {
        let needs = view.queued.prepass;
        if needs.background_motion {
            rendering
                .pipeline(&self.0[usize::from(needs.normal) + 2 * usize::from(needs.deferred)])
                .bind_bytes("motion_view", transforms, view.transforms_bytes())
                .draw(0..3, 0..1);
        }
    }
}
