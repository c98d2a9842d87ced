//! Bindless table of material textures.

use bevy_asset::{AssetId, AssetServer, Handle};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_mesh::UvChannel;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::{MaterialBindingKind, TextureDimension, TextureSampleType};
use quadrille::prelude::{GpuDevice, GpuImage, Sampler, SamplerDesc, Uploads};
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{ImageTable, ImageTableDesc, TableError, TableIndex};
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::FallbackImages;
use quadrille_content::warnings::{RateLimitedWarnings, asset_label};

use crate::constants::{NO_TEXTURE, SAMPLER_SHIFT, UV_1_BIT};

/// Bindless table of images and samplers of all materials.
#[derive(Resource, Deref, DerefMut)]
pub struct Textures3d {
    #[deref]
    table: ImageTable,
    /// Fallback of materials with a shader of their own.
    white: TableIndex,
    /// Samplers of the table by index. The first one is linear and clamps.
    samplers: Vec<Sampler>,
    /// Fallbacks of those that are bound by themselves.
    pub(crate) fallbacks: FallbackImages,
}

/// Maximum number of images.
const MAX_TEXTURES: u32 = 4096;

/// Kind of the table's textures.
const COLOR_TEXTURE: MaterialBindingKind = MaterialBindingKind::Texture {
    dimension: TextureDimension::D2,
    sample_type: TextureSampleType::Float,
    multisampled: false,
};

/// Formats with red and green alone.
const TWO_COMPONENT_FORMATS: [Format; 8] = [
    Format::R8G8_UNORM,
    Format::R8G8_SNORM,
    Format::R16G16_UNORM,
    Format::R16G16_SNORM,
    Format::R16G16_SFLOAT,
    Format::R32G32_SFLOAT,
    Format::BC5_UNORM_BLOCK,
    Format::EAC_R11G11_UNORM_BLOCK,
];

impl Textures3d {
    pub(crate) fn new(gpu: &GpuDevice, uploads: &mut Uploads) -> Result<Self, BevyError> {
        let sampler = gpu.create_sampler(&SamplerDesc::linear())?;
        let desc = ImageTableDesc::d2("3d textures", MAX_TEXTURES).with_sampler(&sampler);
        let mut table = gpu.image_table(&desc)?;
        let mut fallbacks = FallbackImages::default();
        let white = fallbacks.add(COLOR_TEXTURE, (gpu, uploads))?;
        let white = white.ok_or("there is no white image")?;
        // The first, which shaders rely on (`pbr_bindings.wgsl`).
        let white = table.insert(&white)?;
        Ok(Self {
            table,
            white,
            samplers: vec![sampler],
            fallbacks,
        })
    }

    /// Returns the index of a sampler, which the table gets if it lacks it.
    fn sampler_index(&mut self, sampler: &Sampler) -> Result<u32, TableError> {
        let mut known = self.samplers.iter();
        if let Some(index) = known.position(|it| it.desc() == sampler.desc()) {
            return Ok(index as u32);
        }
        let index = self.table.insert_sampler(sampler)?;
        self.samplers.push(sampler.clone());
        Ok(index)
    }
}

/// Table indices of images.
#[derive(Default)]
pub(crate) struct TextureIndices {
    known: HashMap<AssetId<Image>, (TableIndex, GpuImage)>,
    /// Storage textures of materials, which the table cannot have: a pass has one access to each image.
    pub(crate) storage_textures: HashSet<AssetId<Image>>,
}

impl TextureIndices {
    /// Whether the table has an image.
    pub(crate) fn contains(&self, image: &Handle<Image>) -> bool {
        self.known.contains_key(&image.id())
    }

    /// Device images of the table.
    pub(crate) fn images(&self) -> impl Iterator<Item = &GpuImage> {
        self.known.values().map(|(_, image)| image)
    }
}

/// Tables in which texture indices are looked up.
pub(crate) struct TextureSource<'a> {
    pub(crate) indices: &'a mut TextureIndices,
    pub(crate) table: &'a mut Textures3d,
    pub(crate) images: &'a DeviceImages,
    pub(crate) warnings: &'a RateLimitedWarnings,
    pub(crate) server: &'a AssetServer,
}

