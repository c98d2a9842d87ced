//! Nodes with round corners whose layout has a negative or NaN size.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_ui::prelude::*;
use bevy_ui::{ComputedNode, CornerRadius};
use quadrille_2d::prelude::*;

use super::dice::Dice;
use super::{Bad, BadCamera, FRAMES, ROUNDING, distance, good_part, log, rig};

/// A node of 10 by 10 pixels with a scrollbar of 30, and in it one whose padding is half of what remains.
fn scrolled(world: &mut World, border_radius: BorderRadius) -> [Entity; 2] {
    let mut camera = world.query_filtered::<Entity, With<BadCamera>>();
    let camera = camera.single(world).expect("a camera");
    let scroller = Node {
        width: Val::Px(10.0),
        height: Val::Px(10.0),
        overflow: Overflow::scroll(),
        scrollbar_width: 30.0,
        ..Node::default()
    };
    let node = Node {
        position_type: PositionType::Absolute,
        width: Val::Percent(50.0),
        height: Val::Px(20.0),
        padding: UiRect::all(Val::Percent(40.0)),
        border_radius,
        ..Node::default()
    };
    let white = BackgroundColor(Color::WHITE);
    let scroller = world.spawn((scroller, UiTargetCamera(camera))).id();
    let name = Name::new("squeezed");
    let node = world.spawn((node, white, name, ChildOf(scroller))).id();
    [scroller, node]
}

#[test]
#[ignore = "needs a device"]
fn nodes_narrower_than_their_scrollbars_end_no_frame() {
    let mut rig = rig();
    let wanted = good_part(&rig.picture());
    let pill = BorderRadius::all(Val::Px(100.0));
    let cut = BorderRadius {
        top_left: CornerRadius::new(Val::Px(3.0), Val::Px(5.0)),
        ..BorderRadius::all(Val::Percent(50.0))
    };
    let world = rig.app.world_mut();
    let [scroller, node] = scrolled(world, pill);
    scrolled(world, cut);
    log::collect();
    rig.update(FRAMES);
    assert!(distance(&good_part(&rig.picture()), &wanted) <= ROUNDING);
    let world = rig.app.world_mut();
    let size = world.get::<ComputedNode>(node).expect("laid out").size();
    assert_eq!(size.x, 0.0, "no negative size");
    assert_eq!(
        world.get::<Node>(node).map(|node| node.border_radius),
        Some(pill)
    );
    let lines = log::take();
    let names = |line: &String| line.contains("squeezed") && line.contains("scrollbar_width");
    assert!(lines.iter().any(names), "{lines:#?}");
    // With room for all, corners are bevy's again: half of the shorter side for both axes.
    let mut wide = world.get_mut::<Node>(scroller).expect("a node");
    (wide.width, wide.height) = (Val::Px(130.0), Val::Px(130.0));
    rig.update(FRAMES);
    let computed = *rig.app.world().get::<ComputedNode>(node).expect("laid out");
    assert_eq!(computed.size(), Vec2::new(80.0, 80.0));
    assert_eq!(computed.border_radius().top_left, Vec2::splat(40.0));
}

/// Lengths within the limits, which are multiplied from parents to children.
///
/// No length reaches the clamp: with rate-limited warnings, which of them is logged would depend on their order.
fn growing(dice: &mut Dice) -> Node {
    let size = |dice: &mut Dice| dice.pick(&[Val::Auto, Val::Px(10.0), Val::Percent(1e6)]);
    let [width, height, padding] = [(); 3].map(|()| size(dice));
    let [left, margin] = [(); 2].map(|()| match size(dice) {
        Val::Px(_) => Val::Percent(-3e5),
        other => other,
    });
    Node {
        display: dice.pick(&[Display::Flex, Display::Grid, Display::Block]),
        overflow: Overflow::clip(),
        left,
        width,
        height,
        margin: UiRect::top(margin),
        padding: UiRect::left(padding),
        aspect_ratio: dice.maybe(|dice| dice.pick(&[1e6, 1e-6, 1.0])),
        border_radius: BorderRadius::all(Val::Percent(20.0)),
        ..Node::default()
    }
}

#[derive(Resource)]
struct Depth(Dice);

fn replace(
    mut commands: Commands,
    old: Query<Entity, (With<Bad>, Without<ChildOf>)>,
    camera: Single<Entity, With<BadCamera>>,
    mut depth: ResMut<Depth>,
) {
    for entity in &old {
        commands.entity(entity).despawn();
    }
    for _ in 0..20 {
        let mut parent = None;
        for _ in 0..30 {
            let mut entity = commands.spawn((growing(&mut depth.0), Bad, UiTargetCamera(*camera)));
            entity.insert(BackgroundColor(Color::WHITE));
            if let Some(parent) = parent {
                entity.insert(ChildOf(parent));
            }
            parent = Some(entity.id());
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn sizes_that_multiply_in_nests_end_no_frame() {
    let mut rig = rig();
    let wanted = good_part(&rig.picture());
    rig.app
        .insert_resource(Depth(Dice(fastrand::Rng::with_seed(7))));
    rig.app.add_systems(Update, replace);
    log::collect();
    rig.update(10);
    assert!(distance(&good_part(&rig.picture()), &wanted) <= ROUNDING);
    let lines = log::take();
    let is_odd = |line: &String| line.contains("layout gave it a size of");
    assert!(lines.iter().any(is_odd), "all sizes are sizes: {lines:#?}");
}
