//! Meshes: attributes, vertex conversion and allocation.

pub(crate) mod allocator;
pub(crate) mod assets;
pub(crate) mod attributes;
pub(crate) mod data;
