//! Builds the items of visible entities.

use bevy_asset::AssetId;
use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_math::{Affine2, Affine3A, Rect, Vec2};
use bevy_mesh::Mesh;
use bevy_sprite::{Anchor, Sprite};
use quadrille_content::affine::affine_rows;
use quadrille_content::warnings::{entity_name, first_non_finite, is_finite};

use crate::components::material::{AlphaMode2d, ColorMaterial};
use crate::instances::mesh_instance::{AlphaMode, Instance, UvRect, quad_rows};
use crate::queue::Scene;
use crate::queue::extract::{FoundItem, Task};
use crate::queue::sprites::{SpriteImage, add_sprite, sprite_error};
use crate::queue::text::{QuadSink, add_text, text_stamp};
use crate::scene::drawn_images::ImageInfo;
use crate::scene::items::{
    AssetKinds, BuiltItem, BuiltPart, ItemKind, Items, MovedItem, RowTransform, Stamp,
};
use crate::scene::materials::{MaterialInstance, MaterialKind, MaterialState};
use crate::scene::phase_item::sort_key;

/// Validates and builds items for a task.
pub(crate) struct Builder<'a, 'w, 's> {
    scene: &'a Scene<'w, 's>,
    items: &'a Items,
    task: &'a mut Task,
    entity: Entity,
    /// First row and first part of the item that is being built.
    start: [u32; 2],
    /// Whether some of the item that is being built cannot be drawn.
    is_invalid: bool,
    /// Material with a shader of its own of the item that is being built.
    material: Option<MaterialState>,
    /// Cache of the last lookup: neighbours often share an image.
    last: Option<(AssetId<ImageAsset>, ImageInfo)>,
}

/// Kind of an item, fingerprint of its components, and transform with its last change.
struct Source {
    kind: ItemKind,
    stamp: Stamp,
    world: Affine3A,
    transform_tick: u32,
}

impl Source {
    fn new(kind: ItemKind, ticks: [Tick; 2], world: Affine3A, transform: Tick) -> Self {
        let [first, second] = ticks.map(Some);
        Self {
            kind,
            stamp: Stamp::default().add(first).add(second),
            world,
            transform_tick: transform.get(),
        }
    }
}

impl<'a, 'w, 's> Builder<'a, 'w, 's> {
    pub(crate) fn new(scene: &'a Scene<'w, 's>, items: &'a Items, task: &'a mut Task) -> Self {
        Self {
            scene,
            items,
            task,
            entity: Entity::PLACEHOLDER,
            start: [0; 2],
            is_invalid: false,
            material: None,
            last: None,
        }
    }

    /// Validates the items of an entity with the visibility class of sprites.
    pub(crate) fn validate_sprite_or_text(&mut self, entity: Entity) {
        let scene = self.scene;
        self.entity = entity;
        if let Ok((sprite, anchor, transform, material)) = scene.sprites.get(entity) {
            let ticks = [sprite.last_changed(), anchor.last_changed()];
            let (world, tick) = (transform.affine(), transform.last_changed());
            let mut source = Source::new(ItemKind::Sprite, ticks, world, tick);
            if let Some(material) = &material {
                source.stamp = source.stamp.add(Some(material.last_changed()));
            }
            if !self.keep_or_move(&source) {
                let material = material.filter(|material| material.0.is_some());
                self.build_sprite((&sprite, &anchor), material.as_deref(), &source);
            }
        }
        if let Ok(ticks) = scene.text_ticks.get(entity) {
            let source = Source {
                kind: ItemKind::Text,
                stamp: text_stamp(&ticks, &scene.span_ticks),
                world: ticks.transform.affine(),
                transform_tick: 0,
            };
            if !self.keep_or_move(&source) {
                self.build_text(&source);
            }
        }
    }

