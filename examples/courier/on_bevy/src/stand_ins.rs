//! Names that the game's files import, as bevy has them.

pub use bevy::anti_alias::contrast_adaptive_sharpening::ContrastAdaptiveSharpening;
pub use bevy::anti_alias::fxaa::Fxaa;
pub use bevy::anti_alias::smaa::Smaa;
pub use bevy::anti_alias::taa::TemporalAntiAliasing;
pub use bevy::core_pipeline::prepass::{DeferredPrepass, MotionVectorPrepass};
pub use bevy::material::OpaqueRendererMethod;
pub use bevy::mesh::MeshVertexBufferLayoutRef;
pub use bevy::pbr::{
    MaterialPipeline, MaterialPipelineKey, ScreenSpaceAmbientOcclusion, ScreenSpaceReflections,
};
pub use bevy::post_process::bloom::Bloom;
pub use bevy::post_process::effect_stack::Vignette;
pub use bevy::post_process::motion_blur::MotionBlur;
pub use bevy::render::camera::{MipBias, TemporalJitter};
pub use bevy::render::render_resource::{RenderPipelineDescriptor, SpecializedMeshPipelineError};

use bevy_ecs::prelude::*;

/// Names of the preludes of `quadrille_2d` and `quadrille_3d`.
pub mod prelude {
    pub use bevy::core_pipeline::prepass::{DepthPrepass, NormalPrepass};
    pub use bevy::core_pipeline::tonemapping::Tonemapping;
    pub use bevy::light::NotShadowCaster;
    pub use bevy::pbr::{ExtendedMaterial, Material, MaterialExtension, MaterialPlugin};
    pub use bevy::prelude::*;
    pub use bevy::render::render_resource::{AsBindGroup, ShaderType};
    pub use bevy::shader::{Shader, ShaderRef};
}

/// Upscaling, which bevy does not have: never added, since no quality turns it on.
#[derive(Component, Clone, Copy)]
pub struct TemporalUpscaling;

impl TemporalUpscaling {
    pub const BALANCED: Self = Self;
}

/// Cut of a camera, for effects that keep history: bevy's keep theirs.
#[derive(Component, Clone, Copy, Default)]
pub struct CameraCut;

impl CameraCut {
    pub fn cut(&mut self) {}
}

/// Screen of settings, which a measurement does not have.
pub mod options {
    use bevy_ecs::prelude::*;

    #[derive(Resource, Default)]
    pub struct Screen {
        pub takes_input: bool,
    }
}

/// Report of a run; `bench.rs` writes its own.
pub mod run {
    use bevy_ecs::prelude::*;
    use serde_json::{Map, Value};

    #[derive(Resource, Default)]
    pub struct Run {
        pub report: Map<String, Value>,
    }

    impl Run {
        pub fn is_over(&self) -> bool {
            false
        }

        pub fn frame_limit(&self) -> Option<u64> {
            None
        }
    }
}

/// Files of the player.
pub mod vulkan {
    pub mod file {
        use std::io;
        use std::path::Path;

        /// # Errors
        /// The file cannot be written.
        pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
            std::fs::write(path, bytes)
        }

        /// # Errors
        /// The file cannot be read.
        pub fn read_file(path: &Path, _: u64) -> io::Result<Vec<u8>> {
            std::fs::read(path)
        }
    }
}
