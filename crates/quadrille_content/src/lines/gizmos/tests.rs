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
fn gizmo_lines_use_entity_transform() {
    let mut asset = GizmoAsset::new();
    asset.line_gradient_2d(Vec2::ZERO, Vec2::Y, LinearRgba::RED, LinearRgba::BLUE);
    let lines = lines(&asset, &GizmoLineConfig::default());
    let [line] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(line.positions[..2], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
    assert_eq!(line.colors, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
    assert_eq!((line.width, line.kind), (2.0, LineKind::Solid as u32));
}

#[test]
fn line_strips_are_separate_and_jointed() {
    let mut asset = GizmoAsset::new();
    asset.linestrip_2d([Vec2::ZERO, Vec2::X, Vec2::ONE], RED);
    asset.linestrip_2d([Vec2::ZERO, Vec2::Y], RED);
    let mut config = GizmoLineConfig::default();
    let solid = LineKind::Solid as u32;
    assert_eq!(kinds(&lines(&asset, &config)), [solid; 3]);
    config.joints = GizmoLineJoint::Miter;
    let miter = LineKind::Miter as u32;
    assert_eq!(kinds(&lines(&asset, &config)), [solid, solid, solid, miter]);
    config.joints = GizmoLineJoint::Round(u32::MAX);
    let lines = lines(&asset, &config);
    assert_eq!(lines.len(), 3 + MAX_JOINT_PARTS as usize);
    assert_eq!(lines[4].pattern, [1.0, MAX_JOINT_PARTS as f32, 0.0]);
}

#[test]
fn zero_length_dashes_become_solid() {
    let mut config = GizmoLineConfig::default();
    let dashed = |gap_scale, line_scale| GizmoLineStyle::Dashed {
        gap_scale,
        line_scale,
    };
    config.style = dashed(1.0, 3.0);
    config.animation_offset = 0.5;
    assert_eq!(style(&config), (LineKind::Dashed, [3.0, 4.0, 1.0]));
    for broken in [dashed(0.0, 1.0), dashed(f32::NAN, 1.0)] {
        config.style = broken;
        assert_eq!(style(&config).0, LineKind::Solid);
    }
}

#[test]
fn zero_width_lines_are_skipped() {
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
fn frame_is_drawn_after_gizmo_lists_close() {
    let mut app = App::new();
    draw_after_last(&mut app);
    let order = app.world().resource::<MainScheduleOrder>();
    let place = |label| order.labels.iter().position(|known| *known == label);
    let after = place(PostUpdate.intern()).unwrap() + 1;
    assert_eq!(place(Last.intern()), Some(after));
}
