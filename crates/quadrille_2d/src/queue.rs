//! Queues the batches of each camera.

pub(crate) mod atlases;
pub(crate) mod bound_materials;
pub(crate) mod build;
pub(crate) mod enabled;
pub(crate) mod extract;
pub(crate) mod material_views;
pub(crate) mod materials;
pub(crate) mod mesh_layouts;
pub(crate) mod order;
pub(crate) mod slices;
pub(crate) mod sprites;
pub(crate) mod text;

use std::any::TypeId;

use bevy_asset::{AssetId, Assets};
use bevy_camera::Camera2d;
use bevy_camera::visibility::{RenderLayers, VisibleEntities};
use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::{Image as ImageAsset, TextureAtlasLayout};
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_mesh::Mesh2d;
use bevy_sprite::{Anchor, Sprite, Text2d};
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::cameras::Msaa;
use quadrille_content::images::DeviceImages;
use quadrille_content::lines::GizmoLineBatches;
use quadrille_content::materials::{BoundImages, upload_material_rows};
use quadrille_content::views::{CameraTargets, CameraView, CameraViews};
use quadrille_content::warnings::RateLimitedWarnings;

use crate::components::material::{ColorMaterial, MeshMaterial2d};
use crate::components::tilemap::TilemapChunk;
use crate::instances::mesh_instance::{AlphaMode, Instance, UvRect};
use crate::instances::node::Nodes2d;
use crate::meshes::Meshes2d;
use crate::queue::extract::{Extraction, VisibleClass};
use crate::queue::order::DrawOrders;
use crate::queue::text::{Span, SpanTicks, TextBlock, TextTicks};
use crate::scene::drawn_images::TextureLookup;
use crate::scene::items::{AssetKinds, Items};
use crate::scene::materials::{MaterialInstance, MaterialRows2d, Materials2d, Renderer2d};
use crate::scene::phase::{
    Batch, BatchKind, InstanceOrder2d, Instances2d, Phase2d, QueueWork, Textures2d, View2d,
};
use crate::tilemaps::chunk::Chunks2d;
use crate::tilemaps::tiles::Tilemaps;

/// Visible entities and render layers of a camera.
type CameraQuery = (&'static VisibleEntities, Option<&'static RenderLayers>);

/// Components of a sprite.
type SpriteQuery = (
    Ref<'static, Sprite>,
    Ref<'static, Anchor>,
    Ref<'static, GlobalTransform>,
    Option<Ref<'static, MaterialInstance>>,
);

/// Components of a mesh with a material that has a shader of its own.
type MaterialMeshQuery = (
    Ref<'static, Mesh2d>,
    Ref<'static, MaterialInstance>,
    Ref<'static, GlobalTransform>,
);

/// Components of a mesh.
type MeshQuery = (
    Ref<'static, Mesh2d>,
    Ref<'static, MeshMaterial2d<ColorMaterial>>,
    Ref<'static, GlobalTransform>,
);

/// Components of a tilemap chunk.
type ChunkQuery = (Ref<'static, TilemapChunk>, Ref<'static, GlobalTransform>);

/// Extracted inputs of [`queue_2d`].
#[derive(SystemParam)]
pub(crate) struct Scene<'w, 's> {
    views: Res<'w, CameraViews>,
    pub(crate) targets: Res<'w, CameraTargets>,
    cameras: Query<'w, 's, CameraQuery, With<Camera2d>>,
    msaa: Query<'w, 's, &'static Msaa>,
    pub(crate) sprites: Query<'w, 's, SpriteQuery>,
    pub(crate) mesh_items: Query<'w, 's, MeshQuery>,
    pub(crate) material_meshes: Query<'w, 's, MaterialMeshQuery>,
    pub(crate) chunks: Query<'w, 's, ChunkQuery>,
    pub(crate) texts: Query<'w, 's, TextBlock, With<Text2d>>,
    pub(crate) text_ticks: Query<'w, 's, TextTicks, With<Text2d>>,
    pub(crate) spans: Query<'w, 's, Span>,
    pub(crate) span_ticks: Query<'w, 's, SpanTicks>,
    pub(crate) image_assets: Res<'w, Assets<ImageAsset>>,
    pub(crate) layouts: Res<'w, Assets<TextureAtlasLayout>>,
    pub(crate) materials: Res<'w, Assets<ColorMaterial>>,
    pub(crate) custom_materials: Res<'w, Materials2d>,
    pub(crate) images: Res<'w, DeviceImages>,
    pub(crate) meshes: Res<'w, Meshes2d>,
    pub(crate) tilemaps: Res<'w, Tilemaps>,
    pub(crate) warnings: Res<'w, RateLimitedWarnings>,
    gizmos: Res<'w, GizmoLineBatches>,
}

