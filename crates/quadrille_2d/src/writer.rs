//! From what one camera sees to instances in order.
//!
//! Each entity is looked up once: the instances of a sprite are made when it is found, and copied
//! to their places once all are sorted. There may be a hundred thousand of them, so what
//! neighbours share (image, size, texture) is looked up once for all.

use std::ops::Range;

use bevy_asset::AssetId;
use bevy_camera::visibility::VisibleEntities;
use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::{Affine2, Affine3A, Rect, Vec2};
use bevy_mesh::Mesh2d;
use bevy_sprite::Sprite;

use crate::chunk::Chunk;
use crate::instance::{AlphaMode, Instance, UvRect};
use crate::material::AlphaMode2d;
use crate::order::Item;
use crate::phase::{Batch, BatchKind, Texture, View2d};
use crate::queue::{Lists, Scene};
use crate::slices::Slice;
use crate::sprites::{SpriteImage, add_sprite, refusal};
use crate::text::{Sink, add_text};
use quadrille_content::{MeshPlace, first_odd, named, visible_once};

/// What a camera sees, and memory for it.
#[derive(Default)]
pub(crate) struct Seen {
    items: Vec<Item>,
    found: Vec<Found>,
    /// Of all sprites, as they were found.
    instances: Vec<Instance>,
    slices: Vec<Slice>,
}

/// Something that an item stands for.
enum Found {
    Sprite {
        texture: Texture,
        /// Of [`Seen::instances`].
        instances: Range<u32>,
    },
    Mesh(Entity),
    Chunk(Entity),
    Text(Entity),
}

impl Seen {
    fn clear(&mut self) {
        self.items.clear();
        self.found.clear();
        self.instances.clear();
    }

    fn add(&mut self, z: f32, is_transparent: bool, entity: Entity, found: Found) {
        let place = self.found.len() as u32;
        self.items.push(Item::new(z, is_transparent, entity, place));
        self.found.push(found);
    }

    /// Brings everything into the order in which it is drawn.
    pub(crate) fn sort(&mut self) {
        self.items.sort_unstable();
    }
}

/// An image as this camera may show it.
#[derive(Clone, Copy)]
struct Shown {
    /// None for the image that is being drawn to, which cannot be read at the same time.
    texture: Option<Texture>,
    /// In pixels; none while it is not known.
    size: Option<Vec2>,
}

/// Writes the instances of one camera.
pub(crate) struct Writer<'a, 'l, 'w, 's> {
    scene: &'a Scene<'w, 's>,
    lists: &'a mut Lists<'l>,
    view_start: u32,
    /// Place of the camera's target.
    target: u32,
    /// Whose text is being added.
    text: Entity,
    /// The image that was looked up last.
    last: Option<(AssetId<ImageAsset>, Shown)>,
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

    /// Finds what a camera sees.
    pub(crate) fn find(&mut self, visible: &VisibleEntities, seen: &mut Seen) {
        let scene = self.scene;
        seen.clear();
        for entity in visible_once::<Sprite>(visible) {
            self.find_sprite(entity, seen);
            if let Ok(text) = scene.texts.get(entity) {
                let z = text.transform.translation().z;
                seen.add(z, true, entity, Found::Text(entity));
            }
        }
        for entity in visible_once::<Mesh2d>(visible) {
            if let Ok((_, material, transform)) = scene.mesh_items.get(entity) {
                let material = scene.materials.get(&material.0);
                let blends =
                    material.is_none_or(|material| material.alpha_mode == AlphaMode2d::Blend);
                let z = transform.translation().z;
                seen.add(z, blends, entity, Found::Mesh(entity));
            }
            if let Ok((chunk, transform)) = scene.chunks.get(entity) {
                let blends = chunk.alpha_mode == AlphaMode2d::Blend;
                let z = transform.translation().z;
                seen.add(z, blends, entity, Found::Chunk(entity));
            }
        }
    }

    fn find_sprite(&mut self, entity: Entity, seen: &mut Seen) {
        let scene = self.scene;
        let Ok((sprite, anchor, transform)) = scene.sprites.get(entity) else {
            return;
        };
        let shown = self.look_up(sprite.image.id());
        let Some(texture) = shown.texture else {
            return;
        };
        let image = SpriteImage {
            size: shown.size,
            layouts: &scene.layouts,
            is_placeholder: texture.is_placeholder,
        };
        let first = seen.instances.len() as u32;
        let out = (&mut seen.slices, &mut seen.instances);
        let world = transform.affine();
        if !add_sprite(sprite, anchor, &world, &image, out) {
            if let Some(reason) = refusal(sprite, anchor, &world, &image) {
                let who = format_args!("the sprite {}", named(entity));
                scene.complaints.warn(who, || reason);
            }
            return;
        }
        let instances = first..seen.instances.len() as u32;
        let z = transform.translation().z;
        let found = Found::Sprite { texture, instances };
        seen.add(z, true, entity, found);
    }

