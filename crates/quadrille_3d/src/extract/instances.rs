//! Instance table of all mesh entities; rows are updated on change.

mod previous;
mod slot;

use std::collections::BTreeMap;

use bevy_asset::AssetId;
use bevy_camera::primitives::Aabb;
use bevy_camera::visibility::{RenderLayers, VisibilityRange};
use bevy_ecs::prelude::*;
use bevy_math::{Affine3A, Vec3, Vec4};
use bevy_mesh::Mesh;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::meshes::{MeshAllocation, MeshAllocator};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};

use crate::components::lightmap::Lightmap;
use crate::constants::LIGHTMAP_SHIFT;
use crate::extract::bins::Bins;
use crate::extract::caster_changes::CasterChanges;
use crate::extract::lightmaps::LightmapStore;
use crate::extract::materials::{MaterialId, MaterialState, MaterialStore};
use crate::scene::cull_view::{BoundsRow, CullViewRow};
use crate::scene::keys::{BinKey, PipelineKey};
use crate::scene::lists::{CullList, TransparentInstance};
use crate::scene::rows::InstanceRow;
use crate::scene::visibility_range::pack_visibility_range;
use crate::skin::SkinStore;
use crate::tables::mesh_vertex::Vertex;
use crate::tables::table::Table;
use crate::tables::textures::TextureSource;
use quadrille_content::affine::{AffineRows, affine_rows};

use previous::PreviousTransforms;
pub(crate) use slot::{EnabledMeshes, FreedSlots, Slot, watch_disabling};

/// Draw parameters of a mesh entity.
pub(crate) struct InstanceDesc<'a> {
    pub(crate) entity: Entity,
    pub(crate) transform: Affine3A,
    pub(crate) mesh: AssetId<Mesh>,
    pub(crate) material: MaterialId,
    pub(crate) bounds: Option<&'a Aabb>,
    pub(crate) layers: Option<&'a RenderLayers>,
    /// Bit flags such as [`CAMERAS`](crate::constants::CAMERAS).
    pub(crate) flags: u32,
    /// [`SHADOW_RECEIVER`](crate::constants::SHADOW_RECEIVER) and
    /// [`TRANSMITTED_SHADOW_RECEIVER`](crate::constants::TRANSMITTED_SHADOW_RECEIVER).
    pub(crate) shadow_receiver_flags: u32,
    pub(crate) range: Option<&'a VisibilityRange>,
    pub(crate) has_lightmap: bool,
    pub(crate) tag: u32,
}

/// CPU-side state of a mesh entity.
#[derive(Clone, Copy)]
struct InstanceState {
    entity: Entity,
    mesh: AssetId<Mesh>,
    material: MaterialId,
    /// Bit flags of its [`BoundsRow`](crate::scene::cull_view::BoundsRow) while its transform is valid.
    flags: u32,
    /// Whether it cross-fades by dithering (visibility range).
    fades: bool,
    has_lightmap: bool,
    drawn: Option<(MeshAllocation, MaterialState)>,
}

/// Instances of all mesh entities.
#[derive(Resource, Default)]
pub(crate) struct InstanceStore {
    table: Table<InstanceRow>,
    previous: PreviousTransforms,
    bounds: Table<BoundsRow>,
    /// Mesh tags, up to the last nonzero one.
    tags: Table<u32>,
    /// First words of attributes of programs by instance, up to the last instance that has some: see
    /// [`AttributeBases3d`](crate::scene::buffers::AttributeBases3d).
    attribute_bases: Table<u32>,
    /// State by instance index.
    state: Vec<Option<InstanceState>>,
    pub(crate) bins: Bins,
    pub(crate) meshes: MeshAllocator<Vertex>,
    /// Changes of shadow casters since the previous frame.
    pub(crate) caster_changes: CasterChanges,
    /// Whether rows of materials have changed since the previous frame.
    pub(crate) has_changed_materials: bool,
    /// Number of instances with a visibility range.
    ranges: u32,
    /// [`MeshAllocator::changes`] at the last lookup of all allocations.
    mesh_version: u64,
    lightmaps: LightmapStore,
    /// Indices of distinct render layers; entities without the component have index 0.
    layers: BTreeMap<RenderLayers, u32>,
}

