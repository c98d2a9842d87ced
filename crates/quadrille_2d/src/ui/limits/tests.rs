use bevy_ui::{
    BorderRadius, CornerRadius, GridTrack, MaxTrackSizingFunction, MinTrackSizingFunction,
    RepeatedGridTrack,
};

use super::*;

fn limited(node: Node) -> (Node, Option<(&'static str, f32)>) {
    let mut limits = LayoutClamp(None);
    let mut node = node;
    limits.node(&mut node);
    (node, limits.0)
}

#[test]
fn valid_node_values_are_unchanged() {
    let node = Node {
        left: Val::Percent(-50.0),
        height: Val::Px(1e6),
        aspect_ratio: Some(0.5),
        flex_grow: 2.0,
        ..Node::default()
    };
    assert_eq!(limited(node.clone()), (node, None));
}

#[test]
fn corners_as_round_as_possible_are_no_mistake() {
    let (node, first) = limited(Node {
        border_radius: BorderRadius::MAX,
        ..Node::default()
    });
    assert_eq!(node.border_radius, BorderRadius::all(Val::Px(1e6)));
    assert_eq!(first, None);
}

#[test]
fn invalid_node_values_are_clamped_and_reported() {
    let (node, first) = limited(Node {
        height: Val::Rem(f32::NEG_INFINITY),
        ..Node::default()
    });
    assert_eq!(node.height, Val::Rem(0.0));
    assert_eq!(first, Some(("height", f32::NEG_INFINITY)));
    let nan = CornerRadius {
        x: Val::Px(f32::NAN),
        y: Val::Px(1.0),
    };
    let mut node = Node::default();
    node.border_radius.bottom_left = nan;
    node.padding.top = Val::Vw(-1.0);
    node.margin.top = Val::Vw(f32::NEG_INFINITY);
    node.aspect_ratio = Some(f32::NAN);
    let (node, first) = limited(node);
    assert_eq!(node.border_radius.bottom_left.x, Val::Px(0.0));
    assert_eq!((node.padding.top, node.aspect_ratio), (Val::Vw(0.0), None));
    assert_eq!(node.margin.top, Val::Vw(-1e6));
    assert_eq!(first.map(|(name, _)| name), Some("border_radius"));
}

#[test]
fn tracks_of_grids_are_limited() {
    use MaxTrackSizingFunction::{Fraction, MaxContent};
    use MinTrackSizingFunction::{Auto, Px};
    let track = |least, most| GridTrack::minmax(least, most);
    let (node, first) = limited(Node {
        grid_auto_rows: vec![track(Px(f32::INFINITY), Fraction(-1.0))],
        grid_template_columns: vec![
            RepeatedGridTrack::px(2, f32::NAN),
            RepeatedGridTrack::auto(3),
        ],
        ..Node::default()
    });
    let rows: Vec<GridTrack> = vec![track(Px(MAX_LAYOUT_VALUE), Fraction(0.0))];
    assert_eq!(node.grid_auto_rows, rows);
    let columns: Vec<RepeatedGridTrack> =
        vec![RepeatedGridTrack::px(2, 0.0), RepeatedGridTrack::auto(3)];
    assert_eq!(node.grid_template_columns, columns);
    assert_eq!(first.map(|(name, _)| name), Some("grid_template_columns"));
    let node = Node {
        grid_auto_columns: vec![track(Auto, MaxContent), track(Px(3.0), Fraction(1.0))],
        ..Node::default()
    };
    assert_eq!(limited(node.clone()), (node, None));
}

#[test]
fn lines_of_edited_text_are_limited() {
    let mut text = EditableText {
        visible_lines: Some(f32::NAN),
        visible_width: Some(-3.0),
        cursor_width: f32::INFINITY,
        ..EditableText::default()
    };
    let mut limits = LayoutClamp(None);
    limits.edited(&mut text);
    assert_eq!(
        (text.visible_lines, text.visible_width, text.cursor_width),
        (Some(0.0), Some(0.0), MAX_LAYOUT_VALUE)
    );
    assert_eq!(limits.0.map(|(name, _)| name), Some("cursor_width"));
}
