//! What lies behind the scene: bevy's `Skybox`.

use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{AccessList, ColorAttachment as _, DepthAttachment as _, access_kind};
use quadrille::prelude::{
    DepthState, GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Table,
};
use quadrille::vulkan::vk;
use quadrille_content::{Msaa, first_odd, is_finite, named};

use crate::environment::maps::{Cubes3d, MapSource};
use crate::environment::{SeerItem, Surroundings};
use crate::passes::Drawn3d;
use crate::targets::{SceneDepths, SceneSamples, scene_formats};

/// A sky as its shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct SkyPush {
    cube_from_clip: [f32; 16],
    brightness: f32,
    cube: u32,
    unused: [u32; 2],
}

/// The sky of a camera; none until its image is there.
pub(crate) fn sky_of(
    seer: &SeerItem<'_, '_>,
    camera: Entity,
    world: &Surroundings,
    source: &mut MapSource,
) -> Option<SkyPush> {
    let skybox = seer.skybox?;
    let place = source.sky(skybox.image.as_ref()?)?;
    let cube_from_view = Mat4::from_quat(skybox.rotation.inverse())
        * Mat4::from_mat3a(seer.transform.affine().matrix3);
    let matrix = cube_from_view * seer.camera.clip_from_view().inverse();
    let cube_from_clip = matrix.to_cols_array();
    let brightness = skybox.brightness * seer.exposure.exposure();
    if is_finite(&cube_from_clip) && brightness.is_finite() {
        return Some(SkyPush {
            cube_from_clip,
            brightness,
            cube: place.place,
            unused: [0; 2],
        });
    }
    let who = format_args!("the sky of the camera {}", named(camera));
    world.complaints.warn(who, || {
        first_odd(&[
            ("rotation", &skybox.rotation.to_array()),
            ("brightness times exposure", &[brightness]),
            ("projection", &cube_from_clip),
        ])
    });
    None
}

/// The pipeline of [`sky_3d`].
#[derive(Resource)]
pub struct SkyPipeline3d(GraphicsPipeline);

impl SkyPipeline3d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, BevyError> {
        let source = include_str!("../../../shaders/quadrille_3d/sky.wgsl");
        let shader = GpuShader::wgsl("quadrille_3d/sky.wgsl", source)?;
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
pub fn sky_3d(
    mut recorder: Recorder,
    samples: AccessList<SceneSamples, access_kind::ColorTarget>,
    depths: AccessList<SceneDepths, access_kind::DepthRead>,
    cubes: Table<Cubes3d>,
    drawn: Drawn3d,
    pipeline: Res<SkyPipeline3d>,
) {
    for view in &drawn.scene.views {
        let at = view.images as usize;
        let (Some(push), Some(color), Some(depth)) = (view.sky, samples.get(at), depths.get(at))
        else {
            continue;
        };
        let mut pass = recorder.pass_in_step(
            view.step,
            "sky_3d",
            &[color.as_declared(), depth.as_declared()],
        );
        pass.render((color.keep(), depth.layer(0).keep_depth()))
            .pipeline(&pipeline.0)
            .table(1, &cubes)
            .push_bytes(bytemuck::bytes_of(&push))
            .draw(0..3, 0..1);
    }
}
