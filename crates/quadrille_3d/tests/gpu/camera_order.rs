//! Order of 2D and 3D cameras with overlapping pictures, and settings of cameras that affect them.

use bevy_asset::RenderAssetUsages;
use bevy_camera::{Camera3dDepthLoadOp, Hdr, ImageRenderTarget, SubCameraView};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Vec2;
use bevy_ui::prelude::{BackgroundColor, Node, UiTargetCamera, Val};
use quadrille::prelude::Readback;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::{Camera2d, Sprite};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::common::Rig;

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

fn color([r, g, b, a]: [u8; 4]) -> Color {
    Color::srgba_u8(r, g, b, a)
}

/// An app with both plugins, a window of 16 x 16 pixels, and a world that is filled directly.
fn rig(fill: impl FnOnce(&mut World)) -> Rig {
    let plugins = (Quadrille2dPlugin::default(), Quadrille3dPlugin::default());
    let mut rig = Rig::with(16, 16, plugins);
    rig.start();
    fill(rig.app.world_mut());
    rig
}

fn camera(order: isize, clear_color: ClearColorConfig) -> Camera {
    Camera {
        order,
        clear_color,
        ..Camera::default()
    }
}

/// A 3D camera 5 units in front of the origin that does not change colors.
fn camera_3d(order: isize, clear_color: ClearColorConfig, layer: usize) -> impl Bundle {
    (
        Camera3d::default(),
        camera(order, clear_color),
        Tonemapping::None,
        Transform::from_xyz(0.0, 0.0, 5.0),
        RenderLayers::layer(layer),
    )
}

/// A square of 2 units in the plane z = 0, which covers the center of the picture but not its corners.
fn square(world: &mut World, material: StandardMaterial, layer: usize) -> Entity {
    let mesh = Rectangle::new(2.0, 2.0);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        unlit: true,
        ..material
    };
    let materials = &mut world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(material);
    let layers = RenderLayers::layer(layer);
    let square = (Mesh3d(mesh), MeshMaterial3d(material), layers);
    world.spawn(square).id()
}

fn colored(rgba: [u8; 4]) -> StandardMaterial {
    StandardMaterial::from(color(rgba))
}