impl InstanceStore {
    /// Mesh allocator.
    pub(crate) fn meshes(&self) -> &MeshAllocator<Vertex> {
        &self.meshes
    }

    /// Returns the number of rows of the table of instances.
    pub(crate) fn len(&self) -> u32 {
        self.table.rows().len() as u32
    }

    /// Marks all rows dirty, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.table.mark_all_dirty();
        self.previous.reset();
        self.bounds.mark_all_dirty();
        self.tags.mark_all_dirty();
        self.attribute_bases.mark_all_dirty();
        self.bins.mark_all_dirty();
        self.lightmaps.mark_all_dirty();
        self.meshes.mark_all_dirty();
    }

    /// Begins a frame with this stamp for motion vectors; `None` if no camera has any.
    pub(crate) fn begin_motion(&mut self, frame: Option<u32>) {
        self.previous.begin(frame);
    }

    /// Stamp of the frame for motion vectors; `None` if no camera has any.
    pub(crate) fn motion_frame(&self) -> Option<u32> {
        self.previous.frame()
    }

    /// Adds or updates an entity.
    pub(crate) fn put(
        &mut self,
        slot: &mut Slot,
        desc: &InstanceDesc<'_>,
        (materials, skins): (&MaterialStore, &SkinStore),
        warnings: &RateLimitedWarnings,
    ) {
        let row = InstanceRow {
            world_from_local: affine_rows(desc.transform),
            material: 0,
            flags: desc.shadow_receiver_flags,
            range: desc.range.map_or([0; 2], pack_visibility_range),
        };
        if *slot == Slot::NONE {
            *slot = Slot(self.table.add(row));
            self.previous.forget(slot.0);
            self.caster_changes.note(slot.0, None);
        } else {
            self.note_caster_change(slot.0);
            self.note_motion(slot.0, &row.world_from_local);
            self.table.set(slot.0, row);
        }
        let (center, half_extents) = desc.bounds.map_or_else(Default::default, |bounds| {
            (bounds.center.to_array(), bounds.half_extents.to_array())
        });
        let bounds = BoundsRow {
            center,
            half_extents,
            layers: self.layer_set_index(desc.layers),
            flags: 0,
        };
        self.bounds.put(slot.0, bounds);
        if desc.tag != 0 || (slot.0 as usize) < self.tags.rows().len() {
            self.tags.put(slot.0, desc.tag);
        }
        let at = slot.0 as usize;
        if at >= self.state.len() {
            self.state.resize(at + 1, None);
        }
        // Keeps the current bin: `rebin` removes the instance from it if it is no longer drawn.
        let drawn = self.state[at].and_then(|state| state.drawn);
        self.count_range(at, desc.range.is_some());
        self.state[at] = Some(InstanceState {
            entity: desc.entity,
            mesh: desc.mesh,
            material: desc.material,
            flags: desc.flags,
            fades: desc.range.is_some(),
            has_lightmap: desc.has_lightmap,
            drawn,
        });
        self.rebin(slot.0, materials, skins);
        self.update_visibility(*slot, &row.world_from_local, warnings);
    }

    /// Updates the transform of an instance.
    pub(crate) fn move_to(
        &mut self,
        slot: Slot,
        rows: &AffineRows,
        warnings: &RateLimitedWarnings,
    ) {
        let row = self.table.rows().get(slot.0 as usize);
        if row.is_some_and(|row| row.world_from_local != *rows) {
            self.note_caster_change(slot.0);
            self.note_motion(slot.0, rows);
            self.table
                .change(slot.0, |row| row.world_from_local = *rows);
            self.update_visibility(slot, rows, warnings);
        }
    }

    /// Notes the transform of an instance for motion vectors, before it becomes `rows`.
    fn note_motion(&mut self, index: u32, rows: &AffineRows) {
        if let Some(old) = self.table.rows().get(index as usize)
            && old.world_from_local != *rows
        {
            self.previous.note(index, old.world_from_local);
        }
    }

    /// Notes an instance for cached shadow maps, before it changes.
    fn note_caster_change(&mut self, index: u32) {
        let at = index as usize;
        let rows = self.table.rows().get(at).zip(self.bounds.rows().get(at));
        self.caster_changes.note(index, rows);
    }

    /// Ends the changes of shadow casters of a frame.
    pub(crate) fn finish_caster_changes(&mut self) {
        self.caster_changes.finish(self.bounds.rows());
    }

    /// Counts whether an instance has a visibility range, before its state is replaced.
    fn count_range(&mut self, at: usize, has_range: bool) {
        let had_range = self.state[at].is_some_and(|state| state.fades);
        self.ranges = self.ranges + u32::from(has_range) - u32::from(had_range);
    }

    /// Whether any instance is culled by its distance from the camera.
    pub(crate) fn has_ranges(&self) -> bool {
        self.ranges > 0
    }

    /// Whether a shadow map has, or had, a caster that has changed since the previous frame.
    pub(crate) fn has_changed_caster(&self, view: &CullViewRow, layers: &[u32]) -> bool {
        let rows = (self.table.rows(), self.bounds.rows());
        self.caster_changes.affects(view, layers, rows)
    }

    /// Hides an instance, with a warning, while its transform is invalid.
    fn update_visibility(&mut self, slot: Slot, rows: &AffineRows, warnings: &RateLimitedWarnings) {
        let Some(Some(state)) = self.state.get(slot.0 as usize) else {
            return;
        };
        let numbers = rows.as_flattened();
        let flags = if is_finite(numbers) { state.flags } else { 0 };
        if flags != state.flags {
            warnings.warn(
                format_args!("the mesh {}", entity_name(state.entity)),
                || first_non_finite(&[("transform", numbers)]),
            );
        }
        let casts_shadows = state
            .drawn
            .is_some_and(|(_, material_state)| material_state.casts_shadows);
        let without = if casts_shadows {
            0
        } else {
            crate::constants::SHADOWS
        };
        self.bounds
            .change(slot.0, |row| row.flags = flags & !without);
    }

    /// Sets the lightmap of an entity, after [`Self::put`].
    pub(crate) fn set_lightmap(
        &mut self,
        slot: Slot,
        entity: Entity,
        lightmap: Option<&Lightmap>,
        textures: &mut TextureSource,
    ) {
        let number = self.lightmaps.put((slot.0, entity), lightmap, textures);
        self.table.change(slot.0, |row| {
            row.flags = row.flags & ((1 << LIGHTMAP_SHIFT) - 1) | number << LIGHTMAP_SHIFT;
        });
    }

    /// Updates texture indices of lightmaps after changes of images.
    pub(crate) fn refresh_lightmaps(&mut self, textures: &mut TextureSource) {
        self.lightmaps.refresh(textures);
    }

    /// Removes an entity.
    pub(crate) fn remove(&mut self, slot: &mut Slot) {
        let index = std::mem::take(slot).0;
        let at = index as usize;
        if self.state.get(at).is_some_and(Option::is_some) {
            self.note_caster_change(index);
            self.count_range(at, false);
            self.state[at] = None;
            self.bins.put(index, None);
            self.lightmaps.remove(index);
            self.table.remove(index);
            self.trim();
        }
    }

    /// Removes what belongs to rows that the table of instances has no more. Tags stay: shaders take those beyond the end
    /// of their table as 0, and new instances do not write a tag of 0 there.
    fn trim(&mut self) {
        let length = self.table.rows().len();
        if length == self.state.len() {
            return;
        }
        self.bounds.truncate(length);
        self.state.truncate(length);
        if self.state.capacity() / 4 > length {
            self.state.shrink_to(2 * length);
        }
    }

    /// Frees the slots of removed entities.
    pub(crate) fn free(&mut self, freed: &mut FreedSlots) {
        for mut slot in freed.0.drain(..) {
            self.remove(&mut slot);
        }
    }

    /// Updates the bins of all entities after changes of meshes or materials.
    pub(crate) fn refresh(
        &mut self,
        (materials, skins): (&MaterialStore, &SkinStore),
        materials_changed: bool,
        warnings: &RateLimitedWarnings,
    ) {
        let mesh_version = self.meshes.changes();
        if !materials_changed && self.mesh_version == mesh_version {
            return;
        }
        self.mesh_version = mesh_version;
        for index in 0..self.state.len() as u32 {
            if self.rebin(index, materials, skins) {
                let rows = self.table.rows()[index as usize].world_from_local;
                self.update_visibility(Slot(index), &rows, warnings);
            }
        }
    }

    /// Updates the bin of an entity by its mesh and material. Returns whether its draw state has changed.
    fn rebin(&mut self, index: u32, materials: &MaterialStore, skins: &SkinStore) -> bool {
        let Some(Some(state)) = self.state.get_mut(index as usize) else {
            return false;
        };
        let material = materials.get(state.material, state.mesh);
        let material_state = material.map(|(_, material_state)| {
            material_state.for_instance(state.fades, state.has_lightmap)
        });
        let mesh = self.meshes.allocation(state.mesh);
        let room = self.meshes.tail_start();
        let mesh = mesh.and_then(|mesh| skins.locate(state.entity, mesh, room));
        let own = mesh.zip(self.meshes.own_attributes(state.mesh));
        let base = own.map_or(0, |(mesh, (first, stride))| {
            first.wrapping_sub(mesh.base_vertex.cast_unsigned().wrapping_mul(stride))
        });
        if own.is_some() || (index as usize) < self.attribute_bases.rows().len() {
            self.attribute_bases.put(index, base);
        }
        let drawn = mesh.zip(material_state);
        if let Some((material, _)) = material {
            self.table.change(index, |row| row.material = material);
        }
        if state.drawn == drawn {
            return false;
        }
        state.drawn = drawn;
        self.note_caster_change(index);
        self.bins.put(index, drawn.map(bin_key));
        true
    }

    fn layer_set_index(&mut self, layers: Option<&RenderLayers>) -> u32 {
        self.layers.entry(RenderLayers::default()).or_insert(0);
        let next = self.layers.len() as u32;
        match layers {
            Some(layers) => *self.layers.entry(layers.clone()).or_insert(next),
            None => 0,
        }
    }

    /// Adds a view to the list of culled views, and returns its index.
    pub(crate) fn add_view(
        &self,
        list: &mut CullList,
        mut row: CullViewRow,
        layers: Option<&RenderLayers>,
    ) -> u32 {
        let layers = layers.unwrap_or_default();
        row.eye = list.eye;
        let bits: &mut Vec<u32> = &mut list.layer_bits;
        row.layer_masks_offset = bits.len() as u32;
        bits.resize(bits.len() + self.layer_words(), 0);
        for (state, &index) in &self.layers {
            if state.intersects(layers) {
                bits[(row.layer_masks_offset + index / 32) as usize] |= 1 << (index % 32);
            }
        }
        let rows = &mut list.rows;
        rows.push(row);
        rows.len() as u32 - 1
    }

    /// Visibility bits of layer sets for a view of the list.
    pub(crate) fn layer_bits<'a>(&self, row: &CullViewRow, list: &'a CullList) -> &'a [u32] {
        let first = row.layer_masks_offset as usize;
        &list.layer_bits[first..first + self.layer_words()]
    }

    /// Words of visibility bits per view.
    fn layer_words(&self) -> usize {
        self.layers.len().div_ceil(32).max(1)
    }

    /// Whether an instance is visible in a view, whether or not it is drawn.
    pub(crate) fn is_in_view(&self, slot: Slot, view: &CullViewRow, layers: &[u32]) -> bool {
        let at = slot.0 as usize;
        let rows = self.table.rows().get(at).zip(self.bounds.rows().get(at));
        rows.is_some_and(|(row, bounds)| view.is_visible(row, bounds, layers))
    }

    /// Whether any instance has specular transmission.
    pub(crate) fn has_transmissive(&self) -> bool {
        self.bins.has_transmissive()
    }

    /// Returns the instances of some pipelines that are visible in a view, unsorted.
    pub(crate) fn visible_of(
        &self,
        view: &CullViewRow,
        layers: &[u32],
        is_listed: impl Fn(PipelineKey) -> bool,
    ) -> impl Iterator<Item = TransparentInstance> {
        self.bins
            .of_pipelines(is_listed)
            .flat_map(move |(key, batch_instances)| {
                batch_instances.iter().filter_map(move |&instance| {
                    let row = &self.table.rows()[instance as usize];
                    let bounds = &self.bounds.rows()[instance as usize];
                    view.is_visible(row, bounds, layers).then(|| {
                        let [x, y, z] = row.world_from_local.map(Vec4::from);
                        let local = Vec3::from(bounds.center).extend(1.0);
                        let (sort_bias, entity_index) = self.sort_keys(instance);
                        TransparentInstance {
                            instance,
                            key,
                            center: Vec3::new(x.dot(local), y.dot(local), z.dot(local)),
                            sort_bias,
                            entity_index,
                        }
                    })
                })
            })
    }

    /// Returns the instance index of an entity, and its mesh, if it is visible in a view.
    pub(crate) fn visible_mesh(
        &self,
        slot: Slot,
        view: &CullViewRow,
        layers: &[u32],
    ) -> Option<(u32, MeshAllocation)> {
        let at = slot.0 as usize;
        let (mesh, _) = (*self.state.get(at)?)?.drawn?;
        let (row, bounds) = (&self.table.rows()[at], &self.bounds.rows()[at]);
        view.is_visible(row, bounds, layers)
            .then_some((slot.0, mesh))
    }

    /// Sort bias of an instance, and the index of its entity.
    fn sort_keys(&self, instance: u32) -> (f32, u32) {
        let state = self.state.get(instance as usize).copied().flatten();
        let drawn = state.and_then(|state| state.drawn);
        let bias = drawn.map_or(0.0, |(_, material_state)| material_state.sort_bias);
        (bias, state.map_or(0, |state| state.entity.index_u32()))
    }

    /// Uploads changed rows.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        [
            instances,
            bounds,
            batches,
            batch_instances,
            order,
            lightmaps,
            tags,
            previous,
            attribute_bases,
        ]: [&mut GpuBuffer; 9],
    ) -> Result<(), Error> {
        self.table.upload(gpu, uploads, instances)?;
        let count = self.table.rows().len();
        self.previous.upload(gpu, uploads, previous, count)?;
        self.bounds.upload(gpu, uploads, bounds)?;
        self.lightmaps.upload(gpu, uploads, lightmaps)?;
        self.tags.upload(gpu, uploads, tags)?;
        self.attribute_bases.upload(gpu, uploads, attribute_bases)?;
        self.bins.batch_rows.upload(gpu, uploads, batches)?;
        self.bins
            .batch_instances
            .upload(gpu, uploads, batch_instances)?;
        self.bins.order.upload(gpu, uploads, order)
    }
}

fn bin_key((mesh, material_state): (MeshAllocation, MaterialState)) -> BinKey {
    let pipeline = PipelineKey {
        primitive: mesh.primitive,
        cull: material_state.cull,
        blend_mode: material_state.blend_mode,
        features: material_state.features,
        is_transmissive: material_state.is_transmissive,
        shader: material_state.shader,
        renderer: material_state.renderer,
    };
    BinKey { pipeline, mesh }
}
