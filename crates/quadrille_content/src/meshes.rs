//! All meshes in two buffers, so that drawing another mesh changes no state.

use bevy_asset::{AssetEvent, AssetId};
use bevy_mesh::Mesh;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::device_ranges::{BlockKey, DeviceRanges};
use crate::mesh_assets::{MeshAssets, is_released};
use crate::mesh_data::{MeshData, MeshVertex, Shape};

/// Where a mesh is in the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshPlace {
    /// What its vertices form.
    pub shape: Shape,
    /// The first of its indices.
    pub first_index: u32,
    /// How many it has.
    pub index_count: u32,
    /// What is added to each.
    pub base_vertex: i32,
}

/// The blocks of a mesh.
#[derive(Clone, Copy, Debug)]
struct Stored {
    shape: Shape,
    vertices: BlockKey,
    indices: BlockKey,
}

/// The meshes that an app draws with vertices of one kind, as the device's buffers hold them. The CPU keeps
/// none of their data beside the assets'.
///
/// A mesh is read when an entity [wants](Self::want) it for the first time, and when it changes later.
pub struct MeshStore<V> {
    stored: HashMap<AssetId<Mesh>, Stored>,
    /// Meshes that entities have shown.
    wanted: HashSet<AssetId<Mesh>>,
    /// Meshes that are no assets, to be uploaded to other devices as well. They lie before all others.
    built_in: Vec<MeshData<V>>,
    vertices: DeviceRanges<V>,
    indices: DeviceRanges<u32>,
    changes: u64,
    /// The device's buffers are new, and hold nothing.
    is_lost: bool,
}

impl<V> Default for MeshStore<V> {
    fn default() -> Self {
        Self {
            stored: HashMap::default(),
            wanted: HashSet::default(),
            built_in: Vec::new(),
            vertices: DeviceRanges::default(),
            indices: DeviceRanges::default(),
            changes: 0,
            is_lost: false,
        }
    }
}

impl<V: MeshVertex> MeshStore<V> {
    /// Adds a mesh that is no asset and stays where it is. All of them come before the first asset.
    pub fn add_built_in(&mut self, data: &MeshData<V>) -> MeshPlace {
        let place = MeshPlace {
            shape: data.shape,
            first_index: self.built_in.iter().map(|it| it.indices.len() as u32).sum(),
            index_count: data.indices.len() as u32,
            base_vertex: self
                .built_in
                .iter()
                .map(|it| it.vertices.len() as i32)
                .sum(),
        };
        self.append(data.clone());
        self.built_in.push(data.clone());
        place
    }

    /// Where a mesh is; none if it is not loaded or cannot be drawn.
    pub fn place(&self, id: AssetId<Mesh>) -> Option<MeshPlace> {
        let stored = self.stored.get(&id)?;
        let indices = self.indices.range(stored.indices);
        Some(MeshPlace {
            shape: stored.shape,
            first_index: indices.start,
            index_count: indices.end - indices.start,
            base_vertex: self.vertices.range(stored.vertices).start as i32,
        })
    }

    /// A number that is another one after any mesh came, moved in the buffers or went.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Keeps room behind the vertices of all meshes for at least so many more, which passes write. What they
    /// wrote is gone once the buffer is another one.
    pub fn keep_room(&mut self, vertices: u32) {
        self.vertices.keep_room(vertices);
    }

    /// The first vertex of the room that is kept. [`Self::changes`] tells when it is another one.
    pub fn room(&self) -> u32 {
        self.vertices.capacity()
    }

    /// Forgets what the device's buffers hold: [`Self::follow`] reads all meshes again. Those whose data only
    /// a device had that is lost are loaded again, if they are of a file.
    pub fn begin_anew(&mut self) {
        self.is_lost = true;
    }

    /// Follows the mesh assets that entities have wanted.
    pub fn follow(&mut self, assets: &mut MeshAssets<'_, '_>) {
        if std::mem::take(&mut self.is_lost) {
            self.read_again(assets);
        }
        for event in assets.events() {
            match event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    if self.wanted.contains(&id) {
                        self.read(id, assets);
                    }
                }
                AssetEvent::Removed { id } => {
                    self.remove(id);
                    assets.forget(id);
                }
                // No entity can want it any more: the last handle is dropped.
                AssetEvent::Unused { id } => {
                    self.wanted.remove(&id);
                }
                AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
    }