#[test]
#[ignore = "needs a device"]
fn camera_order_holds_across_2d_and_3d() {
    let mut cameras = Vec::new();
    let mut rig = rig(|world| {
        for (layer, rgba) in [(1, RED), (2, BLUE)] {
            square(world, colored(rgba), layer);
            let camera = camera_3d(0, ClearColorConfig::None, layer);
            cameras.push((world.spawn(camera).id(), rgba));
        }
        let sprite = Sprite::from_color(color(GREEN), Vec2::splat(6.0));
        world.spawn((sprite, RenderLayers::layer(3)));
        let green = (
            Camera2d,
            camera(0, ClearColorConfig::None),
            RenderLayers::layer(3),
        );
        cameras.push((world.spawn(green).id(), GREEN));
    });
    for orders in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        for hidden in [None, Some(0), Some(1), Some(2)] {
            for (at, (entity, _)) in cameras.iter().enumerate() {
                let mut camera = rig.app.world_mut().get_mut::<Camera>(*entity);
                let camera = camera.as_mut().expect("it is there");
                camera.order = orders[at];
                camera.is_active = hidden != Some(at);
            }
            let seen = (0..3).filter(|at| hidden != Some(*at));
            let top = seen.max_by_key(|at| orders[*at]).expect("there are two");
            let picture = rig.picture();
            let found = [picture.at(8, 8), picture.at(0, 0)];
            assert_eq!(
                found,
                [cameras[top].1, [0; 4]],
                "{orders:?} without {hidden:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn ui_nodes_draw_under_later_cameras() {
    let mut rig = rig(|world| {
        square(world, colored(RED), 1);
        square(world, colored(BLUE), 2);
        let first = camera_3d(0, ClearColorConfig::Custom(Color::BLACK), 1);
        let first = world.spawn(first).id();
        world.spawn(camera_3d(1, ClearColorConfig::None, 2));
        world.spawn((
            Node {
                width: Val::Px(16.0),
                height: Val::Px(16.0),
                ..Node::default()
            },
            BackgroundColor(color(GREEN)),
            UiTargetCamera(first),
        ));
    });
    rig.update(2);
    let picture = rig.picture();
    assert_eq!([picture.at(8, 8), picture.at(0, 0)], [BLUE, GREEN]);
}

/// An image of 8 x 8 pixels that cameras draw to.
fn target(app: &mut World) -> Handle<Image> {
    let size = Extent3d {
        width: 8,
        height: 8,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new_fill(
        size,
        TextureDimension::D2,
        &[0, 0, 0, 255],
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    app.resource_mut::<Assets<Image>>().add(image)
}

#[test]
#[ignore = "needs a device"]
fn render_target_is_sampled_in_same_frame() {
    for is_2d in [true, false] {
        let mut painter = None;
        let mut rig = rig(|world| {
            let image = target(world);
            let to_image = RenderTarget::Image(ImageRenderTarget::from(image.clone()));
            let camera = camera_3d(-1, ClearColorConfig::Custom(color(RED)), 1);
            let mut camera = world.spawn((camera, to_image));
            if is_2d {
                camera.remove::<Camera3d>().insert(Camera2d);
            }
            painter = Some(camera.id());
            let shows = StandardMaterial {
                base_color_texture: Some(image),
                ..StandardMaterial::default()
            };
            square(world, shows, 0);
            world.spawn(camera_3d(0, ClearColorConfig::Custom(Color::BLACK), 0));
        });
        assert_eq!(rig.picture().at(8, 8), RED);
        rig.update(2);
        let painter = painter.expect("it was made");
        for rgba in [GREEN, BLUE] {
            let mut camera = rig.app.world_mut().get_mut::<Camera>(painter);
            let camera = camera.as_mut().expect("it is there");
            camera.clear_color = ClearColorConfig::Custom(color(rgba));
            let shown = rig.read(Readback::primary_window());
            assert_eq!(shown.at(8, 8), rgba, "2D: {is_2d}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn clear_color_keeps_alpha() {
    let shown = |rgba: [u8; 4], hdr: bool, viewport: Option<Viewport>| {
        let picture = rig(|world| {
            square(world, colored(RED), 1);
            let bundle = camera_3d(0, ClearColorConfig::Custom(color(rgba)), 1);
            let mut camera = world.spawn(bundle);
            if hdr {
                camera.insert(Hdr);
            }
            camera.get_mut::<Camera>().expect("it is one").viewport = viewport;
        })
        .picture();
        [picture.at(1, 1), picture.at(8, 8)]
    };
    for hdr in [false, true] {
        for rgba in [[0; 4], [200, 100, 50, 128], [200, 100, 50, 255]] {
            assert_eq!(shown(rgba, hdr, None), [rgba, RED], "HDR: {hdr}");
            let part = Viewport {
                physical_size: UVec2::new(16, 15),
                ..Viewport::default()
            };
            assert_eq!(shown(rgba, hdr, Some(part)), [rgba, RED], "HDR: {hdr}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn transparent_meshes_over_empty_background_keep_alpha() {
    let picture = rig(|world| {
        let half = StandardMaterial {
            alpha_mode: AlphaMode::Blend,
            ..colored([255, 0, 0, 128])
        };
        square(world, half, 1);
        world.spawn(camera_3d(0, ClearColorConfig::Custom(Color::NONE), 1));
    })
    .picture();
    assert_eq!(picture.at(1, 1), [0; 4]);
    let [red, green, blue, alpha] = picture.at(8, 8);
    // Multiplied with alpha: half of the light, which sRGB encodes as 188.
    assert!(
        red.abs_diff(188) <= 1 && alpha.abs_diff(128) <= 1,
        "{red}, {alpha}"
    );
    assert_eq!([green, blue], [0; 2]);
}

#[test]
#[ignore = "needs a device"]
fn inverted_culling_shows_back_faces() {
    let mut camera = None;
    let mut rig = rig(|world| {
        square(world, colored(RED), 1);
        let clear = ClearColorConfig::Custom(color(BLUE));
        camera = Some(world.spawn(camera_3d(0, clear, 1)).id());
    });
    let camera = camera.expect("it was made");
    let mut shown = |is_behind: bool, invert_culling: bool| {
        let mut camera = rig.app.world_mut().entity_mut(camera);
        let z = if is_behind { -5.0 } else { 5.0 };
        let eye = Transform::from_xyz(0.0, 0.0, z).looking_at(Vec3::ZERO, Vec3::Y);
        camera.insert(eye);
        let mut camera = camera.get_mut::<Camera>().expect("it is one");
        camera.invert_culling = invert_culling;
        rig.picture().at(8, 8)
    };
    assert_eq!(shown(false, false), RED);
    assert_eq!(shown(true, false), BLUE);
    assert_eq!(shown(true, true), RED);
    assert_eq!(shown(false, true), BLUE);
}

#[test]
#[ignore = "needs a device"]
fn depth_clear_value_is_applied() {
    for (depth, expected) in [(0.0, RED), (0.01, RED), (0.5, BLUE)] {
        let picture = rig(|world| {
            square(world, colored(RED), 1);
            let clear = ClearColorConfig::Custom(color(BLUE));
            let mut camera = world.spawn(camera_3d(0, clear, 1));
            let mut kind = camera.get_mut::<Camera3d>().expect("it is one");
            kind.depth_load_op = Camera3dDepthLoadOp::Clear(depth);
        })
        .picture();
        assert_eq!(picture.at(8, 8), expected, "{depth}: the square is at 0.02");
    }
}

#[test]
#[ignore = "needs a device"]
fn sub_camera_view_crops_picture() {
    let shown = |part: Option<SubCameraView>, size: u32| {
        let mut rig = Rig::new(size, size);
        rig.start();
        let world = rig.app.world_mut();
        let square = square(world, colored(RED), 1);
        let turn = Quat::from_rotation_z(0.5);
        world
            .entity_mut(square)
            .insert(Transform::from_rotation(turn));
        let clear = ClearColorConfig::Custom(color(BLUE));
        let mut camera = world.spawn((camera_3d(0, clear, 1), Msaa::Off));
        camera
            .get_mut::<Camera>()
            .expect("it is one")
            .sub_camera_view = part;
        rig.picture()
    };
    let whole = shown(None, 32);
    let part = SubCameraView {
        full_size: UVec2::splat(32),
        offset: Vec2::new(4.0, 8.0),
        size: UVec2::splat(16),
    };
    let part = shown(Some(part), 16);
    let places = (0..16).flat_map(|y| (0..16).map(move |x| (x, y)));
    let same = |&(x, y): &(u32, u32)| part.at(x, y) == whole.at(x + 4, y + 8);
    // Rounding puts edges on either side of a sample.
    let count = places.filter(same).count();
    assert!(count >= 254, "{count} of 256 pixels");
    assert!(part.pixels.contains(&RED) && part.pixels.contains(&BLUE));
}