    /// Validates the items of an entity with the visibility class of meshes.
    pub(crate) fn validate_mesh_or_chunk(&mut self, entity: Entity) {
        let scene = self.scene;
        self.entity = entity;
        if let Ok((mesh, material, transform)) = scene.mesh_items.get(entity) {
            let ticks = [mesh.last_changed(), material.last_changed()];
            let (world, tick) = (transform.affine(), transform.last_changed());
            let source = Source::new(ItemKind::Mesh, ticks, world, tick);
            if !self.keep_or_move(&source) {
                self.build_mesh(mesh.id(), scene.materials.get(&material.0), &source);
            }
        }
        if let Ok((mesh, material, transform)) = scene.material_meshes.get(entity)
            && material.0.is_some()
        {
            let ticks = [mesh.last_changed(), material.last_changed()];
            let (world, tick) = (transform.affine(), transform.last_changed());
            let source = Source::new(ItemKind::MaterialMesh, ticks, world, tick);
            if !self.keep_or_move(&source) {
                self.build_material_mesh(mesh.id(), &material, &source);
            }
        }
        if let Ok((chunk, transform)) = scene.chunks.get(entity) {
            let ticks = [chunk.last_changed(), transform.last_changed()];
            let (world, tick) = (transform.affine(), transform.last_changed());
            let source = Source::new(ItemKind::Chunk, ticks, world, tick);
            if !self.keep_or_move(&source) {
                let blends = chunk.alpha_mode == AlphaMode2d::Blend;
                self.begin();
                self.end(
                    &source,
                    blends,
                    AssetKinds::default(),
                    RowTransform::Rebuilt,
                );
            }
        }
    }

    /// Keeps or moves the item of the entity. Returns false if it must be built.
    fn keep_or_move(&mut self, source: &Source) -> bool {
        let Some(index) = self.items.find(source.kind, self.entity) else {
            return false;
        };
        let item = self.items.get(index);
        if !self.items.is_current(item, source.stamp) {
            return false;
        }
        if item.transform_tick == source.transform_tick {
            self.task.found.push(FoundItem::Kept(index));
            return true;
        }
        let world_from_local = match item.row_transform {
            RowTransform::Rebuilt => return false,
            RowTransform::Quad(rect) => quad_rows(&source.world, rect),
            RowTransform::Own => affine_rows(source.world),
        };
        if !is_finite(world_from_local.as_flattened()) {
            return false;
        }
        // The lower half of the key does not follow from the transform.
        let rank = item.key & u64::from(u32::MAX);
        let z = source.world.translation.z + item.depth_bias;
        let z = sort_key(z, false, self.entity);
        self.task.found.push(FoundItem::Moved);
        self.task.moved.push(MovedItem {
            index,
            transform_tick: source.transform_tick,
            key: z & !u64::from(u32::MAX) | rank,
            world_from_local,
        });
        true
    }

    fn build_sprite(
        &mut self,
        (sprite, anchor): (&Sprite, &Anchor),
        material: Option<&MaterialInstance>,
        source: &Source,
    ) {
        self.begin();
        let depends_on = AssetKinds {
            atlas_layouts: sprite.texture_atlas.is_some(),
            custom_materials: material.is_some(),
            ..AssetKinds::default()
        };
        let store = &self.scene.custom_materials;
        self.material = store.get(material, MaterialKind::Sprite, None);
        if material.is_some() && self.material.is_none() {
            // Its asset is not loaded.
            return self.end(source, true, depends_on, RowTransform::Rebuilt);
        }
        let id = sprite.image.id();
        let info = self.image_info(id);
        let image = SpriteImage {
            size: info.size,
            layouts: &self.scene.layouts,
            is_placeholder: info.is_placeholder,
        };
        let mut row_transform = RowTransform::Rebuilt;
        let [first, _] = self.start.map(|start| start as usize);
        let out = (&mut self.task.slices, &mut self.task.rows);
        if info.is_drawn {
            match add_sprite(sprite, anchor, &source.world, &image, out) {
                Some(rect) => row_transform = RowTransform::Quad(rect),
                None => {
                    let reason = sprite_error(sprite, anchor, &source.world, &image);
                    self.is_invalid = reason.is_some();
                    if let Some(reason) = reason {
                        let who = format_args!("the sprite {}", entity_name(self.entity));
                        self.scene.warnings.warn(who, || reason);
                    }
                }
            }
        }
        if let Some(material) = self.material {
            for row in &mut self.task.rows[first..] {
                row.material = material.row;
                if let Some(alpha_mode) = material.alpha_mode {
                    row.alpha_mode = alpha_mode.to_shader();
                }
            }
        }
        let rows = self.task.rows.len() - first;
        self.add_part(None, id, rows as u32);
        self.end(source, true, depends_on, row_transform);
    }

