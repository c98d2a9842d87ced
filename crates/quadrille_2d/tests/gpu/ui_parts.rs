//! Images, borders and text of nodes, pixel by pixel.

use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_input_focus::InputFocus;
use bevy_math::Vec2;
use bevy_text::{EditableText, TextCursorStyle, TextEdit, TextLayoutInfo};
use bevy_ui::widget::InlineImage;
use bevy_ui::{OuterColor, UiScale};
use quadrille_2d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Picture, Rig};

const BLACK: [u8; 4] = [0, 0, 0, 255];
const WHITE: [u8; 4] = [255; 4];
const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

/// An image with nearest filtering.
fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> ImageAsset {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let texels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let data = texels.flat_map(|(x, y)| texel(x, y)).collect();
    let format = TextureFormat::Rgba8UnormSrgb;
    let usages = bevy_asset::RenderAssetUsages::default();
    let mut image = ImageAsset::new(size, TextureDimension::D2, data, format, usages);
    image.sampler = bevy_image::ImageSampler::nearest();
    image
}

/// A node at the top left of a black window of 80 x 60.
fn picture_of<B: Bundle>(
    node: Node,
    scale: f32,
    parts: impl Fn(&mut Assets<ImageAsset>) -> B + Send + Sync + 'static,
) -> Picture {
    let mut rig = Rig::scene(
        80,
        60,
        move |mut commands: Commands, mut images: ResMut<Assets<ImageAsset>>| {
            commands.insert_resource(ClearColor(Color::BLACK));
            commands.insert_resource(UiScale(scale));
            commands.spawn(Camera2d);
            commands.spawn((node.clone(), parts(&mut images)));
        },
    );
    rig.update(3);
    rig.picture()
}

fn sized(width: f32, height: f32) -> Node {
    Node {
        width: Val::Px(width),
        height: Val::Px(height),
        ..Node::default()
    }
}

/// The colors of some pixels of a row.
fn row<const N: usize>(picture: &Picture, y: u32, places: [u32; N]) -> [[u8; 4]; N] {
    places.map(|x| picture.at(x, y))
}

#[test]
#[ignore = "needs a device"]
fn image_nodes_keep_aspect_ratio_unless_stretched() {
    let drawn = |mode: NodeImageMode| {
        picture_of(sized(60.0, 20.0), 1.0, move |images| {
            let image = images.add(image(4, 4, |_, _| WHITE));
            ImageNode::new(image).with_mode(mode.clone())
        })
    };
    let auto = drawn(NodeImageMode::Auto);
    assert_eq!(
        row(&auto, 10, [19, 20, 39, 40]),
        [BLACK, WHITE, WHITE, BLACK]
    );
    assert_eq!([(30, 0), (30, 19)].map(|(x, y)| auto.at(x, y)), [WHITE; 2]);
    let stretched = drawn(NodeImageMode::Stretch);
    assert_eq!(row(&stretched, 10, [0, 59, 60]), [WHITE, WHITE, BLACK]);
}

/// Three columns: red of two texels, green of four, blue of two.
fn columns() -> ImageAsset {
    image(8, 8, |x, _| match x {
        0..2 => RED,
        2..6 => GREEN,
        _ => BLUE,
    })
}

#[test]
#[ignore = "needs a device"]
fn image_slices_scale_with_ui_and_flip_as_a_whole() {
    let drawn = |scale: f32, flip_x: bool, left: f32| {
        picture_of(sized(24.0, 24.0), scale, move |images| {
            let border = BorderRect {
                min_inset: Vec2::new(left, 2.0),
                max_inset: Vec2::splat(2.0),
            };
            let slicer = TextureSlicer {
                border,
                ..TextureSlicer::default()
            };
            ImageNode {
                flip_x,
                ..ImageNode::new(images.add(columns())).with_mode(NodeImageMode::Sliced(slicer))
            }
        })
    };
    let plain = drawn(1.0, false, 2.0);
    assert_eq!(row(&plain, 12, [1, 2, 21, 22]), [RED, GREEN, GREEN, BLUE]);
    // Twice as many pixels in the corners too.
    let large = drawn(2.0, false, 2.0);
    assert_eq!(row(&large, 24, [3, 4, 43, 44]), [RED, GREEN, GREEN, BLUE]);
    let flipped = drawn(1.0, true, 2.0);
    assert_eq!(row(&flipped, 12, [1, 2, 21, 22]), [BLUE, GREEN, GREEN, RED]);
    // The image is first mirrored, then clipped: its three leftmost texels are blue, blue, green.
    let uneven = drawn(1.0, true, 3.0);
    assert_eq!(row(&uneven, 12, [0, 1, 2, 22]), [BLUE, BLUE, GREEN, RED]);
}

