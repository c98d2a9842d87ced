//! Materials as shaders read them.

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, Handle};
use bevy_color::{Alpha as _, ColorToComponents as _};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::Image;
use bevy_mesh::UvChannel;
use bevy_platform::collections::{HashMap, HashSet};
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille_content::{Complaints, DeviceImages, asset_label, first_odd, is_finite};
use wgpu_types::Face;

use crate::material::{AlphaMode, ParallaxMappingMethod, StandardMaterial};
use crate::table::Table;
use crate::textures::{NO_TEXTURE, TexturePlaces, TextureSource, Textures3d};

/// The smoothest surface: below it highlights are smaller than half floats can represent.
pub(crate) const SMOOTHEST: f32 = 0.089;

/// One row of the table of materials.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct MaterialRow {
    /// Linear, with alpha.
    pub(crate) base_color: [f32; 4],
    /// Linear; last how much exposure changes it.
    pub(crate) emissive: [f32; 4],
    /// The reflectance of each channel; last the perceptual roughness.
    pub(crate) specular: [f32; 4],
    pub(crate) metallic: f32,
    /// [`ALPHA_OPAQUE`] and others, or the threshold of a mask.
    pub(crate) alpha: f32,
    /// [`UNLIT`] and others.
    pub(crate) flags: u32,
    /// In steps of depth.
    pub(crate) depth_bias: f32,
    pub(crate) clearcoat: f32,
    pub(crate) clearcoat_roughness: f32,
    /// Strength and, as cosine and sine, the rotation from the tangent.
    pub(crate) anisotropy: f32,
    /// What lightmaps are multiplied with.
    pub(crate) lightmap_exposure: f32,
    pub(crate) anisotropy_direction: [f32; 2],
    /// What is added to the transformed texture coordinates.
    pub(crate) uv_offset: [f32; 2],
    /// The columns of the matrix from the mesh's texture coordinates to the images'.
    pub(crate) uv_axes: [f32; 4],
    /// Depth, layers and steps of parallax mapping; the thickness.
    pub(crate) parallax: [f32; 4],
    /// What is lost of each channel in a unit of thickness, as an exponent; how much comes through.
    pub(crate) through: [f32; 4],
    /// Places of [`images`].
    pub(crate) textures: [u32; 12],
}

/// Alpha is 1.
const ALPHA_OPAQUE: f32 = -1.0;
/// Alpha covers.
const ALPHA_BLEND: f32 = 2.0;
/// Colours are multiplied with alpha already.
const ALPHA_PREMULTIPLIED: f32 = 3.0;
/// Colours are added.
const ALPHA_ADD: f32 = 4.0;
/// Colours are multiplied with what is there.
const ALPHA_MULTIPLY: f32 = 5.0;
/// Alpha decides which samples are covered.
const ALPHA_TO_COVERAGE: f32 = 6.0;

const UNLIT: u32 = 1;
const DOUBLE_SIDED: u32 = 2;
const FOG: u32 = 4;
/// The normal map's green runs down.
const FLIPS_Y: u32 = 8;
/// The normal map has two channels.
const TWO_CHANNELS: u32 = 16;
/// The image of metal and roughness has two channels.
const METAL_IN_GREEN: u32 = 32;

/// What of a material decides with which pipeline it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) mix: Mix,
    pub(crate) cull: CullMode,
    /// How much nearer it is sorted, where that counts.
    pub(crate) nearer: f32,
    /// It is thick enough to cast shadows.
    pub(crate) casts: bool,
    pub(crate) detail: Detail,
}

/// How much there is to shade. Code that is there slows down also those who do not need it, so that
/// pipelines have no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Detail {
    /// The same everywhere.
    Plain,
    /// Images say what differs.
    Images,
    /// There is a varnish, there are long highlights, depths, or a lightmap, or light comes through.
    Rich,
}

/// How what is drawn meets what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mix {
    /// It hides that.
    Hide,
    /// It hides that, but where it has holes: a mask.
    Mask,
    /// It hides that in some of a pixel's samples.
    Samples,
    /// It covers that by its alpha.
    Cover,
    /// It is multiplied with that.
    Multiply,
}

