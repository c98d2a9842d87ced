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
use quadrille_content::{first_odd, is_finite, named};

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
    part: [f32; 4],
    texture: u32,
    is_cubic: u32,
    unused: [u32; 2],
}

/// The table of lightmaps: 32 bytes each.
#[derive(Resource, Deref)]
pub struct Lightmaps3d(pub(crate) GpuBuffer);

/// The lightmaps of the world, by the place of their instances.
#[derive(Default)]
pub(crate) struct LightmapStore {
    table: Table<LightmapRow>,
    of: HashMap<u32, (u32, Entity, Lightmap)>,
    /// `DeviceImages::changes` when all images were looked up.
    image_changes: Option<u64>,
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
        let known = self.of.get(&instance).map(|(place, ..)| *place);
        let place = match known {
            Some(place) => place,
            None => self.table.add(row),
        };
        self.table.put(place, row);
        self.of.insert(instance, (place, entity, lightmap.clone()));
        place + 1
    }

    /// Forgets that of an instance.
    pub(crate) fn remove(&mut self, instance: u32) {
        if let Some((place, ..)) = self.of.remove(&instance) {
            self.table.remove(place);
        }
    }

    /// Looks all images up again, if there are other ones.
    pub(crate) fn follow(&mut self, textures: &mut TextureSource) {
        let changes = Some(textures.images.changes());
        if std::mem::replace(&mut self.image_changes, changes) != changes {
            for (place, entity, lightmap) in self.of.values() {
                self.table.set(*place, row(*entity, lightmap, textures));
            }
        }
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.table.begin_anew();
        self.image_changes = None;
    }

    /// Sends what changed.
    pub(crate) fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.table.send(gpu, uploads, buffer)
    }
}

/// The row of a lightmap; without an image if its numbers make no sense.
fn row(entity: Entity, lightmap: &Lightmap, textures: &mut TextureSource) -> LightmapRow {
    let Rect { min, max } = lightmap.uv_rect;
    let part = [min.x, min.y, max.x - min.x, max.y - min.y];
    let mut texture = textures.place(Some(&lightmap.image), &UvChannel::Uv0);
    if !is_finite(&part) {
        let who = format_args!("the lightmap of the mesh {}", named(entity));
        textures
            .complaints
            .warn(who, || first_odd(&[("uv_rect", &part)]));
        texture = NO_TEXTURE;
    }
    LightmapRow {
        part,
        texture,
        is_cubic: u32::from(lightmap.bicubic_sampling),
        unused: [0; 2],
    }
}