    fn build_text(&mut self, source: &Source) {
        self.begin();
        if let Ok(text) = self.scene.texts.get(self.entity) {
            add_text(&text, &self.scene.spans, self);
        }
        self.end(source, true, AssetKinds::default(), RowTransform::Rebuilt);
    }

    fn build_mesh(
        &mut self,
        mesh: AssetId<Mesh>,
        material: Option<&ColorMaterial>,
        source: &Source,
    ) {
        self.begin();
        let blends = material.is_none_or(|material| material.alpha_mode == AlphaMode2d::Blend);
        if let Some(material) = material {
            let id = material.texture.as_ref().map(|handle| handle.id());
            let id = id.unwrap_or_default();
            let rows = self.add_mesh(material, id, source.world);
            self.add_part(Some(mesh), id, rows);
        }
        let depends_on = AssetKinds {
            materials: true,
            ..AssetKinds::default()
        };
        self.end(source, blends, depends_on, RowTransform::Own);
    }

    fn build_material_mesh(
        &mut self,
        mesh: AssetId<Mesh>,
        material: &MaterialInstance,
        source: &Source,
    ) {
        self.begin();
        let store = &self.scene.custom_materials;
        self.material = store.get(Some(material), MaterialKind::Mesh, Some(mesh));
        let mut is_transparent = true;
        if let Some(state) = self.material {
            let alpha = state.alpha_mode.unwrap_or_default();
            is_transparent = alpha == AlphaMode::Blend;
            let white = LinearRgba::WHITE;
            let mut row = Instance::mesh(source.world, Affine2::IDENTITY, white, alpha);
            row.material = state.row;
            let is_finite = row.is_finite();
            if is_finite {
                self.task.rows.push(row);
            } else {
                let world = source.world.to_cols_array();
                let what = || first_non_finite(&[("transform", &world)]);
                let who = format_args!("the mesh {}", entity_name(self.entity));
                self.scene.warnings.warn(who, what);
                self.is_invalid = true;
            }
            self.add_part(Some(mesh), AssetId::default(), u32::from(is_finite));
        }
        let depends_on = AssetKinds {
            custom_materials: true,
            ..AssetKinds::default()
        };
        self.end(source, is_transparent, depends_on, RowTransform::Own);
    }

    /// Adds the row of a mesh. Returns the number of rows: none if it cannot be drawn.
    fn add_mesh(
        &mut self,
        material: &ColorMaterial,
        image: AssetId<ImageAsset>,
        world: Affine3A,
    ) -> u32 {
        let info = self.image_info(image);
        if !info.is_drawn {
            return 0;
        }
        let alpha = AlphaMode::from(material.alpha_mode);
        let uv = if info.is_placeholder {
            Affine2::IDENTITY
        } else {
            material.uv_transform
        };
        let tint = material.color.to_linear();
        let instance = Instance::mesh(world, uv, tint, alpha);
        if instance.is_finite() {
            self.task.rows.push(instance);
            return 1;
        }
        let what = || {
            first_non_finite(&[
                ("transform", &world.to_cols_array()),
                ("material's uv_transform", &uv.to_cols_array()),
                ("material's color", &tint.to_f32_array()),
                ("material's alpha_mode", &[alpha.to_shader()]),
            ])
        };
        let who = format_args!("the mesh {}", entity_name(self.entity));
        self.scene.warnings.warn(who, what);
        self.is_invalid = true;
        0
    }