impl Mix {
    fn new(mode: AlphaMode) -> Self {
        match mode {
            AlphaMode::Opaque => Self::Hide,
            AlphaMode::Mask(_) => Self::Mask,
            AlphaMode::AlphaToCoverage => Self::Samples,
            AlphaMode::Blend | AlphaMode::Premultiplied | AlphaMode::Add => Self::Cover,
            AlphaMode::Multiply => Self::Multiply,
        }
    }

    /// Light falls through where its alpha says so.
    pub(crate) fn has_holes(self) -> bool {
        matches!(self, Self::Mask | Self::Samples | Self::Cover)
    }

    /// What is behind is seen through it, so that order counts.
    pub(crate) fn is_transparent(self) -> bool {
        matches!(self, Self::Cover | Self::Multiply)
    }
}

/// The faces that are not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CullMode {
    None,
    Front,
    Back,
}

/// More layers than these, and more steps between two of them, show nothing more.
const MOST_LAYERS: f32 = 1024.0;
const MOST_STEPS: u32 = 24;

/// Below this alpha what is transparent casts no shadow, as in bevy.
const THINNEST: f32 = 0.05;

impl MaterialRow {
    fn new(material: &StandardMaterial, textures: &mut TextureSource) -> Self {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let tint = material.specular_tint.to_linear();
        let [r, g, b] =
            [tint.red, tint.green, tint.blue].map(|channel| channel * material.reflectance);
        let mut emissive = material.emissive.to_f32_array();
        emissive[3] = material.emissive_exposure_weight;
        let tone = material.attenuation_color.to_linear();
        let (sine, cosine) = material.anisotropy_rotation.sin_cos();
        let mut places = [NO_TEXTURE; 12];
        for (place, (image, channel)) in places.iter_mut().zip(images(material)) {
            *place = textures.place(image.as_ref(), channel);
        }
        let two_channels =
            |image: &Option<Handle<Image>>| textures.has_two_channels(image.as_ref());
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
                AlphaMode::Multiply => ALPHA_MULTIPLY,
                AlphaMode::AlphaToCoverage => ALPHA_TO_COVERAGE,
            },
            flags: flag(material.unlit, UNLIT)
                | flag(material.double_sided, DOUBLE_SIDED)
                | flag(material.fog_enabled, FOG)
                | flag(material.flip_normal_map_y, FLIPS_Y)
                | flag(two_channels(&material.normal_map_texture), TWO_CHANNELS)
                | flag(
                    two_channels(&material.metallic_roughness_texture),
                    METAL_IN_GREEN,
                ),
            depth_bias: material.depth_bias,
            clearcoat: material.clearcoat,
            clearcoat_roughness: material.clearcoat_perceptual_roughness,
            anisotropy: material.anisotropy_strength,
            lightmap_exposure: material.lightmap_exposure,
            anisotropy_direction: [cosine, sine],
            uv_offset: material.uv_transform.translation.to_array(),
            uv_axes: material.uv_transform.matrix2.to_cols_array(),
            parallax: [
                material.parallax_depth_scale,
                material.max_parallax_layer_count.min(MOST_LAYERS),
                match material.parallax_mapping_method {
                    ParallaxMappingMethod::Occlusion => 0.0,
                    ParallaxMappingMethod::Relief { max_steps } => max_steps.min(MOST_STEPS) as f32,
                },
                material.thickness,
            ],
            through: [
                attenuation(tone.red, material.attenuation_distance),
                attenuation(tone.green, material.attenuation_distance),
                attenuation(tone.blue, material.attenuation_distance),
                material.diffuse_transmission,
            ],
            textures: places,
        }
    }

    /// Its numbers with their names, as far as they may be wrong.
    fn numbers(&self) -> [(&'static str, &[f32]); 12] {
        [
            ("base colour", &self.base_color),
            ("emissive colour", &self.emissive),
            ("reflectance and roughness", &self.specular),
            ("metallic", std::slice::from_ref(&self.metallic)),
            ("depth bias", std::slice::from_ref(&self.depth_bias)),
            ("clearcoat", std::slice::from_ref(&self.clearcoat)),
            ("anisotropy", std::slice::from_ref(&self.anisotropy)),
            (
                "lightmap exposure",
                std::slice::from_ref(&self.lightmap_exposure),
            ),
            (
                "parallax depth and layers, or the thickness",
                &self.parallax,
            ),
            ("attenuation and transmission", &self.through),
            ("uv transform's matrix", &self.uv_axes),
            ("uv transform's translation", &self.uv_offset),
        ]
    }

    fn is_finite(&self) -> bool {
        let rest = [self.alpha, self.clearcoat_roughness];
        let mut numbers = self.numbers().into_iter();
        numbers.all(|(_, numbers)| is_finite(numbers))
            && is_finite(&rest)
            && is_finite(&self.anisotropy_direction)
    }
}

