//! Cameras that keep the contents of a program's image, painted or not.

use bevy_camera::ManualTextureViewHandle;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_math::UVec2;
use quadrille::ecs::ColorAttachment as _;
use quadrille::prelude::{ColorTarget, GpuDevice, GpuImage, ImageDesc, Readback, Recorder, Render};
use quadrille::vulkan::Format;
use quadrille_2d::prelude::{Camera2d, Quadrille2dPlugin};
use quadrille_3d::prelude::*;
use quadrille_3d::systems::{opaque_3d, tonemap_3d};

use crate::common::Rig;

#[derive(Resource, Deref)]
struct Scene(GpuImage);

/// Fills the image with green.
fn paint(mut recorder: Recorder, scene: ColorTarget<Scene>) {
    recorder.render(scene.clear([0.0, 1.0, 0.0, 1.0]));
}

/// The first frame of an image of the program's that a camera draws over, without anything to draw.
fn first_frame(is_2d: bool, viewport: Option<Viewport>, is_painted: bool) -> Vec<[u8; 4]> {
    let plugins = (Quadrille2dPlugin::default(), Quadrille3dPlugin::default());
    let mut rig = Rig::with(16, 16, plugins);
    if is_painted {
        rig.app
            .add_systems(Render, paint.before(opaque_3d).before(tonemap_3d));
    }
    rig.start();
    let world = rig.app.world_mut();
    let desc = ImageDesc::color_target("scene", [16, 16], Format::R8G8B8A8_SRGB);
    let made = world.resource::<GpuDevice>().create_image(&desc);
    let image = made.expect("the device has such images");
    let handle = ManualTextureViewHandle(3);
    world
        .resource_mut::<ManualTextureViews>()
        .insert(handle, image.clone());
    world.insert_resource(Scene(image.clone()));
    let camera = Camera {
        clear_color: ClearColorConfig::None,
        viewport,
        ..Camera::default()
    };
    let mut camera = world.spawn((
        camera,
        Camera3d::default(),
        RenderTarget::TextureView(handle),
    ));
    if is_2d {
        camera.remove::<Camera3d>().insert(Camera2d);
    }
    let picture = rig.read(Readback::image(&image));
    [[1, 1], [8, 8], [14, 14]]
        .map(|[x, y]| picture.at(x, y))
        .to_vec()
}

#[test]
#[ignore = "needs a device"]
fn own_image_without_contents_is_clear_before_a_camera_draws_over_it() {
    let part = Viewport {
        physical_size: UVec2::new(8, 8),
        ..Viewport::default()
    };
    for is_2d in [false, true] {
        for viewport in [None, Some(part.clone())] {
            let shown = first_frame(is_2d, viewport, false);
            assert_eq!(shown, [[0; 4]; 3], "2D: {is_2d}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn first_pass_of_an_own_image_is_not_cleared_away() {
    assert_eq!(first_frame(false, None, true), [[0, 255, 0, 255]; 3]);
}