#[test]
#[ignore = "needs a device"]
fn backgrounds_stay_inside_borders() {
    let node = Node {
        border: UiRect::all(Val::Px(5.0)),
        ..sized(30.0, 20.0)
    };
    let picture = picture_of(node.clone(), 1.0, |_| BackgroundColor(Color::WHITE));
    assert_eq!(
        row(&picture, 10, [4, 5, 24, 25]),
        [BLACK, WHITE, WHITE, BLACK]
    );
    assert_eq!(
        [(15, 4), (15, 5)].map(|(x, y)| picture.at(x, y)),
        [BLACK, WHITE]
    );
    // A translucent border shows the content behind the node, not the node's background.
    let half = Color::srgba(1.0, 1.0, 1.0, 0.5);
    let picture = picture_of(node, 1.0, move |_| {
        (
            BackgroundColor(Color::srgb(1.0, 0.0, 0.0)),
            BorderColor::all(half),
        )
    });
    assert!(
        picture.at(2, 10)[0].abs_diff(188) <= 1,
        "{:?}",
        picture.at(2, 10)
    );
    assert_eq!(picture.at(2, 10)[0], picture.at(2, 10)[1]);
}

#[test]
#[ignore = "needs a device"]
fn outer_color_fills_rounded_corners() {
    let node = Node {
        border_radius: BorderRadius::all(Val::Px(10.0)),
        ..sized(30.0, 20.0)
    };
    let picture = picture_of(node, 1.0, |_| OuterColor(Color::WHITE));
    assert_eq!(
        [(0, 0), (29, 19)].map(|(x, y)| picture.at(x, y)),
        [WHITE; 2]
    );
    assert_eq!(
        [(15, 10), (30, 0)].map(|(x, y)| picture.at(x, y)),
        [BLACK; 2]
    );
}

#[test]
#[ignore = "needs a device"]
fn mitre_joints_belong_to_last_drawn_side() {
    let node = Node {
        border: UiRect::all(Val::Px(8.0)),
        ..sized(40.0, 40.0)
    };
    let picture = picture_of(node, 1.0, |_| BorderColor {
        left: Color::srgb(1.0, 0.0, 0.0),
        top: Color::srgb(0.0, 1.0, 0.0),
        right: Color::srgb(0.0, 0.0, 1.0),
        bottom: Color::WHITE,
    });
    // Pixels whose centers lie on the joints; bevy's shift towards the left top decides two of them.
    assert_eq!(picture.at(3, 3), GREEN);
    assert_eq!(picture.at(36, 3), GREEN);
    assert_eq!(picture.at(36, 36), WHITE);
    assert_eq!(picture.at(3, 36), RED);
    assert_eq!(
        [(2, 20), (37, 20)].map(|(x, y)| picture.at(x, y)),
        [RED, BLUE]
    );
}

#[test]
#[ignore = "needs a device"]
fn zero_width_border_sides_have_no_edge() {
    let node = Node {
        border: UiRect::left(Val::Px(6.0)),
        border_radius: BorderRadius::all(Val::Px(8.0)),
        ..sized(40.0, 30.0)
    };
    let picture = picture_of(node, 1.0, |_| BorderColor::all(Color::WHITE));
    assert_eq!(picture.at(1, 15), WHITE);
    let beyond = (20..40).flat_map(|x| (0..30).map(move |y| (x, y)));
    let seen = beyond.filter(|&(x, y)| picture.at(x, y) != BLACK).count();
    assert_eq!(seen, 0, "the other sides draw {seen} pixels");
}

