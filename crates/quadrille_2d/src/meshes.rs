//! Shared vertex and index buffers of all 2D meshes: switching meshes needs no rebind.

pub(crate) mod data;

use bevy_asset::AssetId;
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_mesh::{Mesh, Mesh2d};
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

/// Words of vertex attributes of programs, for vertex shaders of materials. Written only if a mesh has any.
#[derive(Resource, Deref)]
pub struct MeshAttributes2d(GpuBuffer);

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
    /// First word in [`MeshAttributes2d`] of the vertex with index 0, from which the mesh's vertices count; `None` without
    /// attributes of programs.
    pub(crate) fn attribute_base(&self, mesh: AssetId<Mesh>) -> Option<u32> {
        let (first, stride) = self.own_attributes(mesh)?;
        let base_vertex = self.allocation(mesh)?.base_vertex.cast_unsigned();
        Some(first.wrapping_sub(base_vertex.wrapping_mul(stride)))
    }

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
    attributes: ResMut<'w, MeshAttributes2d>,
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
    meshes.upload_own_attributes(&gpu, &mut uploads, &mut buffers.attributes.0)?;
    let (vertices, indices) = (&mut buffers.vertices.0, &mut buffers.indices.0);
    Ok(meshes.upload(&gpu, &mut uploads, vertices, indices)?)
}

/// Creates the initial buffers.
pub(crate) fn buffers(gpu: &GpuDevice) -> Result<(Vertices2d, Indices2d, MeshAttributes2d), Error> {
    let vertices = gpu.create_buffer(&BufferDesc::vertex("2d vertices", MIN_BUFFER_BYTES))?;
    let indices = gpu.create_buffer(&BufferDesc::index("2d indices", MIN_BUFFER_BYTES))?;
    let attributes = BufferDesc::storage("2d mesh attributes", MIN_BUFFER_BYTES);
    let attributes = gpu.create_buffer(&attributes)?;
    Ok((
        Vertices2d(vertices),
        Indices2d(indices),
        MeshAttributes2d(attributes),
    ))
}

const MIN_BUFFER_BYTES: u64 = 4096;
