//! Matrices of views with effects or motion vectors, for reconstruction of positions and reprojection.

use bevy_camera::Camera;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille_content::buffers::RawBufferVec;

use crate::scene::camera_history::CameraHistories;
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::frame::Scene3d;
use crate::scene::lists::ViewRows;
use crate::scene::rows::ViewTransformsRow;
use crate::skin::jobs::SkinJobs;
use crate::tables::table::uniform_buffer;

/// Matrices of views with effects or [`MotionVectorPrepass`](crate::MotionVectorPrepass): rows of `quadrille_3d::view_transforms::ViewTransforms`. Bind
/// [`View3d::transforms_bytes`](crate::View3d::transforms_bytes) of it.
#[derive(Resource, Deref)]
pub struct ViewTransforms3d(GpuBuffer);

/// Rows by [`View3d::images`](crate::View3d::images); zeros for other views. Empty if there are none.
#[derive(Resource, Default)]
pub(super) struct ViewTransformRows(RawBufferVec<ViewTransformsRow>);

/// Creates the buffer, and marks the rows for upload (after a lost device).
pub(super) fn init_view_transforms(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    mut rows: ResMut<ViewTransformRows>,
) -> Result {
    let bytes = size_of::<ViewTransformsRow>();
    let buffer = uniform_buffer(&gpu, "3d view transforms", bytes as u64)?;
    uploads.write_buffer(&buffer, 0, &vec![0; bytes]);
    commands.insert_resource(ViewTransforms3d(buffer));
    rows.0.mark_all_dirty();
    Ok(())
}

/// Uploads the rows of this frame's views.
pub(super) fn prepare_view_transforms(
    (scene, effects): (Res<Scene3d>, Res<EffectCameras>),
    view_rows: Res<ViewRows>,
    (cameras, histories): (Query<(&Camera, &GlobalTransform)>, Res<CameraHistories>),
    skins: Res<SkinJobs>,
    mut rows: ResMut<ViewTransformRows>,
    mut buffer: ResMut<ViewTransforms3d>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    let rows = &mut rows.0;
    rows.clear();
    for view in scene.views() {
        let (Some(history), Ok((camera, transform))) =
            (histories.get(view.camera()), cameras.get(view.camera()))
        else {
            continue;
        };
        let jitter = view.queued.clip_from_unjittered();
        let mut row = ViewTransformsRow::new(
            jitter * history.clip_from_world(),
            jitter * camera.clip_from_view(),
            transform.to_matrix(),
        );
        row.unjittered_clip_from_world = history.clip_from_world().to_cols_array();
        row.first_deformed_vertex = skins.first_deformed_vertex();
        row.previous_clip_from_world = history.previous_clip_from_world().to_cols_array();
        row.jitter = view.queued.jitter.to_array();
        row.history_is_valid = u32::from(history.is_valid());
        row.frame_count = effects.submitted as u32;
        let [left, top, ..] = view.viewport();
        let [width, height] = view.size();
        row.viewport = [left, top, width, height].map(|pixels| pixels as f32);
        if let Some(view_row) = view_rows.rows.get(view.row() as usize) {
            row.exposure = view_row.exposure;
        }
        let at = view.images();
        if at >= rows.len() {
            rows.resize(at + 1, bytemuck::Zeroable::zeroed());
        }
        rows[at] = row;
    }
    rows.upload(&gpu, &mut uploads, &mut buffer.0)?;
    Ok(())
}

impl ViewTransformsRow {
    fn new(clip_from_world: Mat4, clip_from_view: Mat4, world_from_view: Mat4) -> Self {
        let inverse = |matrix: Mat4| matrix.inverse().to_cols_array();
        Self {
            clip_from_world: clip_from_world.to_cols_array(),
            world_from_clip: inverse(clip_from_world),
            view_from_world: inverse(world_from_view),
            world_from_view: world_from_view.to_cols_array(),
            clip_from_view: clip_from_view.to_cols_array(),
            view_from_clip: inverse(clip_from_view),
            world_position: world_from_view.w_axis.truncate().to_array(),
            ..bytemuck::Zeroable::zeroed()
        }
    }
}
