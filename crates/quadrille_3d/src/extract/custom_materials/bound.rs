//! Resources of 3D materials that are bound by themselves: buffers, and textures that the bindless table does not hold.

use quadrille::prelude::{GpuBuffer, GpuImage};
use quadrille_content::materials::{BoundList, ReadOnly, ReadWrite};

/// The renderer, as the owner of lists.
pub enum Renderer3d {}

/// Buffers that shaders of materials read: the passes that draw declare all of them.
pub type MaterialBuffers3d = BoundList<Renderer3d, GpuBuffer, ReadOnly>;

/// Images that materials bind by themselves: the passes that draw declare all of them.
pub type MaterialImages3d = BoundList<Renderer3d, GpuImage, ReadOnly>;

/// Buffers that shaders of materials may write: the passes that draw declare all of them.
pub type WrittenMaterialBuffers3d = BoundList<Renderer3d, GpuBuffer, ReadWrite>;

/// Images that materials bind as storage textures: the passes that draw declare all of them.
pub type WrittenMaterialImages3d = BoundList<Renderer3d, GpuImage, ReadWrite>;
