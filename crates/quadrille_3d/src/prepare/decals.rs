//! Clustered decals: bevy's `ClusteredDecal`.

use bevy_app::{App, Plugin};
use bevy_camera::visibility::RenderLayers;
use bevy_camera::{Camera, Camera3d};
use bevy_ecs::prelude::*;
use bevy_light::ClusteredDecal;
use bevy_math::Mat4;
use bevy_mesh::UvChannel;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Render, RenderStartup, Uploads};
use quadrille_content::affine::affine_rows;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::extract::materials::{MaterialSource, MaterialStore};
use crate::extract::unculled::Unculled;
use crate::prepare::views::queue_views;
use crate::scene::buffers::Decals3d;
use crate::scene::decals::{DecalLists, DecalRow};
use crate::scene::lists::ViewRows;
use crate::schedule::Prepare3dSystems;
use crate::tables::table::{UNIFORM_BYTES, table_buffer};

/// Adds clustered decals, which the shaders of meshes apply.
pub(crate) struct ClusteredDecalPlugin;

impl Plugin for ClusteredDecalPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClusteredDecal>()
            .init_resource::<DecalLists>()
            .add_systems(RenderStartup, init_decals)
            .add_systems(
                Render,
                (
                    // Before the table of textures is complete.
                    queue_decals
                        .in_set(Prepare3dSystems::Queue)
                        .before(queue_views),
                    queue_decal_masks
                        .in_set(Prepare3dSystems::Queue)
                        .after(queue_views),
                    upload_decals.in_set(Prepare3dSystems::Prepare),
                ),
            );
    }
}

/// Creates the buffers, at the start and after a lost device.
fn init_decals(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    mut lists: ResMut<DecalLists>,
) -> Result {
    lists.table.mark_all_dirty();
    let buffer = table_buffer(&gpu, "3d decals", 0)?;
    uploads.write_buffer(&buffer, 0, &[0; UNIFORM_BYTES as usize]);
    commands.insert_resource(Decals3d(buffer));
    Ok(())
}

/// Components of a decal. Its `ViewVisibility` is no measure: bevy computes it by bounds of meshes and lights that the entity
/// has lost, and without layers where the entity had a material.
type Decal = (Unculled, &'static ClusteredDecal, &'static GlobalTransform);

/// Layers of the active cameras.
type Eyes<'w, 's> = Query<'w, 's, (&'static Camera, Option<&'static RenderLayers>), With<Camera3d>>;

/// Lists the decals that some camera has the layers of, in the order of their entities: later ones lie over earlier ones.
fn queue_decals(
    (decals, cameras): (Query<Decal>, Eyes),
    mut lists: ResMut<DecalLists>,
    (mut materials, mut source): (ResMut<MaterialStore>, MaterialSource),
    warnings: Res<RateLimitedWarnings>,
    mut visible: Local<Vec<Entity>>,
) {
    let DecalLists {
        rows,
        masks,
        world_from_local,
        ..
    } = &mut *lists;
    masks.clear();
    world_from_local.clear();
    rows.clear();
    if decals.is_empty() {
        return;
    }
    visible.clear();
    let shown = decals.iter().filter(|(decal, ..)| {
        let mut cameras = cameras.iter().filter(|(camera, _)| camera.is_active);
        cameras.any(|(_, layers)| decal.is_visible_to(layers.unwrap_or_default()))
    });
    visible.extend(shown.map(|(decal, ..)| decal.entity));
    visible.sort_unstable_by_key(|entity| (entity.index_u32(), *entity));
    let mut textures = materials.textures(&mut source);
    for (found, decal, transform) in decals.iter_many(&*visible).flatten() {
        let affine = transform.affine();
        // A box without a volume projects nothing.
        if affine.matrix3.determinant() == 0.0 {
            continue;
        }
        let local_from_world = affine_rows(affine.inverse());
        if !is_finite(local_from_world.as_flattened()) {
            let subject = format_args!("the decal {}", entity_name(found.entity));
            warnings.warn(subject, || {
                first_non_finite(&[("transform", &transform.to_matrix().to_cols_array())])
            });
            continue;
        }
        let images = [
            &decal.base_color_texture,
            &decal.normal_map_texture,
            &decal.metallic_roughness_texture,
            &decal.emissive_texture,
        ];
        rows.push(DecalRow {
            local_from_world,
            textures: images.map(|image| textures.index_of(image.as_ref(), &UvChannel::Uv0)),
            tag: decal.tag,
            unused: [0; 3],
        });
        world_from_local.push(Mat4::from(affine));
    }
}

/// Lists the decals of each view by slices.
fn queue_decal_masks(mut lists: ResMut<DecalLists>, mut views: ResMut<ViewRows>) {
    if lists.rows.is_empty() {
        return;
    }
    for view in views.rows.iter_mut() {
        lists.add_view(view);
    }
}

/// Uploads changed lists.
fn upload_decals(
    mut lists: ResMut<DecalLists>,
    mut decals: ResMut<Decals3d>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    lists.fill_table();
    lists.table.upload(&gpu, &mut uploads, &mut decals.0)?;
    Ok(())
}
