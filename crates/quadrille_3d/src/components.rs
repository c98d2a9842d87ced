//! Public components and assets, by bevy's names.

pub(crate) mod camera_cut;
pub(crate) mod contact_shadows;
pub(crate) mod deferred;
pub(crate) mod lightmap;
pub(crate) mod material;
pub(crate) mod mip_bias;
pub(crate) mod occlusion_culling;
pub(crate) mod order_independent_transparency;
pub(crate) mod prepass;
pub(crate) mod temporal_jitter;
pub(crate) mod transmission;
