//! Converts the visible entities of one camera to sorted instances.
//!
//! Sprites are converted when they are collected, and their instances copied in order after sorting, so that
//! each entity is looked up once. Image and texture of the previous sprite are cached, because neighbours
//! often share them.

use std::ops::Range;

use bevy_asset::AssetId;
use bevy_camera::visibility::VisibleEntities;
use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::{Affine2, Affine3A, Rect, Vec2};
use bevy_mesh::Mesh2d;
use bevy_sprite::Sprite;

use crate::components::material::AlphaMode2d;
use crate::instances::mesh_instance::{AlphaMode, Instance, UvRect};
use crate::queue::slices::TextureSlice;
use crate::queue::sprites::{SpriteImage, add_sprite, sprite_error};
use crate::queue::text::{QuadSink, add_text};
use crate::queue::{Lists, Scene};
use crate::scene::phase::{Batch, BatchKind, Texture, View2d};
use crate::scene::phase_item::PhaseItem2d;
use crate::tilemaps::chunk::Chunk;
use quadrille_content::{MeshAllocation, entity_name, first_non_finite, unique_visible_entities};

/// Visible items of a camera; allocations are reused between frames.
#[derive(Default)]
pub(crate) struct VisibleItems {
    items: Vec<PhaseItem2d>,
    found: Vec<VisibleItem>,
    /// Instances of all sprites in the order of collection.
    instances: Vec<Instance>,
    slices: Vec<TextureSlice>,
}

/// Content of a phase item.
enum VisibleItem {
    Sprite {
        texture: Texture,
        /// Range in [`VisibleItems::instances`].
        instances: Range<u32>,
    },
    Mesh(Entity),
    Chunk(Entity),
    Text(Entity),
}

impl VisibleItems {
    fn clear(&mut self) {
        self.items.clear();
        self.found.clear();
        self.instances.clear();
    }

    fn add(&mut self, z: f32, is_transparent: bool, entity: Entity, found: VisibleItem) {
        let index = self.found.len() as u32;
        self.items
            .push(PhaseItem2d::new(z, is_transparent, entity, index));
        self.found.push(found);
    }

    /// Sorts the items in draw order.
    pub(crate) fn sort(&mut self) {
        self.items.sort_unstable();
    }
}

/// Texture and size of an image, for one camera.
#[derive(Clone, Copy)]
struct ImageInfo {
    /// `None` for the camera's own target, which cannot be sampled in the same pass.
    texture: Option<Texture>,
    /// Size in pixels; `None` until loaded.
    size: Option<Vec2>,
}

/// Writes the instances of one camera.
pub(crate) struct Writer<'a, 'l, 'w, 's> {
    scene: &'a Scene<'w, 's>,
    lists: &'a mut Lists<'l>,
    view_start: u32,
    /// Index of the camera's target.
    target: u32,
    /// Text entity whose quads are being added, for warnings.
    text: Entity,
    /// Cache of the last lookup.
    last: Option<(AssetId<ImageAsset>, ImageInfo)>,
}

impl<'a, 'l, 'w, 's> Writer<'a, 'l, 'w, 's> {
    pub(crate) fn new(scene: &'a Scene<'w, 's>, lists: &'a mut Lists<'l>, view: &View2d) -> Self {
        Self {
            scene,
            lists,
            view_start: view.batches.start,
            target: view.target,
            text: Entity::PLACEHOLDER,
            last: None,
        }
    }

    /// Collects the visible entities of the camera.
    pub(crate) fn collect_visible(
        &mut self,
        visible: &VisibleEntities,
        visible_items: &mut VisibleItems,
    ) {
        let scene = self.scene;
        visible_items.clear();
        for entity in unique_visible_entities::<Sprite>(visible) {
            self.collect_sprite(entity, visible_items);
            if let Ok(text) = scene.texts.get(entity) {
                let z = text.transform.translation().z;
                visible_items.add(z, true, entity, VisibleItem::Text(entity));
            }
        }
        for entity in unique_visible_entities::<Mesh2d>(visible) {
            if let Ok((_, material, transform)) = scene.mesh_items.get(entity) {
                let material = scene.materials.get(&material.0);
                let blends =
                    material.is_none_or(|material| material.alpha_mode == AlphaMode2d::Blend);
                let z = transform.translation().z;
                visible_items.add(z, blends, entity, VisibleItem::Mesh(entity));
            }
            if let Ok((chunk, transform)) = scene.chunks.get(entity) {
                let blends = chunk.alpha_mode == AlphaMode2d::Blend;
                let z = transform.translation().z;
                visible_items.add(z, blends, entity, VisibleItem::Chunk(entity));
            }
        }
    }

