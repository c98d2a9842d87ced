//! Effects, each with its plugin, passes, pipelines and images in one file or folder.

pub(crate) mod atmosphere;
pub mod auto_exposure;
pub(crate) mod bloom;
pub(crate) mod contact_shadows;
pub(crate) mod depth_of_field;
pub(crate) mod film_grain;
pub(crate) mod fog;
pub(crate) mod fxaa;
pub(crate) mod gizmos;
pub(crate) mod lens;
pub(crate) mod motion_blur;
pub(crate) mod occlusion_culling;
pub(crate) mod oit;
pub(crate) mod prepass;
pub(crate) mod sharpening;
pub(crate) mod skybox;
pub(crate) mod smaa;
pub(crate) mod ssao;
pub(crate) mod ssr;
pub(crate) mod taa;
pub(crate) mod tonemapping;
pub(crate) mod transmission;
pub(crate) mod volumetric_fog;
pub mod wireframe;
