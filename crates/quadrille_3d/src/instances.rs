//! All meshes of the world in one table, whose rows change when their entities do.

mod slot;

use std::collections::BTreeMap;

use bevy_asset::AssetId;
use bevy_camera::primitives::Aabb;
use bevy_camera::visibility::{RenderLayers, VisibilityRange};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_math::{Affine3A, Vec3, Vec4};
use bevy_mesh::Mesh;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::{Complaints, MeshPlace, MeshStore, first_odd, is_finite, named};

use crate::bins::{BinKey, Bins};
use crate::cull::{BoundsRow, CullRow};
use crate::lightmap::{Lightmap, LightmapStore};
use crate::material::StandardMaterial;
use crate::material_row::{Look, MaterialStore};
use crate::mesh_vertex::Vertex;
use crate::range_row::range_row;
use crate::scene::{PipelineKey, Scene3d};
use crate::skin::SkinStore;
use crate::table::Table;
use crate::textures::TextureSource;

pub(crate) use slot::{EnabledMeshes, FreedSlots, Slot, watch_disabling};

/// One row of the table of instances.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct InstanceRow {
    /// The rows of the affine matrix from the mesh's space to the world's.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Place in the table of materials.
    pub(crate) material: u32,
    /// [`RECEIVES`]; above [`LIGHTMAP_BIT`] which row of the table of lightmaps it has, 0 for none.
    pub(crate) flags: u32,
    /// Between which distances it is seen: see [`range_row`].
    pub(crate) range: [u32; 2],
}

/// Shadows fall on it.
pub(crate) const RECEIVES: u32 = 1;
/// They fall on its other side as well, where light comes through.
pub(crate) const RECEIVES_BEHIND: u32 = 2;
/// From here on the number of its lightmap begins.
const LIGHTMAP_BIT: u32 = 8;

/// The table of instances: 64 bytes each.
#[derive(Resource, Deref)]
pub struct Instances3d(pub(crate) GpuBuffer);

/// the value of bevy's [`MeshTag`](bevy_mesh::MeshTag) of each instance, a `u32` each in the order of [`Instances3d`], for shaders of passes of
/// one's own. What lies behind its end is 0, as all of it is without tags.
///
/// ```wgsl
/// @group(0) @binding(1) var<storage, read> tags: array<u32>;
///
/// fn tag_of(instance: u32) -> u32 {
///     return select(0u, tags[instance], instance < arrayLength(&tags));
/// }
/// ```
#[derive(Resource, Deref)]
pub struct MeshTags3d(pub(crate) GpuBuffer);

/// The vertices of all meshes.
#[derive(Resource, Deref)]
pub struct Vertices3d(pub(crate) GpuBuffer);

/// The indices of all meshes.
#[derive(Resource, Deref)]
pub struct Indices3d(pub(crate) GpuBuffer);

/// What an entity says of how it is drawn.
pub(crate) struct Wanted<'a> {
    pub(crate) entity: Entity,
    pub(crate) transform: Affine3A,
    pub(crate) mesh: AssetId<Mesh>,
    pub(crate) material: AssetId<StandardMaterial>,
    pub(crate) bounds: Option<&'a Aabb>,
    pub(crate) layers: Option<&'a RenderLayers>,
    /// [`CAMERAS`](crate::cull::CAMERAS) and others.
    pub(crate) flags: u32,
    /// [`RECEIVES`] and [`RECEIVES_BEHIND`].
    pub(crate) receives: u32,
    pub(crate) range: Option<&'a VisibilityRange>,
    pub(crate) has_lightmap: bool,
    pub(crate) tag: u32,
}

/// What is known of an entity with a mesh.
#[derive(Clone, Copy)]
struct Known {
    entity: Entity,
    mesh: AssetId<Mesh>,
    material: AssetId<StandardMaterial>,
    /// Flags of its bounds, if its transform makes sense.
    flags: u32,
    /// It appears and disappears pixel by pixel.
    fades: bool,
    has_lightmap: bool,
    drawn: Option<(MeshPlace, Look)>,
}

/// How an entity is drawn that others are seen through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnMesh {
    /// Place in the table of instances.
    pub(crate) instance: u32,
    pub(crate) key: BinKey,
    /// The middle of its bounds in the world.
    pub(crate) center: Vec3,
    /// How much nearer it is sorted.
    pub(crate) nearer: f32,
}

/// The meshes of the world.
#[derive(Resource, Default)]
pub(crate) struct InstanceStore {
    table: Table<InstanceRow>,
    bounds: Table<BoundsRow>,
    /// Of those up to the last one that has another than 0.
    tags: Table<u32>,
    /// By place in the table.
    known: Vec<Option<Known>>,
    pub(crate) bins: Bins,
    pub(crate) meshes: MeshStore<Vertex>,
    /// [`MeshStore::changes`] when all places were looked up.
    mesh_changes: u64,
    lightmaps: LightmapStore,
    /// Places of all sets of layers; that of entities without is 0.
    layers: BTreeMap<RenderLayers, u32>,
}

