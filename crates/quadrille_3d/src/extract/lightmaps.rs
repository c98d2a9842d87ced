//! Table of lightmaps.

use bevy_ecs::prelude::*;
use bevy_math::Rect;
use bevy_mesh::UvChannel;
use bevy_platform::collections::HashMap;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::Error;
use quadrille_content::warnings::{entity_name, first_non_finite, is_finite};

use crate::components::lightmap::Lightmap;
use crate::constants::NO_TEXTURE;
use crate::tables::table::Table;
use crate::tables::textures::TextureSource;

/// Lightmap row of shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/lightmaps.wgsl", "Lightmap")]
pub(crate) struct LightmapRow {
    /// Left, top, width and height in texture coordinates of the image.
    uv_rect: [f32; 4],
    texture: u32,
    is_bicubic: u32,
    unused: [u32; 2],
}

/// Lightmaps by instance index.
#[derive(Default)]
pub(crate) struct LightmapStore {
    table: Table<LightmapRow>,
    by_instance: HashMap<u32, (u32, Entity, Lightmap)>,
    /// `DeviceImages::changes` at the last lookup of all images.
    image_version: Option<u64>,
}

impl LightmapStore {
    /// Sets the lightmap of an instance. Returns its row index plus 1, or 0 for none.
    pub(crate) fn put(
        &mut self,
        (instance, entity): (u32, Entity),
        lightmap: Option<&Lightmap>,
        textures: &mut TextureSource,
    ) -> u32 {
        let Some(lightmap) = lightmap else {
            self.remove(instance);
            return 0;
        };
        let row = row(entity, lightmap, textures);
        let known = self.by_instance.get(&instance).map(|(index, ..)| *index);
        let index = match known {
            Some(index) => index,
            None => self.table.add(row),
        };
        self.table.put(index, row);
        self.by_instance
            .insert(instance, (index, entity, lightmap.clone()));
        index + 1
    }

    /// Removes the lightmap of an instance.
    pub(crate) fn remove(&mut self, instance: u32) {
        if let Some((index, ..)) = self.by_instance.remove(&instance) {
            self.table.remove(index);
        }
    }

    /// Updates texture indices after changes of images.
    pub(crate) fn refresh(&mut self, textures: &mut TextureSource) {
        let changes = Some(textures.images.changes());
        if std::mem::replace(&mut self.image_version, changes) != changes {
            for (index, entity, lightmap) in self.by_instance.values() {
                self.table.set(*index, row(*entity, lightmap, textures));
            }
        }
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.table.mark_all_dirty();
        self.image_version = None;
    }

    /// Uploads changed rows.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.table.upload(gpu, uploads, buffer)
    }
}

/// Row of a lightmap; without an image, and with a warning, if a value is not finite.
fn row(entity: Entity, lightmap: &Lightmap, textures: &mut TextureSource) -> LightmapRow {
    let Rect { min, max } = lightmap.uv_rect;
    let uv_rect = [min.x, min.y, max.x - min.x, max.y - min.y];
    let mut texture = textures.index_of(Some(&lightmap.image), &UvChannel::Uv0);
    if !is_finite(&uv_rect) {
        let subject = format_args!("the lightmap of the mesh {}", entity_name(entity));
        textures
            .warnings
            .warn(subject, || first_non_finite(&[("uv_rect", &uv_rect)]));
        texture = NO_TEXTURE;
    }
    LightmapRow {
        uv_rect,
        texture,
        is_bicubic: u32::from(lightmap.bicubic_sampling),
        unused: [0; 2],
    }
}
