//! Materials as shaders read them.

use bevy_asset::{AssetEvent, AssetId, Assets, Handle};
use bevy_color::{Alpha as _, ColorToComponents as _};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::Image;
use bevy_platform::collections::{HashMap, HashSet};
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille_content::{Complaints, DeviceImages, first_odd, is_finite};
use wgpu_types::Face;

use crate::material::{AlphaMode, StandardMaterial};
use crate::table::Table;
use crate::textures::{TexturePlaces, TextureSource, Textures3d};

/// The smoothest surface: below it highlights are smaller than half floats can tell.
pub(crate) const SMOOTHEST: f32 = 0.089;

/// One row of the table of materials.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct MaterialRow {
    /// Linear, with alpha.
    pub(crate) base_color: [f32; 4],
    /// Linear; last how much exposure changes it.
    pub(crate) emissive: [f32; 4],
    /// What mirrors at right angles, without metal; last the perceptual roughness.
    pub(crate) specular: [f32; 4],
    pub(crate) metallic: f32,
    /// [`ALPHA_OPAQUE`] and others, or the threshold of a mask.
    pub(crate) alpha: f32,
    /// [`UNLIT`] and others.
    pub(crate) flags: u32,
    pub(crate) unused: u32,
    /// Places of the images of base colour, emission, metal and roughness, occlusion.
    pub(crate) textures: [u32; 4],
    /// The columns of the matrix from the mesh's texture coordinates to the images'.
    pub(crate) uv_axes: [f32; 4],
    /// What is added to it.
    pub(crate) uv_offset: [f32; 2],
    pub(crate) unused_too: [f32; 2],
}

/// Alpha is 1.
const ALPHA_OPAQUE: f32 = -1.0;
/// Alpha covers.
const ALPHA_BLEND: f32 = 2.0;
/// Colours are multiplied with alpha already.
const ALPHA_PREMULTIPLIED: f32 = 3.0;
/// Colours are added.
const ALPHA_ADD: f32 = 4.0;

const UNLIT: u32 = 1;
const DOUBLE_SIDED: u32 = 2;
const FOG: u32 = 4;

/// What of a material decides with which pipeline it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Look {
    pub(crate) is_transparent: bool,
    pub(crate) cull: CullMode,
    /// It is thick enough to cast shadows.
    pub(crate) casts: bool,
}

/// The faces that are not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CullMode {
    None,
    Front,
    Back,
}

/// Below this alpha what is transparent casts no shadow, as in bevy.
const THINNEST: f32 = 0.05;

impl MaterialRow {
    fn new(material: &StandardMaterial, textures: &mut TextureSource) -> Self {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let tint = material.specular_tint.to_linear();
        let specular = 0.16 * material.reflectance * material.reflectance;
        let [r, g, b] = [tint.red, tint.green, tint.blue].map(|channel| channel * specular);
        let mut emissive = material.emissive.to_f32_array();
        emissive[3] = material.emissive_exposure_weight;
        Self {
            base_color: material.base_color.to_linear().to_f32_array(),
            emissive,
            specular: [r, g, b, material.perceptual_roughness.clamp(SMOOTHEST, 1.0)],
            metallic: material.metallic,
            alpha: match material.alpha_mode {
                AlphaMode::Opaque => ALPHA_OPAQUE,
                AlphaMode::Mask(threshold) => threshold.clamp(0.0, 1.0),
                AlphaMode::Blend => ALPHA_BLEND,
                AlphaMode::Premultiplied => ALPHA_PREMULTIPLIED,
                AlphaMode::Add => ALPHA_ADD,
            },
            flags: flag(material.unlit, UNLIT)
                | flag(material.double_sided, DOUBLE_SIDED)
                | flag(material.fog_enabled, FOG),
            unused: 0,
            textures: images(material).map(|image| textures.place(image)),
            uv_axes: material.uv_transform.matrix2.to_cols_array(),
            uv_offset: material.uv_transform.translation.to_array(),
            unused_too: [0.0; 2],
        }
    }

    fn is_finite(&self) -> bool {
        is_finite(&self.base_color)
            && is_finite(&self.emissive)
            && is_finite(&self.specular)
            && is_finite(&[self.metallic, self.alpha])
            && is_finite(&self.uv_axes)
            && is_finite(&self.uv_offset)
    }
}

/// The images of a material, in the order of [`MaterialRow::textures`].
fn images(material: &StandardMaterial) -> [Option<&Handle<Image>>; 4] {
    [
        &material.base_color_texture,
        &material.emissive_texture,
        &material.metallic_roughness_texture,
        &material.occlusion_texture,
    ]
    .map(Option::as_ref)
}

