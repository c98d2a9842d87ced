//! Materials with shaders of their own in the G-buffer, beside standard ones.

use bevy_ecs::prelude::*;
use quadrille::prelude::ShaderType;
use quadrille_3d::OpaqueRendererMethod;
use quadrille_3d::prelude::*;

use crate::common::Rig;
use crate::environment::image;
use crate::material_shaders::{add_shader, shader_ref};
use crate::prepass::spawn;
use crate::ssr::{self, View};

/// Numbers of shaders.
const TINT: u128 = 71;
const WATER: u128 = 72;

/// The standard material with another base color.
const TINT_SOURCE: &str = "
import bevy_pbr::{
    deferred::functions::deferred_output,
    prepass::io::{FragmentOutput, VertexOutput},
    render::pbr_fragment::pbr_input_from_standard_material,
};

@group(constants::MATERIAL_BIND_GROUP) @binding(100) var<uniform> factor: vec4f;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var pbr_input = pbr_input_from_standard_material(in, is_front);
    pbr_input.material.base_color *= factor;
    return deferred_output(in, pbr_input);
}
";

#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Tint {
    #[uniform(100)]
    factor: Vec4,
}

impl MaterialExtension for Tint {
    fn deferred_fragment_shader() -> ShaderRef {
        shader_ref(TINT)
    }
}

type Tinted = ExtendedMaterial<StandardMaterial, Tint>;

/// An app with a material type and its shader.
fn rig<M: Material>(number: u128, source: &'static str) -> Rig {
    let mut rig = Rig::new(ssr::SIDE as u32, ssr::SIDE as u32);
    rig.app.add_plugins(MaterialPlugin::<M>::default());
    add_shader(&mut rig.app, number, source);
    rig.start();
    rig
}

fn gray(method: OpaqueRendererMethod, value: f32) -> StandardMaterial {
    StandardMaterial {
        metallic: 0.3,
        perceptual_roughness: 0.4,
        reflectance: 0.7,
        emissive: LinearRgba::rgb(0.0, 30.0, 0.0),
        opaque_render_method: method,
        ..StandardMaterial::from(Color::linear_rgb(value, value, value))
    }
}

/// A lit sphere whose color is halved by the shader, or is half as large.
fn sphere(method: OpaqueRendererMethod, is_tinted: bool, more: impl Bundle) -> ssr::Rows {
    let mut rig = rig::<Tinted>(TINT, TINT_SOURCE);
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((PointLight::default(), Transform::from_xyz(1.0, 2.0, 2.0)));
    let at = Transform::from_xyz(0.0, 0.5, 0.0);
    if is_tinted {
        let material = Tinted {
            base: gray(method, 0.8),
            extension: Tint {
                factor: Vec4::new(0.5, 0.5, 0.5, 1.0),
            },
        };
        let mesh = world
            .resource_mut::<Assets<Mesh>>()
            .add(Sphere::new(1.0).mesh());
        let material = world.resource_mut::<Assets<Tinted>>().add(material);
        world.spawn((Mesh3d(mesh), MeshMaterial3d(material), at));
    } else {
        spawn(world, Sphere::new(1.0).mesh(), gray(method, 0.4), at);
    }
    world.spawn(ssr::camera(View::Perspective, more));
    ssr::checked(rig.exact_rows())
}

fn most_different(found: &ssr::Rows, expected: &ssr::Rows) -> f32 {
    let pairs = found
        .iter()
        .flatten()
        .flatten()
        .zip(expected.iter().flatten().flatten());
    pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

#[test]
#[ignore = "needs a device"]
fn deferred_shaders_of_materials_write_the_gbuffer() {
    let method = OpaqueRendererMethod::Deferred;
    let expected = sphere(method, false, DeferredPrepass);
    let middle = expected[40][48][0];
    assert!(middle > 0.01, "no light: {middle}");
    let plain = sphere(method, true, DeferredPrepass);
    let with_normals = sphere(method, true, (DeferredPrepass, NormalPrepass));
    let with_motion = sphere(method, true, (DeferredPrepass, MotionVectorPrepass));
    let all = (DeferredPrepass, NormalPrepass, MotionVectorPrepass);
    for found in [plain, with_normals, with_motion, sphere(method, true, all)] {
        let most = most_different(&found, &expected);
        assert!(most < 0.01 * middle, "{most} beside {middle}");
    }
}

#[test]
#[ignore = "needs a device"]
fn forward_methods_and_cameras_ignore_deferred_shaders() {
    let forward = OpaqueRendererMethod::Forward;
    let expected = sphere(forward, true, ());
    assert!(sphere(forward, true, DeferredPrepass) == expected);
    let deferred = sphere(OpaqueRendererMethod::Deferred, true, DeferredPrepass);
    assert!(most_different(&deferred, &expected) > 0.1 * expected[40][48][0]);
}

/// Settings of bevy's water.
#[derive(ShaderType, Debug, Clone)]
struct WaterSettings {
    octave_vectors: [Vec4; 2],
    octave_scales: Vec4,
    octave_strengths: Vec4,
}

/// Material of bevy's example of screen-space reflections.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Water {
    #[texture(100)]
    #[sampler(101)]
    normals: Handle<Image>,
    #[uniform(102)]
    settings: WaterSettings,
}

impl MaterialExtension for Water {
    fn deferred_fragment_shader() -> ShaderRef {
        shader_ref(WATER)
    }
}

/// Water of bevy's shader file with waves of a height.
fn water(strength: f32) -> ssr::Rows {
    type Surface = ExtendedMaterial<StandardMaterial, Water>;
    let source = include_str!("../bevy_shaders/water_material.wesl");
    let mut rig = rig::<Surface>(WATER, source);
    let world = rig.app.world_mut();
    ssr::spawn_panel(world, ssr::unlit(ssr::COLOR));
    let normals = image([4, 4, 1], |[x, y, _]| {
        [0.2 + 0.2 * x as f32, 0.8, 0.2 + 0.2 * y as f32]
    });
    let normals = world.resource_mut::<Assets<Image>>().add(normals);
    let material = Surface {
        base: ssr::mirror(),
        extension: Water {
            normals,
            settings: WaterSettings {
                octave_vectors: [Vec4::ZERO; 2],
                octave_scales: Vec4::new(1.0, 2.1, 7.9, 14.9),
                octave_strengths: Vec4::splat(strength),
            },
        },
    };
    let mesh = world.resource_mut::<Assets<Mesh>>().add(ssr::plane());
    let material = world.resource_mut::<Assets<Surface>>().add(material);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    world.spawn(ssr::camera(View::Perspective, ssr::fine()));
    ssr::checked(rig.exact_rows())
}

#[test]
#[ignore = "needs a device"]
fn water_of_bevy_reflects_the_panel() {
    let still = water(0.0);
    ssr::assert_mirrored("water", &still, View::Perspective, 0.3);
    assert!(most_different(&water(0.5), &still) > 0.1, "no waves");
}
