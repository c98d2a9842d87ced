//! Pictures of nodes.

use crate::common::{Rig, golden, scenes};
use bevy_ecs::prelude::*;
use quadrille_2d::Phase2d;
use quadrille_2d::prelude::*;

/// A node at a position in the window.
fn at(left: f32, top: f32, width: f32, height: f32) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: Val::Px(left),
        top: Val::Px(top),
        width: Val::Px(width),
        height: Val::Px(height),
        ..Node::default()
    }
}

const GOLD: Color = Color::srgb(1.0, 0.8, 0.2);
const SEA: Color = Color::srgb(0.1, 0.5, 0.7);

/// Boxes, borders, outlines, shadows, images: 200 x 120 pixels.
fn nodes(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    commands.insert_resource(ClearColor(Color::srgb(0.85, 0.85, 0.85)));
    commands.spawn(Camera2d);
    let all = BorderRadius::all(Val::Px(10.0));
    let round = |node: Node, border_radius| Node {
        border_radius,
        ..node
    };
    commands.spawn((round(at(8.0, 8.0, 40.0, 30.0), all), BackgroundColor(SEA)));
    let leaf = BorderRadius {
        top_left: Val::Px(20.0).into(),
        bottom_right: Val::Px(15.0).into(),
        ..BorderRadius::ZERO
    };
    let bordered = |node: Node, border| Node { border, ..node };
    commands.spawn((
        bordered(
            round(at(58.0, 8.0, 40.0, 30.0), leaf),
            UiRect::all(Val::Px(4.0)),
        ),
        BackgroundColor(SEA),
        BorderColor::all(GOLD),
    ));
    let sides = UiRect {
        left: Val::Px(3.0),
        right: Val::Px(8.0),
        top: Val::Px(2.0),
        bottom: Val::Px(5.0),
    };
    commands.spawn((
        bordered(round(at(108.0, 8.0, 40.0, 30.0), all), sides),
        BorderColor {
            left: Color::srgb(0.8, 0.1, 0.1),
            ..BorderColor::all(Color::BLACK)
        },
    ));
    commands.spawn((
        round(at(160.0, 10.0, 28.0, 26.0), BorderRadius::MAX),
        BackgroundColor(GOLD),
        Outline::new(Val::Px(2.0), Val::Px(2.0), Color::BLACK),
    ));
    let image = images.add(scenes::test_image());
    commands.spawn((round(at(8.0, 56.0, 48.0, 36.0), all), ImageNode::new(image)));
    let shadow = BoxShadow::new(
        Color::BLACK,
        Val::Px(4.0),
        Val::Px(5.0),
        Val::Px(0.0),
        Val::Px(4.0),
    );
    commands.spawn((
        round(at(72.0, 56.0, 40.0, 36.0), all),
        BackgroundColor(Color::WHITE),
        shadow,
    ));
    let clips = Node {
        overflow: Overflow::clip(),
        ..at(130.0, 56.0, 40.0, 40.0)
    };
    commands
        .spawn((clips, BackgroundColor(Color::srgb(0.7, 0.7, 0.9))))
        .with_children(|parent| {
            parent.spawn((
                round(at(20.0, 20.0, 40.0, 40.0), BorderRadius::all(Val::Px(16.0))),
                BackgroundColor(SEA),
            ));
        });
}

#[test]
#[ignore = "needs a device"]
fn nodes_match_golden() {
    let mut rig = Rig::scene(200, 120, nodes);
    rig.update(2);
    let picture = rig.picture();
    let background = picture.at(2, 2);
    // The corner is cut off, its edge is smooth, and the sides are sharp.
    assert_eq!(picture.at(8, 8), background);
    assert_ne!(picture.at(28, 8), background);
    assert_eq!(picture.at(28, 7), background);
    assert_eq!(picture.at(28, 8), picture.at(28, 20));
    // A child that overflows its parent is cut, and round only at its own corner.
    assert_eq!(picture.at(171, 90), background);
    assert_eq!(picture.at(169, 95), picture.at(168, 90));
    golden::expect("nodes", &picture);
}

#[test]
#[ignore = "needs a device"]
fn border_sides_of_two_colors_meet_in_a_mitre() {
    let red = Color::srgb(1.0, 0.0, 0.0);
    let mut rig = Rig::scene(40, 40, move |mut commands: Commands| {
        commands.spawn(Camera2d);
        let border = UiRect::all(Val::Px(10.0));
        let node = Node {
            border,
            ..at(0.0, 0.0, 40.0, 40.0)
        };
        let colors = BorderColor {
            top: red,
            ..BorderColor::all(Color::WHITE)
        };
        commands.spawn((node, colors));
    });
    rig.update(2);
    let picture = rig.picture();
    let top = [255, 0, 0, 255];
    assert_eq!([(7, 2), (32, 2)].map(|(x, y)| picture.at(x, y)), [top; 2]);
    assert_eq!(
        [(2, 7), (37, 7)].map(|(x, y)| picture.at(x, y)),
        [[255; 4]; 2]
    );
    assert_eq!(picture.at(20, 9), top);
    assert_ne!(picture.at(20, 10), top);
}

