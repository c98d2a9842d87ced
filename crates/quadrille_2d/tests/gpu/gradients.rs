//! Gradients of nodes against colors mixed on the CPU.

use std::f32::consts::{FRAC_PI_2, TAU};

use bevy_color::{Hsla, Hsva, Mix as _, Okhsla, Oklaba, Oklcha, Srgba};
use bevy_ecs::prelude::*;
use bevy_ui::InterpolationColorSpace as Space;
use bevy_ui::UiPosition;
use quadrille_2d::prelude::*;

use crate::common::{Picture, Rig};

/// Length of the gradients, in pixels.
const LENGTH: u32 = 120;

/// A black window filled by a node with these components and this border.
fn filled(border: f32, components: impl Bundle + Clone) -> Picture {
    let mut rig = Rig::scene(LENGTH, 60, move |mut commands: Commands| {
        commands.insert_resource(ClearColor(Color::BLACK));
        commands.spawn(Camera2d);
        let node = Node {
            width: Val::Percent(100.0),
            height: Val::Percent(100.0),
            border: UiRect::all(Val::Px(border)),
            ..Node::default()
        };
        commands.spawn((node, components.clone()));
    });
    rig.update(2);
    rig.picture()
}

fn expect_color(picture: &Picture, at: (u32, u32), wanted: Color, most: u8, what: &str) {
    let found = picture.at(at.0, at.1);
    let wanted = wanted.to_srgba().to_u8_array();
    let off = (0..3).map(|it| found[it].abs_diff(wanted[it])).max();
    assert!(
        off <= Some(most),
        "{what} at {at:?}: {found:?}, not {wanted:?}"
    );
}

/// Hue between two hues in the direction of the interpolation method; bevy's `Mix` supports only the shorter direction.
fn hue(first: f32, last: f32, part: f32, is_long: bool) -> f32 {
    let mut turn = (last - first).rem_euclid(360.0);
    if (turn > 180.0) != is_long {
        turn -= 360.0;
    }
    (first + turn * part).rem_euclid(360.0)
}

