//! What each camera draws, and where to.

use bevy_asset::{AssetId, Assets};
use bevy_camera::visibility::{RenderLayers, VisibleEntities};
use bevy_camera::{Camera, Camera2d, ClearColor, ClearColorConfig, RenderTarget};
use bevy_color::{Color, ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_image::{Image as ImageAsset, TextureAtlasLayout};
use bevy_math::{Affine3A, Mat4, Rect, URect, UVec2, Vec2};
use bevy_mesh::Mesh2d;
use bevy_sprite::{Anchor, Sprite};
use bevy_text::TextLayoutInfo;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Uploads};

use crate::camera::Blind;
use crate::chunk::Chunks2d;
use crate::complaint::{Complaints, first_odd};
#[cfg(feature = "gizmos")]
use crate::gizmos::{Gizmos, LineSet};
use crate::images::Images2d;
use crate::instance::{AlphaMode, Instance, UvRect, is_finite};
use crate::line::Lines2d;
use crate::material::{ColorMaterial, MeshMaterial2d};
use crate::meshes::Meshes2d;
use crate::msaa::Msaa;
use crate::node::Nodes2d;
use crate::phase::{Batch, BatchKind, Instances2d, Phase2d, Textures2d, View2d};
use crate::target::{TargetImages, Targets2d};
use crate::text::{Span, TextBlock};
use crate::tilemap::TilemapChunk;
use crate::tiles::Tilemaps;
use crate::writer::{Seen, Writer};

/// A camera that draws.
#[derive(QueryData)]
pub(crate) struct CameraData {
    entity: Entity,
    camera: &'static Camera,
    target: &'static RenderTarget,
    transform: &'static GlobalTransform,
    visible: &'static VisibleEntities,
    layers: Option<&'static RenderLayers>,
    msaa: Option<&'static Msaa>,
}

/// What cameras may see.
#[derive(SystemParam)]
pub(crate) struct Scene<'w, 's> {
    cameras: Query<'w, 's, CameraData, With<Camera2d>>,
    pub(crate) sprites: Query<'w, 's, (&'static Sprite, &'static Anchor, &'static GlobalTransform)>,
    pub(crate) mesh_items: Query<
        'w,
        's,
        (
            &'static Mesh2d,
            &'static MeshMaterial2d<ColorMaterial>,
            &'static GlobalTransform,
        ),
    >,
    pub(crate) chunks: Query<'w, 's, (&'static TilemapChunk, &'static GlobalTransform)>,
    pub(crate) texts: Query<'w, 's, TextBlock, With<TextLayoutInfo>>,
    pub(crate) spans: Query<'w, 's, Span>,
    clear_color: Res<'w, ClearColor>,
    pub(crate) image_assets: Res<'w, Assets<ImageAsset>>,
    pub(crate) layouts: Res<'w, Assets<TextureAtlasLayout>>,
    pub(crate) materials: Res<'w, Assets<ColorMaterial>>,
    pub(crate) images: Res<'w, Images2d>,
    pub(crate) meshes: Res<'w, Meshes2d>,
    pub(crate) tilemaps: Res<'w, Tilemaps>,
    pub(crate) complaints: Res<'w, Complaints>,
    blind: Res<'w, Blind>,
    #[cfg(feature = "gizmos")]
    gizmos: Gizmos<'w, 's>,
}

/// What a frame's list is written to.
#[derive(SystemParam)]
pub(crate) struct Lists<'w> {
    pub(crate) phase: ResMut<'w, Phase2d>,
    pub(crate) textures: ResMut<'w, Textures2d>,
    pub(crate) targets: ResMut<'w, Targets2d>,
}

/// Memory that is kept from frame to frame.
#[derive(Default)]
pub(crate) struct Scratch {
    seen: Seen,
    cameras: Vec<(isize, Entity)>,
    #[cfg(feature = "gizmos")]
    gizmos: Vec<LineSet>,
}

/// Lists what all cameras draw.
pub(crate) fn queue_2d(
    scene: Scene,
    mut lists: Lists,
    target_images: TargetImages,
    mut scratch: Local<Scratch>,
) {
    lists.phase.begin(&mut lists.textures);
    lists.targets.0.clear();
    let Scratch {
        seen,
        cameras,
        #[cfg(feature = "gizmos")]
        gizmos,
    } = &mut *scratch;
    #[cfg(feature = "gizmos")]
    scene
        .gizmos
        .list(&mut lists.phase.lines, gizmos, &scene.complaints);
    cameras.clear();
    let active = scene.cameras.iter().filter(|item| item.camera.is_active);
    cameras.extend(active.map(|item| (item.camera.order, item.entity)));
    cameras.sort_unstable();
    for &(_, entity) in cameras.iter() {
        let Ok(camera) = scene.cameras.get(entity) else {
            continue;
        };
        let Some(mut view) = begin_view(&scene, &mut lists, &target_images, &camera) else {
            continue;
        };
        let mut writer = Writer::new(&scene, &mut lists, &view);
        writer.find(camera.visible, seen);
        seen.sort();
        writer.write(seen);
        #[cfg(feature = "gizmos")]
        for set in gizmos.iter() {
            let layers = camera.layers.unwrap_or_default();
            writer.add_lines(set.seen_in(layers).unwrap_or_default());
        }
        view.batches.end = lists.phase.batches.len() as u32;
        lists.phase.views.push(view);
    }
}

