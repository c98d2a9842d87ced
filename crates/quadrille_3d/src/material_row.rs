//! Materials as shaders read them.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_color::{Alpha as _, ColorToComponents as _};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::GpuBuffer;
use quadrille_content::{Complaints, first_odd, is_finite};
use wgpu_types::Face;

use crate::material::{AlphaMode, StandardMaterial};
use crate::table::Table;

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
    fn new(material: &StandardMaterial) -> Self {
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
        }
    }

    fn is_finite(&self) -> bool {
        is_finite(&self.base_color)
            && is_finite(&self.emissive)
            && is_finite(&self.specular)
            && is_finite(&[self.metallic, self.alpha])
    }
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

/// The table of materials: 64 bytes each.
#[derive(Resource, Deref)]
pub struct Materials3d(pub(crate) GpuBuffer);

/// The materials of the app.
#[derive(Resource, Default)]
pub(crate) struct MaterialStore {
    pub(crate) table: Table<MaterialRow>,
    places: HashMap<AssetId<StandardMaterial>, (u32, Look)>,
}

impl MaterialStore {
    /// The place of a material in the table, and its look; none if it is not there or makes no
    /// sense.
    pub(crate) fn get(&self, id: AssetId<StandardMaterial>) -> Option<(u32, Look)> {
        self.places.get(&id).copied()
    }

    /// Follows the assets. Tells whether a material came, went, or is drawn otherwise than before.
    pub(crate) fn follow(
        &mut self,
        events: &mut MessageReader<AssetEvent<StandardMaterial>>,
        assets: &Assets<StandardMaterial>,
        complaints: &Complaints,
    ) -> bool {
        let mut is_other = false;
        for event in events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    if let Some(material) = assets.get(id) {
                        is_other |= self.put(id, material, complaints);
                    }
                }
                AssetEvent::Removed { id } => is_other |= self.remove(id),
                AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        is_other
    }

    fn put(
        &mut self,
        id: AssetId<StandardMaterial>,
        material: &StandardMaterial,
        complaints: &Complaints,
    ) -> bool {
        let (row, look) = (MaterialRow::new(material), Look::new(material));
        if !row.is_finite() {
            complaints.warn(format_args!("what has the material {id}"), || {
                first_odd(&[
                    ("base colour", &row.base_color),
                    ("emissive colour", &row.emissive),
                    ("reflectance", &row.specular),
                    ("metallic", &[row.metallic]),
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
        let Some((place, _)) = self.places.remove(&id) else {
            return false;
        };
        self.table.remove(place);
        true
    }
}
