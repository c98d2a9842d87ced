//! Shaders of materials of programs.

use std::marker::PhantomData;

use bevy_app::App;
use bevy_asset::{Assets, Handle, uuid::Uuid};
use bevy_mesh::{MeshVertexAttribute, VertexFormat};
use quadrille_content::shaders::Shader;

/// Vertex attribute of the program, which some meshes have.
pub(crate) const HEIGHT: MeshVertexAttribute =
    MeshVertexAttribute::new("Height", 988_540_921, VertexFormat::Float32);

/// Handle of a shader by its number.
pub(crate) fn shader(number: u128) -> Handle<Shader> {
    Handle::Uuid(Uuid::from_u128(0x11fe_0000 + number), PhantomData)
}

/// Adds shaders by their numbers.
pub(crate) fn add_shaders(app: &mut App, sources: &[(u128, &str)]) {
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    for &(number, source) in sources {
        let asset = Shader::from_wgsl(source.to_owned(), format!("life {number}.wgsl"));
        shaders
            .insert(shader(number).id(), asset)
            .expect("the handle is free");
    }
}

/// WGSL of a color times a texture. `$vertex` is the module of the fragment's inputs.
macro_rules! tinted {
    ($vertex:literal) => {
        concat!(
            "import ",
            $vertex,
            "::VertexOutput;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@group(constants::MATERIAL_BIND_GROUP) @binding(1) var pattern: texture_2d<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern_sampler: sampler;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return color * textureSample(pattern, pattern_sampler, mesh.uv);
}
"
        )
    };
}
pub(crate) use tinted;