/// The buffers of a frame's lists.
#[derive(SystemParam)]
pub(crate) struct SentTo<'w> {
    instances: ResMut<'w, Instances2d>,
    nodes: ResMut<'w, Nodes2d>,
    lines: ResMut<'w, Lines2d>,
    chunks: ResMut<'w, Chunks2d>,
}

/// Sends what was listed to the device.
pub(crate) fn send_2d(
    mut phase: ResMut<Phase2d>,
    mut to: SentTo,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    let uploads = &mut *uploads;
    phase.instances.send(&gpu, uploads, &mut to.instances.0)?;
    phase.nodes.send(&gpu, uploads, &mut to.nodes.0)?;
    phase.lines.send(&gpu, uploads, &mut to.lines.0)?;
    phase.chunks.send(&gpu, uploads, &mut to.chunks.0)?;
    Ok(())
}

/// Begins the list of a camera; none if it has nothing to draw to.
fn begin_view(
    scene: &Scene,
    lists: &mut Lists,
    target_images: &TargetImages,
    item: &CameraDataItem<'_, '_>,
) -> Option<View2d> {
    let camera = item.camera;
    let (image, _) = target_images.find(item.target, &scene.images)?;
    let [width, height, _] = image.extent();
    let whole = URect::from_corners(UVec2::ZERO, UVec2::new(width, height));
    let viewport = viewport(camera, whole);
    if viewport.is_empty() {
        return None;
    }
    let clip_from_world = clip_from_world(scene, item)?;
    let known = lists.targets.0.iter().position(|known| *known == image);
    let is_first = known.is_none();
    let keeps_contents = !image.is_swapchain();
    let target = known.unwrap_or_else(|| {
        lists.targets.0.push(image);
        lists.targets.0.len() - 1
    });
    let color = match camera.clear_color {
        ClearColorConfig::Default => Some(scene.clear_color.0),
        ClearColorConfig::Custom(color) => Some(color),
        ClearColorConfig::None => None,
    };
    let color = color.map(|color| clear_color(scene, item.entity, color));
    let is_part = viewport != whole;
    let (clear, fill) = match (is_first, color) {
        // What lies around the first camera's viewport has the colour of the world.
        (true, Some(color)) if is_part => {
            let around = clear_color(scene, item.entity, scene.clear_color.0);
            (Some(around), Some(color))
        }
        (true, Some(color)) => (Some(color), None),
        // What an image of a swapchain held before is not defined.
        (true, None) if !keeps_contents => (Some(LinearRgba::BLACK), None),
        (_, color) => (None, color),
    };
    let view_start = lists.phase.batches.len() as u32;
    if let Some(color) = fill {
        fill_viewport(scene, lists, view_start, color);
    }
    let size = viewport.size();
    Some(View2d {
        camera: item.entity,
        target: target as u32,
        clip_from_world,
        viewport: [viewport.min.x, viewport.min.y, size.x, size.y],
        clear,
        batches: view_start..view_start,
        msaa: item.msaa.copied().unwrap_or(Msaa::Off),
        multisampled: None,
    })
}

/// The part of a target that a camera draws to.
fn viewport(camera: &Camera, whole: URect) -> URect {
    camera.viewport.as_ref().map_or(whole, |viewport| {
        let min = viewport.physical_position;
        let max = min.saturating_add(viewport.physical_size);
        URect { min, max }.intersect(whole)
    })
}

/// From the world to the camera's clip space; none if that makes no sense.
fn clip_from_world(scene: &Scene, item: &CameraDataItem<'_, '_>) -> Option<Mat4> {
    if scene.blind.contains(item.entity) {
        return None;
    }
    let clip_from_view = item.camera.clip_from_view();
    let matrix = clip_from_view * item.transform.to_matrix().inverse();
    if matrix.is_finite() {
        return Some(matrix);
    }
    scene
        .complaints
        .warn(format_args!("what the camera {} sees", item.entity), || {
            let world = item.transform.affine().to_cols_array();
            match item.transform.affine().matrix3.determinant() {
                0.0 => format!("its transform {world:?} takes all to one plane"),
                _ => first_odd(&[
                    ("transform", &world),
                    ("projection", &clip_from_view.to_cols_array()),
                ]),
            }
        });
    None
}

/// The colour that a camera clears with: black for one that is none.
fn clear_color(scene: &Scene, camera: Entity, color: Color) -> LinearRgba {
    let linear = color.to_linear();
    let numbers = linear.to_f32_array();
    if is_finite(&numbers) {
        return linear;
    }
    let what = || first_odd(&[("clear colour", &numbers)]);
    let who = format_args!("what the camera {camera} clears with");
    scene.complaints.warn(who, what);
    LinearRgba::BLACK
}

/// Covers a viewport with its clear colour: clearing an attachment would cover the rest as well.
fn fill_viewport(scene: &Scene, lists: &mut Lists, view_start: u32, color: LinearRgba) {
    let white = AssetId::<ImageAsset>::default();
    let Some(texture) = lists
        .phase
        .texture(white, &scene.images, &mut lists.textures)
    else {
        return;
    };
    let first = lists.phase.instances.len() as u32;
    let whole = Rect::from_center_size(Vec2::ZERO, Vec2::splat(2.0));
    let world = Affine3A::IDENTITY;
    let quad = Instance::quad(&world, whole, UvRect::WHOLE, color, AlphaMode::Opaque);
    lists.phase.instances.push(quad);
    let batch = Batch {
        mesh: scene.meshes.quad(),
        texture: Some(texture),
        kind: BatchKind::Clip,
        instances: first..first + 1,
    };
    lists.phase.add(batch, view_start);
}