    fn collect_sprite(&mut self, entity: Entity, visible_items: &mut VisibleItems) {
        let scene = self.scene;
        let Ok((sprite, anchor, transform)) = scene.sprites.get(entity) else {
            return;
        };
        let image_info = self.get_image_info(sprite.image.id());
        let Some(texture) = image_info.texture else {
            return;
        };
        let image = SpriteImage {
            size: image_info.size,
            layouts: &scene.layouts,
            is_placeholder: texture.is_placeholder,
        };
        let first = visible_items.instances.len() as u32;
        let out = (&mut visible_items.slices, &mut visible_items.instances);
        let world = transform.affine();
        if !add_sprite(sprite, anchor, &world, &image, out) {
            if let Some(reason) = sprite_error(sprite, anchor, &world, &image) {
                let who = format_args!("the sprite {}", entity_name(entity));
                scene.warnings.warn(who, || reason);
            }
            return;
        }
        let instances = first..visible_items.instances.len() as u32;
        let z = transform.translation().z;
        let found = VisibleItem::Sprite { texture, instances };
        visible_items.add(z, true, entity, found);
    }

    /// Adds the batches of the sorted items.
    pub(crate) fn write(&mut self, visible_items: &VisibleItems) {
        let scene = self.scene;
        for item in &visible_items.items {
            match &visible_items.found[item.index as usize] {
                VisibleItem::Sprite { texture, instances } => {
                    let first = self.lists.phase.instances.len() as u32;
                    let range = instances.start as usize..instances.end as usize;
                    let instances = &visible_items.instances[range];
                    self.lists.phase.instances.extend_from_slice(instances);
                    self.push_batch(first, scene.meshes.quad(), *texture);
                }
                VisibleItem::Mesh(entity) => self.add_mesh(*entity),
                VisibleItem::Chunk(entity) => self.add_chunk(*entity),
                VisibleItem::Text(entity) => {
                    if let Ok(text) = scene.texts.get(*entity) {
                        self.text = *entity;
                        add_text(&text, &scene.spans, self);
                    }
                }
            }
        }
    }

    /// Looks up texture and size of an image.
    fn get_image_info(&mut self, id: AssetId<ImageAsset>) -> ImageInfo {
        if let Some((last, image_info)) = self.last
            && last == id
        {
            return image_info;
        }
        let image_info = ImageInfo {
            texture: self.texture(id),
            size: self.scene.image_assets.get(id).map(ImageAsset::size_f32),
        };
        self.last = Some((id, image_info));
        image_info
    }

    fn texture(&mut self, id: AssetId<ImageAsset>) -> Option<Texture> {
        let Lists {
            phase, textures, ..
        } = &mut *self.lists;
        let texture = phase.texture(id, &self.scene.images, textures)?;
        self.unless_target(texture)
    }

    /// Returns the texture unless it is the camera's own target.
    fn unless_target(&self, texture: Texture) -> Option<Texture> {
        let image = self.lists.textures.0.get(texture.image as usize)?;
        let target = self.scene.targets.get(self.target as usize)?;
        (image != target).then_some(texture)
    }

    /// Adds a batch of the instances from `first` on.
    fn push_batch(&mut self, first: u32, mesh: MeshAllocation, texture: Texture) {
        let batch = Batch {
            mesh,
            texture: Some(texture),
            kind: BatchKind::World,
            instances: first..self.lists.phase.instances.len() as u32,
        };
        self.lists.phase.add(batch, self.view_start);
    }

