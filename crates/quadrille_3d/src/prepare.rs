//! Stages `Queue` and `Prepare`: views, lights, shadow maps, targets, uploads.

pub(crate) mod camera_history;
pub(crate) mod cascades;
pub(crate) mod clusters;
pub(crate) mod decals;
pub(crate) mod light_textures;
pub(crate) mod lights;
pub(crate) mod material_views;
pub(crate) mod occlusion_maps;
pub(crate) mod pipelines;
pub(crate) mod sampling;
pub(crate) mod shadow_cache;
pub(crate) mod shadow_maps;
pub(crate) mod shadow_sides;
pub(crate) mod skins;
pub(crate) mod soft_shadows;
pub(crate) mod targets;
pub(crate) mod upload;
pub(crate) mod view_colors;
pub(crate) mod view_images;
pub(crate) mod views;
