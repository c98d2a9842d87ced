use bevy_math::Vec2;

use super::*;

const RED: LinearRgba = LinearRgba::RED;

fn lines(asset: &GizmoAsset, config: &GizmoLineConfig) -> Vec<Line> {
    let mut lines = Vec::new();
    let world = Affine3A::from_translation(Vec3::X);
    add_lines(&asset.buffer().buffer(), config, &world, &mut lines);
    lines
}

fn kinds(lines: &[Line]) -> Vec<u32> {
    lines.iter().map(|line| line.kind).collect()
}

#[test]
fn lines_lie_in_the_world_of_their_entity() {
    let mut asset = GizmoAsset::new();
    asset.line_gradient_2d(Vec2::ZERO, Vec2::Y, LinearRgba::RED, LinearRgba::BLUE);
    let lines = lines(&asset, &GizmoLineConfig::default());
    let [line] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(line.places[..2], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
    assert_eq!(line.colors, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
    assert_eq!((line.width, line.kind), (2.0, Kind::Solid as u32));
}

#[test]
fn strips_are_kept_apart_and_joined_within() {
    let mut asset = GizmoAsset::new();
    asset.linestrip_2d([Vec2::ZERO, Vec2::X, Vec2::ONE], RED);
    asset.linestrip_2d([Vec2::ZERO, Vec2::Y], RED);
    let mut config = GizmoLineConfig::default();
    let solid = Kind::Solid as u32;
    assert_eq!(kinds(&lines(&asset, &config)), [solid; 3]);
    config.joints = GizmoLineJoint::Miter;
    let miter = Kind::Miter as u32;
    assert_eq!(kinds(&lines(&asset, &config)), [solid, solid, solid, miter]);
    config.joints = GizmoLineJoint::Round(u32::MAX);
    let lines = lines(&asset, &config);
    assert_eq!(lines.len(), 3 + MOST_PARTS as usize);
    assert_eq!(lines[4].pattern, [1.0, MOST_PARTS as f32, 0.0]);
}

#[test]
fn dashes_without_length_are_a_line() {
    let mut config = GizmoLineConfig::default();
    let dashed = |gap_scale, line_scale| GizmoLineStyle::Dashed {
        gap_scale,
        line_scale,
    };
    config.style = dashed(1.0, 3.0);
    config.animation_offset = 0.5;
    assert_eq!(style(&config), (Kind::Dashed, [3.0, 4.0, 1.0]));
    for broken in [dashed(0.0, 1.0), dashed(f32::NAN, 1.0)] {
        config.style = broken;
        assert_eq!(style(&config).0, Kind::Solid);
    }
}

#[test]
fn lines_without_width_are_not_drawn() {
    let mut asset = GizmoAsset::new();
    asset.line_2d(Vec2::ZERO, Vec2::X, RED);
    for width in [0.0, -1.0, f32::NAN] {
        let config = GizmoLineConfig {
            width,
            ..GizmoLineConfig::default()
        };
        assert_eq!(lines(&asset, &config), []);
    }
}

#[test]
fn frames_are_drawn_after_the_lists_are_closed() {
    let mut app = App::new();
    draw_after_last(&mut app);
    let order = app.world().resource::<MainScheduleOrder>();
    let place = |label| order.labels.iter().position(|known| *known == label);
    let after = place(PostUpdate.intern()).unwrap() + 1;
    assert_eq!(place(Last.intern()), Some(after));
}