impl Look {
    fn new(material: &StandardMaterial) -> Self {
        let alpha = material.base_color.alpha();
        Self {
            is_transparent: material.alpha_mode.is_transparent(),
            cull: match material.cull_mode {
                None => CullMode::None,
                Some(Face::Front) => CullMode::Front,
                Some(Face::Back) => CullMode::Back,
            },
            casts: match material.alpha_mode {
                AlphaMode::Opaque => true,
                AlphaMode::Mask(threshold) => alpha >= threshold,
                AlphaMode::Blend | AlphaMode::Premultiplied | AlphaMode::Add => alpha >= THINNEST,
            },
        }
    }
}

/// The table of materials: 112 bytes each.
#[derive(Resource, Deref)]
pub struct Materials3d(pub(crate) GpuBuffer);

/// The materials of the app.
#[derive(Resource, Default)]
pub(crate) struct MaterialStore {
    pub(crate) table: Table<MaterialRow>,
    places: HashMap<AssetId<StandardMaterial>, (u32, Look)>,
    /// Those that show images.
    textured: HashSet<AssetId<StandardMaterial>>,
    textures: TexturePlaces,
    /// [`DeviceImages::changes`] when all images were looked up.
    image_changes: Option<u64>,
}

/// What materials are read from.
#[derive(SystemParam)]
pub(crate) struct MaterialSource<'w> {
    assets: Res<'w, Assets<StandardMaterial>>,
    images: Res<'w, DeviceImages>,
    table: ResMut<'w, Textures3d>,
    complaints: Res<'w, Complaints>,
}

impl MaterialStore {
    /// The place of a material in the table, and its look; none if it is not there or makes no
    /// sense.
    pub(crate) fn get(&self, id: AssetId<StandardMaterial>) -> Option<(u32, Look)> {
        self.places.get(&id).copied()
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.table.begin_anew();
        self.textures = TexturePlaces::default();
        self.image_changes = None;
    }

    /// Follows the assets. Tells whether a material came, went, or is drawn otherwise than before.
    pub(crate) fn follow(
        &mut self,
        events: &mut MessageReader<AssetEvent<StandardMaterial>>,
        source: &mut MaterialSource,
    ) -> bool {
        let mut is_other = false;
        for event in events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    is_other |= self.put(id, source);
                }
                AssetEvent::Removed { id } => is_other |= self.remove(id),
                AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        let image_changes = Some(source.images.changes());
        if std::mem::replace(&mut self.image_changes, image_changes) != image_changes {
            texture_source(&mut self.textures, source).forget_gone();
            let textured: Vec<_> = self.textured.iter().copied().collect();
            for id in textured {
                is_other |= self.put(id, source);
            }
        }
        is_other
    }

    fn put(&mut self, id: AssetId<StandardMaterial>, source: &mut MaterialSource) -> bool {
        // Not through `source`, which is borrowed for its images.
        let Some(material) = source.assets.get(id).cloned() else {
            return false;
        };
        let mut textures = texture_source(&mut self.textures, source);
        let row = MaterialRow::new(&material, &mut textures);
        let look = Look::new(&material);
        if images(&material).iter().any(Option::is_some) {
            self.textured.insert(id);
        } else {
            self.textured.remove(&id);
        }
        if !row.is_finite() {
            let who = format_args!("what has the material {id}");
            source.complaints.warn(who, || {
                first_odd(&[
                    ("base colour", &row.base_color),
                    ("emissive colour", &row.emissive),
                    ("reflectance", &row.specular),
                    ("metallic", &[row.metallic]),
                    ("uv transform's matrix", &row.uv_axes),
                    ("uv transform's translation", &row.uv_offset),
                ])
            });
            return self.remove(id);
        }
        if let Some((place, old)) = self.places.get_mut(&id) {
            self.table.set(*place, row);
            return std::mem::replace(old, look) != look;
        }
        let place = self.table.add(row);
        self.places.insert(id, (place, look));
        true
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) -> bool {
        self.textured.remove(&id);
        let Some((place, _)) = self.places.remove(&id) else {
            return false;
        };
        self.table.remove(place);
        true
    }
}

fn texture_source<'a>(
    places: &'a mut TexturePlaces,
    source: &'a mut MaterialSource,
) -> TextureSource<'a> {
    TextureSource {
        places,
        table: &mut source.table,
        images: &source.images,
        complaints: &source.complaints,
    }
}