/// Number of pixels of a black picture that are at least half covered by white, which is 188 in sRGB.
fn white(picture: &crate::common::Picture) -> usize {
    let is_white = |pixel: &&[u8; 4]| pixel[0] >= 188;
    picture.pixels.iter().filter(is_white).count()
}

/// The picture of a white child, 40 x 40 pixels at the same position as its parent, in a window of 80 x 80.
fn child_of(
    parent: impl Fn(Node) -> (Node, UiTransform) + Send + Sync + 'static,
    child: impl Fn(Node) -> (Node, UiTransform) + Send + Sync + 'static,
) -> crate::common::Picture {
    let setup = move |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
        commands
            .spawn(parent(at(20.0, 20.0, 40.0, 40.0)))
            .with_child((
                child(at(0.0, 0.0, 40.0, 40.0)),
                BackgroundColor(Color::WHITE),
            ));
    };
    let mut rig = Rig::scene(80, 80, setup);
    rig.update(2);
    rig.picture()
}

const NOT_TURNED: UiTransform = UiTransform::IDENTITY;

#[test]
#[ignore = "needs a device"]
fn overflow_clips_single_axis() {
    let larger = |node: Node| Node {
        left: Val::Px(-10.0),
        top: Val::Px(-10.0),
        width: Val::Px(60.0),
        height: Val::Px(60.0),
        ..node
    };
    let clipped = |overflow: Overflow| {
        child_of(
            move |node| (Node { overflow, ..node }, NOT_TURNED),
            move |node| (larger(node), NOT_TURNED),
        )
    };
    let x = clipped(Overflow::clip_x());
    assert_eq!(white(&x), 40 * 60);
    assert_eq!((x.at(20, 10), x.at(59, 69)), ([255; 4], [255; 4]));
    assert_eq!(
        (x.at(19, 40), x.at(60, 40)),
        ([0, 0, 0, 255], [0, 0, 0, 255])
    );
    let y = clipped(Overflow::clip_y());
    assert_eq!(white(&y), 60 * 40);
    assert_eq!((y.at(10, 20), y.at(69, 59)), ([255; 4], [255; 4]));
    assert_eq!(white(&clipped(Overflow::clip())), 40 * 40);
    assert_eq!(white(&clipped(Overflow::visible())), 60 * 60);
}

#[test]
#[ignore = "needs a device"]
fn rotated_nodes_are_clipped() {
    let clips = |node: Node| Node {
        overflow: Overflow::clip(),
        ..node
    };
    let eighth = || UiTransform::from_rotation(bevy_math::Rot2::FRAC_PI_4);
    // A square clipped by another one that is rotated by 45 degrees becomes an octagon, whichever is rotated.
    let octagon = 1600.0 * (2.0 * 2.0_f32.sqrt() - 2.0);
    let back = || UiTransform::from_rotation(bevy_math::Rot2::FRAC_PI_4.inverse());
    for (parent, child) in [(NOT_TURNED, eighth()), (eighth(), back())] {
        let picture = child_of(move |node| (clips(node), parent), move |node| (node, child));
        let area = white(&picture) as f32;
        assert!(
            (area - octagon).abs() < 0.02 * octagon,
            "{area}, not {octagon}"
        );
        assert_eq!(picture.at(40, 40), [255; 4]);
    }
    // Round corners use the shader of boxes; their clipped edges are as sharp.
    let round = |node: Node| Node {
        border_radius: BorderRadius::all(Val::Px(4.0)),
        ..node
    };
    let picture = child_of(
        move |node| (clips(node), NOT_TURNED),
        move |node| (round(node), eighth()),
    );
    let area = white(&picture) as f32;
    assert!(
        (area - octagon).abs() < 0.02 * octagon,
        "{area}, not {octagon}"
    );
    let outside = |(x, y): (u32, u32)| picture.at(x, y) == [0, 0, 0, 255];
    assert!(
        [(19, 40), (60, 40), (40, 19), (40, 60)]
            .into_iter()
            .all(outside)
    );
    // With equal rotations nothing is clipped.
    let picture = child_of(
        move |node| (clips(node), eighth()),
        |node| (node, NOT_TURNED),
    );
    assert!((white(&picture) as f32 - 1600.0).abs() < 40.0);
}

