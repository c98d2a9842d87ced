//! What each camera sees, in the order in which it is drawn.
//!
//! Sprites, meshes and text share one list, sorted by z as bevy sorts its transparent phase: what
//! has the greater z covers the rest. At the same z opaque meshes come first, as bevy's opaque
//! phase does; then the order is that of the entities' indices, which is mostly the order in
//! which they were spawned, and the same in every run.

use std::any::TypeId;

use bevy_asset::{AssetId, Assets};
use bevy_camera::visibility::VisibleEntities;
use bevy_camera::{Camera, Camera2d, ClearColor, ClearColorConfig, RenderTarget};
use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::{Image as ImageAsset, TextureAtlasLayout};
use bevy_math::{Affine2, Affine3A, Rect, URect, UVec2, Vec2};
use bevy_mesh::Mesh2d;
use bevy_sprite::{Anchor, Sprite};
use bevy_text::TextLayoutInfo;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Uploads};

use crate::images::Images2d;
use crate::instance::{AlphaMode, Instance, UvRect};
use crate::material::{AlphaMode2d, ColorMaterial, MeshMaterial2d};
use crate::meshes::{MeshPlace, Meshes2d};
use crate::phase::{Batch, Instances2d, Phase2d, Texture, Textures2d, View2d};
use crate::slices::Slice;
use crate::sprites::{SpriteAssets, add_sprite};
use crate::target::{TargetImages, Targets2d};
use crate::text::{Sink, Span, TextBlock, add_text};

/// An entity to be drawn, with what decides its place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    /// The z of the world, in bits that sort like it.
    z: u32,
    /// Opaque meshes come before all others of their z.
    is_transparent: bool,
    index: u32,
    kind: Kind,
    entity: Entity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Sprite,
    Mesh,
    Text,
}

/// Bits that sort as unsigned numbers like the float does; all NaNs come last.
fn sortable(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_nan() {
        u32::MAX
    } else if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

/// A camera that draws.
type CameraItem<'a> = (
    Entity,
    &'a Camera,
    &'a RenderTarget,
    &'a GlobalTransform,
    &'a VisibleEntities,
);

/// What cameras may see.
#[derive(SystemParam)]
pub(crate) struct Scene<'w, 's> {
    cameras: Query<
        'w,
        's,
        (
            Entity,
            &'static Camera,
            &'static RenderTarget,
            &'static GlobalTransform,
            &'static VisibleEntities,
        ),
        With<Camera2d>,
    >,
    sprites: Query<'w, 's, (&'static Sprite, &'static Anchor, &'static GlobalTransform)>,
    mesh_items: Query<
        'w,
        's,
        (
            &'static Mesh2d,
            &'static MeshMaterial2d<ColorMaterial>,
            &'static GlobalTransform,
        ),
    >,
    texts: Query<'w, 's, TextBlock, With<TextLayoutInfo>>,
    spans: Query<'w, 's, Span>,
    clear_color: Res<'w, ClearColor>,
    image_assets: Res<'w, Assets<ImageAsset>>,
    layouts: Res<'w, Assets<TextureAtlasLayout>>,
    materials: Res<'w, Assets<ColorMaterial>>,
    images: Res<'w, Images2d>,
    meshes: Res<'w, Meshes2d>,
}

/// What a frame's list is written to.
#[derive(SystemParam)]
pub(crate) struct Lists<'w> {
    phase: ResMut<'w, Phase2d>,
    textures: ResMut<'w, Textures2d>,
    targets: ResMut<'w, Targets2d>,
}

/// Memory that is kept from frame to frame.
#[derive(Default)]
pub(crate) struct Scratch {
    items: Vec<Item>,
    slices: Vec<Slice>,
    cameras: Vec<(isize, Entity)>,
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
        items,
        slices,
        cameras,
    } = &mut *scratch;
    cameras.clear();
    let active = scene.cameras.iter().filter(|item| item.1.is_active);
    cameras.extend(active.map(|item| (item.1.order, item.0)));
    cameras.sort_unstable();
    for &(_, entity) in cameras.iter() {
        let Ok(camera) = scene.cameras.get(entity) else {
            continue;
        };
        let Some(mut view) = begin_view(&scene, &mut lists, &target_images, &camera) else {
            continue;
        };
        collect_items(&scene, camera.4, items);
        items.sort_unstable();
        let mut writer = Writer {
            scene: &scene,
            lists: &mut lists,
            view_start: view.batches.start,
            target: view.target,
        };
        for item in items.iter() {
            writer.add(item, slices);
        }
        view.batches.end = lists.phase.batches.len() as u32;
        lists.phase.views.push(view);
    }
}

/// Sends what was listed to the device.
pub(crate) fn send_2d(
    mut phase: ResMut<Phase2d>,
    mut instances: ResMut<Instances2d>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    phase.send(&gpu, &mut uploads, &mut instances)?;
    Ok(())
}

/// Begins the list of a camera; none if it has nothing to draw to.
fn begin_view(
    scene: &Scene,
    lists: &mut Lists,
    target_images: &TargetImages,
    (entity, camera, target, transform, _): &CameraItem<'_>,
) -> Option<View2d> {
    let (image, _) = target_images.find(target, &scene.images)?;
    let [width, height, _] = image.extent();
    let whole = URect::from_corners(UVec2::ZERO, UVec2::new(width, height));
    let viewport = camera.physical_viewport_rect()?.intersect(whole);
    if viewport.is_empty() {
        return None;
    }
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
    let color = color.map(|color| color.to_linear());
    let is_part = viewport != whole;
    let (clear, fill) = match (is_first, color) {
        // What lies around the first camera's viewport has the colour of the world.
        (true, Some(color)) if is_part => (Some(scene.clear_color.0.to_linear()), Some(color)),
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
        camera: *entity,
        target: target as u32,
        clip_from_world: camera.clip_from_view() * transform.to_matrix().inverse(),
        viewport: [viewport.min.x, viewport.min.y, size.x, size.y],
        clear,
        batches: view_start..view_start,
    })
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
        texture,
        in_clip_space: true,
        instances: first..first + 1,
    };
    lists.phase.add(batch, view_start);
}

