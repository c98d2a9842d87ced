//! Light that was computed beforehand: images of it that meshes are seen with by their second texture
//! coordinates, in a table of their own.

use bevy_asset::Handle;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Rect;
use bevy_mesh::UvChannel;
use bevy_platform::collections::HashMap;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::{entity_name, first_non_finite, is_finite};

use crate::table::Table;
use crate::textures::{NO_TEXTURE, TextureSource};

/// The light that falls on a mesh, computed beforehand: bevy's component of this name.
///
/// A texel times the material's [`lightmap_exposure`](crate::StandardMaterial::lightmap_exposure) times the
/// surface's diffuse colour is what the surface sends out, in candela per square metre. The image takes the
/// place of irradiance volumes and of the diffuse light of environment maps; lights are added, and ambient
/// light unless its `affects_lightmapped_meshes` is false. The mesh is seen with it by its second texture
/// coordinates, or by the first if it has no others. Until the image is loaded the mesh is drawn without it.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Lightmap {
    /// The image: of linear numbers, such as half floats.
    pub image: Handle<Image>,
    /// The part of the image that is the mesh's: 0 and 1 are the image's edges.
    pub uv_rect: Rect,
    /// Mixes sixteen texels by a cubic spline instead of four, which hides steps of coarse images.
    pub bicubic_sampling: bool,
}

impl Default for Lightmap {
    fn default() -> Self {
        Self {
            image: Handle::default(),
            uv_rect: Rect::new(0.0, 0.0, 1.0, 1.0),
            bicubic_sampling: false,
        }
    }
}

/// A lightmap as shaders read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct LightmapRow {
    /// Left, top, width and height of its part of the image.
    uv_rect: [f32; 4],
    texture: u32,
    is_bicubic: u32,
    unused: [u32; 2],
}

/// The table of lightmaps: 32 bytes each.
#[derive(Resource, Deref)]
pub struct Lightmaps3d(pub(crate) GpuBuffer);

/// The lightmaps of the world, by the place of their instances.
#[derive(Default)]
pub(crate) struct LightmapStore {
    table: Table<LightmapRow>,
    by_instance: HashMap<u32, (u32, Entity, Lightmap)>,
    /// `DeviceImages::changes` when all images were looked up.
    image_version: Option<u64>,
}

impl LightmapStore {
    /// Sets the lightmap of an instance. Tells which row it has: 0 for none, 1 for the first.
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

    /// Forgets that of an instance.
    pub(crate) fn remove(&mut self, instance: u32) {
        if let Some((index, ..)) = self.by_instance.remove(&instance) {
            self.table.remove(index);
        }
    }

    /// Looks all images up again, if there are other ones.
    pub(crate) fn refresh(&mut self, textures: &mut TextureSource) {
        let changes = Some(textures.images.changes());
        if std::mem::replace(&mut self.image_version, changes) != changes {
            for (index, entity, lightmap) in self.by_instance.values() {
                self.table.set(*index, row(*entity, lightmap, textures));
            }
        }
    }

    /// Forgets what the device has.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.table.mark_all_dirty();
        self.image_version = None;
    }

    /// Sends what changed.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.table.upload(gpu, uploads, buffer)
    }
}

/// The row of a lightmap; without an image if its numbers make no sense.
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