/// A node that shows another camera's picture: a gold square on the left, over a different color.
fn viewport(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    commands.insert_resource(ClearColor(Color::BLACK));
    commands.spawn(Camera2d);
    // bevy gives it the size of the node.
    let format = wgpu_types::TextureFormat::Bgra8UnormSrgb;
    let image = images.add(Image::new_target_texture(1, 1, format, None));
    let layer = RenderLayers::layer(1);
    let camera = Camera {
        order: -1,
        clear_color: ClearColorConfig::Custom(SEA),
        ..Camera::default()
    };
    let target = RenderTarget::Image(image.into());
    let camera = commands.spawn((Camera2d, camera, target, layer.clone()));
    let camera = camera.id();
    commands.spawn((
        Sprite::from_color(GOLD, bevy_math::Vec2::splat(10.0)),
        Transform::from_xyz(-15.0, 0.0, 0.0),
        layer,
    ));
    let node = Node {
        border: UiRect::all(Val::Px(2.0)),
        ..at(16.0, 16.0, 40.0, 20.0)
    };
    commands.spawn((
        node,
        BorderColor::all(Color::WHITE),
        ViewportNode::new(camera),
    ));
}

#[test]
#[ignore = "needs a device"]
fn viewport_node_shows_camera_image() {
    let mut rig = Rig::scene(64, 48, viewport);
    // First the image gets its size, then its camera.
    rig.update(3);
    let picture = rig.picture();
    let is = |x, y, color: Color| {
        let wanted = color.to_srgba().to_u8_array();
        let found: [u8; 4] = picture.at(x, y);
        let is_near = found
            .iter()
            .zip(wanted)
            .all(|(&it, wanted)| it.abs_diff(wanted) <= 1);
        assert!(is_near, "{x} {y}: {found:?}, not {wanted:?}");
    };
    is(21, 26, GOLD);
    // The square is ten pixels wide, whatever the border covers.
    is(25, 26, GOLD);
    is(26, 26, SEA);
    for (x, y) in [(18, 18), (53, 33), (40, 26)] {
        is(x, y, SEA);
    }
    for (x, y) in [(17, 17), (54, 34), (40, 16)] {
        is(x, y, Color::WHITE);
    }
    is(10, 26, Color::BLACK);
    is(58, 26, Color::BLACK);
}

/// Round buttons with square labels alternate between two pipelines. Those that overlap nothing are drawn together; a panel over
/// them, and what lies on it, stays in front.
#[test]
#[ignore = "needs a device"]
fn nodes_that_do_not_overlap_share_draws() {
    let (blue, white) = (Color::srgb(0.0, 0.0, 1.0), Color::WHITE);
    let mut rig = Rig::scene(200, 120, move |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
        let button = |left, top, color| {
            let node = Node {
                border_radius: BorderRadius::all(Val::Px(4.0)),
                ..at(left, top, 20.0, 20.0)
            };
            (node, BackgroundColor(color))
        };
        let label = || (at(6.0, 6.0, 8.0, 8.0), BackgroundColor(Color::WHITE));
        for row in 0..6 {
            for column in 0..10 {
                let (left, top) = (20.0 * column as f32, 20.0 * row as f32);
                commands.spawn(button(left, top, blue)).with_child(label());
            }
        }
        // Square, and over four buttons with their labels.
        commands
            .spawn((at(20.0, 20.0, 40.0, 40.0), BackgroundColor(GOLD)))
            .with_child(button(10.0, 10.0, SEA));
    });
    rig.update(2);
    let picture = rig.picture();
    let color = |color: Color| color.to_srgba().to_u8_array();
    for row in 0..6 {
        for column in 0..10 {
            let is_covered = (1..3).contains(&row) && (1..3).contains(&column);
            if !is_covered {
                let (x, y) = (20 * column, 20 * row);
                assert_eq!(
                    picture.at(x + 10, y + 10),
                    color(white),
                    "label {column}, {row}"
                );
                assert_eq!(
                    picture.at(x + 10, y + 2),
                    color(blue),
                    "button {column}, {row}"
                );
            }
        }
    }
    assert_eq!(
        picture.at(30, 30),
        picture.at(50, 25),
        "the panel covers labels"
    );
    assert_ne!(
        picture.at(40, 40),
        picture.at(50, 25),
        "a button on the panel"
    );
    let draws = rig.app.world().resource::<Phase2d>().draws();
    // Buttons, labels, and the button on the panel; the panel is drawn with the labels.
    assert_eq!(draws, 3);
}
