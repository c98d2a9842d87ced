use bevy_ui::{BorderRadius, CornerRadius};

use super::*;

fn limited(node: Node) -> (Node, Option<(&'static str, f32)>) {
    let mut limits = Limits(None);
    let mut node = node;
    limits.node(&mut node);
    (node, limits.0)
}

#[test]
fn what_bevy_can_lay_out_stays() {
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
fn what_is_no_number_or_too_large_is_named_and_replaced() {
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
