//! Cameras with overlapping pictures.

use bevy_app::Startup;
use bevy_camera::{CameraOutputMode, MsaaWriteback};
use bevy_ecs::prelude::*;

use bevy_math::{UVec2, Vec2};
use quadrille::prelude::Readback;
use quadrille_2d::content::images::DeviceImages;
use quadrille_2d::prelude::*;

use crate::common::{Picture, Rig, scenes};

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

fn color([r, g, b, a]: [u8; 4]) -> Color {
    Color::srgba_u8(r, g, b, a)
}

fn custom(rgba: [u8; 4]) -> ClearColorConfig {
    ClearColorConfig::Custom(color(rgba))
}

/// A square of 8 pixels, visible to cameras of one layer.
fn square(rgba: [u8; 4], x: f32, layer: usize) -> impl Bundle {
    (
        Sprite::from_color(color(rgba), Vec2::splat(8.0)),
        Transform::from_xyz(x, 0.0, 0.0),
        RenderLayers::layer(layer),
    )
}

fn camera(order: isize, clear_color: ClearColorConfig) -> Camera {
    Camera {
        order,
        clear_color,
        ..Camera::default()
    }
}

fn viewport(x: u32, y: u32, width: u32, height: u32) -> Option<Viewport> {
    Some(Viewport {
        physical_position: UVec2::new(x, y),
        physical_size: UVec2::new(width, height),
        ..Viewport::default()
    })
}

/// A rig of 32 x 32 pixels with a world that is filled directly.
fn rig(fill: impl FnOnce(&mut World)) -> Rig {
    let mut rig = Rig::new(32, 32);
    rig.app
        .insert_resource(ClearColor(color([10, 20, 30, 255])));
    rig.start();
    fill(rig.app.world_mut());
    rig
}

fn picture(fill: impl FnOnce(&mut World)) -> Picture {
    rig(fill).picture()
}

#[test]
#[ignore = "needs a device"]
fn first_camera_without_clear_color() {
    let mut rig = rig(|world| {
        world.spawn((Camera2d, camera(0, ClearColorConfig::None)));
        world.spawn(square(RED, 0.0, 0));
    });
    rig.update(2);
    let shown = rig.picture();
    assert_eq!([shown.at(16, 16), shown.at(2, 2)], [RED, [0; 4]]);
    // A window's contents are undefined at the start of a frame, so earlier frames must not show.
    let world = rig.app.world_mut();
    let mut sprites = world.query_filtered::<&mut Transform, With<Sprite>>();
    sprites
        .iter_mut(world)
        .for_each(|mut it| it.translation.x = 10.0);
    let shown = rig.picture();
    assert_eq!([shown.at(16, 16), shown.at(26, 16)], [[0; 4], RED]);
}

#[test]
#[ignore = "needs a device"]
fn camera_without_clear_color_accumulates() {
    let mut handle = None;
    let mut rig = rig(|world| {
        let mut image = scenes::image(32, 32, [BLUE; 32 * 32].concat());
        image.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
        let image = world.resource_mut::<Assets<Image>>().add(image);
        let target = RenderTarget::from(image.clone());
        world.spawn((Camera2d, camera(0, ClearColorConfig::None), target));
        world.spawn(square(RED, 0.0, 0));
        handle = Some(image);
    });
    rig.update(3);
    let world = rig.app.world_mut();
    let mut sprites = world.query_filtered::<&mut Transform, With<Sprite>>();
    sprites
        .iter_mut(world)
        .for_each(|mut it| it.translation.x = 10.0);
    rig.update(1);
    let images = rig.app.world().resource::<DeviceImages>();
    let image = images.image(&handle.expect("it was made")).cloned();
    let shown = rig.read(Readback::image(&image.expect("it is on the device")));
    let found = [shown.at(16, 16), shown.at(26, 16), shown.at(2, 2)];
    assert_eq!(
        found,
        [RED, RED, [0; 4]],
        "the first use of an image clears it"
    );
}