    fn add_mesh(&mut self, entity: Entity) {
        let scene = self.scene;
        let Ok((mesh, material, transform)) = scene.mesh_items.get(entity) else {
            return;
        };
        let (Some(allocation), Some(material)) = (
            scene.meshes.allocation(mesh.id()),
            scene.materials.get(&material.0),
        ) else {
            return;
        };
        let id = material.texture.as_ref().map(|handle| handle.id());
        let Some(texture) = self.get_image_info(id.unwrap_or_default()).texture else {
            return;
        };
        let alpha = AlphaMode::from(material.alpha_mode);
        let first = self.lists.phase.instances.len() as u32;
        let uv = if texture.is_placeholder {
            Affine2::IDENTITY
        } else {
            material.uv_transform
        };
        let tint = material.color.to_linear();
        let world = transform.affine();
        let instance = Instance::mesh(world, uv, tint, alpha);
        if !instance.is_finite() {
            let what = || {
                first_non_finite(&[
                    ("transform", &world.to_cols_array()),
                    ("material's uv_transform", &uv.to_cols_array()),
                    ("material's color", &tint.to_f32_array()),
                    ("material's alpha_mode", &[alpha.to_shader()]),
                ])
            };
            let who = format_args!("the mesh {}", entity_name(entity));
            return scene.warnings.warn(who, what);
        }
        self.lists.phase.instances.push(instance);
        self.push_batch(first, allocation, texture);
    }

    fn add_chunk(&mut self, entity: Entity) {
        let scene = self.scene;
        let Ok((chunk, transform)) = scene.chunks.get(entity) else {
            return;
        };
        let Some(tiles) = scene.tilemaps.first_tile(entity) else {
            return;
        };
        let Lists {
            phase, textures, ..
        } = &mut *self.lists;
        let texture = phase.tileset(chunk.tileset.id(), &scene.images, textures);
        let Some(texture) = texture.and_then(|texture| self.unless_target(texture)) else {
            return;
        };
        let first = self.lists.phase.chunks.len() as u32;
        let alpha = AlphaMode::from(chunk.alpha_mode);
        let world = transform.affine();
        let instance = Chunk::new(chunk, world, alpha, tiles);
        if !instance.is_finite() {
            let what = || {
                first_non_finite(&[
                    ("transform", &world.to_cols_array()),
                    ("alpha_mode", &[alpha.to_shader()]),
                ])
            };
            let who = format_args!("the tilemap chunk {}", entity_name(entity));
            return scene.warnings.warn(who, what);
        }
        self.lists.phase.chunks.push(instance);
        let batch = Batch {
            mesh: scene.meshes.quad(),
            texture: Some(texture),
            kind: BatchKind::Tiles,
            instances: first..first + 1,
        };
        self.lists.phase.add(batch, self.view_start);
    }

    /// Adds a batch of gizmo lines.
    pub(crate) fn add_lines(&mut self, lines: Range<u32>) {
        let batch = Batch {
            mesh: self.scene.meshes.quad(),
            texture: None,
            kind: BatchKind::Lines,
            instances: lines,
        };
        self.lists.phase.add(batch, self.view_start);
    }
}

/// Names the first non-finite value of a quad.
pub(crate) fn describe_invalid_quad(world: &Affine3A, rect: Rect, tint: LinearRgba) -> String {
    first_non_finite(&[
        ("transform", &world.to_cols_array()),
        (
            "rectangle",
            &[rect.min.x, rect.min.y, rect.max.x, rect.max.y],
        ),
        ("color", &tint.to_f32_array()),
    ])
}

impl QuadSink for Writer<'_, '_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        rect: Rect,
        tint: LinearRgba,
    ) {
        let image_info = self.get_image_info(image.map_or_else(AssetId::default, |(id, _)| id));
        // Glyphs have no placeholder.
        let is_drawn = |it: &Texture| image.is_none() || !it.is_placeholder;
        let Some(texture) = image_info.texture.filter(is_drawn) else {
            return;
        };
        let first = self.lists.phase.instances.len() as u32;
        let uv = image.map_or(UvRect::WHOLE, |(_, pixels)| {
            UvRect::of_pixels(pixels, image_info.size.unwrap_or(Vec2::ONE))
        });
        let glyph = Instance::quad(world, rect, uv, tint, AlphaMode::Blend);
        if !glyph.is_finite() {
            let who = format_args!("a glyph or line of the text {}", entity_name(self.text));
            let what = || describe_invalid_quad(world, rect, tint);
            return self.scene.warnings.warn(who, what);
        }
        self.lists.phase.instances.push(glyph);
        self.push_batch(first, self.scene.meshes.quad(), texture);
    }
}
