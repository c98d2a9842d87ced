//! Public components and assets, by bevy's names.

pub(crate) mod fog;
pub(crate) mod grading;
pub(crate) mod lightmap;
pub(crate) mod material;
pub(crate) mod occlusion_culling;
pub(crate) mod tonemapping;