#[test]
#[ignore = "needs a device"]
fn later_cameras_clear_or_draw_over() {
    let shown = |msaa: Msaa, writeback: MsaaWriteback, clear_color: ClearColorConfig| {
        let shown = picture(|world| {
            world.spawn((Camera2d, camera(0, custom(BLUE)), msaa));
            let later = Camera {
                msaa_writeback: writeback,
                ..camera(1, clear_color)
            };
            world.spawn((Camera2d, later, msaa, RenderLayers::layer(1)));
            world.spawn(square(RED, -8.0, 0));
            world.spawn(square(GREEN, 8.0, 1));
        });
        assert_eq!(shown.at(24, 16), GREEN);
        [shown.at(8, 16), shown.at(2, 2)]
    };
    let (over, own, world) = ([RED, BLUE], [[9, 9, 9, 255]; 2], [[10, 20, 30, 255]; 2]);
    let clear = custom([9, 9, 9, 255]);
    let (auto, four, one) = (MsaaWriteback::Auto, Msaa::Sample4, Msaa::Off);
    assert_eq!(shown(four, auto, ClearColorConfig::None), over);
    assert_eq!(shown(one, auto, ClearColorConfig::None), over);
    assert_eq!(shown(four, auto, ClearColorConfig::Default), over);
    assert_eq!(shown(four, auto, clear), over);
    assert_eq!(shown(one, auto, ClearColorConfig::Default), world);
    assert_eq!(shown(one, auto, clear), own);
    assert_eq!(shown(four, MsaaWriteback::Off, clear), own);
}

#[test]
#[ignore = "needs a device"]
fn output_color_surrounds_the_viewport() {
    let shown = |clear_color, clear| {
        picture(|world| {
            let first = Camera {
                viewport: viewport(8, 8, 16, 16),
                output_mode: CameraOutputMode::Write {
                    blend_state: None,
                    clear_color,
                },
                ..camera(0, clear)
            };
            world.spawn((Camera2d, first));
            world.spawn(square(RED, 0.0, 0));
        })
    };
    let seen = |shown: Picture| [(2, 2), (10, 10), (16, 16)].map(|(x, y)| shown.at(x, y));
    let world = [10, 20, 30, 255];
    assert_eq!(
        seen(shown(ClearColorConfig::Default, custom(BLUE))),
        [world, BLUE, RED]
    );
    assert_eq!(seen(shown(custom(GREEN), custom(BLUE))), [GREEN, BLUE, RED]);
    assert_eq!(
        seen(shown(ClearColorConfig::None, custom(BLUE))),
        [[0; 4], BLUE, RED]
    );
    let half = [200, 100, 50, 128];
    assert_eq!(seen(shown(custom(GREEN), custom(half))), [GREEN, half, RED]);
}

#[test]
#[ignore = "needs a device"]
fn clear_color_keeps_its_alpha() {
    for half in [[0; 4], [200, 100, 50, 128]] {
        let shown = picture(|world| {
            world.spawn((Camera2d, camera(0, custom(half))));
            world.spawn(square(RED, 0.0, 0));
        });
        assert_eq!([shown.at(2, 2), shown.at(16, 16)], [half, RED]);
    }
}

#[test]
#[ignore = "needs a device"]
fn skipped_camera_draws_nothing() {
    let shown = |later: ClearColorConfig| {
        let shown = picture(|world| {
            let skipped = Camera {
                output_mode: CameraOutputMode::Skip,
                ..camera(0, custom(BLUE))
            };
            world.spawn((Camera2d, skipped));
            let later = Camera {
                msaa_writeback: MsaaWriteback::Off,
                ..camera(1, later)
            };
            world.spawn((Camera2d, later, RenderLayers::layer(1)));
            world.spawn(square(RED, -8.0, 0));
            world.spawn(square(GREEN, 8.0, 1));
        });
        [shown.at(8, 16), shown.at(24, 16), shown.at(2, 2)]
    };
    let clear = [9, 9, 9, 255];
    assert_eq!(shown(custom(clear)), [clear, GREEN, clear]);
    assert_eq!(
        shown(ClearColorConfig::None),
        [RED, GREEN, BLUE],
        "by their texture"
    );
}

