//! Shared vertex and index buffers of all meshes: switching meshes needs no rebind.

use bevy_asset::{AssetEvent, AssetId};
use bevy_mesh::Mesh;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::buffers::block_allocator::{BlockAllocator, BlockKey};
use crate::meshes::assets::{MeshAssets, is_released};
use crate::meshes::data::{MeshData, MeshVertex, PrimitiveKind};
use crate::meshes::own_attributes::OwnAttributes;

/// Draw parameters of a mesh in the shared buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshAllocation {
    /// Primitive topology.
    pub primitive: PrimitiveKind,
    /// First index in the index buffer.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// `vertexOffset` of draws: added to each index.
    pub base_vertex: i32,
}

/// Allocated blocks of a mesh.
#[derive(Clone, Copy, Debug)]
struct MeshBlocks {
    primitive: PrimitiveKind,
    vertices: BlockKey,
    indices: BlockKey,
    /// Words of attributes of programs, and those of a vertex.
    own_attributes: Option<(BlockKey, u32)>,
}

/// Allocator of meshes with vertices of type `V` in shared device buffers. Keeps no CPU copy of mesh assets.
///
/// A mesh is read on its first [request](Self::request) and on each change.
pub struct MeshAllocator<V> {
    blocks: HashMap<AssetId<Mesh>, MeshBlocks>,
    /// Meshes that entities have requested.
    requested: HashSet<AssetId<Mesh>>,
    /// Built-in meshes, which precede all assets in the buffers; kept for re-upload after a lost device.
    builtin: Vec<MeshData<V>>,
    vertices: BlockAllocator<V>,
    indices: BlockAllocator<u32>,
    own_attributes: BlockAllocator<u32>,
    changes: u64,
    contents: u64,
    /// Whether all meshes must be uploaded again.
    is_dirty: bool,
}

impl<V> Default for MeshAllocator<V> {
    fn default() -> Self {
        Self {
            blocks: HashMap::default(),
            requested: HashSet::default(),
            builtin: Vec::new(),
            vertices: BlockAllocator::default(),
            indices: BlockAllocator::default(),
            own_attributes: BlockAllocator::default(),
            changes: 0,
            contents: 0,
            is_dirty: false,
        }
    }
}

impl<V: MeshVertex> MeshAllocator<V> {
    /// Adds a built-in mesh with a fixed allocation. Must precede the first asset.
    pub fn add_builtin(&mut self, data: &MeshData<V>) -> MeshAllocation {
        let allocation = MeshAllocation {
            primitive: data.primitive,
            first_index: self.builtin.iter().map(|it| it.indices.len() as u32).sum(),
            index_count: data.indices.len() as u32,
            base_vertex: self.builtin.iter().map(|it| it.vertices.len() as i32).sum(),
        };
        self.append(data.clone(), (Vec::new(), 0));
        self.builtin.push(data.clone());
        allocation
    }

    /// Returns the allocation of a mesh; `None` if it is not loaded or cannot be drawn.
    pub fn allocation(&self, id: AssetId<Mesh>) -> Option<MeshAllocation> {
        let blocks = self.blocks.get(&id)?;
        let indices = self.indices.range(blocks.indices);
        Some(MeshAllocation {
            primitive: blocks.primitive,
            first_index: indices.start,
            index_count: indices.end - indices.start,
            base_vertex: self.vertices.range(blocks.vertices).start as i32,
        })
    }

    /// Returns the first word of a mesh's attributes of programs, and the words of a vertex; `None` without any.
    pub fn own_attributes(&self, id: AssetId<Mesh>) -> Option<(u32, u32)> {
        let (key, stride) = self.blocks.get(&id)?.own_attributes?;
        Some((self.own_attributes.range(key).start, stride))
    }

    /// Returns a counter that changes whenever any mesh is added, moved or removed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns a counter that changes whenever the vertices or indices of any mesh are read again, even if it keeps its
    /// allocation.
    pub fn contents(&self) -> u64 {
        self.contents
    }

    /// Reserves space for at least `vertices` vertices after all meshes, for passes to write. Its contents are lost
    /// when the buffer is replaced.
    pub fn reserve_tail(&mut self, vertices: u32) {
        self.vertices.reserve_tail(vertices);
    }

    /// First vertex of the reserved tail. When it moves, [`Self::changes`] changes too.
    pub fn tail_start(&self) -> u32 {
        self.vertices.capacity()
    }

    /// Marks all meshes for re-upload by [`Self::apply_asset_events`] after a lost device. Released meshes are reloaded
    /// from their files.
    pub fn mark_all_dirty(&mut self) {
        self.is_dirty = true;
    }

    /// Applies asset events of requested meshes.
    pub fn apply_asset_events(&mut self, assets: &mut MeshAssets<'_, '_>) {
        if std::mem::take(&mut self.is_dirty) {
            self.reread_all(assets);
        }
        for event in assets.events() {
            match event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    if self.requested.contains(&id) {
                        self.read(id, assets);
                    }
                }
                AssetEvent::Removed { id } => {
                    self.remove(id);
                    assets.remove(id);
                }
                // The last handle was dropped.
                AssetEvent::Unused { id } => {
                    self.requested.remove(&id);
                }
                AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
    }

