//! States of pipelines of one material type, and extensions of standard materials, by exact numbers.

use bevy_app::App;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};

use crate::common::{Rig, log};
use crate::material_shaders::{
    MOVED, Plain, add_shader, assert_color, rig_with, shader_ref, square,
};

fn rig() -> Rig {
    rig_with(Tonemapping::None, false, add_types)
}

fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Plain>::default(),
        MaterialPlugin::<Specialized>::default(),
        MaterialPlugin::<ExtendedMaterial<StandardMaterial, Halved>>::default(),
        MaterialPlugin::<ExtendedMaterial<StandardMaterial, Unchanged>>::default(),
        MaterialPlugin::<ExtendedMaterial<StandardMaterial, Reading>>::default(),
    ));
    for (number, source) in [(1, MOVED), (5, SPECIALIZED), (6, HALVED), (7, READING)] {
        add_shader(app, number, source);
    }
}

/// A material whose pipelines differ by its key.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(Kind)]
struct Specialized {
    #[uniform(0)]
    color: LinearRgba,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Plain,
    Swapped,
    OnTop,
    Points,
    Dimmed,
}

impl From<&Specialized> for Kind {
    fn from(material: &Specialized) -> Self {
        material.kind
    }
}

impl Material for Specialized {
    fn fragment_shader() -> ShaderRef {
        shader_ref(5)
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let fragment = descriptor.fragment.as_mut().expect("it has one");
        match key.bind_group_data {
            Kind::Plain => {}
            Kind::Swapped => fragment.shader_defs.push("SWAPPED".into()),
            Kind::Dimmed => fragment.constants.push(("SCALE".into(), 0.5)),
            Kind::OnTop => {
                let depth = descriptor
                    .depth_stencil
                    .as_mut()
                    .expect("it has a depth test");
                depth.depth_compare = Some(wgpu_types::CompareFunction::Always);
            }
            Kind::Points => {
                descriptor.primitive.topology = wgpu_types::PrimitiveTopology::PointList;
            }
        }
        Ok(())
    }
}

const SPECIALIZED: &str = "
@if(SWAPPED) @group(3) @binding(0) var<uniform> other: vec4f;
@else @group(3) @binding(0) var<uniform> color: vec4f;

override SCALE: f32 = 1.0;

@fragment
fn fragment() -> @location(0) vec4f {
    @if(SWAPPED) return other.bgra;
    @else return vec4f(color.rgb * SCALE, 1.0);
}
";

#[test]
#[ignore = "needs a device"]
fn specialize_changes_defs_constants_depth_and_topology() {
    log::collect();
    let mut rig = rig();
    let blue = Plain::from(Vec4::new(0.0, 0.0, 1.0, 1.0));
    square(&mut rig, Vec3::new(0.25, 0.0, 0.5), 0.5, blue);
    for (x, y, kind) in [
        (-0.25, 0.25, Kind::Plain),
        (-0.25, -0.25, Kind::Swapped),
        (0.25, 0.0, Kind::OnTop),
        (0.25, -0.4, Kind::Dimmed),
    ] {
        let material = Specialized {
            color: LinearRgba::rgb(1.0, 0.5, 0.0),
            kind,
        };
        square(&mut rig, Vec3::new(x, y, 0.0), 0.25, material);
    }
    let points = Specialized {
        color: LinearRgba::WHITE,
        kind: Kind::Points,
    };
    square(&mut rig, Vec3::new(-0.25, 0.0, 0.9), 0.125, points);
    let picture = rig.picture();
    assert_color(picture.at(8, 8), [1.0, 0.5, 0.0], "without the def");
    assert_color(picture.at(8, 24), [0.0, 0.5, 1.0], "with the def");
    assert_color(
        picture.at(24, 16),
        [1.0, 0.5, 0.0],
        "in front of what is nearer",
    );
    assert_color(picture.at(8, 16), [0.0; 3], "corners alone");
    assert_color(picture.at(24, 28), [0.5, 0.25, 0.0], "with a constant");
    assert!(log::take().is_empty());
}

/// Halves the color of a standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Halved {
    #[uniform(100)]
    pub(crate) factor: f32,
}

impl MaterialExtension for Halved {
    fn fragment_shader() -> ShaderRef {
        shader_ref(6)
    }
}

/// Shows a value of the standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bindless(index_table(range(50..53), binding(100)))]
struct Reading {
    #[uniform(50)]
    factor: f32,
}

impl MaterialExtension for Reading {
    fn fragment_shader() -> ShaderRef {
        shader_ref(7)
    }
}

const READING: &str = "
import bevy_pbr::render::{forward_io::VertexOutput, pbr_bindings::material};

@group(constants::MATERIAL_BIND_GROUP) @binding(50) var<uniform> factor: f32;

@fragment
fn fragment(in: VertexOutput) -> @location(0) vec4f {
    let scale = material.uv_transform[0].x;
    return vec4f(material.base_color.r * factor, material.metallic, scale, 1.0);
}
";

#[test]
#[ignore = "needs a device"]
fn extensions_read_the_standard_material() {
    log::collect();
    let mut rig = rig();
    for (x, metallic) in [(-0.25, 0.5), (0.25, 0.75)] {
        let material = ExtendedMaterial {
            base: StandardMaterial {
                base_color: Color::linear_rgb(0.5, 0.0, 0.0),
                metallic,
                uv_transform: bevy_math::Affine2::from_scale(Vec2::splat(0.25)),
                ..StandardMaterial::default()
            },
            extension: Reading { factor: 0.5 },
        };
        square(&mut rig, Vec3::new(x, 0.0, 0.0), 0.25, material);
    }
    let picture = rig.picture();
    assert_color(picture.at(8, 16), [0.25, 0.5, 0.25], "a material");
    assert_color(picture.at(24, 16), [0.25, 0.75, 0.25], "another one");
    assert!(log::take().is_empty());
}

