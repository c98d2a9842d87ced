use bevy_ui::Val;

use super::*;

fn positions(stops: &[(Option<f32>, f32)], length: f32) -> Vec<f32> {
    let mut memory = Stops::default();
    memory.place_stops(
        stops.iter().map(|&(at, hint)| (LinearRgba::RED, at, hint)),
        length,
    );
    memory.placed.iter().map(|stop| stop.at).collect()
}

#[test]
fn automatic_stops_are_spaced_evenly() {
    let auto = (None, 0.5);
    let at = |at: f32| (Some(at), 0.5);
    assert_eq!(positions(&[auto, auto, auto], 10.0), [0.0, 5.0, 10.0]);
    assert_eq!(
        positions(&[auto, auto, at(4.0), auto, auto, auto], 10.0),
        [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    );
    // Explicit stops are sorted, and extend the line.
    assert_eq!(
        positions(&[at(12.0), auto, at(-4.0)], 10.0),
        [-4.0, 4.0, 12.0]
    );
}

#[test]
fn linear_gradient_line_reaches_corners() {
    let size = Vec2::new(30.0, 40.0);
    for (angle, length) in [
        (0.0, 40.0),
        (FRAC_PI_2, 30.0),
        (TAU / 8.0, 70.0 / 2f32.sqrt()),
    ] {
        let found = line_length(angle, size);
        assert!((found - length).abs() < 1e-3, "{angle}: {found}");
    }
}

fn segments(gradient: &Gradient) -> Vec<GradientSegment> {
    let node = ComputedNode {
        size: Vec2::new(100.0, 50.0),
        ..ComputedNode::DEFAULT
    };
    let lines = GradientLines {
        node: &node,
        viewport: Vec2::new(200.0, 200.0),
        center: Vec2::ZERO,
    };
    let mut found = Vec::new();
    lines.add(gradient, &mut Stops::default(), |segment| {
        found.push(segment)
    });
    found
}

fn to_right(stops: Vec<ColorStop>, color_space: InterpolationColorSpace) -> Gradient {
    Gradient::Linear(LinearGradient {
        angle: FRAC_PI_2,
        stops,
        color_space,
    })
}

#[test]
fn coincident_stops_make_a_hard_edge() {
    let stops = [
        (Srgba::RED, 0.0),
        (Srgba::GREEN, 40.0),
        (Srgba::BLUE, 40.0),
        (Srgba::BLUE, 100.0),
    ];
    let stops = stops.map(|(color, at)| ColorStop::new(color, Val::Px(at)));
    let found = segments(&to_right(
        stops.to_vec(),
        InterpolationColorSpace::LinearRgba,
    ));
    let ends: Vec<_> = found.iter().map(|segment| segment.ends).collect();
    assert_eq!(ends, [[0.0, 40.0], [40.0, 100.0]]);
    let fills: Vec<_> = found
        .iter()
        .map(|it| it.flags & (FILL_START | FILL_END))
        .collect();
    assert_eq!(fills, [0, FILL_END]);
}

#[test]
fn okhsl_gradient_is_split_into_oklab_segments() {
    let stops = [Srgba::RED, Srgba::BLUE].map(ColorStop::auto).to_vec();
    let found = segments(&to_right(stops, InterpolationColorSpace::Okhsla));
    assert!(found.len() > 16, "{}", found.len());
    for pair in found.windows(2) {
        assert_eq!(pair[0].ends[1], pair[1].ends[0]);
        assert_eq!(pair[0].end_color, pair[1].start_color);
    }
    let [red, blue] = [Srgba::RED, Srgba::BLUE].map(Okhsla::from);
    let middle = found
        .iter()
        .find(|it| it.ends[0] <= 50.0 && it.ends[1] > 50.0);
    let middle = middle.expect("the middle is filled");
    let mix = (50.0 - middle.ends[0]) / (middle.ends[1] - middle.ends[0]);
    // The shorter hue path from red to blue is decreasing.
    let hue = (red.hue + (blue.hue - 360.0 - red.hue) / 2.0).rem_euclid(360.0);
    let wanted = Oklaba::from(Okhsla {
        hue,
        ..red.mix(&blue, 0.5)
    })
    .to_f32_array();
    for channel in 0..3 {
        let [start, end] = [middle.start_color, middle.end_color].map(|it| it[channel]);
        let found = start + (end - start) * mix;
        assert!((found - wanted[channel]).abs() < 2e-3, "{found} {wanted:?}");
    }
}

#[test]
fn conic_gradient_stops_are_angles() {
    let stops = [Srgba::RED, Srgba::GREEN, Srgba::RED].map(AngularColorStop::auto);
    let gradient = ConicGradient::new(bevy_ui::UiPosition::CENTER, stops.to_vec());
    let found = segments(&Gradient::Conic(gradient));
    assert_eq!(found[0].ends, [0.0, TAU / 2.0]);
    assert_eq!(found[1].ends, [TAU / 2.0, TAU]);
    assert_eq!(found[1].flags & CONIC, CONIC);
}
