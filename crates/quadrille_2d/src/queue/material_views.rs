//! Time and views for shaders of materials, by bevy's names.

use bevy_camera::Camera;
use bevy_camera::primitives::Frustum;
use bevy_ecs::prelude::*;
use bevy_math::Mat4;
use bevy_time::Time;
use bevy_transform::components::GlobalTransform;
use bytemuck::Zeroable as _;
use quadrille::ecs::RetainedContents;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::buffers::grow_buffer;
use quadrille_content::materials::GlobalsRow;

use crate::scene::material_view::MaterialViewRow;
use crate::scene::materials::{MaterialGlobals2d, MaterialViews2d, Materials2d};
use crate::scene::phase::{Phase2d, View2d};

/// Components of a camera.
type CameraComponents = (&'static Camera, &'static GlobalTransform, &'static Frustum);

/// Uploads the time and the views, if a shader of a material reads one of them.
pub(crate) fn upload_material_globals(
    (materials, phase): (Res<Materials2d>, Res<Phase2d>),
    cameras: Query<CameraComponents>,
    time: Option<Res<Time>>,
    renderer: RetainedContents,
    globals: Res<MaterialGlobals2d>,
    mut views: ResMut<MaterialViews2d>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    if !materials.reads_globals() {
        return Ok(());
    }
    let (time, delta_time) = time.as_ref().map_or((0.0, 0.0), |it| {
        (it.elapsed_secs_wrapped(), it.delta_secs())
    });
    let frame_count = renderer.submitted_frames() as u32;
    let row = GlobalsRow {
        time,
        delta_time,
        frame_count,
    };
    uploads.write_buffer(&globals, 0, bytemuck::bytes_of(&row));
    let rows = phase
        .views
        .iter()
        .map(|view| match cameras.get(view.camera) {
            Ok(camera) => MaterialViewRow {
                frame_count,
                ..view_row(view, camera)
            },
            Err(_) => MaterialViewRow::zeroed(),
        });
    let rows: Vec<_> = rows.collect();
    let bytes: &[u8] = bytemuck::cast_slice(&rows);
    if !bytes.is_empty() {
        grow_buffer(&gpu, &mut views.0, bytes.len() as u64)?;
        uploads.write_buffer(&views.0, 0, bytes);
    }
    Ok(())
}

fn view_row(
    view: &View2d,
    (camera, transform, frustum): (&Camera, &GlobalTransform, &Frustum),
) -> MaterialViewRow {
    let (clip_from_view, world_from_view) = (camera.clip_from_view(), transform.to_matrix());
    let columns = |matrix: Mat4| matrix.to_cols_array();
    let viewport = view.viewport.map(|pixels| pixels as f32);
    let position = transform.translation().to_array();
    MaterialViewRow {
        clip_from_world: columns(view.clip_from_world),
        unjittered_clip_from_world: columns(view.clip_from_world),
        world_from_clip: columns(view.clip_from_world.inverse()),
        world_from_view: columns(world_from_view),
        view_from_world: columns(world_from_view.inverse()),
        clip_from_view: columns(clip_from_view),
        view_from_clip: columns(clip_from_view.inverse()),
        world_position: position,
        exposure: 1.0,
        viewport,
        main_pass_viewport: viewport,
        frustum: frustum.half_spaces.map(|it| it.normal_d().to_array()),
        lod_view_world_position: position,
        ..MaterialViewRow::zeroed()
    }
}