    /// Adds the instances of everything that was found, in order.
    pub(crate) fn write(&mut self, seen: &Seen) {
        let scene = self.scene;
        for item in &seen.items {
            match &seen.found[item.place as usize] {
                Found::Sprite { texture, instances } => {
                    let first = self.lists.phase.instances.len() as u32;
                    let range = instances.start as usize..instances.end as usize;
                    let instances = &seen.instances[range];
                    self.lists.phase.instances.extend_from_slice(instances);
                    self.close(first, scene.meshes.quad(), *texture);
                }
                Found::Mesh(entity) => self.add_mesh(*entity),
                Found::Chunk(entity) => self.add_chunk(*entity),
                Found::Text(entity) => {
                    if let Ok(text) = scene.texts.get(*entity) {
                        self.text = *entity;
                        add_text(&text, &scene.spans, self);
                    }
                }
            }
        }
    }

    /// How an image is shown.
    fn look_up(&mut self, id: AssetId<ImageAsset>) -> Shown {
        if let Some((last, shown)) = self.last
            && last == id
        {
            return shown;
        }
        let shown = Shown {
            texture: self.texture(id),
            size: self.scene.image_assets.get(id).map(ImageAsset::size_f32),
        };
        self.last = Some((id, shown));
        shown
    }

    fn texture(&mut self, id: AssetId<ImageAsset>) -> Option<Texture> {
        let Lists {
            phase, textures, ..
        } = &mut *self.lists;
        let texture = phase.texture(id, &self.scene.images, textures)?;
        self.unless_target(texture)
    }

    /// A texture, unless it is the image that is being drawn to.
    fn unless_target(&self, texture: Texture) -> Option<Texture> {
        let image = self.lists.textures.0.get(texture.image as usize)?;
        let target = self.scene.targets.get(self.target as usize)?;
        (image != target).then_some(texture)
    }

    /// What was added from `first` on is drawn with this mesh and texture.
    fn close(&mut self, first: u32, mesh: MeshPlace, texture: Texture) {
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
        let (Some(place), Some(material)) = (
            scene.meshes.place(mesh.id()),
            scene.materials.get(&material.0),
        ) else {
            return;
        };
        let id = material.texture.as_ref().map(|handle| handle.id());
        let Some(texture) = self.look_up(id.unwrap_or_default()).texture else {
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
                first_odd(&[
                    ("transform", &world.to_cols_array()),
                    ("material's uv_transform", &uv.to_cols_array()),
                    ("material's color", &tint.to_f32_array()),
                    ("material's alpha_mode", &[alpha.to_shader()]),
                ])
            };
            let who = format_args!("the mesh {}", named(entity));
            return scene.complaints.warn(who, what);
        }
        self.lists.phase.instances.push(instance);
        self.close(first, place, texture);
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
                first_odd(&[
                    ("transform", &world.to_cols_array()),
                    ("alpha_mode", &[alpha.to_shader()]),
                ])
            };
            let who = format_args!("the tilemap chunk {}", named(entity));
            return scene.complaints.warn(who, what);
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

    /// Adds lines of gizmos that were listed.
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

/// Why a quad is not drawn.
pub(crate) fn why_not(world: &Affine3A, place: Rect, tint: LinearRgba) -> String {
    first_odd(&[
        ("transform", &world.to_cols_array()),
        (
            "place",
            &[place.min.x, place.min.y, place.max.x, place.max.y],
        ),
        ("color", &tint.to_f32_array()),
    ])
}

impl Sink for Writer<'_, '_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        place: Rect,
        tint: LinearRgba,
    ) {
        let shown = self.look_up(image.map_or_else(AssetId::default, |(id, _)| id));
        // No placeholder stands for a glyph.
        let is_drawn = |it: &Texture| image.is_none() || !it.is_placeholder;
        let Some(texture) = shown.texture.filter(is_drawn) else {
            return;
        };
        let first = self.lists.phase.instances.len() as u32;
        let uv = image.map_or(UvRect::WHOLE, |(_, pixels)| {
            UvRect::of_pixels(pixels, shown.size.unwrap_or(Vec2::ONE))
        });
        let glyph = Instance::quad(world, place, uv, tint, AlphaMode::Blend);
        if !glyph.is_finite() {
            let who = format_args!("a part of the text {}", named(self.text));
            let what = || why_not(world, place, tint);
            return self.scene.complaints.warn(who, what);
        }
        self.lists.phase.instances.push(glyph);
        self.close(first, self.scene.meshes.quad(), texture);
    }
}
