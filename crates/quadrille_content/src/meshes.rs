//! Meshes: attributes, vertex conversion and allocation.

pub(crate) mod allocator;
pub(crate) mod assets;
pub(crate) mod attributes;
pub(crate) mod data;
pub(crate) mod layouts;
pub(crate) mod own_attributes;

pub use allocator::{MeshAllocation, MeshAllocator};
pub use assets::{DrawnMeshes, MeshAssets, is_released};
pub use attributes::{attribute, colors, floats, normals, positions, tangents, uvs};
pub use data::{MeshData, MeshVertex, PrimitiveKind, VertexAttributes};
pub use layouts::{LayoutId, MeshLayout, MeshLayouts};
pub use own_attributes::{AttributeScalar, OwnAttribute, OwnAttributes};