/// The exponent by which light that becomes as dim as this in some distance is lost in a unit of length.
fn attenuation(left: f32, distance: f32) -> f32 {
    if distance == f32::INFINITY || distance == 0.0 {
        return 0.0;
    }
    -left.max(1e-6).ln() / distance
}

/// The images of a material, with the texture coordinates that each is seen by.
fn images(material: &StandardMaterial) -> [(&Option<Handle<Image>>, &UvChannel); 12] {
    let it = material;
    [
        (&it.base_color_texture, &it.base_color_channel),
        (&it.emissive_texture, &it.emissive_channel),
        (
            &it.metallic_roughness_texture,
            &it.metallic_roughness_channel,
        ),
        (&it.occlusion_texture, &it.occlusion_channel),
        (&it.normal_map_texture, &it.normal_map_channel),
        (&it.specular_texture, &it.specular_channel),
        (&it.specular_tint_texture, &it.specular_tint_channel),
        (&it.clearcoat_texture, &it.clearcoat_channel),
        (
            &it.clearcoat_roughness_texture,
            &it.clearcoat_roughness_channel,
        ),
        (&it.clearcoat_normal_texture, &it.clearcoat_normal_channel),
        (&it.anisotropy_texture, &it.anisotropy_channel),
        // Looked up by both.
        (&it.depth_map, &UvChannel::Uv0),
    ]
}

fn has_images(material: &StandardMaterial) -> bool {
    images(material).iter().any(|(image, _)| image.is_some())
}

impl Detail {
    fn new(material: &StandardMaterial) -> Self {
        let is_rich = material.clearcoat != 0.0
            || material.anisotropy_strength != 0.0
            || material.diffuse_transmission != 0.0
            || material.depth_map.is_some();
        if is_rich {
            Self::Rich
        } else if has_images(material) {
            Self::Images
        } else {
            Self::Plain
        }
    }
}

impl Look {
    fn new(material: &StandardMaterial) -> Self {
        let alpha = material.base_color.alpha();
        Self {
            mix: Mix::new(material.alpha_mode),
            nearer: material.depth_bias,
            cull: match material.cull_mode {
                None => CullMode::None,
                Some(Face::Front) => CullMode::Front,
                Some(Face::Back) => CullMode::Back,
            },
            casts: match material.alpha_mode {
                AlphaMode::Opaque => true,
                AlphaMode::Mask(threshold) => alpha >= threshold,
                _ => alpha >= THINNEST,
            },
            detail: Detail::new(material),
        }
    }

    /// The same on an entity that fades at a distance, or is lit by a lightmap.
    pub(crate) fn of(self, fades: bool, has_lightmap: bool) -> Self {
        // What fades has holes, pixel by pixel.
        let has_holes = fades && self.mix == Mix::Hide;
        Self {
            mix: if has_holes { Mix::Mask } else { self.mix },
            detail: if has_lightmap {
                Detail::Rich
            } else {
                self.detail
            },
            ..self
        }
    }
}

/// The table of materials: 192 bytes each.
#[derive(Resource, Deref)]
pub struct Materials3d(pub(crate) GpuBuffer);

