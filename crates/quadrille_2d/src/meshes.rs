//! Shared vertex and index buffers of all 2D meshes: switching meshes needs no rebind.

pub(crate) mod data;

use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh2d;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::meshes::{MeshAllocation, MeshAllocator, MeshAssets};

use crate::meshes::data::Vertex;

/// Vertex buffer of all meshes.
#[derive(Resource, Deref)]
pub struct Vertices2d(GpuBuffer);

/// Index buffer of all meshes.
#[derive(Resource, Deref)]
pub struct Indices2d(GpuBuffer);

/// Allocations of meshes, with the built-in unit quad (sprites) and unit triangle (clipped nodes).
#[derive(Resource, Deref, DerefMut)]
pub(crate) struct Meshes2d {
    #[deref]
    store: MeshAllocator<Vertex>,
    quad: MeshAllocation,
    #[cfg_attr(
        not(feature = "ui"),
        expect(dead_code, reason = "only nodes are clipped")
    )]
    triangle: MeshAllocation,
}

impl Default for Meshes2d {
    fn default() -> Self {
        let mut store = MeshAllocator::default();
        let quad = store.add_builtin(&data::quad());
        let triangle = store.add_builtin(&data::triangle());
        Self {
            store,
            quad,
            triangle,
        }
    }
}

impl Meshes2d {
    /// Allocation of the unit quad.
    pub(crate) fn quad(&self) -> MeshAllocation {
        self.quad
    }

    /// Allocation of the unit triangle, the mesh of
    /// [`Instance::triangle`](crate::instances::mesh_instance::Instance::triangle).
    #[cfg(feature = "ui")]
    pub(crate) fn triangle(&self) -> MeshAllocation {
        self.triangle
    }
}

/// Buffers of all meshes.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct MeshBuffers<'w> {
    vertices: ResMut<'w, Vertices2d>,
    indices: ResMut<'w, Indices2d>,
}

/// Loads and uploads the meshes of entities, and applies asset events.
pub(crate) fn prepare_meshes(
    shown: Query<&Mesh2d, Changed<Mesh2d>>,
    mut meshes: ResMut<Meshes2d>,
    mut assets: MeshAssets,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    mut buffers: MeshBuffers,
) -> Result {
    meshes.apply_asset_events(&mut assets);
    for mesh in &shown {
        meshes.request(mesh.id(), &mut assets);
    }
    meshes.compact();
    let (vertices, indices) = (&mut buffers.vertices.0, &mut buffers.indices.0);
    Ok(meshes.upload(&gpu, &mut uploads, vertices, indices)?)
}

/// Creates the initial buffers.
pub(crate) fn buffers(gpu: &GpuDevice) -> Result<(Vertices2d, Indices2d), Error> {
    let vertices = gpu.create_buffer(&BufferDesc::vertex("2d vertices", MIN_BUFFER_BYTES))?;
    let indices = gpu.create_buffer(&BufferDesc::index("2d indices", MIN_BUFFER_BYTES))?;
    Ok((Vertices2d(vertices), Indices2d(indices)))
}

const MIN_BUFFER_BYTES: u64 = 4096;