impl TextureSource<'_> {
    /// Returns the packed index of a material's image; [`NO_TEXTURE`] while it is not resident.
    pub(crate) fn index_of(&mut self, handle: Option<&Handle<Image>>, channel: &UvChannel) -> u32 {
        let Some(id) = handle.map(Handle::id) else {
            return NO_TEXTURE;
        };
        let Some(shown) = self.images.resident(id) else {
            return NO_TEXTURE;
        };
        if self.indices.storage_textures.contains(&id) {
            self.warnings.warn_message(|| {
                let image = asset_label(id, self.server);
                format!(
                    "{image} is not drawn as a texture, since another material has it as a storage texture, and a pass has one \
                     access to each image. Give both an image of their own"
                )
            });
            return NO_TEXTURE;
        }
        let image = shown.image;
        let index = match self.indices.known.get(&id) {
            Some((index, known)) if known == image => Ok(*index),
            Some((index, _)) => self.table.replace(*index, image).map(|()| *index),
            None => self.table.insert(image),
        };
        match index {
            Ok(index) => {
                self.indices.known.insert(id, (index, image.clone()));
                let second = match channel {
                    UvChannel::Uv0 => 0,
                    UvChannel::Uv1 => UV_1_BIT,
                };
                index.0 | second | self.sampler_index(id, shown.sampler) << SAMPLER_SHIFT
            }
            Err(error) => {
                self.warnings.warn_message(|| {
                    let image = asset_label(id, self.server);
                    format!("{image} of a material is not drawn: {error}")
                });
                NO_TEXTURE
            }
        }
    }

    /// Returns the index of an image's sampler; that of the first one if the table has no room for another.
    fn sampler_index(&mut self, image: AssetId<Image>, sampler: u32) -> u32 {
        let Some(sampler) = self.images.samplers().get(sampler) else {
            return 0;
        };
        self.table.sampler_index(sampler).unwrap_or_else(|error| {
            self.warnings.warn_message(|| {
                let image = asset_label(image, self.server);
                format!(
                    "{image} of a material is sampled linearly and clamped: {error}. Use fewer kinds of samplers"
                )
            });
            0
        })
    }

    /// Returns the packed index in the row of a material with shaders of its own, for a texture or a sampler.
    pub(crate) fn index_in_row(
        &mut self,
        kind: MaterialBindingKind,
        image: Option<&Handle<Image>>,
    ) -> u32 {
        match kind {
            // Its image may be a cube, for instance, which the table does not hold.
            MaterialBindingKind::Sampler(_) => self.packed_sampler(image),
            _ => self.index_or_white(image),
        }
    }

    /// Returns the packed index of an image's sampler; the first one without an image, and while it is not resident.
    fn packed_sampler(&mut self, image: Option<&Handle<Image>>) -> u32 {
        let id = image.map(Handle::id);
        let shown = id.and_then(|id| Some((id, self.images.resident(id)?.sampler)));
        shown.map_or(0, |(id, sampler)| {
            self.sampler_index(id, sampler) << SAMPLER_SHIFT
        })
    }

    /// Returns the packed index of an image; a white texel without one, while it is not resident and if the table is full.
    fn index_or_white(&mut self, image: Option<&Handle<Image>>) -> u32 {
        match self.index_of(image, &UvChannel::Uv0) {
            NO_TEXTURE => self.table.white.0,
            index => index,
        }
    }

    /// Whether a resident image has only red and green.
    pub(crate) fn has_two_channels(&self, handle: Option<&Handle<Image>>) -> bool {
        let shown = handle.and_then(|handle| self.images.resident(handle));
        shown.is_some_and(|shown| TWO_COMPONENT_FORMATS.contains(&shown.image.desc().format))
    }

    /// Frees the indices of removed images.
    pub(crate) fn remove_dropped(&mut self) {
        let Self {
            indices,
            table,
            images,
            ..
        } = self;
        indices.known.retain(|&id, (index, _)| {
            let is_there = images.resident(id).is_some();
            if !is_there {
                // Cannot fail: the index is in use.
                let _ = table.remove(*index);
            }
            is_there
        });
    }
}