/// Changes nothing.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Unchanged {}

impl MaterialExtension for Unchanged {}

pub(crate) const HALVED: &str = "
import bevy_pbr::render::{
    forward_io::{VertexOutput, FragmentOutput},
    pbr_fragment::pbr_input_from_standard_material,
    pbr_functions::{alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing},
};

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> factor: f32;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var pbr_input = pbr_input_from_standard_material(in, is_front);
    pbr_input.material.base_color = alpha_discard(
        pbr_input.material.flags, pbr_input.material.alpha_cutoff, pbr_input.material.base_color);
    var out: FragmentOutput;
    out.color = apply_pbr_lighting(pbr_input) * vec4f(vec3f(factor), 1.0);
    out.color = main_pass_post_lighting_processing(pbr_input, out.color);
    return out;
}
";

#[test]
#[ignore = "needs a device"]
fn extended_material_is_a_standard_one_with_more() {
    log::collect();
    let mut rig = rig();
    let world = rig.app.world_mut();
    let light = DirectionalLight {
        illuminance: 1000.0,
        ..DirectionalLight::default()
    };
    let from = Transform::from_xyz(1.0, 1.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y);
    world.spawn((light, from));
    let base = StandardMaterial {
        perceptual_roughness: 0.4,
        clearcoat: 0.5,
        ..StandardMaterial::from(Color::linear_rgb(0.6, 0.4, 0.2))
    };
    let standard = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(base.clone());
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(0.25, 1.0));
    let place = Transform::from_xyz(-0.25, 0.0, 0.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(standard), place));
    let unchanged = ExtendedMaterial {
        base: base.clone(),
        extension: Unchanged {},
    };
    square(&mut rig, Vec3::ZERO, 0.25, unchanged);
    let halved = ExtendedMaterial {
        base,
        extension: Halved { factor: 0.5 },
    };
    square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, halved);
    let picture = rig.picture();
    let [standard, unchanged, halved] = [8, 16, 24].map(|x| picture.at(x, 16));
    assert!(standard[0] > 40, "{standard:?}");
    let linear = |code: u8| Color::srgb_u8(code, 0, 0).to_linear().red;
    for channel in 0..3 {
        let [a, b, c] = [standard, unchanged, halved].map(|color| linear(color[channel]));
        assert!((a - b).abs() < 0.01, "{standard:?}, {unchanged:?}");
        assert!((a * 0.5 - c).abs() < 0.01, "{standard:?}, {halved:?}");
    }
    assert!(log::take().is_empty());
}

/// A material whose shader reads a texture or a color, by its key.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(ReadsVolume)]
struct Volumetric {
    #[uniform(0)]
    color: LinearRgba,
    #[texture(1, dimension = "3d")]
    volume: Option<Handle<Image>>,
    reads: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReadsVolume(bool);

impl From<&Volumetric> for ReadsVolume {
    fn from(material: &Volumetric) -> Self {
        Self(material.reads)
    }
}

impl Material for Volumetric {
    fn fragment_shader() -> ShaderRef {
        shader_ref(9)
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if key.bind_group_data.0 {
            let fragment = descriptor.fragment.as_mut().expect("it has one");
            fragment.shader_defs.push("READS_VOLUME".into());
        }
        Ok(())
    }
}

const VOLUMETRIC: &str = "
@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@if(READS_VOLUME) @group(constants::MATERIAL_BIND_GROUP) @binding(1) var volume: texture_3d<f32>;

@fragment
fn fragment() -> @location(0) vec4f {
    @if(READS_VOLUME) return textureLoad(volume, vec3u(0u), 0);
    @else return color;
}
";

#[test]
#[ignore = "needs a device"]
fn wrong_material_is_drawn_after_its_key_changes() {
    log::collect();
    let mut rig = rig_with(Tonemapping::None, false, |app| {
        app.add_plugins(MaterialPlugin::<Volumetric>::default());
        add_shader(app, 9, VOLUMETRIC);
    });
    let flat = crate::environment::image([2, 2, 1], |_| [1.0; 3]);
    let flat = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Image>>()
        .add(flat);
    let plain = |green| Volumetric {
        color: LinearRgba::rgb(0.0, green, 1.0),
        volume: None,
        reads: false,
    };
    // The first row of the type, with the other key.
    square(&mut rig, Vec3::new(-0.25, 0.0, 0.0), 0.25, plain(1.0));
    let wrong = Volumetric {
        volume: Some(flat),
        reads: true,
        ..plain(0.25)
    };
    let entity = square(&mut rig, Vec3::new(0.25, 0.0, 0.0), 0.25, wrong);
    let picture = rig.picture();
    assert_color(picture.at(8, 16), [0.0, 1.0, 1.0], "the right one");
    assert_color(picture.at(24, 16), [1.0, 0.0, 1.0], "the wrong one");
    assert_eq!(log::take().len(), 1);
    let world = rig.app.world_mut();
    let handle = world.get::<MeshMaterial3d<Volumetric>>(entity);
    let handle = handle.expect("it is there").0.clone();
    let mut materials = world.resource_mut::<Assets<Volumetric>>();
    materials.get_mut(&handle).expect("it is there").reads = false;
    assert_color(rig.picture().at(24, 16), [0.0, 0.25, 1.0], "another key");
    assert!(log::take().is_empty());
}
