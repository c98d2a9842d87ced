//! Effects, each with its plugin, passes, pipelines and images in one file or folder.

pub(crate) mod fog;
pub(crate) mod gizmos;
pub(crate) mod occlusion_culling;
pub(crate) mod skybox;
pub(crate) mod tonemapping;
pub mod wireframe;
