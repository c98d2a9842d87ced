//! Pipelines that are compiled while frames are drawn.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille::prelude::Readback;
use quadrille_3d::PipelineWait;
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{EXACT, Exact, Rig};

/// A plane in front of a camera; frames wait for pipelines or do not.
fn plane(waits: bool) -> (Rig, Handle<StandardMaterial>) {
    let plugin = Quadrille3dPlugin {
        pipeline_wait: match waits {
            true => PipelineWait::EachFrame,
            false => PipelineWait::FirstFrame,
        },
        ..Quadrille3dPlugin::default()
    };
    let mut rig = Rig::with(8, 8, plugin);
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(100.0, 100.0));
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(StandardMaterial {
        base_color: Color::linear_rgb(0.5, 0.5, 0.5),
        unlit: true,
        ..StandardMaterial::default()
    });
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material.clone())));
    world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Tonemapping::None,
        Msaa::Off,
        Transform::from_xyz(0.0, 0.0, 10.0),
    ));
    world.insert_resource(ClearColor(Color::BLACK));
    rig.start();
    (rig, material)
}

/// Renders the next frame, and returns its middle pixel.
fn next_frame(rig: &mut Rig) -> f32 {
    let image = rig.app.world().resource::<Exact>().0.clone();
    rig.read_back(Readback::image(&image)).values::<f32>()[4 * (4 * 8 + 4)]
}

/// Renders frames until one shows `wanted`, and returns the pixels of all.
fn until(rig: &mut Rig, wanted: f32) -> Vec<f32> {
    let mut seen = Vec::new();
    for _ in 0..2000 {
        seen.push(next_frame(rig));
        if seen.last() == Some(&wanted) {
            return seen;
        }
    }
    panic!("{wanted} was not seen: {seen:?}");
}

/// Gives a material an image of one texel.
fn add_image(world: &mut World, material: &Handle<StandardMaterial>) {
    let extent = Extent3d {
        width: 1,
        height: 1,
        depth_or_array_layers: 1,
    };
    let image = world.resource_mut::<Assets<Image>>().add(Image::new(
        extent,
        TextureDimension::D2,
        0.25f32.to_le_bytes().to_vec(),
        TextureFormat::R32Float,
        RenderAssetUsages::default(),
    ));
    change(world, material, |it| it.base_color_texture = Some(image));
}

fn change(
    world: &mut World,
    material: &Handle<StandardMaterial>,
    by: impl FnOnce(&mut StandardMaterial),
) {
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    by(&mut materials.get_mut(material).expect("it is there"));
}

/// Asserts that a change is visible immediately if frames wait, and otherwise after frames that show `meanwhile`.
fn assert_eventually(by: fn(&mut World, &Handle<StandardMaterial>), meanwhile: f32, wanted: f32) {
    let (mut rig, material) = plane(false);
    // The first frame waits in any case.
    assert_eq!(rig.exactly(4, 4)[0], 0.5);
    by(rig.app.world_mut(), &material);
    let seen = until(&mut rig, wanted);
    let others = &seen[..seen.len() - 1];
    assert!(!others.is_empty(), "a frame has waited");
    assert!(others.iter().all(|red| *red == meanwhile), "{seen:?}");

    let (mut rig, material) = plane(true);
    assert_eq!(rig.exactly(4, 4)[0], 0.5);
    by(rig.app.world_mut(), &material);
    assert_eq!(next_frame(&mut rig), wanted, "where frames wait");
}

#[test]
#[ignore = "needs a device"]
fn fallback_pipeline_draws_until_textured_one_is_ready() {
    assert_eventually(add_image, 0.5, 0.125);
}

#[test]
#[ignore = "needs a device"]
fn mesh_without_fallback_pipeline_appears_later() {
    let mask = |world: &mut World, material: &Handle<StandardMaterial>| {
        change(world, material, |it| it.alpha_mode = AlphaMode::Mask(0.5));
    };
    assert_eventually(mask, 0.0, 0.5);
}

#[test]
#[ignore = "needs a device"]
fn mesh_that_becomes_transmissive_stays_visible() {
    let (mut rig, material) = plane(false);
    assert_eq!(rig.exactly(4, 4)[0], 0.5);
    change(rig.app.world_mut(), &material, |it| {
        it.unlit = false;
        it.base_color = Color::BLACK;
        it.emissive = LinearRgba::rgb(0.5, 0.5, 0.5);
        it.specular_transmission = 0.5;
    });
    for _ in 0..3 {
        let red = next_frame(&mut rig);
        assert!(red >= 0.5, "{red}");
    }
}