/// A color between two in a color space.
fn mixed(space: Space, first: Color, last: Color, part: f32) -> Color {
    match space {
        Space::LinearRgba => first.to_linear().mix(&last.to_linear(), part).into(),
        Space::Srgba => first.to_srgba().mix(&last.to_srgba(), part).into(),
        Space::Oklaba => Oklaba::from(first).mix(&last.into(), part).into(),
        Space::Oklcha | Space::OklchaLong => {
            let [first, last] = [first, last].map(Oklcha::from);
            let hue = hue(first.hue, last.hue, part, space == Space::OklchaLong);
            Oklcha {
                hue,
                ..first.mix(&last, part)
            }
            .into()
        }
        Space::Okhsla | Space::OkhslaLong => {
            let [first, last] = [first, last].map(Okhsla::from);
            let hue = hue(first.hue, last.hue, part, space == Space::OkhslaLong);
            Okhsla {
                hue,
                ..first.mix(&last, part)
            }
            .into()
        }
        Space::Hsla | Space::HslaLong => {
            let [first, last] = [first, last].map(Hsla::from);
            let hue = hue(first.hue, last.hue, part, space == Space::HslaLong);
            Hsla {
                hue,
                ..first.mix(&last, part)
            }
            .into()
        }
        Space::Hsva | Space::HsvaLong => {
            let [first, last] = [first, last].map(Hsva::from);
            let hue = hue(first.hue, last.hue, part, space == Space::HsvaLong);
            Hsva {
                hue,
                ..first.mix(&last, part)
            }
            .into()
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn gradients_interpolate_in_each_color_space() {
    let first = Color::srgb(0.9, 0.2, 0.1);
    let last = Color::srgb(0.2, 0.5, 0.8);
    for space in [
        Space::LinearRgba,
        Space::Srgba,
        Space::Oklaba,
        Space::Oklcha,
        Space::OklchaLong,
        Space::Okhsla,
        Space::OkhslaLong,
        Space::Hsla,
        Space::HslaLong,
        Space::Hsva,
        Space::HsvaLong,
    ] {
        let stops = [first, last].map(ColorStop::auto).to_vec();
        let gradient = LinearGradient::to_right(stops).in_color_space(space);
        let picture = filled(0.0, BackgroundGradient::from(gradient));
        for x in [0, 17, 40, 60, 77, 98, LENGTH - 1] {
            let part = (x as f32 + 0.5) / LENGTH as f32;
            let wanted = mixed(space, first, last, part);
            expect_color(&picture, (x, 30), wanted, 2, &format!("{space:?}"));
        }
    }
}

/// From black to white, so that the color is the position along the gradient.
fn ramp() -> Vec<ColorStop> {
    [Color::BLACK, Color::WHITE].map(ColorStop::auto).to_vec()
}

fn gray(part: f32) -> Color {
    let part = part.clamp(0.0, 1.0);
    Color::linear_rgb(part, part, part)
}

/// Centre of a pixel from that of the window, y down.
fn from_center((x, y): (u32, u32)) -> (f32, f32) {
    (x as f32 + 0.5 - LENGTH as f32 / 2.0, y as f32 + 0.5 - 30.0)
}

const PLACES: [(u32, u32); 6] = [(0, 0), (13, 50), (60, 30), (80, 20), (60, 59), (110, 3)];

#[test]
#[ignore = "needs a device"]
fn linear_gradients_span_corners_at_any_angle() {
    for angle in [0.0, 0.4, FRAC_PI_2, 2.0, 3.0, 4.0, 5.5] {
        let gradient = LinearGradient::new(angle, ramp()).in_linear_rgb();
        let picture = filled(0.0, BackgroundGradient::from(gradient));
        // CSS Images 3, section 3.1.1: from the center, the line goes up at 0 and to the right at a quarter turn.
        let length = 120.0 * angle.sin().abs() + 60.0 * angle.cos().abs();
        for at in PLACES {
            let (x, y) = from_center(at);
            let along = x * angle.sin() - y * angle.cos();
            let wanted = gray(along / length + 0.5);
            expect_color(&picture, at, wanted, 2, &format!("angle {angle}"));
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn radial_gradients_are_elliptic_and_extend_outside() {
    let shape = RadialGradientShape::Ellipse(Val::Px(50.0), Val::Px(25.0));
    let gradient = RadialGradient::new(UiPosition::CENTER, shape, ramp()).in_linear_rgb();
    let picture = filled(0.0, BackgroundGradient::from(gradient));
    for at in PLACES {
        let (x, y) = from_center(at);
        let wanted = gray((x / 50.0).hypot(y / 25.0));
        expect_color(&picture, at, wanted, 2, "ellipse");
    }
}

#[test]
#[ignore = "needs a device"]
fn conic_gradients_run_clockwise_from_top() {
    let stops = [Color::BLACK, Color::WHITE]
        .map(AngularColorStop::auto)
        .to_vec();
    let gradient = ConicGradient::new(UiPosition::CENTER, stops)
        .with_start(FRAC_PI_2)
        .in_linear_rgb();
    let picture = filled(0.0, BackgroundGradient::from(gradient));
    for at in [(90, 40), (60, 50), (30, 30), (60, 5), (100, 10)] {
        let (x, y) = from_center(at);
        let angle = x.atan2(-y) - FRAC_PI_2;
        let wanted = gray(angle.rem_euclid(TAU) / TAU);
        expect_color(&picture, at, wanted, 2, "conic");
    }
}

#[test]
#[ignore = "needs a device"]
fn background_and_border_gradients_stay_in_their_boxes() {
    let plain =
        |color: Color| LinearGradient::to_right([color, color].map(ColorStop::auto).to_vec());
    let blue = Color::srgb(0.0, 0.0, 1.0);
    let red = Color::srgb(1.0, 0.0, 0.0);
    let picture = filled(10.0, BackgroundGradient::from(plain(blue)));
    expect_color(&picture, (9, 30), Color::BLACK, 0, "border");
    expect_color(&picture, (10, 10), blue, 0, "inside");
    let picture = filled(10.0, BorderGradient::from(plain(red)));
    expect_color(&picture, (9, 30), red, 0, "border");
    expect_color(&picture, (10, 10), Color::BLACK, 0, "inside");
    // Later gradients cover earlier ones, and a border's the background's.
    let both = BackgroundGradient(vec![plain(red).into(), plain(blue).into()]);
    let picture = filled(10.0, (BackgroundColor(Color::WHITE), both));
    expect_color(&picture, (60, 30), blue, 0, "the last one");
    // Stops at one position make a sharp edge; a single stop fills everything.
    let green = Srgba::rgb(0.0, 1.0, 0.0);
    let stops = vec![ColorStop::px(red, 50.0), ColorStop::px(green, 50.0)];
    let picture = filled(
        0.0,
        BackgroundGradient::from(LinearGradient::to_right(stops)),
    );
    expect_color(&picture, (49, 30), red, 0, "before the edge");
    expect_color(&picture, (50, 30), green.into(), 0, "behind the edge");
    let one = LinearGradient::to_right(vec![ColorStop::auto(green)]);
    let picture = filled(0.0, BackgroundGradient::from(one));
    expect_color(&picture, (119, 59), green.into(), 0, "one stop");
}