/// The materials of the app.
#[derive(Resource, Default)]
pub(crate) struct MaterialStore {
    pub(crate) table: Table<MaterialRow>,
    places: HashMap<AssetId<StandardMaterial>, (u32, Look)>,
    shown: ShownImages,
    textures: TexturePlaces,
    /// [`DeviceImages::changes`] when images were looked up.
    image_changes: Option<u64>,
}

/// Which materials show which images.
#[derive(Default)]
struct ShownImages {
    /// By image, the materials that show it.
    by: HashMap<AssetId<Image>, HashSet<AssetId<StandardMaterial>>>,
    /// By material, the images that it shows; none if there are none.
    of: HashMap<AssetId<StandardMaterial>, Vec<AssetId<Image>>>,
}

impl ShownImages {
    fn set(&mut self, id: AssetId<StandardMaterial>, material: &StandardMaterial) {
        let images = images(material).into_iter();
        let shown = images.filter_map(|(image, _)| Some(image.as_ref()?.id()));
        let known = self.of.get(&id).map_or(&[][..], Vec::as_slice);
        if known.iter().copied().eq(shown.clone()) {
            return;
        }
        self.remove(id);
        let shown: Vec<_> = shown.collect();
        for image in &shown {
            self.by.entry(*image).or_default().insert(id);
        }
        if !shown.is_empty() {
            self.of.insert(id, shown);
        }
    }

    fn remove(&mut self, id: AssetId<StandardMaterial>) {
        for image in self.of.remove(&id).unwrap_or_default() {
            if let Some(materials) = self.by.get_mut(&image) {
                materials.remove(&id);
                if materials.is_empty() {
                    self.by.remove(&image);
                }
            }
        }
    }
}

/// What materials are read from.
#[derive(SystemParam)]
pub(crate) struct MaterialSource<'w> {
    assets: Res<'w, Assets<StandardMaterial>>,
    images: Res<'w, DeviceImages>,
    table: ResMut<'w, Textures3d>,
    complaints: Res<'w, Complaints>,
    server: Res<'w, AssetServer>,
}

impl MaterialStore {
    /// The place of a material in the table, and its look; none if it is not there or makes no
    /// sense.
    pub(crate) fn get(&self, id: AssetId<StandardMaterial>) -> Option<(u32, Look)> {
        self.places.get(&id).copied()
    }

    /// What other places of images are looked up in.
    pub(crate) fn textures<'a>(&'a mut self, source: &'a mut MaterialSource) -> TextureSource<'a> {
        texture_source(&mut self.textures, source)
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
        let before = std::mem::replace(&mut self.image_changes, image_changes);
        if before != image_changes {
            texture_source(&mut self.textures, source).forget_gone();
            for id in self.textured_since(before, source) {
                is_other |= self.put(id, source);
            }
        }
        is_other
    }

    /// The materials that show images which have changed since a number of changes.
    fn textured_since(
        &self,
        changes: Option<u64>,
        source: &MaterialSource,
    ) -> HashSet<AssetId<StandardMaterial>> {
        let changed = changes.and_then(|changes| source.images.changed_since(changes));
        match changed {
            Some(images) => {
                let materials = images.filter_map(|image| self.shown.by.get(&image));
                materials.flatten().copied().collect()
            }
            None => self.shown.of.keys().copied().collect(),
        }
    }

    fn put(&mut self, id: AssetId<StandardMaterial>, source: &mut MaterialSource) -> bool {
        // Not through `source`, which is borrowed for its images.
        let Some(material) = source.assets.get(id).cloned() else {
            return false;
        };
        let mut textures = texture_source(&mut self.textures, source);
        let row = MaterialRow::new(&material, &mut textures);
        let look = Look::new(&material);
        self.shown.set(id, &material);
        if !row.is_finite() {
            source.complaints.say(|| {
                let (material, why) = (asset_label(id, &source.server), first_odd(&row.numbers()));
                format!("meshes with {material} are not drawn: {why}")
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
        self.shown.remove(id);
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
        server: &source.server,
    }
}