    fn begin(&mut self) {
        self.start = [self.task.rows.len() as u32, self.task.parts.len() as u32];
        self.is_invalid = false;
        self.material = None;
    }

    /// Ends the item that [`Self::begin`] has begun. `row_transform` is that of its only row.
    fn end(
        &mut self,
        source: &Source,
        is_transparent: bool,
        depends_on: AssetKinds,
        row_transform: RowTransform,
    ) {
        let [first_row, first_part] = self.start;
        let rows = first_row..self.task.rows.len() as u32;
        let depth_bias = self.material.map_or(0.0, |material| material.depth_bias);
        let z = source.world.translation.z + depth_bias;
        self.task.found.push(FoundItem::Built);
        self.task.built.push(BuiltItem {
            entity: self.entity,
            kind: source.kind,
            stamp: source.stamp,
            transform_tick: source.transform_tick,
            key: sort_key(z, is_transparent, self.entity),
            depth_bias,
            row_transform: match rows.len() {
                1 => row_transform,
                _ => RowTransform::Rebuilt,
            },
            rows,
            parts: first_part..self.task.parts.len() as u32,
            depends_on,
            is_invalid: self.is_invalid,
        });
    }

    /// Adds rows to the current part, or to a new one for another image; without rows it notes that the item depends on
    /// the image.
    fn add_part(&mut self, mesh: Option<AssetId<Mesh>>, image: AssetId<ImageAsset>, rows: u32) {
        let [_, first] = self.start.map(|start| start as usize);
        match self.task.parts[first..].last_mut() {
            Some(last) if (last.mesh, last.image) == (mesh, image) => last.rows += rows,
            _ => self.task.parts.push(BuiltPart {
                mesh,
                image,
                bind_group: self.material.map(|material| material.bind_group),
                rows,
            }),
        }
    }

    fn image_info(&mut self, id: AssetId<ImageAsset>) -> ImageInfo {
        if let Some((last, info)) = self.last
            && last == id
        {
            return info;
        }
        let scene = self.scene;
        let info = self.items.images.info(id);
        let info = info.unwrap_or_else(|| ImageInfo::of(id, &scene.images, &scene.image_assets));
        self.last = Some((id, info));
        info
    }
}

/// Names the first non-finite value of a quad.
fn describe_invalid_quad(world: &Affine3A, rect: Rect, tint: LinearRgba) -> String {
    first_non_finite(&[
        ("transform", &world.to_cols_array()),
        (
            "rectangle",
            &[rect.min.x, rect.min.y, rect.max.x, rect.max.y],
        ),
        ("color", &tint.to_f32_array()),
    ])
}

impl QuadSink for Builder<'_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        rect: Rect,
        tint: LinearRgba,
    ) {
        let id = image.map_or_else(AssetId::default, |(id, _)| id);
        let info = self.image_info(id);
        // Glyphs have no placeholder.
        if !info.is_drawn || image.is_some() && info.is_placeholder {
            return self.add_part(None, id, 0);
        }
        let uv = image.map_or(UvRect::WHOLE, |(_, pixels)| {
            UvRect::of_pixels(pixels, info.size.unwrap_or(Vec2::ONE))
        });
        let glyph = Instance::quad(world, rect, uv, tint, AlphaMode::Blend);
        if !glyph.is_finite() {
            let who = format_args!("a glyph or line of the text {}", entity_name(self.entity));
            let what = || describe_invalid_quad(world, rect, tint);
            self.is_invalid = true;
            return self.scene.warnings.warn(who, what);
        }
        self.task.rows.push(glyph);
        self.add_part(None, id, 1);
    }
}