    /// Reads a mesh that an entity shows, unless that was done before.
    pub fn want(&mut self, id: AssetId<Mesh>, assets: &mut MeshAssets<'_, '_>) {
        if self.wanted.insert(id) {
            self.read(id, assets);
        }
    }

    /// Moves meshes together where too much room between them is free. To be called after
    /// [`Self::follow`] and [`Self::want`], before [`Self::upload`].
    pub fn arrange(&mut self) {
        let vertices = self.vertices.arrange();
        if self.indices.arrange() || vertices {
            self.changes += 1;
        }
    }

    /// Brings the buffers up to date; other ones take the place of those that are too small or too large.
    ///
    /// # Errors
    /// Another one cannot be made.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        vertices: &mut GpuBuffer,
        indices: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.vertices.upload(gpu, uploads, vertices)?;
        self.indices.upload(gpu, uploads, indices)
    }

    fn append(&mut self, data: MeshData<V>) -> Option<Stored> {
        let vertices = self.vertices.add(data.vertices)?;
        let Some(indices) = self.indices.add(data.indices) else {
            self.vertices.remove(vertices);
            return None;
        };
        Some(Stored {
            shape: data.shape,
            vertices,
            indices,
        })
    }

    /// Reads a mesh, which takes the place of what it was before.
    fn read(&mut self, id: AssetId<Mesh>, assets: &mut MeshAssets<'_, '_>) {
        let Some(mesh) = assets.get(id) else {
            return;
        };
        if is_released(mesh) {
            match self.stored.contains_key(&id) {
                true => assets.keep(id),
                false => assets.refuse::<V>(id, GONE.to_owned()),
            }
            return;
        }
        match MeshData::read(mesh) {
            Ok((data, left_out)) => {
                assets.note_read::<V>(id, left_out);
                self.put(id, data, assets);
            }
            Err(reason) => {
                self.remove(id);
                assets.refuse::<V>(id, reason);
            }
        }
    }

    fn put(&mut self, id: AssetId<Mesh>, data: MeshData<V>, assets: &mut MeshAssets<'_, '_>) {
        let before = self.place(id);
        if let Some(old) = self.stored.remove(&id) {
            self.give_back(old);
        }
        let [vertices, indices] = [data.vertices.len(), data.indices.len()];
        match self.append(data) {
            Some(stored) => {
                self.stored.insert(id, stored);
            }
            None => {
                let reason = format!(
                    "with its {vertices} vertices and {indices} indices there would be more than 2^31 in all \
                     meshes"
                );
                assets.refuse::<V>(id, reason);
            }
        }
        if self.place(id) != before {
            self.changes += 1;
        }
    }

    fn give_back(&mut self, stored: Stored) {
        self.vertices.remove(stored.vertices);
        self.indices.remove(stored.indices);
    }

    fn remove(&mut self, id: AssetId<Mesh>) {
        if let Some(stored) = self.stored.remove(&id) {
            self.give_back(stored);
            self.changes += 1;
        }
    }

    /// Reads everything again that was on a device, in the order of ids.
    fn read_again(&mut self, assets: &mut MeshAssets<'_, '_>) {
        self.vertices = DeviceRanges::default();
        self.indices = DeviceRanges::default();
        self.changes += 1;
        for data in self.built_in.clone() {
            self.append(data);
        }
        let mut ids: Vec<_> = self.stored.drain().map(|(id, _)| id).collect();
        ids.sort_unstable();
        for id in ids {
            match assets.get(id) {
                Some(mesh) if is_released(mesh) => {
                    if !assets.reload(id) {
                        assets.refuse::<V>(id, GONE.to_owned());
                    }
                }
                _ => self.read(id, assets),
            }
        }
    }
}

/// Reason why a mesh whose data was released is not drawn.
const GONE: &str = "its data was for the renderer alone (`RenderAssetUsages::RENDER_WORLD`), and went with a \
     lost device, or when 2D or 3D had drawn it first and not both in one frame; give it \
     `RenderAssetUsages::MAIN_WORLD` as well, or insert it again";

#[cfg(test)]
mod tests;