    /// Reads a mesh on its first request.
    pub fn request(&mut self, id: AssetId<Mesh>, assets: &mut MeshAssets<'_, '_>) {
        if self.requested.insert(id) {
            self.read(id, assets);
        }
    }

    /// Compacts the buffers if fragmentation is too high. Call it after [`Self::apply_asset_events`] and
    /// [`Self::request`], and before [`Self::upload`].
    pub fn compact(&mut self) {
        let vertices = self.vertices.compact();
        let own_attributes = self.own_attributes.compact();
        if self.indices.compact() || vertices || own_attributes {
            self.changes += 1;
        }
    }

    /// Uploads pending meshes; buffers that are too small or too large are replaced.
    ///
    /// # Errors
    /// A buffer cannot be created.
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

    /// Uploads pending attributes of programs, as [`Self::upload`].
    ///
    /// # Errors
    /// The buffer cannot be created.
    pub fn upload_own_attributes(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
    ) -> Result<(), Error> {
        self.own_attributes.upload(gpu, uploads, buffer)
    }

    /// Adds a mesh, with attributes of programs and the words of a vertex of them.
    fn append(&mut self, data: MeshData<V>, (own, stride): (Vec<u32>, u32)) -> Option<MeshBlocks> {
        let vertices = self.vertices.add(data.vertices)?;
        let Some(indices) = self.indices.add(data.indices) else {
            self.vertices.remove(vertices);
            return None;
        };
        let own_attributes = match own.is_empty() {
            true => None,
            false => {
                let Some(key) = self.own_attributes.add(own) else {
                    self.vertices.remove(vertices);
                    self.indices.remove(indices);
                    return None;
                };
                Some((key, stride))
            }
        };
        Some(MeshBlocks {
            primitive: data.primitive,
            vertices,
            indices,
            own_attributes,
        })
    }

    /// Reads a mesh, replacing its previous allocation.
    fn read(&mut self, id: AssetId<Mesh>, assets: &mut MeshAssets<'_, '_>) {
        let Some(mesh) = assets.get(id) else {
            return;
        };
        if is_released(mesh) {
            match self.blocks.contains_key(&id) {
                true => assets.report_lost_change(id),
                false => assets.report_error::<V>(id, DATA_LOST.to_owned()),
            }
            return;
        }
        match MeshData::read(mesh) {
            Ok((data, skipped)) => {
                let own = match V::KEEPS_OWN_ATTRIBUTES {
                    true => OwnAttributes::of(mesh),
                    false => OwnAttributes::default(),
                };
                let own = (own.read(mesh), own.stride);
                assets.mark_read::<V>(id, skipped);
                self.insert(id, (data, own), assets);
            }
            Err(reason) => {
                self.remove(id);
                assets.report_error::<V>(id, reason);
            }
        }
    }

    fn insert(
        &mut self,
        id: AssetId<Mesh>,
        (data, own): (MeshData<V>, (Vec<u32>, u32)),
        assets: &mut MeshAssets<'_, '_>,
    ) {
        self.contents += 1;
        let before = (self.allocation(id), self.own_attributes(id));
        if let Some(old) = self.blocks.remove(&id) {
            self.free_blocks(old);
        }
        let [vertices, indices] = [data.vertices.len(), data.indices.len()];
        match self.append(data, own) {
            Some(blocks) => {
                self.blocks.insert(id, blocks);
            }
            None => {
                let reason = format!(
                    "its {vertices} vertices and {indices} indices would exceed the limit of 2^31 for all meshes \
                     together"
                );
                assets.report_error::<V>(id, reason);
            }
        }
        if (self.allocation(id), self.own_attributes(id)) != before {
            self.changes += 1;
        }
    }

    fn free_blocks(&mut self, blocks: MeshBlocks) {
        self.vertices.remove(blocks.vertices);
        self.indices.remove(blocks.indices);
        if let Some((key, _)) = blocks.own_attributes {
            self.own_attributes.remove(key);
        }
    }

    fn remove(&mut self, id: AssetId<Mesh>) {
        if let Some(blocks) = self.blocks.remove(&id) {
            self.free_blocks(blocks);
            self.changes += 1;
        }
    }

    /// Reads all uploaded meshes again, in the order of ids.
    fn reread_all(&mut self, assets: &mut MeshAssets<'_, '_>) {
        self.vertices = BlockAllocator::default();
        self.indices = BlockAllocator::default();
        self.own_attributes = BlockAllocator::default();
        self.changes += 1;
        for data in self.builtin.clone() {
            self.append(data, (Vec::new(), 0));
        }
        let mut ids: Vec<_> = self.blocks.drain().map(|(id, _)| id).collect();
        ids.sort_unstable();
        for id in ids {
            match assets.get(id) {
                Some(mesh) if is_released(mesh) => {
                    if !assets.reload(id) {
                        assets.report_error::<V>(id, DATA_LOST.to_owned());
                    }
                }
                _ => self.read(id, assets),
            }
        }
    }
}

/// Error of a mesh that was released and must be read again.
const DATA_LOST: &str = "its data (`RenderAssetUsages::RENDER_WORLD` alone) was lost with a lost device, or released \
     because 2D and 3D did not first draw it in the same frame; add `RenderAssetUsages::MAIN_WORLD`, or insert it \
     again";

#[cfg(test)]
mod tests;
