//! 3D pictures after the device was lost. A pass returns an error, and the handler requests another device: recovery is
//! the same as from a device that is really lost.

use bevy_asset::RenderAssetUsages;
use bevy_camera::{Hdr, OrthographicProjection, Projection};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille::ecs::{RenderError, RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::{Recorder, Render};
use quadrille_3d::prelude::*;
use quadrille_3d::{
    Bloom, ContrastAdaptiveSharpening, DepthOfField, MotionBlur, ScreenSpaceAmbientOcclusion,
    ScreenSpaceReflections, Smaa, TemporalAntiAliasing,
};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Picture, Rig, log};
use crate::spheres;

/// Whether the next frame loses the device.
#[derive(Resource, Default)]
struct Lose(bool);

fn fail(_: Recorder, mut lose: ResMut<Lose>) -> Result {
    if std::mem::take(&mut lose.0) {
        Err("refused by the test".into())
    } else {
        Ok(())
    }
}

#[test]
#[ignore = "needs a device"]
fn scene_is_restored_after_device_loss() {
    expect_restored(());
}

#[test]
#[ignore = "needs a device"]
fn prepasses_are_restored_after_device_loss() {
    expect_restored((DepthPrepass, NormalPrepass, MotionVectorPrepass));
}

#[test]
#[ignore = "needs a device"]
fn effects_are_restored_after_device_loss() {
    expect_restored((
        Msaa::Off,
        Hdr,
        DepthPrepass,
        NormalPrepass,
        MotionVectorPrepass,
        MotionBlur::default(),
        ScreenSpaceAmbientOcclusion::default(),
        Bloom::NATURAL,
        DepthOfField::default(),
        Smaa::default(),
        ContrastAdaptiveSharpening::default(),
    ));
}

#[test]
#[ignore = "needs a device"]
fn reflections_are_restored_after_device_loss() {
    let reflections = ScreenSpaceReflections {
        max_perceptual_roughness: 1.0..1.0,
        ..ScreenSpaceReflections::default()
    };
    let (_, plain) = rig_with((Msaa::Off, Hdr, DeferredPrepass), 0);
    let (_, reflected) = rig_with((Msaa::Off, Hdr, reflections.clone()), 0);
    assert!(plain != reflected, "nothing is reflected");
    expect_restored((Msaa::Off, Hdr, reflections));
}

/// Temporal antialiasing begins with a new history, and converges to the same picture.
#[test]
#[ignore = "needs a device"]
fn temporal_antialiasing_converges_again_after_device_loss() {
    let (mut rig, before) = rig_with((Msaa::Off, TemporalAntiAliasing::default()), 80);
    rig.update(80);
    let later = rig.picture();
    lose(&mut rig);
    rig.update(80);
    let after = rig.picture();
    // Pictures differ by the phase of the jitter.
    let (phases, loss) = (
        mean_difference(&before, &later),
        mean_difference(&before, &after),
    );
    assert!(
        loss < 1.5 * phases + 0.1,
        "{loss}, and {phases} without a loss"
    );
}

/// Mean difference of all channels, of 255.
fn mean_difference(one: &Picture, other: &Picture) -> f64 {
    let all = one.pixels.as_flattened().iter();
    let pairs = all.zip(other.pixels.as_flattened());
    let sum: f64 = pairs
        .map(|(one, other)| f64::from(one.abs_diff(*other)))
        .sum();
    sum / one.pixels.as_flattened().len() as f64
}

/// Expects the same picture from a new device, with further components of cameras.
fn expect_restored(more: impl Bundle + Clone) {
    let (mut rig, before) = rig_with(more, 0);
    lose(&mut rig);
    let after = rig.picture();
    assert!(after == before, "the picture is another one");
}

/// Loses the device.
fn lose(rig: &mut Rig) {
    let device = |rig: &Rig| {
        rig.app
            .world()
            .resource::<quadrille_3d::resources::Vertices3d>()
            .id()
    };
    let old = device(rig);
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(1);
    assert_ne!(device(rig), old, "all is recreated");
}

