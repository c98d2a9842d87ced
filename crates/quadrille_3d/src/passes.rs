//! Passes that draw meshes, and those that they depend on: one file each.

pub(crate) mod cluster;
pub(crate) mod cull;
pub(crate) mod draw;
pub(crate) mod opaque;
pub(crate) mod shadow;
pub(crate) mod transparent;
