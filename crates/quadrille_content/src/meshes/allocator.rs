//! All meshes in two buffers, so that drawing another mesh changes no state.

use bevy_asset::{AssetEvent, AssetId};
use bevy_mesh::Mesh;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;

use crate::buffers::block_allocator::{BlockAllocator, BlockKey};
use crate::meshes::assets::{MeshAssets, is_released};
use crate::meshes::data::{MeshData, MeshVertex, PrimitiveKind};

/// Where a mesh is in the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshAllocation {
    /// Primitives that its vertices form.
    pub primitive: PrimitiveKind,
    /// The first of its indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Value that is added to each index.
    pub base_vertex: i32,
}

/// The blocks of a mesh.
#[derive(Clone, Copy, Debug)]
struct MeshBlocks {
    primitive: PrimitiveKind,
    vertices: BlockKey,
    indices: BlockKey,
}

/// The meshes that an app draws with vertices of one kind, as the device's buffers hold them. The CPU keeps
/// none of their data beside the assets'.
///
/// A mesh is read when an entity [wants](Self::request) it for the first time, and when it changes later.
pub struct MeshAllocator<V> {
    blocks: HashMap<AssetId<Mesh>, MeshBlocks>,
    /// Meshes that entities have shown.
    requested: HashSet<AssetId<Mesh>>,
    /// Meshes that are no assets, to be uploaded to other devices as well. They lie before all others.
    builtin: Vec<MeshData<V>>,
    vertices: BlockAllocator<V>,
    indices: BlockAllocator<u32>,
    changes: u64,
    /// The device's buffers are new, and hold nothing.
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
            changes: 0,
            is_dirty: false,
        }
    }
}

impl<V: MeshVertex> MeshAllocator<V> {
    /// Adds a mesh that is no asset and stays where it is. All of them come before the first asset.
    pub fn add_builtin(&mut self, data: &MeshData<V>) -> MeshAllocation {
        let allocation = MeshAllocation {
            primitive: data.primitive,
            first_index: self.builtin.iter().map(|it| it.indices.len() as u32).sum(),
            index_count: data.indices.len() as u32,
            base_vertex: self.builtin.iter().map(|it| it.vertices.len() as i32).sum(),
        };
        self.append(data.clone());
        self.builtin.push(data.clone());
        allocation
    }

    /// Where a mesh is; none if it is not loaded or cannot be drawn.
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

    /// A number that is another one after any mesh came, moved in the buffers or went.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Keeps room behind the vertices of all meshes for at least so many more, which passes write. What they
    /// wrote is gone once the buffer is another one.
    pub fn reserve_tail(&mut self, vertices: u32) {
        self.vertices.reserve_tail(vertices);
    }

    /// The first vertex of the room that is kept. [`Self::changes`] tells when it is another one.
    pub fn tail_start(&self) -> u32 {
        self.vertices.capacity()
    }

    /// Forgets what the device's buffers hold: [`Self::apply_asset_events`] reads all meshes again. Those whose data only
    /// a device had that is lost are loaded again, if they are of a file.
    pub fn mark_all_dirty(&mut self) {
        self.is_dirty = true;
    }

    /// Follows the mesh assets that entities have wanted.
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
                // No entity can want it any more: the last handle is dropped.
                AssetEvent::Unused { id } => {
                    self.requested.remove(&id);
                }
                AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
    }

    /// Reads a mesh that an entity shows, unless that was done before.
    pub fn request(&mut self, id: AssetId<Mesh>, assets: &mut MeshAssets<'_, '_>) {
        if self.requested.insert(id) {
            self.read(id, assets);
        }
    }

    /// Moves meshes together where too much room between them is free. To be called after
    /// [`Self::apply_asset_events`] and [`Self::request`], before [`Self::upload`].
    pub fn compact(&mut self) {
        let vertices = self.vertices.compact();
        if self.indices.compact() || vertices {
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

    fn append(&mut self, data: MeshData<V>) -> Option<MeshBlocks> {
        let vertices = self.vertices.add(data.vertices)?;
        let Some(indices) = self.indices.add(data.indices) else {
            self.vertices.remove(vertices);
            return None;
        };
        Some(MeshBlocks {
            primitive: data.primitive,
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
            match self.blocks.contains_key(&id) {
                true => assets.report_lost_change(id),
                false => assets.report_error::<V>(id, DATA_LOST.to_owned()),
            }
            return;
        }
        match MeshData::read(mesh) {
            Ok((data, skipped)) => {
                assets.mark_read::<V>(id, skipped);
                self.insert(id, data, assets);
            }
            Err(reason) => {
                self.remove(id);
                assets.report_error::<V>(id, reason);
            }
        }
    }

    fn insert(&mut self, id: AssetId<Mesh>, data: MeshData<V>, assets: &mut MeshAssets<'_, '_>) {
        let before = self.allocation(id);
        if let Some(old) = self.blocks.remove(&id) {
            self.free_blocks(old);
        }
        let [vertices, indices] = [data.vertices.len(), data.indices.len()];
        match self.append(data) {
            Some(blocks) => {
                self.blocks.insert(id, blocks);
            }
            None => {
                let reason = format!(
                    "with its {vertices} vertices and {indices} indices there would be more than 2^31 in all \
                     meshes"
                );
                assets.report_error::<V>(id, reason);
            }
        }
        if self.allocation(id) != before {
            self.changes += 1;
        }
    }

    fn free_blocks(&mut self, blocks: MeshBlocks) {
        self.vertices.remove(blocks.vertices);
        self.indices.remove(blocks.indices);
    }

    fn remove(&mut self, id: AssetId<Mesh>) {
        if let Some(blocks) = self.blocks.remove(&id) {
            self.free_blocks(blocks);
            self.changes += 1;
        }
    }

    /// Reads everything again that was on a device, in the order of ids.
    fn reread_all(&mut self, assets: &mut MeshAssets<'_, '_>) {
        self.vertices = BlockAllocator::default();
        self.indices = BlockAllocator::default();
        self.changes += 1;
        for data in self.builtin.clone() {
            self.append(data);
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

/// Reason why a mesh whose data was released is not drawn.
const DATA_LOST: &str = "its data was for the renderer alone (`RenderAssetUsages::RENDER_WORLD`), and went with a \
     lost device, or when 2D or 3D had drawn it first and not both in one frame; give it \
     `RenderAssetUsages::MAIN_WORLD` as well, or insert it again";

#[cfg(test)]
mod tests;
