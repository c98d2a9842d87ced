//! Images of one and three dimensions in materials.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Rig, log};
use crate::material_shaders::{add_shader, assert_color, rig_with, shader_ref, square};

/// Material that samples the right half of a ramp, and the far half of a volume.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Ramp {
    #[texture(0, dimension = "1d")]
    #[sampler(1)]
    ramp: Handle<Image>,
    #[texture(2, dimension = "3d")]
    volume: Handle<Image>,
}

impl Material for Ramp {
    fn fragment_shader() -> ShaderRef {
        shader_ref(32)
    }
}

const RAMP: &str = "
@group(3) @binding(0) var ramp: texture_1d<f32>;
@group(3) @binding(1) var ramp_sampler: sampler;
@group(3) @binding(2) var volume: texture_3d<f32>;

@fragment
fn fragment() -> @location(0) vec4f {
    let has_size = textureDimensions(ramp) == 2u && all(textureDimensions(volume) == vec3u(1u, 1u, 2u));
    let left = textureSample(ramp, ramp_sampler, 0.25);
    let right = textureLoad(ramp, 1u, 0);
    let far = textureLoad(volume, vec3u(0u, 0u, 1u), 0);
    return vec4f(left.r, right.g, select(0.0, far.b, has_size), 1.0);
}
";

/// Image of two texels: red, and these bytes.
fn two_texels(dimension: TextureDimension, second: [u8; 4]) -> Image {
    let count = match dimension {
        TextureDimension::D3 => [1, 2],
        _ => [2, 1],
    };
    let size = Extent3d {
        width: count[0],
        height: 1,
        depth_or_array_layers: count[1],
    };
    let data = [[255, 0, 0, 255], second].concat();
    let usages = RenderAssetUsages::default();
    Image::new(size, dimension, data, TextureFormat::Rgba8Unorm, usages)
}

fn add_types(app: &mut App) {
    app.add_plugins(MaterialPlugin::<Ramp>::default());
    add_shader(app, 32, RAMP);
}

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

fn add(rig: &mut Rig, image: Image) -> Handle<Image> {
    let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
    images.add(image)
}

#[test]
#[ignore = "needs a device"]
fn images_of_one_and_three_dimensions_are_read() {
    log::collect();
    let mut rig = rig();
    let ramp = two_texels(TextureDimension::D1, [0, 255, 0, 255]);
    let volume = two_texels(TextureDimension::D3, [0, 0, 255, 255]);
    let [ramp, volume] = [ramp, volume].map(|image| add(&mut rig, image));
    square(&mut rig, Vec3::ZERO, 0.5, Ramp { ramp, volume });
    let picture = rig.picture();
    assert_color(picture.at(16, 16), [1.0, 1.0, 1.0], "both images");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn image_of_another_dimension_is_named() {
    log::collect();
    let mut rig = rig();
    let flat = two_texels(TextureDimension::D2, [0, 255, 0, 255]);
    let volume = two_texels(TextureDimension::D3, [0, 0, 255, 255]);
    let [ramp, volume] = [flat, volume].map(|image| add(&mut rig, image));
    square(&mut rig, Vec3::ZERO, 0.5, Ramp { ramp, volume });
    rig.picture();
    let told = log::take();
    let is_named = told
        .iter()
        .any(|line| line.contains("`ramp`") && line.contains("`D1`"));
    assert!(is_named, "{told:?}");
}
