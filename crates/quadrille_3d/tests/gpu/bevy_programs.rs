//! Materials of bevy's example programs with their shader files unchanged: numbers of what they draw.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_mesh::{MeshTag, MeshVertexAttribute};
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, VertexFormat};

use crate::common::{Rig, log};
use crate::material_shaders::{add_shader, assert_color, rig_with, shader_ref, square};

const ATTRIBUTE_BLEND_COLOR: MeshVertexAttribute =
    MeshVertexAttribute::new("BlendColor", 988_540_917, VertexFormat::Float32x4);

/// Material of `custom_vertex_attribute`.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct WithAttribute {
    #[uniform(0)]
    color: LinearRgba,
}

impl Material for WithAttribute {
    fn vertex_shader() -> ShaderRef {
        shader_ref(50)
    }

    fn fragment_shader() -> ShaderRef {
        shader_ref(50)
    }

    fn specialize(
        _pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        layout: &MeshVertexBufferLayoutRef,
        _key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let vertex_layout = layout.0.get_layout(&[
            Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
            ATTRIBUTE_BLEND_COLOR.at_shader_location(1),
        ])?;
        descriptor.vertex.buffers = vec![vertex_layout];
        Ok(())
    }
}

/// Material of `shader_defs`, whose key is a part of it.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(IsRed)]
struct WithDef {
    #[uniform(0)]
    color: LinearRgba,
    is_red: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct IsRed(bool);

impl From<&WithDef> for IsRed {
    fn from(material: &WithDef) -> Self {
        Self(material.is_red)
    }
}

impl Material for WithDef {
    fn fragment_shader() -> ShaderRef {
        shader_ref(51)
    }

    fn specialize(
        _pipeline: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _layout: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if key.bind_group_data.0 {
            let fragment = descriptor.fragment.as_mut().expect("it has one");
            fragment.shader_defs.push("IS_RED".into());
        }
        Ok(())
    }
}

/// Material of `array_texture`.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct WithLayers {
    #[texture(0, dimension = "2d_array")]
    #[sampler(1)]
    array_texture: Handle<Image>,
}

impl Material for WithLayers {
    fn fragment_shader() -> ShaderRef {
        shader_ref(52)
    }
}

/// Material of `fallback_image`.
#[derive(Asset, TypePath, AsBindGroup, Clone, Default)]
struct WithoutImages {
    #[texture(0, dimension = "1d")]
    #[sampler(1)]
    image_1d: Option<Handle<Image>>,
    #[texture(2, dimension = "2d")]
    #[sampler(3)]
    image_2d: Option<Handle<Image>>,
    #[texture(4, dimension = "2d_array")]
    #[sampler(5)]
    image_2d_array: Option<Handle<Image>>,
    #[texture(6, dimension = "cube")]
    #[sampler(7)]
    image_cube: Option<Handle<Image>>,
    #[texture(8, dimension = "cube_array")]
    #[sampler(9)]
    image_cube_array: Option<Handle<Image>>,
    #[texture(10, dimension = "3d")]
    #[sampler(11)]
    image_3d: Option<Handle<Image>>,
}

impl Material for WithoutImages {
    fn fragment_shader() -> ShaderRef {
        shader_ref(53)
    }
}

fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<WithAttribute>::default(),
        MaterialPlugin::<WithDef>::default(),
        MaterialPlugin::<WithLayers>::default(),
        MaterialPlugin::<WithoutImages>::default(),
    ));
    for (number, source) in [
        (
            50,
            include_str!("../bevy_shaders/custom_vertex_attribute.wesl"),
        ),
        (51, include_str!("../bevy_shaders/shader_defs.wesl")),
        (52, include_str!("../bevy_shaders/array_texture.wesl")),
        (53, include_str!("../bevy_shaders/fallback_image_test.wesl")),
    ] {
        add_shader(app, number, source);
    }
}

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

fn spawn<M: Material>(rig: &mut Rig, x: f32, mesh: Mesh, material: M, tag: u32) {
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world.resource_mut::<Assets<M>>().add(material);
    let place = Transform::from_xyz(x, 0.0, 0.0);
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(material),
        MeshTag::new(tag),
        place,
    ));
}

#[test]
#[ignore = "needs a device"]
fn custom_vertex_attribute_and_shader_defs_draw_their_colors() {
    log::collect();
    let mut rig = rig();
    let mesh = Mesh::from(Rectangle::new(0.25, 0.5));
    let red = vec![[1.0_f32, 0.0, 0.0, 1.0]; 4];
    let with_red = mesh
        .clone()
        .with_inserted_attribute(ATTRIBUTE_BLEND_COLOR, red);
    let color = LinearRgba::WHITE;
    spawn(&mut rig, -0.375, with_red, WithAttribute { color }, 0);
    let color = LinearRgba::GREEN;
    for (x, is_red) in [(0.0, false), (0.375, true)] {
        spawn(&mut rig, x, mesh.clone(), WithDef { color, is_red }, 0);
    }
    let picture = rig.picture();
    assert_color(picture.at(4, 16), [1.0, 0.0, 0.0], "the attribute");
    assert_color(picture.at(16, 16), [0.0, 1.0, 0.0], "without the def");
    assert_color(picture.at(28, 16), [1.0, 0.0, 0.0], "with the def");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn fallback_image_draws_nothing() {
    log::collect();
    let mut rig = rig();
    square(&mut rig, Vec3::ZERO, 0.5, WithoutImages::default());
    let picture = rig.picture();
    assert_color(picture.at(16, 16), [0.0; 3], "no output");
    assert!(log::take().is_empty());
}

#[test]
#[ignore = "needs a device"]
fn array_texture_shows_the_layer_of_the_tag() {
    log::collect();
    let mut rig = rig();
    let size = Extent3d {
        width: 1,
        height: 1,
        depth_or_array_layers: 2,
    };
    let image = Image::new(
        size,
        TextureDimension::D2,
        vec![255, 0, 0, 255, 0, 255, 0, 255],
        TextureFormat::Rgba8Unorm,
        RenderAssetUsages::default(),
    );
    let world = rig.app.world_mut();
    let array_texture = world.resource_mut::<Assets<Image>>().add(image);
    let light = DirectionalLight {
        illuminance: 3000.0,
        ..DirectionalLight::default()
    };
    let from = Transform::from_xyz(0.5, 0.5, 1.0).looking_at(Vec3::ZERO, Vec3::Y);
    world.spawn((light, from));
    for (x, tag) in [(-0.25, 0), (0.25, 1)] {
        let array_texture = array_texture.clone();
        let mesh = Mesh::from(Rectangle::new(0.25, 0.5));
        spawn(&mut rig, x, mesh, WithLayers { array_texture }, tag);
    }
    let picture = rig.picture();
    let [red, green] = [8, 24].map(|x| picture.at(x, 16));
    // A dielectric reflects a little white as well.
    assert!(red[0] > 2 * red[1] && red[0] > 40, "{red:?}");
    assert!(green[1] > 2 * green[0] && green[1] > 40, "{green:?}");
    assert_eq!((red[0], red[1]), (green[1], green[0]));
    assert!(log::take().is_empty());
}