/// Outputs of a frame: phase, textures and retained items.
#[derive(SystemParam)]
pub(crate) struct Lists<'w> {
    pub(crate) phase: ResMut<'w, Phase2d>,
    pub(crate) textures: ResMut<'w, Textures2d>,
    pub(crate) items: ResMut<'w, Items>,
}

/// Memory that [`queue_2d`] keeps between frames.
#[derive(Default)]
pub(crate) struct QueueState {
    extraction: Extraction,
    orders: DrawOrders,
    /// [`Materials2d::changes`] of the last frame.
    material_changes: u64,
    /// Visible items of a camera.
    visible: Vec<u32>,
}

/// Queues the views of all cameras.
pub(crate) fn queue_2d(scene: Scene, mut lists: Lists, mut state: Local<QueueState>) {
    let state = &mut *state;
    begin_frame(&scene, &mut lists, &mut state.material_changes);
    for camera in scene.views.iter() {
        let mut view = begin_view(&scene, &mut lists, camera);
        // Views of 3D cameras only have UI nodes here, which `queue_ui` adds.
        if let Ok((visible, layers)) = scene.cameras.get(camera.camera) {
            state.extract(&scene, &mut lists, visible);
            state.orders.add(&scene, &mut lists, &view, &state.visible);
            for set in scene.gizmos.visible_in(layers.unwrap_or_default()) {
                let batch = Batch {
                    mesh: scene.meshes.quad(),
                    texture: None,
                    kind: BatchKind::Lines,
                    bind_group: None,
                    attribute_base: None,
                    instances: set.lines.clone(),
                };
                lists.phase.add(batch, view.batches.start);
            }
        }
        view.batches.end = lists.phase.batches.len() as u32;
        lists.phase.views.push(view);
    }
    let rebuilt_orders = state.orders.end_frame(lists.items.frame());
    let [built_items, moved_items] = lists.items.work();
    lists.phase.work = QueueWork {
        built_items,
        moved_items,
        rebuilt_orders,
        built_nodes: 0,
    };
}

/// Begins the frame of the phase and of the retained items.
fn begin_frame(scene: &Scene, lists: &mut Lists, material_changes: &mut u64) {
    let Lists {
        phase,
        textures,
        items,
    } = lists;
    phase.begin(textures);
    phase.bind_materials(&scene.custom_materials, &scene.images, textures);
    let changed = AssetKinds {
        materials: scene.materials.is_changed(),
        custom_materials: std::mem::replace(material_changes, scene.custom_materials.changes())
            != scene.custom_materials.changes(),
        atlas_layouts: scene.layouts.is_changed(),
    };
    items.begin_frame(changed, &mut phase.rows);
    let frame = items.frame();
    let mut lookup = TextureLookup {
        phase,
        textures,
        images: &scene.images,
        assets: &scene.image_assets,
    };
    if items.images.refresh(frame, &mut lookup) {
        items.change_order();
    }
}

impl QueueState {
    /// Collects the visible items of a camera in [`Self::visible`].
    fn extract(&mut self, scene: &Scene, lists: &mut Lists, visible: &VisibleEntities) {
        let Lists {
            phase,
            textures,
            items,
        } = lists;
        let frame = items.frame();
        self.visible.clear();
        for (class, id) in [
            (VisibleClass::Sprites, TypeId::of::<Sprite>()),
            (VisibleClass::Meshes, TypeId::of::<Mesh2d>()),
        ] {
            self.extraction.run(scene, items, class, visible.get(id));
            self.extraction
                .apply(items, &mut phase.rows, &mut self.visible);
            let mut lookup = TextureLookup {
                phase,
                textures,
                images: &scene.images,
                assets: &scene.image_assets,
            };
            // Before the next class of entities looks up the same images.
            items.images.refresh_new(frame, &mut lookup);
        }
    }
}

