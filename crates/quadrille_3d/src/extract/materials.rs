//! Table of materials.

mod row;
mod state;

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, UntypedAssetId};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::Image;
use bevy_mesh::Mesh;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::MaterialBindingKind;
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille::sync::resource::ResourceId;
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{BoundLists, BoundSources, ShaderBuffers};
use quadrille_content::warnings::{RateLimitedWarnings, asset_label};

use crate::components::material::StandardMaterial;
use crate::extract::custom_materials::bound::Renderer3d;
use crate::extract::custom_materials::{
    CustomMaterials, MaterialDesc, MaterialMeshes, ShaderChanges,
};
use crate::pipelines::Pipelines3d;
use crate::tables::table::Table;
use crate::tables::textures::{TextureIndices, TextureSource, Textures3d};

pub(crate) use row::{MaterialRow, images};
pub(crate) use state::MaterialState;

/// Material of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialId {
    Standard(AssetId<StandardMaterial>),
    /// Material of a type with a shader of its own.
    Custom(UntypedAssetId),
}

/// All materials.
#[derive(Resource, Default)]
pub(crate) struct MaterialStore {
    pub(crate) table: Table<MaterialRow>,
    pub(crate) custom: CustomMaterials,
    rows_by_id: HashMap<AssetId<StandardMaterial>, (u32, MaterialState)>,
    material_images: MaterialImages,
    textures: TextureIndices,
    /// [`DeviceImages::changes`] at the last lookup of images.
    image_version: Option<u64>,
}

/// Bidirectional map of materials and images.
#[derive(Default)]
struct MaterialImages {
    /// Materials by image.
    materials_of: HashMap<AssetId<Image>, HashSet<AssetId<StandardMaterial>>>,
    /// Images by material; no entry for untextured materials.
    images_of: HashMap<AssetId<StandardMaterial>, Vec<AssetId<Image>>>,
}

impl MaterialImages {
    fn set(&mut self, id: AssetId<StandardMaterial>, material: &StandardMaterial) {
        let images = images(material).into_iter();
        let material_images = images.filter_map(|(image, _)| Some(image.as_ref()?.id()));
        let known = self.images_of.get(&id).map_or(&[][..], Vec::as_slice);
        if known.iter().copied().eq(material_images.clone()) {
            return;
        }
        self.remove(id);
        let material_images: Vec<_> = material_images.collect();
        for image in &material_images {
            self.materials_of.entry(*image).or_default().insert(id);
        }
        if !material_images.is_empty() {
            self.images_of.insert(id, material_images);
        }
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) {
        for image in self.images_of.remove(&id).unwrap_or_default() {
            if let Some(materials) = self.materials_of.get_mut(&image) {
                materials.remove(&id);
                if materials.is_empty() {
                    self.materials_of.remove(&image);
                }
            }
        }
    }
}

/// Assets and tables for the conversion of materials.
#[derive(SystemParam)]
pub(crate) struct MaterialSource<'w> {
    assets: Res<'w, Assets<StandardMaterial>>,
    images: Res<'w, DeviceImages>,
    table: ResMut<'w, Textures3d>,
    warnings: Res<'w, RateLimitedWarnings>,
    server: Res<'w, AssetServer>,
}

impl MaterialSource<'_> {
    /// Creates the image in place of one that a material lacks, for a kind of binding.
    pub(crate) fn add_fallback(
        &mut self,
        kind: MaterialBindingKind,
        to: (&GpuDevice, &mut Uploads),
    ) -> Result {
        if self.table.fallbacks.get(kind).is_none() {
            self.table.fallbacks.add(kind, to)?;
        }
        Ok(())
    }
}

impl MaterialStore {
    /// Returns the row index and state of a material for a mesh; `None` if it is missing or invalid.
    pub(crate) fn get(&self, id: MaterialId, mesh: AssetId<Mesh>) -> Option<(u32, MaterialState)> {
        match id {
            MaterialId::Standard(id) => self.rows_by_id.get(&id).copied(),
            MaterialId::Custom(id) => self.custom.get(id, mesh),
        }
    }

    /// Adds or updates a material with a shader of its own.
    pub(crate) fn put_custom(
        &mut self,
        ids: (UntypedAssetId, TypeId),
        desc: MaterialDesc,
        source: &mut MaterialSource,
    ) {
        let textures = &mut texture_source(&mut self.textures, source);
        self.custom.put(ids, desc, &mut self.table, textures);
    }

    /// Finds the vertex layouts of meshes with materials of programs.
    pub(crate) fn find_layouts(
        &mut self,
        meshes: &mut MaterialMeshes,
        source: &mut MaterialSource,
    ) {
        let textures = &mut texture_source(&mut self.textures, source);
        self.custom
            .find_layouts(meshes, (&mut self.table, textures));
    }

    /// Forgets for which meshes a material is drawn, when its last handle was dropped.
    pub(crate) fn forget_custom(&mut self, id: UntypedAssetId) {
        self.custom.forget(id);
    }