/// Spheres seen by cameras with further components, and their picture after some frames.
fn rig_with(more: impl Bundle + Clone, frames: u32) -> (Rig, Picture) {
    let mut rig = Rig::new(120, 68);
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        // Concerns cameras with `DeferredPrepass` alone.
        .insert_resource(DefaultOpaqueRendererMethod::deferred())
        .add_systems(bevy_app::Startup, spheres)
        .add_systems(Render, fail);
    rig.start();
    rig.update(1);
    let world = rig.app.world_mut();
    let mut cameras = world.query_filtered::<Entity, With<Camera3d>>();
    let cameras: Vec<_> = cameras.iter(world).collect();
    for camera in cameras {
        world.entity_mut(camera).insert(more.clone());
    }
    rig.update(frames);
    let before = rig.picture();
    (rig, before)
}

/// A blue image of one texel.
fn blue(usages: RenderAssetUsages) -> Image {
    Image::new_fill(
        Extent3d::default(),
        TextureDimension::D2,
        &[0, 0, 255, 255],
        TextureFormat::Rgba8UnormSrgb,
        usages,
    )
}

/// Spawns a textured square of 2 units.
fn square(world: &mut World, x: f32, mesh: Mesh, image: Image) {
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let material = StandardMaterial {
        base_color_texture: Some(image),
        unlit: true,
        ..StandardMaterial::default()
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let place = Transform::from_xyz(x, 0.0, 0.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
}

/// Three squares side by side: one whose mesh is only on the device, one whose image is, and one without such data.
#[test]
#[ignore = "needs a device"]
fn lost_gpu_only_data_is_reported_once() {
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const BLACK: [u8; 4] = [0, 0, 0, 255];
    log::collect();
    let mut rig = Rig::new(48, 16);
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        .add_systems(Render, fail);
    rig.start();
    let world = rig.app.world_mut();
    let kept = RenderAssetUsages::default();
    let alone = RenderAssetUsages::RENDER_WORLD;
    let mesh = |usages| {
        let mut mesh = Mesh::from(Rectangle::new(2.0, 2.0));
        mesh.asset_usage = usages;
        mesh
    };
    square(world, -2.0, mesh(alone), blue(kept));
    square(world, 0.0, mesh(kept), blue(alone));
    square(world, 2.0, mesh(kept), blue(kept));
    let view = Projection::Orthographic(OrthographicProjection {
        scale: 0.125,
        ..OrthographicProjection::default_3d()
    });
    let black = Camera {
        clear_color: ClearColorConfig::Custom(Color::BLACK),
        ..Camera::default()
    };
    let place = Transform::from_xyz(0.0, 0.0, 5.0);
    world.spawn((Camera3d::default(), view, black, Tonemapping::None, place));
    rig.update(3);
    let shown = |rig: &mut Rig| {
        let picture = rig.picture();
        [8, 24, 40].map(|x| picture.at(x, 8))
    };
    assert_eq!(shown(&mut rig), [BLUE; 3]);
    log::take();
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(5);
    let lines = log::take();
    let count = |words: &[&str]| {
        let has = |line: &&String| words.iter().all(|word| line.contains(word));
        lines.iter().filter(has).count()
    };
    assert_eq!(
        count(&["Mesh that the program added", "lost device"]),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        count(&["Image that the program added", "lost device"]),
        1,
        "{lines:#?}"
    );
    let [first, second, third] = shown(&mut rig);
    assert_eq!(
        (first, third),
        (BLACK, BLUE),
        "what the program has is drawn again"
    );
    assert!(
        second != BLUE && second != BLACK,
        "a placeholder: {second:?}"
    );
    rig.update(5);
    let lines = log::take();
    assert!(lines.is_empty(), "{lines:#?}");
}
