//! Meshes: their attributes, vertices and allocations in buffers.

pub(crate) mod allocator;
pub(crate) mod assets;
pub(crate) mod attributes;
pub(crate) mod data;