    /// Gives changed shaders of materials to the pipelines.
    pub(crate) fn prepare_custom_shaders(
        &mut self,
        changes: ShaderChanges<'_>,
        to: (&GpuDevice, &mut Pipelines3d),
        source: &mut MaterialSource,
    ) {
        let textures = &mut texture_source(&mut self.textures, source);
        self.custom
            .prepare_shaders(changes, to, (&mut self.table, textures));
    }

    /// Binds the resources of materials that have some of their own.
    pub(crate) fn bind_custom(
        &mut self,
        (buffers, pipelines): (&ShaderBuffers, &Pipelines3d),
        lists: &mut BoundLists<Renderer3d>,
        source: &mut MaterialSource,
    ) {
        let images = &source.images;
        let fallbacks = source.table.fallbacks.clone();
        let sources = BoundSources {
            images,
            buffers,
            fallbacks: &fallbacks,
            comparison_sampler: &pipelines.shadow_sampler,
            sampler: &pipelines.clamped_sampler,
        };
        let textures = &mut TextureSource {
            indices: &mut self.textures,
            table: &mut source.table,
            images,
            warnings: &source.warnings,
            server: &source.server,
        };
        self.custom
            .bind(&sources, lists, (&mut self.table, textures));
    }

    /// Removes a material with a shader of its own.
    pub(crate) fn remove_custom(&mut self, id: UntypedAssetId) {
        self.custom.remove(id, &mut self.table);
    }

    /// Whether a device image is in the table of textures.
    pub(crate) fn has_texture(&self, id: ResourceId) -> bool {
        self.textures.images().any(|image| image.id() == id)
    }

    /// Returns the texture lookup for other stores.
    pub(crate) fn textures<'a>(&'a mut self, source: &'a mut MaterialSource) -> TextureSource<'a> {
        texture_source(&mut self.textures, source)
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.table.mark_all_dirty();
        self.custom.mark_all_dirty();
        self.textures = TextureIndices::default();
        self.image_version = None;
    }

    /// Applies asset events. Returns whether a material was added or removed, or its pipeline-relevant state changed.
    pub(crate) fn apply_events(
        &mut self,
        events: &mut MessageReader<AssetEvent<StandardMaterial>>,
        source: &mut MaterialSource,
    ) -> bool {
        let mut is_other = std::mem::take(&mut self.custom.is_other);
        for event in events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    is_other |= self.put(id, source);
                }
                AssetEvent::Removed { id } => is_other |= self.remove(id),
                AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        let image_version = Some(source.images.changes());
        let before = std::mem::replace(&mut self.image_version, image_version);
        if before != image_version {
            texture_source(&mut self.textures, source).remove_dropped();
            let images = before.and_then(|before| source.images.changed_since(before));
            // Collected, because `source` is borrowed for its images.
            let images = images.map(|images| images.collect::<Vec<_>>());
            let textures = &mut texture_source(&mut self.textures, source);
            let images = images.map(Vec::into_iter);
            self.custom
                .refresh_images(images, (&mut self.table, textures));
            for id in self.materials_with_changed_images(before, source) {
                is_other |= self.put(id, source);
            }
        }
        is_other
    }

    /// Returns the materials with images that have changed since a value of [`DeviceImages::changes`].
    fn materials_with_changed_images(
        &self,
        changes: Option<u64>,
        source: &MaterialSource,
    ) -> HashSet<AssetId<StandardMaterial>> {
        let changed = changes.and_then(|changes| source.images.changed_since(changes));
        match changed {
            Some(images) => {
                let materials =
                    images.filter_map(|image| self.material_images.materials_of.get(&image));
                materials.flatten().copied().collect()
            }
            None => self.material_images.images_of.keys().copied().collect(),
        }
    }

    fn put(&mut self, id: AssetId<StandardMaterial>, source: &mut MaterialSource) -> bool {
        // Cloned, because `source` is borrowed for its images below.
        let Some(material) = source.assets.get(id).cloned() else {
            return false;
        };
        let mut textures = texture_source(&mut self.textures, source);
        let row = MaterialRow::new(&material, &mut textures);
        let material_state = MaterialState::new(&material);
        self.material_images.set(id, &material);
        if let Some(why) = row.invalid_value() {
            source.warnings.warn_message(|| {
                let material = asset_label(id, &source.server);
                format!("meshes with {material} are not drawn: {why}")
            });
            return self.remove(id);
        }
        if let Some((index, old)) = self.rows_by_id.get_mut(&id) {
            self.table.set(*index, row);
            return std::mem::replace(old, material_state) != material_state;
        }
        let index = self.table.add(row);
        self.rows_by_id.insert(id, (index, material_state));
        true
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) -> bool {
        self.material_images.remove(id);
        let Some((index, _)) = self.rows_by_id.remove(&id) else {
            return false;
        };
        self.table.remove(index);
        true
    }
}

fn texture_source<'a>(
    indices: &'a mut TextureIndices,
    source: &'a mut MaterialSource,
) -> TextureSource<'a> {
    TextureSource {
        indices,
        table: &mut source.table,
        images: &source.images,
        warnings: &source.warnings,
        server: &source.server,
    }
}