#[test]
#[ignore = "needs a device"]
fn camera_without_target_draws_nothing() {
    let shown = picture(|world| {
        let size = UVec2::splat(32);
        world.spawn((
            Camera2d,
            camera(1, custom(RED)),
            RenderTarget::None { size },
        ));
        world.spawn((Camera2d, camera(0, custom(BLUE))));
    });
    assert_eq!(shown.at(16, 16), BLUE);
}

/// Number of pixels with a color between black and white.
fn between(picture: &Picture) -> usize {
    let is_between = |it: &&[u8; 4]| (10..245).contains(&it[0]);
    picture.pixels.iter().filter(is_between).count()
}

#[test]
#[ignore = "needs a device"]
fn default_msaa_edges_match_when_drawn_over_contents() {
    let turned = |layer| {
        let turn = bevy_math::Quat::from_rotation_z(0.4);
        (
            Sprite::from_color(Color::WHITE, Vec2::splat(16.0)),
            Transform::from_rotation(turn),
            RenderLayers::layer(layer),
        )
    };
    let black = custom([0, 0, 0, 255]);
    let alone = |msaa: Option<Msaa>| {
        picture(|world| {
            let mut camera = world.spawn((Camera2d, camera(0, black)));
            msaa.into_iter().for_each(|msaa| {
                camera.insert(msaa);
            });
            world.spawn(turned(0));
        })
    };
    let smooth = alone(None);
    assert!(between(&smooth) > 20, "{} pixels", between(&smooth));
    assert_eq!(alone(Some(Msaa::Sample4)), smooth);
    assert_eq!(between(&alone(Some(Msaa::Off))), 0);
    let over = picture(|world| {
        world.spawn((Camera2d, camera(0, black)));
        let layer = RenderLayers::layer(1);
        world.spawn((Camera2d, camera(1, ClearColorConfig::None), layer));
        world.spawn(turned(1));
    });
    let pairs = over.pixels.iter().zip(&smooth.pixels);
    let most = pairs.map(|(a, b)| a[0].abs_diff(b[0])).max();
    assert!(most <= Some(2), "{most:?}");
}

#[test]
#[ignore = "needs a device"]
fn blending_is_linear_across_cameras() {
    let half = [250, 120, 60, 100];
    let shown = |msaa: Msaa, layer: usize| {
        picture(|world| {
            world.spawn((Camera2d, camera(0, custom([30, 90, 200, 255])), msaa));
            let layers = RenderLayers::layer(1);
            world.spawn((Camera2d, camera(1, ClearColorConfig::None), msaa, layers));
            world.spawn(square(half, 0.0, layer));
        })
        .at(16, 16)
    };
    let one = shown(Msaa::Off, 0);
    for found in [
        shown(Msaa::Off, 1),
        shown(Msaa::Sample4, 0),
        shown(Msaa::Sample4, 1),
    ] {
        let off = (0..4).map(|it| found[it].abs_diff(one[it])).max();
        assert!(off <= Some(1), "{found:?}, {one:?}");
    }
}

#[cfg(feature = "ui")]
#[test]
#[ignore = "needs a device"]
fn nodes_are_drawn_after_msaa_resolve() {
    let shown = |msaa: Msaa| {
        let mut rig = Rig::new(32, 32);
        rig.app.add_systems(Startup, move |mut commands: Commands| {
            commands.spawn((Camera2d, camera(0, custom([0, 0, 0, 255])), msaa));
            commands.spawn((
                Node {
                    position_type: PositionType::Absolute,
                    left: Val::Px(8.0),
                    top: Val::Px(8.0),
                    width: Val::Px(16.0),
                    height: Val::Px(16.0),
                    ..Node::default()
                },
                BackgroundColor(Color::WHITE),
                UiTransform::from_rotation(bevy_math::Rot2::radians(0.4)),
            ));
        });
        rig.start();
        rig.update(2);
        rig.picture()
    };
    let one = shown(Msaa::Off);
    assert_eq!(one.at(16, 16), [255; 4]);
    assert_eq!(shown(Msaa::Sample4), one, "nodes have one sample per pixel");
}
