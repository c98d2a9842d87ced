//! What lies behind the scene: bevy's `Skybox`.

use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, ColorAttachment as _, DepthAttachment as _, access_kind};
use quadrille::prelude::{
    DepthState, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Table,
};
use quadrille::vulkan::vk;
use quadrille_content::{Msaa, entity_name, first_non_finite, is_finite};

use crate::environment::maps::{Cubes3d, MapSource};
use crate::environment::{EnvironmentCameraItem, EnvironmentParams};
use crate::passes::DrawParams3d;
use crate::targets::{SceneDepths, SceneMsaaColors, scene_formats};

/// A sky as its shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct SkyboxPush {
    cube_from_clip: [f32; 16],
    brightness: f32,
    cube: u32,
    unused: [u32; 2],
}

/// The sky of a camera; none until its image is there.
pub(crate) fn sky_of(
    environment_camera: &EnvironmentCameraItem<'_, '_>,
    camera: Entity,
    world: &EnvironmentParams,
    source: &mut MapSource,
) -> Option<SkyboxPush> {
    let skybox = environment_camera.skybox?;
    let entry = source.sky(skybox.image.as_ref()?)?;
    let cube_from_view = Mat4::from_quat(skybox.rotation.inverse())
        * Mat4::from_mat3a(environment_camera.transform.affine().matrix3);
    let matrix = cube_from_view * environment_camera.camera.clip_from_view().inverse();
    let cube_from_clip = matrix.to_cols_array();
    let brightness = skybox.brightness * environment_camera.exposure.exposure();
    if is_finite(&cube_from_clip) && brightness.is_finite() {
        return Some(SkyboxPush {
            cube_from_clip,
            brightness,
            cube: entry.index,
            unused: [0; 2],
        });
    }
    let subject = format_args!("the sky of the camera {}", entity_name(camera));
    world.warnings.warn(subject, || {
        first_non_finite(&[
            ("rotation", &skybox.rotation.to_array()),
            ("brightness times exposure", &[brightness]),
            ("projection", &cube_from_clip),
        ])
    });
    None
}

/// The pipeline of [`skybox_3d`].
#[derive(Resource)]
pub struct SkyboxPipeline3d(GraphicsPipeline);

impl SkyboxPipeline3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../../shaders/quadrille_3d/skybox.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/skybox.wgsl", source)?;
        let pipeline = gpu.graphics_pipeline(&GraphicsPipelineDesc {
            depth: Some(DepthState {
                compare: vk::CompareOp::GREATER_OR_EQUAL,
                write: false,
            }),
            ..GraphicsPipelineDesc::of("3d sky", &shader)
        })?;
        // Before the first sky, as most cameras draw it.
        pipeline.prepare(&scene_formats(Msaa::default().samples()));
        Ok(Self(pipeline))
    }
}

/// The pass that draws skies where nothing is before them: one pass of the plan for each view with a
/// `Skybox`.
pub fn skybox_3d(
    mut recorder: Recorder,
    samples: AccessList<SceneMsaaColors, access_kind::ColorTarget>,
    depths: AccessList<SceneDepths, access_kind::DepthRead>,
    cubes: Table<Cubes3d>,
    draw_params: DrawParams3d,
    pipeline: Res<SkyboxPipeline3d>,
) {
    for view in &draw_params.scene.views {
        let at = view.images as usize;
        let (Some(push), Some(color), Some(depth)) = (view.skybox, samples.get(at), depths.get(at))
        else {
            continue;
        };
        let mut pass = recorder.pass_in_step(
            view.step,
            "skybox_3d",
            &[color.as_declared(), depth.as_declared()],
        );
        pass.render((color.keep(), depth.layer(0).keep_depth()))
            .pipeline(&pipeline.0)
            .table(1, &cubes)
            .push_bytes(bytemuck::bytes_of(&push))
            .draw(0..3, 0..1);
    }
}