/// Instance buffers.
#[derive(SystemParam)]
pub(crate) struct InstanceBuffers<'w> {
    instances: ResMut<'w, Instances2d>,
    order: ResMut<'w, InstanceOrder2d>,
    nodes: ResMut<'w, Nodes2d>,
    chunks: ResMut<'w, Chunks2d>,
    material_rows: ResMut<'w, MaterialRows2d>,
}

/// Uploads the instances of the phase.
pub(crate) fn upload_instances_2d(
    mut phase: ResMut<Phase2d>,
    mut materials: ResMut<Materials2d>,
    (targets, textures): (Res<CameraTargets>, Res<Textures2d>),
    (bound_images, warnings): (BoundImages<Renderer2d>, Res<RateLimitedWarnings>),
    mut to: InstanceBuffers,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    let uploads = &mut *uploads;
    phase.remove_feedback(&targets, &textures, &bound_images);
    for image in phase.remove_written_samples(&textures, &bound_images) {
        warnings.warn_message(|| {
            format!(
                "a material that has the image `{}` as a storage texture is not drawn by a camera that samples it as well: a \
                 pass has one access to each image. Sample it with another camera",
                image.name()
            )
        });
    }
    let material_rows = &mut to.material_rows.0;
    upload_material_rows(&mut materials.rows, &gpu, uploads, material_rows)?;
    phase.write_quads();
    phase.rows.upload(&gpu, uploads, &mut to.instances.0)?;
    phase.order.upload(&gpu, uploads, &mut to.order.0)?;
    phase.ui.nodes.upload(&gpu, uploads, &mut to.nodes.0)?;
    phase.chunks.upload(&gpu, uploads, &mut to.chunks.0)?;
    Ok(())
}

/// Begins the view of a camera.
fn begin_view(scene: &Scene, lists: &mut Lists, camera: &CameraView) -> View2d {
    let msaa = scene.msaa.get(camera.camera).copied().unwrap_or_default();
    let view_start = lists.phase.batches.len() as u32;
    // The passes of a 3D camera have already cleared its target.
    let clear = camera.clear.filter(|_| !camera.is_3d);
    if let Some(color) = camera.fill.filter(|_| !camera.is_3d) {
        let kind = match camera.is_first {
            true => BatchKind::Replace,
            false => BatchKind::Clip,
        };
        fill_viewport(scene, lists, view_start, (color, kind));
    }
    View2d {
        camera: camera.camera,
        target: camera.target,
        step: camera.step,
        clip_from_world: camera.clip_from_world,
        viewport: camera.viewport,
        clear,
        batches: view_start..view_start,
        msaa,
        multisampled: None,
    }
}

/// Fills a viewport with its clear color by a quad: load op CLEAR would clear the whole target.
fn fill_viewport(
    scene: &Scene,
    lists: &mut Lists,
    view_start: u32,
    (color, kind): (LinearRgba, BatchKind),
) {
    let white = AssetId::<ImageAsset>::default();
    let Some(texture) = lists
        .phase
        .texture(white, &scene.images, &mut lists.textures)
    else {
        return;
    };
    let whole = Rect::from_center_size(Vec2::ZERO, Vec2::splat(2.0));
    let world = Affine3A::IDENTITY;
    let quad = Instance::quad(&world, whole, UvRect::WHOLE, color, AlphaMode::Blend);
    let instances = lists.phase.push_quad(quad);
    let batch = Batch {
        mesh: scene.meshes.quad(),
        texture: Some(texture),
        kind,
        bind_group: None,
        attribute_base: None,
        instances,
    };
    lists.phase.add(batch, view_start);
}
