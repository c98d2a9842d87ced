//! View and time for shaders of materials, by bevy's names.

use bevy_camera::Camera;
use bevy_camera::primitives::Frustum;
use bevy_ecs::prelude::*;
use bevy_math::{Mat4, Vec4};
use bevy_time::Time;
use bevy_transform::components::GlobalTransform;
use bytemuck::Zeroable as _;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::buffers::RawBufferVec;
use quadrille_content::materials::GlobalsRow;

use crate::pipelines::Pipelines3d;
use crate::scene::buffers::{MaterialGlobals3d, MaterialViews3d};
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::lists::{QueuedView, QueuedViews, ViewRows};
use crate::scene::rows::{MaterialViewRow, ViewRow};

/// Rows in the order of [`QueuedViews`].
#[derive(Resource, Default)]
pub(crate) struct MaterialViewRows(pub(crate) RawBufferVec<MaterialViewRow>);

/// Components of a camera.
type CameraComponents = (&'static Camera, &'static GlobalTransform, &'static Frustum);

/// Uploads the view rows and the time, if a shader of a material reads them. Before `prepare_targets`, which takes the
/// queued views.
pub(crate) fn prepare_material_views(
    (queued, view_rows): (Res<QueuedViews>, Res<ViewRows>),
    (pipelines, effects): (Res<Pipelines3d>, Res<EffectCameras>),
    cameras: Query<CameraComponents>,
    time: Option<Res<Time>>,
    mut rows: ResMut<MaterialViewRows>,
    mut buffers: (ResMut<MaterialViews3d>, ResMut<MaterialGlobals3d>),
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    if !pipelines.meshes.reads_views() {
        return Ok(());
    }
    let rows = &mut rows.0;
    rows.clear();
    let frame_count = effects.submitted as u32;
    for (queued, row) in queued.0.iter().zip(view_rows.rows.iter()) {
        let row = match cameras.get(queued.camera) {
            Ok(camera) => MaterialViewRow {
                frame_count,
                ..view_row(queued, row, camera)
            },
            Err(_) => MaterialViewRow::zeroed(),
        };
        rows.push(row);
    }
    rows.upload(&gpu, &mut uploads, &mut buffers.0.0)?;
    let globals = GlobalsRow {
        time: time
            .as_ref()
            .map_or(0.0, |time| time.elapsed_secs_wrapped()),
        delta_time: time.as_ref().map_or(0.0, |time| time.delta_secs()),
        frame_count,
    };
    uploads.write_buffer(&buffers.1.0, 0, bytemuck::bytes_of(&globals));
    Ok(())
}

fn view_row(
    queued: &QueuedView,
    row: &ViewRow,
    (camera, transform, frustum): (&Camera, &GlobalTransform, &Frustum),
) -> MaterialViewRow {
    let clip_from_world = Mat4::from_cols_array(&row.clip_from_world);
    let (clip_from_view, world_from_view) = (
        queued.clip_from_unjittered() * camera.clip_from_view(),
        transform.to_matrix(),
    );
    let inverse = |matrix: Mat4| matrix.inverse().to_cols_array();
    // Fragments have positions in the image of the view, which begins at its left top.
    let [width, height] = queued.size;
    let viewport = [0, 0, width, height].map(|pixels| pixels as f32);
    let half_spaces = frustum.half_spaces.map(|it| it.normal_d());
    MaterialViewRow {
        clip_from_world: row.clip_from_world,
        unjittered_clip_from_world: queued.unjittered_clip_from_world.to_cols_array(),
        world_from_clip: inverse(clip_from_world),
        world_from_view: world_from_view.to_cols_array(),
        view_from_world: inverse(world_from_view),
        clip_from_view: clip_from_view.to_cols_array(),
        view_from_clip: inverse(clip_from_view),
        world_position: row.position,
        exposure: row.exposure,
        viewport,
        main_pass_viewport: viewport,
        frustum: half_spaces.map(|it: Vec4| it.to_array()),
        lod_view_world_position: row.position,
        mip_bias: row.mip_scale.log2(),
        ..MaterialViewRow::zeroed()
    }
}