impl InstanceStore {
    /// The meshes themselves.
    pub(crate) fn meshes(&self) -> &MeshStore<Vertex> {
        &self.meshes
    }

    /// Room in the table of instances.
    pub(crate) fn len(&self) -> u32 {
        self.table.rows().len() as u32
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.table.begin_anew();
        self.bounds.begin_anew();
        self.tags.begin_anew();
        self.bins.begin_anew();
        self.lightmaps.begin_anew();
        self.meshes.begin_anew();
    }

    /// Draws an entity as it wants to be.
    pub(crate) fn put(
        &mut self,
        slot: &mut Slot,
        wanted: &Wanted<'_>,
        (materials, skins): (&MaterialStore, &SkinStore),
        complaints: &Complaints,
    ) {
        let row = InstanceRow {
            world_from_local: rows(wanted.transform),
            material: 0,
            flags: wanted.receives,
            range: wanted.range.map_or([0; 2], range_row),
        };
        if *slot == Slot::NONE {
            *slot = Slot(self.table.add(row));
        } else {
            self.table.set(slot.0, row);
        }
        let (center, half_extents) = wanted.bounds.map_or_else(Default::default, |bounds| {
            (bounds.center.to_array(), bounds.half_extents.to_array())
        });
        let bounds = BoundsRow {
            center,
            half_extents,
            layers: self.layers_of(wanted.layers),
            flags: 0,
        };
        self.bounds.put(slot.0, bounds);
        if wanted.tag != 0 || (slot.0 as usize) < self.tags.rows().len() {
            self.tags.put(slot.0, wanted.tag);
        }
        let at = slot.0 as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, None);
        }
        // The bin that the instance is in stays known: `look_up` takes it out if it is drawn no more.
        let drawn = self.known[at].and_then(|known| known.drawn);
        self.known[at] = Some(Known {
            entity: wanted.entity,
            mesh: wanted.mesh,
            material: wanted.material,
            flags: wanted.flags,
            fades: wanted.range.is_some(),
            has_lightmap: wanted.has_lightmap,
            drawn,
        });
        self.look_up(slot.0, materials, skins);
        self.show(*slot, &row.world_from_local, complaints);
    }

    /// Moves what is in the table.
    pub(crate) fn move_to(&mut self, slot: Slot, rows: &Rows, complaints: &Complaints) {
        let mut is_other = false;
        self.table.change(slot.0, |row| {
            is_other = row.world_from_local != *rows;
            row.world_from_local = *rows;
        });
        if is_other {
            self.show(slot, rows, complaints);
        }
    }

    /// Hides what is where it makes no sense, and shows what is not.
    fn show(&mut self, slot: Slot, rows: &Rows, complaints: &Complaints) {
        let Some(Some(known)) = self.known.get(slot.0 as usize) else {
            return;
        };
        let numbers = rows.as_flattened();
        let flags = if is_finite(numbers) { known.flags } else { 0 };
        if flags != known.flags {
            complaints.warn(format_args!("the mesh {}", named(known.entity)), || {
                first_odd(&[("transform", numbers)])
            });
        }
        let casts = known.drawn.is_some_and(|(_, look)| look.casts);
        let without = if casts { 0 } else { crate::cull::SHADOWS };
        self.bounds
            .change(slot.0, |row| row.flags = flags & !without);
    }

    /// Lights an entity by its lightmap, once it is [put](Self::put).
    pub(crate) fn light(
        &mut self,
        slot: Slot,
        entity: Entity,
        lightmap: Option<&Lightmap>,
        textures: &mut TextureSource,
    ) {
        let number = self.lightmaps.put((slot.0, entity), lightmap, textures);
        self.table.change(slot.0, |row| {
            row.flags = row.flags & ((1 << LIGHTMAP_BIT) - 1) | number << LIGHTMAP_BIT;
        });
    }

    /// Looks the images of lightmaps up again, if there are other ones.
    pub(crate) fn follow_images(&mut self, textures: &mut TextureSource) {
        self.lightmaps.follow(textures);
    }

    /// Draws an entity no more.
    pub(crate) fn remove(&mut self, slot: &mut Slot) {
        let place = std::mem::take(slot).0;
        if let Some(known) = self.known.get_mut(place as usize)
            && known.take().is_some()
        {
            self.bins.put(place, None);
            self.lightmaps.remove(place);
            self.table.remove(place);
        }
    }

    /// Frees the places of entities that are gone.
    pub(crate) fn free(&mut self, freed: &mut FreedSlots) {
        for mut slot in freed.0.drain(..) {
            self.remove(&mut slot);
        }
    }

    /// Looks meshes and materials of all entities up again, if there are other ones.
    pub(crate) fn follow(
        &mut self,
        (materials, skins): (&MaterialStore, &SkinStore),
        materials_differ: bool,
        complaints: &Complaints,
    ) {
        let mesh_changes = self.meshes.changes();
        if !materials_differ && self.mesh_changes == mesh_changes {
            return;
        }
        self.mesh_changes = mesh_changes;
        for place in 0..self.known.len() as u32 {
            if self.look_up(place, materials, skins) {
                let rows = self.table.rows()[place as usize].world_from_local;
                self.show(Slot(place), &rows, complaints);
            }
        }
    }

    /// Looks the mesh and the material of an entity up. Tells whether it is drawn otherwise.
    fn look_up(&mut self, place: u32, materials: &MaterialStore, skins: &SkinStore) -> bool {
        let Some(Some(known)) = self.known.get_mut(place as usize) else {
            return false;
        };
        let material = materials.get(known.material);
        let look = material.map(|(_, look)| look.of(known.fades, known.has_lightmap));
        let mesh = self.meshes.place(known.mesh);
        let room = self.meshes.room();
        let mesh = mesh.and_then(|place| skins.place(known.entity, place, room));
        let drawn = mesh.zip(look);
        if let Some((material, _)) = material {
            self.table.change(place, |row| row.material = material);
        }
        if known.drawn == drawn {
            return false;
        }
        known.drawn = drawn;
        self.bins.put(place, drawn.map(bin_of));
        true
    }

    fn layers_of(&mut self, layers: Option<&RenderLayers>) -> u32 {
        self.layers.entry(RenderLayers::default()).or_insert(0);
        let next = self.layers.len() as u32;
        match layers {
            Some(layers) => *self.layers.entry(layers.clone()).or_insert(next),
            None => 0,
        }
    }

    /// Adds a view to those that the device culls for. Tells which of them it is.
    pub(crate) fn add_view(
        &self,
        scene: &mut Scene3d,
        mut row: CullRow,
        layers: Option<&RenderLayers>,
    ) -> u32 {
        let layers = layers.unwrap_or_default();
        row.eye = scene.eye;
        let bits = &mut scene.layer_bits.now;
        row.first_layers = bits.len() as u32;
        bits.resize(bits.len() + self.layers.len().div_ceil(32).max(1), 0);
        for (known, &place) in &self.layers {
            if known.intersects(layers) {
                bits[(row.first_layers + place / 32) as usize] |= 1 << (place % 32);
            }
        }
        let rows = &mut scene.cull_rows.now;
        rows.push(row);
        rows.len() as u32 - 1
    }

    /// What a view sees of all that is seen through, in no order.
    pub(crate) fn transparent(
        &self,
        view: &CullRow,
        layers: &[u32],
    ) -> impl Iterator<Item = DrawnMesh> {
        self.bins.transparent().flat_map(move |(key, members)| {
            members.iter().filter_map(move |&instance| {
                let row = &self.table.rows()[instance as usize];
                let bounds = &self.bounds.rows()[instance as usize];
                view.sees(row, bounds, layers).then(|| {
                    let [x, y, z] = row.world_from_local.map(Vec4::from);
                    let local = Vec3::from(bounds.center).extend(1.0);
                    DrawnMesh {
                        instance,
                        key,
                        center: Vec3::new(x.dot(local), y.dot(local), z.dot(local)),
                        nearer: self.nearer(instance),
                    }
                })
            })
        })
    }

    /// The place of an entity in the table of instances, and its mesh, if a view sees it.
    pub(crate) fn seen(
        &self,
        slot: Slot,
        view: &CullRow,
        layers: &[u32],
    ) -> Option<(u32, MeshPlace)> {
        let at = slot.0 as usize;
        let (mesh, _) = (*self.known.get(at)?)?.drawn?;
        let (row, bounds) = (&self.table.rows()[at], &self.bounds.rows()[at]);
        view.sees(row, bounds, layers).then_some((slot.0, mesh))
    }

    fn nearer(&self, instance: u32) -> f32 {
        let known = self.known.get(instance as usize).copied().flatten();
        known
            .and_then(|known| known.drawn)
            .map_or(0.0, |(_, look)| look.nearer)
    }

    /// Sends what changed.
    pub(crate) fn send(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        [instances, bounds, chunks, members, order, lightmaps, tags]: [&mut GpuBuffer; 7],
    ) -> Result<(), Error> {
        self.table.send(gpu, uploads, instances)?;
        self.bounds.send(gpu, uploads, bounds)?;
        self.lightmaps.send(gpu, uploads, lightmaps)?;
        self.tags.send(gpu, uploads, tags)?;
        self.bins.chunk_rows.send(gpu, uploads, chunks)?;
        self.bins.members.send(gpu, uploads, members)?;
        self.bins.order.send(gpu, uploads, order)
    }
}

fn bin_of((mesh, look): (MeshPlace, Look)) -> BinKey {
    let pipeline = PipelineKey {
        shape: mesh.shape,
        cull: look.cull,
        mix: look.mix,
        detail: look.detail,
    };
    BinKey { pipeline, mesh }
}

/// The rows of an affine matrix.
pub(crate) type Rows = [[f32; 4]; 3];

/// The rows of an affine matrix, as shaders read it.
pub(crate) fn rows(matrix: Affine3A) -> Rows {
    let (axes, at) = (matrix.matrix3, matrix.translation);
    [0, 1, 2].map(|row| {
        [
            axes.x_axis[row],
            axes.y_axis[row],
            axes.z_axis[row],
            at[row],
        ]
    })
}
