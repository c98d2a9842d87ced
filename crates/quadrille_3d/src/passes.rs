//! Passes that draw meshes, and their prerequisites, one file each.

pub(crate) mod cluster;
pub(crate) mod composite;
pub(crate) mod cull;
pub(crate) mod display;
pub(crate) mod draw;
pub(crate) mod load_target;
pub(crate) mod opaque;
pub(crate) mod shadow;
pub(crate) mod sorted;
pub(crate) mod transparent;
