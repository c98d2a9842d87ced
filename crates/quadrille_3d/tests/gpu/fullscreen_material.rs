//! Full screen materials.

use bevy_ecs::prelude::*;
use quadrille::prelude::ShaderType;
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::{FullscreenMaterial, FullscreenMaterialPlugin};

use crate::common::{Picture, Rig, log};

/// bevy's `examples/shader_advanced/fullscreen_material.rs`.
#[derive(Component, ShaderType, Clone, Copy, Default)]
struct FullscreenEffect {
    intensity: f32,
}

impl FullscreenMaterial for FullscreenEffect {
    fn fragment_shader() -> ShaderRef {
        "fullscreen_effect.wesl".into()
    }
}

/// Scales the color, by a shader of the program.
#[derive(Component, ShaderType, Clone, Copy, Default)]
struct Scale {
    factors: Vec4,
}

const HANDLE: Handle<Shader> = bevy_asset::uuid_handle!("2f6a4a8e-5e1b-4f0d-8a0f-9a4cfb1b6f0d");

impl FullscreenMaterial for Scale {
    fn fragment_shader() -> ShaderRef {
        HANDLE.into()
    }
}

const SCALE: &str = "
import bevy_core_pipeline::fullscreen_vertex_shader::FullscreenVertexOutput;

struct Scale { factors: vec4f }

@group(0) @binding(0) var screen: texture_2d<f32>;
@group(0) @binding(1) var screen_sampler: sampler;
@group(0) @binding(2) var<uniform> scale: Scale;

@fragment
fn fragment(in: FullscreenVertexOutput) -> @location(0) vec4f {
    let right = f32(in.uv.x > 0.5);
    return textureSample(screen, screen_sampler, in.uv) * mix(vec4f(1.0), scale.factors, right);
}
";

/// A camera that sees nothing but its clear color, with a component.
fn rig(source: &str, effect: impl Component) -> (Rig, Entity) {
    let content = ContentPlugin {
        asset_folder: "../quadrille_vulkan/tests/bevy_shaders".into(),
        ..ContentPlugin::default()
    };
    let plugin = Quadrille3dPlugin {
        content,
        ..Quadrille3dPlugin::default()
    };
    let effects = (
        FullscreenMaterialPlugin::<FullscreenEffect>::default(),
        FullscreenMaterialPlugin::<Scale>::default(),
    );
    let mut rig = Rig::with(32, 32, (plugin, effects));
    let shader = Shader::from_wgsl(source.to_owned(), "scale.wgsl");
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    shaders.insert(HANDLE.id(), shader).expect("it is free");
    rig.start();
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::linear_rgb(0.5, 0.25, 1.0)));
    let camera = (
        Camera3d::default(),
        Msaa::Off,
        Tonemapping::None,
        DebandDither::Disabled,
        effect,
    );
    let camera = world.spawn(camera).id();
    (rig, camera)
}

fn assert_color(picture: &Picture, x: u32, linear: [f32; 3]) {
    let [red, green, blue] = linear;
    let wanted = Color::linear_rgb(red, green, blue).to_srgba();
    let wanted = [wanted.red, wanted.green, wanted.blue].map(|it| (it * 255.0).round() as u8);
    for (found, wanted) in picture.at(x, 16).into_iter().zip(wanted) {
        assert!(found.abs_diff(wanted) <= 1, "at {x}: {found} for {wanted}");
    }
}

#[test]
#[ignore = "needs a device"]
fn fullscreen_material_changes_the_color_of_its_camera() {
    let factors = Vec4::new(0.5, 1.0, 0.0, 1.0);
    let (mut rig, camera) = rig(SCALE, Scale { factors });
    let picture = rig.picture();
    assert_color(&picture, 8, [0.5, 0.25, 1.0]);
    assert_color(&picture, 24, [0.25, 0.25, 0.0]);
    let factors = Vec4::new(1.0, 2.0, 0.5, 1.0);
    rig.app
        .world_mut()
        .entity_mut(camera)
        .insert(Scale { factors });
    assert_color(&rig.picture(), 24, [0.5, 0.5, 0.5]);
    rig.app.world_mut().entity_mut(camera).remove::<Scale>();
    assert_color(&rig.picture(), 24, [0.5, 0.25, 1.0]);
}

/// As in bevy, where the clear color of a camera without `Hdr` is not tone mapped.
#[test]
#[ignore = "needs a device"]
fn fullscreen_material_follows_tone_mapping_without_hdr() {
    let factors = Vec4::new(0.5, 1.0, 0.0, 1.0);
    let (mut rig, camera) = rig(SCALE, Scale { factors });
    let mut camera = rig.app.world_mut().entity_mut(camera);
    camera.insert(Tonemapping::Reinhard);
    let camera = camera.id();
    let picture = rig.picture();
    assert_color(&picture, 8, [0.5, 0.25, 1.0]);
    assert_color(&picture, 24, [0.25, 0.25, 0.0]);
    let mut camera = rig.app.world_mut().entity_mut(camera);
    camera.insert(bevy_camera::Hdr);
    let mapped = |color: f32| color / (1.0 + color);
    let picture = rig.picture();
    assert_color(&picture, 8, [mapped(0.5), mapped(0.25), mapped(1.0)]);
    assert_color(&picture, 24, [mapped(0.25), mapped(0.25), 0.0]);
}

#[test]
#[ignore = "needs a device"]
fn wrong_shader_of_fullscreen_material_is_reported_once() {
    log::collect();
    let source = SCALE.replace("var<uniform> scale", "var<storage, read> scale");
    let factors = Vec4::ZERO;
    let (mut rig, _) = rig(&source, Scale { factors });
    assert_color(&rig.picture(), 24, [0.5, 0.25, 1.0]);
    let lines = log::take();
    let [line] = &lines[..] else {
        panic!("there is one message: {lines:#?}");
    };
    assert!(
        line.contains("`scale` at binding 2") && line.contains("Scale"),
        "{line}"
    );
}

#[test]
#[ignore = "needs a device"]
fn bevys_file_of_fullscreen_material_is_drawn_unchanged() {
    let intensity = 0.25;
    let (mut rig, _) = rig(SCALE, FullscreenEffect { intensity });
    // Half of the picture has another color.
    let mesh = Mesh::from(Rectangle::new(4.0, 4.0));
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        base_color: Color::BLACK,
        unlit: true,
        ..StandardMaterial::default()
    };
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(material);
    let place = Transform::from_xyz(2.0, 0.0, -2.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
    // Files are read by other threads.
    let picture = std::iter::repeat_with(|| rig.picture())
        .take(500)
        .find(|picture| picture.at(10, 16)[0] == 0)
        .expect("the file is loaded");
    // At the right of the left half, red comes from 8 pixels to the right: from the black square.
    assert_color(&picture, 10, [0.0, 0.25, 1.0]);
    assert_color(&picture, 20, [0.0, 0.25, 0.0]);
    assert_color(&picture, 30, [0.0; 3]);
}
