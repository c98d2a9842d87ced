//! All meshes in two buffers, so that drawing another mesh changes no state.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::message::MessageReader;
use bevy_mesh::Mesh;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

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

/// The meshes of the app, with vertices of one kind, as the device's buffers hold them.
pub struct MeshStore<V> {
    places: HashMap<AssetId<Mesh>, MeshPlace>,
    vertices: Vec<V>,
    indices: Vec<u32>,
    /// How many vertices and indices belong to meshes that are no assets.
    built_in: [usize; 2],
    /// Indices that belong to meshes which are gone.
    garbage: usize,
    /// Vertices and indices that the device's buffers hold already.
    uploaded: [usize; 2],
    /// How many vertices of meshes the device's buffer has room for at least.
    capacity: u32,
    /// For how many more vertices there is room behind those.
    kept: u32,
    refused: HashMap<AssetId<Mesh>, String>,
    changes: u64,
}

impl<V> Default for MeshStore<V> {
    fn default() -> Self {
        Self {
            places: HashMap::default(),
            vertices: Vec::new(),
            indices: Vec::new(),
            built_in: [0; 2],
            garbage: 0,
            uploaded: [0; 2],
            capacity: 0,
            kept: 0,
            refused: HashMap::default(),
            changes: 0,
        }
    }
}

impl<V: MeshVertex> MeshStore<V> {
    /// Adds a mesh that is no asset and stays where it is. All of them come before the first asset.
    pub fn add_built_in(&mut self, data: &MeshData<V>) -> MeshPlace {
        let place = self.append(data);
        self.built_in = [self.vertices.len(), self.indices.len()];
        place
    }

    /// Where a mesh is; none if it is not loaded or cannot be drawn.
    pub fn place(&self, id: AssetId<Mesh>) -> Option<MeshPlace> {
        self.places.get(&id).copied()
    }

    /// A number that is another one after any mesh came, changed or went.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Keeps room behind the vertices of all meshes for at least so many more, which passes write.
    pub fn keep_room(&mut self, vertices: u32) {
        if vertices > self.kept {
            self.kept = vertices.next_power_of_two();
        }
    }

    /// The first vertex of the room that is kept. [`Self::changes`] tells when it is another one.
    pub fn room(&self) -> u32 {
        self.capacity
    }

    /// Forgets what the device's buffers hold.
    pub fn begin_anew(&mut self) {
        self.uploaded = [0; 2];
    }

    /// Follows the mesh assets.
    pub fn follow(&mut self, events: &mut MessageReader<AssetEvent<Mesh>>, assets: &Assets<Mesh>) {
        for event in events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    if let Some(mesh) = assets.get(id) {
                        self.put(id, mesh);
                    }
                }
                AssetEvent::Removed { id } => self.remove(id),
                AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        if self.is_mostly_garbage() {
            self.rebuild(assets);
        }
    }

    /// Brings the buffers up to date; a larger one takes the place of one that is too small.
    ///
    /// # Errors
    /// A larger one cannot be made.
    pub fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        vertices: &mut GpuBuffer,
        indices: &mut GpuBuffer,
    ) -> Result<(), Error> {
        let [uploaded_vertices, uploaded_indices] = &mut self.uploaded;
        let most = (self.capacity + self.kept) as usize;
        fill(
            gpu,
            uploads,
            vertices,
            &self.vertices,
            most,
            uploaded_vertices,
        )?;
        let most = self.indices.len().next_power_of_two();
        fill(gpu, uploads, indices, &self.indices, most, uploaded_indices)
    }

    fn append(&mut self, data: &MeshData<V>) -> MeshPlace {
        let place = MeshPlace {
            shape: data.shape,
            first_index: self.indices.len() as u32,
            index_count: data.indices.len() as u32,
            base_vertex: self.vertices.len() as i32,
        };
        self.vertices.extend_from_slice(&data.vertices);
        self.indices.extend_from_slice(&data.indices);
        if self.vertices.len() > self.capacity as usize {
            self.capacity = (self.vertices.len() as u32).next_power_of_two();
        }
        self.changes += 1;
        place
    }

    /// Puts a mesh in, in place of what it was before.
    fn put(&mut self, id: AssetId<Mesh>, mesh: &Mesh) {
        self.remove(id);
        match MeshData::read(mesh) {
            Ok((data, left_out)) => {
                let place = self.append(&data);
                self.places.insert(id, place);
                if let Some(reason) = left_out.filter(|it| self.refused.get(&id) != Some(it)) {
                    tracing::warn!("a part of the mesh {id:?} cannot be drawn: {reason}");
                    self.refused.insert(id, reason);
                }
            }
            Err(reason) => {
                if self.refused.get(&id) != Some(&reason) {
                    tracing::error!("the mesh {id:?} cannot be drawn: {reason}");
                    self.refused.insert(id, reason);
                }
            }
        }
    }

    fn remove(&mut self, id: AssetId<Mesh>) {
        if let Some(place) = self.places.remove(&id) {
            self.garbage += place.index_count as usize;
            self.changes += 1;
        }
    }

    /// Whether more than half of the indices belong to meshes that are gone.
    fn is_mostly_garbage(&self) -> bool {
        self.garbage > 1 << 14 && self.garbage * 2 > self.indices.len()
    }

    /// Rebuilds the table from the mesh assets that exist.
    fn rebuild(&mut self, assets: &Assets<Mesh>) {
        let [vertices, indices] = self.built_in;
        self.vertices.truncate(vertices);
        self.indices.truncate(indices);
        self.garbage = 0;
        self.uploaded = [0; 2];
        let places = std::mem::take(&mut self.places);
        let mut ids: Vec<_> = places.into_keys().collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(mesh) = assets.get(id) {
                self.put(id, mesh);
            }
        }
    }
}

/// Brings a buffer of at least `most` items up to date with its contents, to the end of which items
/// were added.
fn fill<T: bytemuck::Pod>(
    gpu: &GpuDevice,
    uploads: &mut Uploads,
    buffer: &mut GpuBuffer,
    contents: &[T],
    most: usize,
    uploaded: &mut usize,
) -> Result<(), Error> {
    let wanted = (most * size_of::<T>()) as u64;
    if buffer.bytes() < wanted {
        *buffer = gpu.create_buffer(&BufferDesc {
            bytes: wanted,
            ..buffer.desc().clone()
        })?;
        *uploaded = 0;
    }
    if *uploaded < contents.len() {
        let offset = (*uploaded * size_of::<T>()) as u64;
        uploads.write_buffer(buffer, offset, bytemuck::cast_slice(&contents[*uploaded..]));
        *uploaded = contents.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
