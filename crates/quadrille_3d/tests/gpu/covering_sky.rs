//! Skyboxes behind surfaces that leave the contents of the target in samples they cover, or cover a part of them.

use bevy_app::App;
use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};

use crate::common::Rig;
use crate::environment::image;
use crate::material_shaders::{add_shader, assert_color, blend_by_adding, rig_with, shader_ref};

/// A material that adds red to the target, without an alpha mode that blends.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Added {}

impl Material for Added {
    fn fragment_shader() -> ShaderRef {
        shader_ref(40)
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        _: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        blend_by_adding(descriptor);
        Ok(())
    }
}

const ADDED: &str = "
@fragment
fn fragment() -> @location(0) vec4f {
    return vec4f(0.25, 0.0, 0.0, 1.0);
}
";

/// A material that writes depth alone.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct DepthOnly {}

impl Material for DepthOnly {
    fn fragment_shader() -> ShaderRef {
        shader_ref(41)
    }
}

const DEPTH_ONLY: &str = "
@fragment
fn fragment() {
}
";

fn add_types(app: &mut App) {
    app.add_plugins((
        MaterialPlugin::<Added>::default(),
        MaterialPlugin::<DepthOnly>::default(),
    ));
    add_shader(app, 40, ADDED);
    add_shader(app, 41, DEPTH_ONLY);
}

const CLEAR: [f32; 3] = [0.0, 0.5, 0.0];
const SKY: [f32; 3] = [0.25, 0.25, 0.5];

/// An app with a camera before a sky of one color.
fn rig() -> (Rig, Entity) {
    let mut rig = rig_with(Tonemapping::None, false, add_types);
    rig.app
        .insert_resource(ClearColor(Color::linear_rgb(CLEAR[0], CLEAR[1], CLEAR[2])));
    rig.start();
    rig.update(1);
    let world = rig.app.world_mut();
    let sky = image([1, 1, 6], |_| SKY);
    let sky = world.resource_mut::<Assets<Image>>().add(sky);
    let mut cameras = world.query_filtered::<(Entity, &Exposure), With<Camera3d>>();
    let (camera, exposure) = cameras.single(world).expect("there is one");
    let sky = Skybox {
        image: Some(sky),
        brightness: 1.0 / exposure.exposure(),
        ..Skybox::default()
    };
    world.entity_mut(camera).insert(sky);
    rig.update(2);
    (rig, camera)
}

fn spawn<M: Asset>(rig: &mut Rig, material: M) {
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(0.5, 0.5));
    let material = world.resource_mut::<Assets<M>>().add(material);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    rig.update(4);
}

/// Colors of a pixel of the sky and of one in the middle.
fn colors(rig: &mut Rig) -> [[u8; 4]; 2] {
    let picture = rig.picture();
    [
        picture.at(1, 1),
        picture.at(picture.width / 2, picture.height / 2),
    ]
}

#[test]
#[ignore = "needs a device"]
fn opaque_surface_that_blends_blends_with_the_clear_color() {
    let (mut rig, _) = rig();
    spawn(&mut rig, Added {});
    let [sky, surface] = colors(&mut rig);
    assert_color(sky, SKY, "sky");
    assert_color(surface, [0.25, 0.5, 0.0], "surface");
}

#[test]
#[ignore = "needs a device"]
fn surface_without_color_shows_the_clear_color() {
    let (mut rig, _) = rig();
    spawn(&mut rig, DepthOnly {});
    let [sky, surface] = colors(&mut rig);
    assert_color(sky, SKY, "sky");
    assert_color(surface, CLEAR, "surface");
}

/// A white surface that covers 2 of 4 samples, over the sky or the clear color: pictures with `Hdr` and without.
#[test]
#[ignore = "needs a device"]
fn samples_that_alpha_covers_are_opaque() {
    for has_sky in [true, false] {
        let (mut rig, camera) = rig();
        rig.app.world_mut().entity_mut(camera).insert(Msaa::Sample4);
        if !has_sky {
            rig.app.world_mut().entity_mut(camera).remove::<Skybox>();
        }
        spawn(
            &mut rig,
            StandardMaterial {
                base_color: Color::linear_rgba(1.0, 1.0, 1.0, 0.5),
                unlit: true,
                alpha_mode: AlphaMode::AlphaToCoverage,
                ..StandardMaterial::default()
            },
        );
        let behind = if has_sky { SKY } else { CLEAR };
        let wanted = behind.map(|behind| 0.5 + 0.5 * behind);
        for is_hdr in [false, true] {
            if is_hdr {
                rig.app.world_mut().entity_mut(camera).insert(Hdr);
                rig.update(4);
            }
            let [_, surface] = colors(&mut rig);
            let subject = format!("sky: {has_sky}, Hdr: {is_hdr}");
            assert_color(surface, wanted, &subject);
            assert_eq!(surface[3], 255, "{subject}");
        }
    }
}