#[test]
#[ignore = "needs a device"]
fn fractional_edges_are_antialiased() {
    let node = Node {
        left: Val::Px(10.0),
        ..sized(20.0, 20.0)
    };
    let picture = picture_of(node, 1.0, |_| {
        (
            BackgroundColor(Color::WHITE),
            UiTransform::from_translation(Val2::px(0.25, 0.0)),
        )
    });
    // Linear 0.75 is 225 in sRGB; the quad ends before the centre of the pixel behind its right edge.
    assert_eq!(row(&picture, 10, [9, 11, 29]), [BLACK, WHITE, WHITE]);
    assert!(
        picture.at(10, 10)[0].abs_diff(225) <= 1,
        "{:?}",
        picture.at(10, 10)
    );
    assert_eq!(picture.at(30, 10), BLACK);
}

/// The first entity with this component.
fn only<C: Component>(rig: &mut Rig) -> Entity {
    let world = rig.app.world_mut();
    let mut query = world.query_filtered::<Entity, With<C>>();
    query.single(world).expect("there is one")
}

#[test]
#[ignore = "needs a device"]
fn inline_images_are_drawn_in_text() {
    let mut rig = Rig::scene(
        80,
        60,
        |mut commands: Commands, mut images: ResMut<Assets<ImageAsset>>| {
            commands.insert_resource(ClearColor(Color::BLACK));
            commands.spawn(Camera2d);
            let image = images.add(columns());
            let text = commands
                .spawn((Text::new("a"), TextColor(Color::BLACK)))
                .id();
            commands.spawn((
                InlineImage {
                    image,
                    width: Some(24.0),
                    height: Some(24.0),
                    flip_x: true,
                    ..InlineImage::default()
                },
                ChildOf(text),
            ));
        },
    );
    rig.update(4);
    let picture = rig.picture();
    let text = only::<Text>(&mut rig);
    let layout = rig
        .app
        .world()
        .get::<TextLayoutInfo>(text)
        .expect("laid out");
    let (_, _, rect) = *layout.inline_boxes.first().expect("a box for the image");
    assert_eq!(rect.size(), Vec2::splat(24.0));
    let y = rect.center().y as u32;
    let at = |part: f32| picture.at((rect.min.x + part * 24.0) as u32, y);
    assert_eq!([at(0.1), at(0.5), at(0.9)], [BLUE, GREEN, RED]);
}

/// A text input with all of its text selected or none, with or without focus.
fn input(selects: bool, has_focus: bool) -> (Picture, TextLayoutInfo) {
    let mut rig = Rig::scene(80, 60, move |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
        let mut text = EditableText::new("ab");
        // On a busy machine, frames may fall into the half second in which the caret is hidden.
        text.cursor_blink_period = Duration::from_secs(3600);
        if selects {
            text.queue_edit(TextEdit::SelectAll);
        }
        let style = TextCursorStyle {
            color: Color::srgb(1.0, 0.0, 0.0),
            selection_color: Color::srgb(0.0, 1.0, 0.0),
            unfocused_selection_color: Color::srgb(0.0, 0.0, 1.0),
            selected_text_color: Some(Color::WHITE),
            selection_radius: 0.0,
        };
        let node = Node {
            padding: UiRect::all(Val::Px(10.0)),
            ..sized(80.0, 60.0)
        };
        let black = TextColor(Color::BLACK);
        let input = commands.spawn((node, text, style, black)).id();
        let focus = has_focus.then_some(input);
        commands.insert_resource(focus.map_or_else(InputFocus::default, InputFocus::from_entity));
    });
    rig.update(5);
    let picture = rig.picture();
    let text = only::<EditableText>(&mut rig);
    let layout = rig
        .app
        .world()
        .get::<TextLayoutInfo>(text)
        .expect("laid out");
    (picture, layout.clone())
}

fn count(picture: &Picture, color: [u8; 4]) -> usize {
    picture
        .pixels
        .iter()
        .filter(|pixel| **pixel == color)
        .count()
}

#[test]
#[ignore = "needs a device"]
fn text_inputs_draw_caret_and_selection() {
    let (picture, layout) = input(false, true);
    let (is_seen, caret) = layout.cursor.expect("a caret");
    assert!(is_seen);
    let center = caret.center() + Vec2::splat(10.0);
    assert_ne!(
        picture.at(center.x as u32, center.y as u32)[0],
        0,
        "{caret:?}"
    );
    assert_eq!(count(&picture, GREEN) + count(&picture, BLUE), 0);
    let (picture, layout) = input(true, true);
    let area: f32 = layout
        .selection_rects
        .iter()
        .map(|it| it.width() * it.height())
        .sum();
    let rect = layout.selection_rects[0];
    assert!(area > 100.0, "{rect:?}");
    // Selected letters are white; the rest of the selection rectangle is filled.
    let filled = count(&picture, GREEN) as f32;
    assert!(filled > 0.4 * area && filled <= area, "{filled} of {area}");
    assert!(count(&picture, WHITE) > 0, "selected letters are not white");
    let (picture, _) = input(true, false);
    assert_eq!(count(&picture, GREEN), 0);
    assert!(count(&picture, BLUE) as f32 > 0.4 * area);
}

