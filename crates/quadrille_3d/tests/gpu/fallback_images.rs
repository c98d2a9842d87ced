//! Images in place of those that materials do not have, and fragment shaders that return nothing.

use bevy_app::App;
use quadrille_3d::prelude::*;

use crate::common::{Rig, log};
use crate::material_shaders::{add_shader, assert_color, rig_with, shader_ref, square};

/// A texture of each kind, without an image.
#[derive(Asset, TypePath, AsBindGroup, Clone, Default)]
struct Bare {
    #[texture(0, dimension = "2d_array", sample_type = "u_int")]
    layers: Option<Handle<Image>>,
    #[texture(1, dimension = "3d", sample_type = "s_int")]
    volume: Option<Handle<Image>>,
    #[texture(2, sample_type = "depth")]
    #[sampler(3, sampler_type = "comparison")]
    depth: Option<Handle<Image>>,
    #[texture(4, dimension = "cube", sample_type = "depth")]
    sky: Option<Handle<Image>>,
    #[texture(5, dimension = "cube_array")]
    #[sampler(6)]
    skies: Option<Handle<Image>>,
    #[texture(7, dimension = "3d")]
    clouds: Option<Handle<Image>>,
    #[texture(8, dimension = "1d")]
    line: Option<Handle<Image>>,
}

impl Material for Bare {
    fn fragment_shader() -> ShaderRef {
        shader_ref(30)
    }
}

const BARE: &str = "
@group(3) @binding(0) var layers: texture_2d_array<u32>;
@group(3) @binding(1) var volume: texture_3d<i32>;
@group(3) @binding(2) var depth: texture_depth_2d;
@group(3) @binding(3) var depth_sampler: sampler_comparison;
@group(3) @binding(4) var sky: texture_depth_cube;
@group(3) @binding(5) var skies: texture_cube_array<f32>;
@group(3) @binding(6) var skies_sampler: sampler;
@group(3) @binding(7) var clouds: texture_3d<f32>;
@group(3) @binding(8) var line: texture_1d<f32>;

@fragment
fn fragment() -> @location(0) vec4f {
    let words = textureLoad(layers, vec2u(0u, 0u), 1, 0);
    let numbers = textureLoad(volume, vec3u(0u, 0u, 1u), 0);
    let is_integer = all(words == vec4u(255u)) && all(numbers == vec4i(127));
    // Depth is reversed: a comparison passes where the reference is not less.
    let equal = textureSampleCompareLevel(depth, depth_sampler, vec2f(0.5), 1.0);
    let less = textureSampleCompareLevel(sky, depth_sampler, vec3f(0.0, 1.0, 0.0), 0.5);
    let white = textureSampleLevel(skies, skies_sampler, vec3f(0.0, 1.0, 0.0), 1, 0.0)
        * textureLoad(clouds, vec3u(0u, 0u, 1u), 0) * textureLoad(line, 0u, 0);
    return vec4f(f32(is_integer), equal - less, white.b * 0.5, 1.0);
}
";

/// A material whose fragment shader returns nothing.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Silent {
    #[texture(0, dimension = "1d")]
    image: Option<Handle<Image>>,
}

impl Material for Silent {
    fn fragment_shader() -> ShaderRef {
        shader_ref(31)
    }
}

const SILENT: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var image: texture_1d<f32>;

@fragment
fn fragment(in: VertexOutput) {}
";

fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Bare>::default(),
        MaterialPlugin::<Silent>::default(),
    ));
    add_shader(app, 30, BARE);
    add_shader(app, 31, SILENT);
}

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

#[test]
#[ignore = "needs a device"]
fn absent_images_are_white_in_all_kinds() {
    log::collect();
    let mut rig = rig();
    square(&mut rig, Vec3::ZERO, 0.5, Bare::default());
    let picture = rig.picture();
    assert_color(picture.at(16, 16), [1.0, 1.0, 0.5], "white");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn fragments_without_outputs_hide_what_is_behind() {
    log::collect();
    let mut rig = rig();
    square(&mut rig, Vec3::ZERO, 1.0, Bare::default());
    let silent = Silent { image: None };
    square(&mut rig, Vec3::new(0.0, 0.0, 0.5), 0.25, silent);
    let picture = rig.picture();
    // The order of two opaque surfaces is not defined: black, or the color that was there before.
    let found = picture.at(16, 16);
    let is_either = found[..3] == [0; 3] || found == picture.at(4, 16);
    assert!(is_either, "{found:?}");
    assert_color(picture.at(4, 16), [1.0, 1.0, 0.5], "beside it");
    assert!(log::take().is_empty());
}
