//! Public components and assets, by bevy's names.

pub(crate) mod material;
pub(crate) mod tilemap;