/// Lists what a camera sees.
fn collect_items(scene: &Scene, visible: &VisibleEntities, items: &mut Vec<Item>) {
    items.clear();
    let mut add = |entity: Entity, transform: &GlobalTransform, kind, is_transparent| {
        items.push(Item {
            z: sortable(transform.translation().z),
            is_transparent,
            index: entity.index_u32(),
            kind,
            entity,
        });
    };
    for &entity in visible.get(TypeId::of::<Sprite>()) {
        if let Ok((_, _, transform)) = scene.sprites.get(entity) {
            add(entity, transform, Kind::Sprite, true);
        }
        if let Ok(text) = scene.texts.get(entity) {
            add(entity, text.transform, Kind::Text, true);
        }
    }
    for &entity in visible.get(TypeId::of::<Mesh2d>()) {
        if let Ok((_, material, transform)) = scene.mesh_items.get(entity) {
            let material = scene.materials.get(&material.0);
            let blends = material.is_none_or(|material| material.alpha_mode == AlphaMode2d::Blend);
            add(entity, transform, Kind::Mesh, blends);
        }
    }
}

/// Writes the instances of one camera.
struct Writer<'a, 'l, 'w, 's> {
    scene: &'a Scene<'w, 's>,
    lists: &'a mut Lists<'l>,
    view_start: u32,
    /// Place of the camera's target.
    target: u32,
}

impl Writer<'_, '_, '_, '_> {
    fn add(&mut self, item: &Item, slices: &mut Vec<Slice>) {
        match item.kind {
            Kind::Sprite => self.add_sprite(item.entity, slices),
            Kind::Mesh => self.add_mesh(item.entity),
            Kind::Text => {
                let scene = self.scene;
                if let Ok(text) = scene.texts.get(item.entity) {
                    add_text(&text, &scene.spans, self);
                }
            }
        }
    }

    /// The texture of an image; none for the image that is being drawn to, which cannot be read
    /// at the same time.
    fn texture(&mut self, id: AssetId<ImageAsset>) -> Option<Texture> {
        let Lists {
            phase,
            textures,
            targets,
            ..
        } = &mut *self.lists;
        let texture = phase.texture(id, &self.scene.images, textures)?;
        let image = textures.0.get(texture.image as usize)?;
        let target = targets.0.get(self.target as usize)?;
        (image != target).then_some(texture)
    }

    /// What was added from `first` on is drawn with this mesh and texture.
    fn close(&mut self, first: u32, mesh: MeshPlace, texture: Texture) {
        let batch = Batch {
            mesh,
            texture,
            in_clip_space: false,
            instances: first..self.lists.phase.instances.len() as u32,
        };
        self.lists.phase.add(batch, self.view_start);
    }

    fn add_sprite(&mut self, entity: Entity, slices: &mut Vec<Slice>) {
        let scene = self.scene;
        let Ok((sprite, anchor, transform)) = scene.sprites.get(entity) else {
            return;
        };
        let Some(texture) = self.texture(sprite.image.id()) else {
            return;
        };
        let first = self.lists.phase.instances.len() as u32;
        let assets = SpriteAssets {
            images: &scene.image_assets,
            layouts: &scene.layouts,
        };
        let world = transform.affine();
        let out = (slices, &mut self.lists.phase.instances);
        add_sprite(sprite, anchor, &world, &assets, texture.is_placeholder, out);
        self.close(first, scene.meshes.quad(), texture);
    }

    fn add_mesh(&mut self, entity: Entity) {
        let scene = self.scene;
        let Ok((mesh, material, transform)) = scene.mesh_items.get(entity) else {
            return;
        };
        let (Some(place), Some(material)) = (
            scene.meshes.place(mesh.id()),
            scene.materials.get(&material.0),
        ) else {
            return;
        };
        let id = material.texture.as_ref().map(|handle| handle.id());
        let Some(texture) = self.texture(id.unwrap_or_default()) else {
            return;
        };
        let alpha = match material.alpha_mode {
            AlphaMode2d::Opaque => AlphaMode::Opaque,
            AlphaMode2d::Mask(threshold) => AlphaMode::Mask(threshold),
            AlphaMode2d::Blend => AlphaMode::Blend,
        };
        let first = self.lists.phase.instances.len() as u32;
        let uv = match texture.is_placeholder {
            true => Affine2::IDENTITY,
            false => material.uv_transform,
        };
        let tint = material.color.to_linear();
        let instance = Instance::mesh(transform.affine(), uv, tint, alpha);
        self.lists.phase.instances.push(instance);
        self.close(first, place, texture);
    }
}

impl Sink for Writer<'_, '_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        place: Rect,
        tint: LinearRgba,
    ) {
        let id = image.map_or_else(AssetId::default, |(id, _)| id);
        let Some(texture) = self.texture(id) else {
            return;
        };
        let first = self.lists.phase.instances.len() as u32;
        let uv = image.map_or(UvRect::WHOLE, |(id, pixels)| {
            let size = self.scene.image_assets.get(id).map(ImageAsset::size_f32);
            UvRect::of_pixels(pixels, size.unwrap_or(Vec2::ONE))
        });
        let glyph = Instance::quad(world, place, uv, tint, AlphaMode::Blend);
        self.lists.phase.instances.push(glyph);
        self.close(first, self.scene.meshes.quad(), texture);
    }
}

#[cfg(test)]
mod tests;
