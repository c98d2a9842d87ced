//! Skyboxes of cameras.

use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille_content::warnings::{entity_name, first_non_finite, is_finite};

use crate::environment::maps::MapSource;
use crate::environment::{EnvironmentCameraItem, EnvironmentParams};
use crate::scene::lists::{QueuedView, ViewMap};

/// Push constants of the skybox shader.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/skybox.wgsl", "Push")]
pub(crate) struct SkyboxPush {
    cube_from_clip: [f32; 16],
    brightness: f32,
    cube: u32,
    unused: [u32; 2],
}

/// Skyboxes by view, filled by [`queue_environments`](crate::environment::queue_environments).
#[derive(Resource, Default)]
pub(crate) struct Skies(pub(crate) ViewMap<SkyboxPush>);

/// Returns the skybox of a camera; `None` until its image is resident.
pub(crate) fn sky_of(
    environment_camera: &EnvironmentCameraItem<'_, '_>,
    view: &QueuedView,
    world: &EnvironmentParams,
    source: &mut MapSource,
) -> Option<SkyboxPush> {
    let skybox = environment_camera.skybox?;
    let entry = source.sky(skybox.image.as_ref()?)?;
    let cube_from_view = Mat4::from_quat(skybox.rotation.inverse())
        * Mat4::from_mat3a(environment_camera.transform.affine().matrix3);
    let clip_from_view = view.clip_from_unjittered() * environment_camera.camera.clip_from_view();
    let matrix = cube_from_view * clip_from_view.inverse();
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
    let subject = format_args!("the skybox of the camera {}", entity_name(view.camera));
    world.warnings.warn(subject, || {
        first_non_finite(&[
            ("rotation", &skybox.rotation.to_array()),
            ("brightness times exposure", &[brightness]),
            ("projection", &cube_from_clip),
        ])
    });
    None
}
