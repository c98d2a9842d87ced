//! Materials with shaders of their own that show what lies behind them.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{MotionVectorPrepass, ScreenSpaceTransmission};

use crate::common::{Rig, log};
use crate::environment::camera;
use crate::material_shaders::{add_shader, assert_color, rig_with, shader_ref, square};
use crate::prepass::spawn;

/// Shows the complement of the color behind it.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Negative {
    reads_background: bool,
}

impl Material for Negative {
    fn fragment_shader() -> ShaderRef {
        shader_ref(31)
    }

    fn reads_view_transmission_texture(&self) -> bool {
        self.reads_background
    }
}

const NEGATIVE: &str = "
import bevy_pbr::render::forward_io::VertexOutput;
import bevy_pbr::render::mesh_view_bindings::{view, view_transmission_sampler, view_transmission_texture};

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let at = mesh.position.xy / view.viewport.zw;
    let behind = textureSampleLevel(view_transmission_texture, view_transmission_sampler, at, 0.0);
    return vec4f(1.0 - behind.rgb, 1.0);
}
";

/// Glass that is green where what lies behind it moves.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct GreenMotion {}

impl MaterialExtension for GreenMotion {
    fn fragment_shader() -> ShaderRef {
        shader_ref(32)
    }
}

const GREEN_MOTION: &str = "
import bevy_pbr::render::forward_io::{FragmentOutput, VertexOutput};
import bevy_pbr::render::pbr_fragment::pbr_input_from_standard_material;
import bevy_pbr::render::pbr_functions::{apply_pbr_lighting, main_pass_post_lighting_processing};
import bevy_pbr::prepass::utils::prepass_motion_vector;

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    let pbr_input = pbr_input_from_standard_material(in, is_front);
    var out: FragmentOutput;
    out.color = main_pass_post_lighting_processing(pbr_input, apply_pbr_lighting(pbr_input));
    if any(prepass_motion_vector(in.position, 0u) != vec2f(0.0)) {
        out.color = vec4f(0.0, 1.0, 0.0, 1.0);
    }
    return out;
}
";

/// Moves a little in each frame.
#[derive(Component)]
struct Sliding;

fn slide(mut sliding: Query<&mut Transform, With<Sliding>>) {
    for mut transform in &mut sliding {
        transform.translation.x += 0.01;
    }
}

const BEHIND: [f32; 3] = [0.25, 0.5, 0.75];

/// Returns a camera before a wall, and the wall.
fn rig() -> (Rig, Entity) {
    let mut rig = rig_with(Tonemapping::None, false, |app| {
        app.insert_resource(GlobalAmbientLight::NONE);
        app.add_systems(Update, slide);
        app.add_plugins((
            MaterialPlugin::<Negative>::default(),
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, GreenMotion>>::default(),
        ));
        add_shader(app, 31, NEGATIVE);
        add_shader(app, 32, GREEN_MOTION);
    });
    let [red, green, blue] = BEHIND;
    let wall = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(red, green, blue))
    };
    let behind = Transform::from_xyz(0.0, 0.0, -1.0);
    let wall = spawn(rig.app.world_mut(), Rectangle::new(2.0, 2.0), wall, behind);
    (rig, wall)
}

#[test]
#[ignore = "needs a device"]
fn materials_read_the_color_behind_them() {
    log::collect();
    let (mut rig, _) = rig();
    camera(rig.app.world_mut()).insert(ScreenSpaceTransmission::default());
    let reader = Negative {
        reads_background: true,
    };
    let pane = square(&mut rig, Vec3::ZERO, 0.5, reader);
    let picture = rig.picture();
    let complement = BEHIND.map(|channel| 1.0 - channel);
    assert_color(picture.at(16, 16), complement, "in front of the wall");
    assert_color(picture.at(2, 16), BEHIND, "the wall");

    // As one of opaque meshes it has nothing behind it.
    let world = rig.app.world_mut();
    let material = world
        .get::<MeshMaterial3d<Negative>>(pane)
        .expect("it has one")
        .0
        .clone();
    let mut materials = world.resource_mut::<Assets<Negative>>();
    materials
        .get_mut(&material)
        .expect("it is there")
        .reads_background = false;
    let without = rig.picture().at(16, 16);
    assert_ne!(
        without,
        picture.at(16, 16),
        "it is drawn without a background"
    );
    assert_eq!(log::take(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a device"]
fn glass_with_a_shader_reads_motion_vectors_as_well() {
    log::collect();
    let (mut rig, wall) = rig();
    camera(rig.app.world_mut()).insert((ScreenSpaceTransmission::default(), MotionVectorPrepass));
    let base = StandardMaterial {
        specular_transmission: 1.0,
        perceptual_roughness: 0.0,
        reflectance: 0.0,
        ..StandardMaterial::default()
    };
    let extension = GreenMotion {};
    square(
        &mut rig,
        Vec3::ZERO,
        0.5,
        ExtendedMaterial { base, extension },
    );
    rig.picture();
    assert_color(rig.picture().at(16, 16), BEHIND, "at rest");
    // Prepasses have the surfaces behind glass.
    rig.app.world_mut().entity_mut(wall).insert(Sliding);
    assert_color(rig.picture().at(16, 16), [0.0, 1.0, 0.0], "in motion");
    assert_eq!(log::take(), Vec::<String>::new());
}
