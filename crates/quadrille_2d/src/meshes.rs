//! All meshes in two buffers, so that drawing another mesh changes no state.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh;
use bevy_platform::collections::HashMap;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::mesh_data::{MeshData, Shape};

/// The vertices of all meshes.
#[derive(Resource, Deref)]
pub struct Vertices2d(GpuBuffer);

/// The indices of all meshes.
#[derive(Resource, Deref)]
pub struct Indices2d(GpuBuffer);

/// Where a mesh is in the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshPlace {
    pub(crate) shape: Shape,
    pub(crate) first_index: u32,
    pub(crate) index_count: u32,
    pub(crate) base_vertex: i32,
}

/// The meshes on the device. The first ones are the quad of sprites and the triangle of clipped
/// nodes.
#[derive(Resource)]
pub(crate) struct Meshes2d {
    places: HashMap<AssetId<Mesh>, MeshPlace>,
    quad: MeshPlace,
    triangle: MeshPlace,
    vertices: Vec<u8>,
    indices: Vec<u8>,
    /// Bytes that belong to meshes which are gone.
    garbage: usize,
    /// Bytes that the device's buffers hold already.
    uploaded: [usize; 2],
    refused: HashMap<AssetId<Mesh>, String>,
}

impl Default for Meshes2d {
    fn default() -> Self {
        let nowhere = MeshPlace {
            shape: Shape::Triangles,
            first_index: 0,
            index_count: 0,
            base_vertex: 0,
        };
        let mut meshes = Self {
            places: HashMap::default(),
            quad: nowhere,
            triangle: nowhere,
            vertices: Vec::new(),
            indices: Vec::new(),
            garbage: 0,
            uploaded: [0; 2],
            refused: HashMap::default(),
        };
        meshes.quad = meshes.append(&MeshData::quad());
        meshes.triangle = meshes.append(&MeshData::triangle());
        meshes
    }
}

impl Meshes2d {
    /// Where a mesh is; none if it is not loaded or cannot be drawn.
    pub(crate) fn place(&self, id: AssetId<Mesh>) -> Option<MeshPlace> {
        self.places.get(&id).copied()
    }

    /// Where the quad of sprites is.
    pub(crate) fn quad(&self) -> MeshPlace {
        self.quad
    }

    /// Where the triangle is that [`Instance::triangle`](crate::instance::Instance::triangle) is an
    /// instance of.
    #[cfg(feature = "ui")]
    pub(crate) fn triangle(&self) -> MeshPlace {
        self.triangle
    }

    /// Forgets what the device's buffers hold.
    pub(crate) fn begin_anew(&mut self) {
        self.uploaded = [0; 2];
    }

    fn append(&mut self, data: &MeshData) -> MeshPlace {
        let base_vertex = self.vertices.len() / size_of::<crate::mesh_data::Vertex>();
        let first_index = self.indices.len() / size_of::<u32>();
        self.vertices
            .extend_from_slice(bytemuck::cast_slice(&data.vertices));
        self.indices
            .extend_from_slice(bytemuck::cast_slice(&data.indices));
        MeshPlace {
            shape: data.shape,
            first_index: first_index as u32,
            index_count: data.indices.len() as u32,
            base_vertex: base_vertex as i32,
        }
    }

    /// Puts a mesh in, in place of what it was before.
    fn put(&mut self, id: AssetId<Mesh>, mesh: &Mesh) {
        self.remove(id);
        match MeshData::read(mesh) {
            Ok(data) => {
                let place = self.append(&data);
                self.places.insert(id, place);
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
            self.garbage += place.index_count as usize * size_of::<u32>();
        }
    }

    /// Whether more than half of the indices belong to meshes that are gone.
    fn is_mostly_garbage(&self) -> bool {
        self.garbage > 1 << 16 && self.garbage * 2 > self.indices.len()
    }

    /// Starts anew with the meshes that are there.
    fn rebuild(&mut self, assets: &Assets<Mesh>) {
        let old = std::mem::take(self);
        let mut ids: Vec<_> = old.places.into_keys().collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(mesh) = assets.get(id) {
                self.put(id, mesh);
            }
        }
        self.refused = old.refused;
    }
}

/// The buffers of all meshes.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct MeshBuffers<'w> {
    vertices: ResMut<'w, Vertices2d>,
    indices: ResMut<'w, Indices2d>,
}

/// Follows the mesh assets.
pub(crate) fn prepare_meshes(
    mut events: MessageReader<AssetEvent<Mesh>>,
    mut meshes: ResMut<Meshes2d>,
    assets: Res<Assets<Mesh>>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    mut buffers: MeshBuffers,
) -> Result {
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(mesh) = assets.get(id) {
                    meshes.put(id, mesh);
                }
            }
            AssetEvent::Removed { id } => meshes.remove(id),
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    if meshes.is_mostly_garbage() {
        meshes.rebuild(&assets);
    }
    let Meshes2d {
        vertices,
        indices,
        uploaded: [uploaded_vertices, uploaded_indices],
        ..
    } = &mut *meshes;
    let buffer = &mut buffers.vertices.0;
    fill(&gpu, &mut uploads, buffer, vertices, uploaded_vertices)?;
    let buffer = &mut buffers.indices.0;
    fill(&gpu, &mut uploads, buffer, indices, uploaded_indices)?;
    Ok(())
}

/// The buffers before there are meshes.
pub(crate) fn buffers(gpu: &GpuDevice) -> Result<(Vertices2d, Indices2d), Error> {
    let vertices = gpu.create_buffer(&BufferDesc::vertex("2d vertices", SMALLEST))?;
    let indices = gpu.create_buffer(&BufferDesc::index("2d indices", SMALLEST))?;
    Ok((Vertices2d(vertices), Indices2d(indices)))
}

const SMALLEST: u64 = 4096;

/// Brings a buffer up to date with its contents, to the end of which bytes were added; a larger
/// buffer takes its place if need be.
fn fill(
    gpu: &GpuDevice,
    uploads: &mut Uploads,
    buffer: &mut GpuBuffer,
    contents: &[u8],
    uploaded: &mut usize,
) -> Result<(), Error> {
    if buffer.bytes() < contents.len() as u64 {
        let bytes = (contents.len() as u64).next_power_of_two();
        *buffer = gpu.create_buffer(&BufferDesc {
            bytes,
            ..buffer.desc().clone()
        })?;
        *uploaded = 0;
    }
    if *uploaded < contents.len() {
        uploads.write_buffer(buffer, *uploaded as u64, &contents[*uploaded..]);
        *uploaded = contents.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