/// Integral of a standard normal distribution from 0 to x.
fn normal(x: f64) -> f64 {
    const STEPS: u32 = 2000;
    let step = x / f64::from(STEPS);
    let at = |index: u32| (-0.5 * (step * (f64::from(index) + 0.5)).powi(2)).exp();
    (0..STEPS).map(at).sum::<f64>() * step / std::f64::consts::TAU.sqrt()
}

#[test]
#[ignore = "needs a device"]
fn box_shadows_are_gaussian() {
    const BLUR: f64 = 4.0;
    let node = Node {
        margin: UiRect::all(Val::Px(16.0)),
        ..sized(40.0, 24.0)
    };
    // The spread is that of the whole width: 48 x 28.8 pixels around the middle of the node.
    let picture = picture_of(node, 1.0, |_| {
        let [none, spread, blur] = [0.0, 8.0, BLUR as f32].map(Val::Px);
        BoxShadow::new(Color::WHITE, none, none, spread, blur)
    });
    for at in [
        (36, 28),
        (12, 28),
        (15, 28),
        (8, 28),
        (60, 28),
        (36, 13),
        (36, 10),
        (13, 14),
    ] {
        let inside = |at: u32, middle: f64, half: f64| {
            let from_middle = f64::from(at) + 0.5 - middle;
            normal((from_middle + half) / BLUR) - normal((from_middle - half) / BLUR)
        };
        let wanted = inside(at.0, 36.0, 24.0) * inside(at.1, 28.0, 14.4);
        let wanted = Color::linear_rgb(wanted as f32, 0.0, 0.0).to_srgba().red * 255.0;
        let found = f32::from(picture.at(at.0, at.1)[0]);
        // Four samples.
        assert!(
            (found - wanted).abs() <= 6.0,
            "{at:?}: {found}, not {wanted}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn box_shadows_without_blur_have_hard_edges() {
    let node = Node {
        margin: UiRect::all(Val::Px(16.0)),
        ..sized(40.0, 24.0)
    };
    // 48 x 28.8 pixels: the upper edge is at 13.6. An offset of `Auto` is none.
    let picture = picture_of(node, 1.0, |_| {
        let [spread, blur] = [8.0, 0.0].map(Val::Px);
        BoxShadow::new(Color::WHITE, Val::Auto, Val::Auto, spread, blur)
    });
    let column = [12, 13, 14, 28, 41, 42, 43].map(|y| picture.at(36, y));
    // bevy's four samples of the blur come to 254 or 255 of 255.
    let shown = column.map(|pixel| if pixel[0] >= 254 { WHITE } else { pixel });
    let wanted = [BLACK, BLACK, WHITE, WHITE, WHITE, BLACK, BLACK];
    assert_eq!(shown, wanted);
}

#[test]
#[ignore = "needs a device"]
fn outlines_of_empty_nodes_are_drawn() {
    let picture = |display: Display| {
        let node = Node {
            margin: UiRect::all(Val::Px(20.0)),
            display,
            ..sized(0.0, 0.0)
        };
        picture_of(node, 1.0, |_| {
            let outline = Outline::new(Val::Px(3.0), Val::Px(2.0), Color::srgb(1.0, 0.0, 0.0));
            (outline, BackgroundColor(Color::WHITE))
        })
    };
    // A ring between 2 and 5 pixels around a point.
    let row = |picture: &Picture| [14, 15, 17, 18, 20, 22, 24, 25].map(|x| picture.at(x, 20));
    let wanted = [BLACK, RED, RED, BLACK, BLACK, RED, RED, BLACK];
    assert_eq!(row(&picture(Display::Flex)), wanted);
    assert_eq!(row(&picture(Display::None)), [BLACK; 8]);
}
