//! Instances are retained: an unchanged instance costs no work, and a changed one only its own.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryFilter;
use bevy_math::Vec3;
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, QueueWork};

use crate::common::{Rig, scenes};

/// Counts of work of the next frame.
fn work(rig: &mut Rig) -> QueueWork {
    rig.update(1);
    rig.app.world().resource::<Phase2d>().work()
}

/// Changes a component of the one entity that has it, and `F`.
fn change<C: Component<Mutability = Mutable>, F: QueryFilter>(
    rig: &mut Rig,
    change: impl FnOnce(&mut C),
) {
    let world = rig.app.world_mut();
    let mut found = world.query_filtered::<&mut C, F>();
    let mut component = found.single_mut(world).expect("there is one");
    change(&mut component);
}

#[derive(Component)]
struct Mover;

fn spawn(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let image = images.add(scenes::test_image());
    commands.spawn(Camera2d);
    for x in 0..2000 {
        let at = Transform::from_xyz((x % 50) as f32, (x / 50) as f32, 0.0);
        commands.spawn((Sprite::from_image(image.clone()), at, Mover));
    }
    commands.spawn(Text2d::new("at rest"));
    let mesh = Mesh2d(meshes.add(Circle::new(10.0)));
    commands.spawn((mesh, MeshMaterial2d(materials.add(Color::WHITE))));
    #[cfg(feature = "ui")]
    commands
        .spawn((
            Node {
                border: UiRect::all(px(3)),
                border_radius: BorderRadius::all(px(4)),
                ..Default::default()
            },
            BorderColor::all(Color::WHITE),
            BackgroundColor(Color::BLACK),
        ))
        .with_child(Text::new("at rest as well"));
}

fn settled() -> Rig {
    let mut rig = Rig::scene(160, 120, spawn);
    rig.update(6);
    rig
}

/// Changes the transform of one of the movers.
fn move_one(rig: &mut Rig, to: Vec3) {
    let world = rig.app.world_mut();
    let mut found = world.query_filtered::<&mut Transform, With<Mover>>();
    let mut transform = found.iter_mut(world).next().expect("there are some");
    transform.translation = to;
}

#[test]
#[ignore = "needs a device"]
fn still_scene_needs_no_work() {
    let mut rig = settled();
    let before = rig.picture();
    assert_eq!(work(&mut rig), QueueWork::default());
    assert_eq!(rig.picture(), before);
}

#[test]
#[ignore = "needs a device"]
fn moved_sprite_is_the_only_work() {
    let mut rig = settled();
    move_one(&mut rig, Vec3::new(-30.0, 0.0, 0.0));
    let moved = QueueWork {
        moved_items: 1,
        ..QueueWork::default()
    };
    assert_eq!(work(&mut rig), moved);
    move_one(&mut rig, Vec3::new(-30.0, 0.0, 1.0));
    let sorted = QueueWork {
        rebuilt_orders: 1,
        ..moved
    };
    assert_eq!(work(&mut rig), sorted, "another z is another order");
    assert_eq!(work(&mut rig), QueueWork::default());
}

#[test]
#[ignore = "needs a device"]
fn changed_components_and_assets_build_what_shows_them() {
    let mut rig = settled();
    let built = |built_items, rebuilt_orders| QueueWork {
        built_items,
        rebuilt_orders,
        ..QueueWork::default()
    };
    change::<Text2d, ()>(&mut rig, |text| "moving".clone_into(&mut text.0));
    // The layout may take one more frame.
    let laid_out = [work(&mut rig), work(&mut rig)];
    assert!(laid_out.contains(&built(1, 1)), "{laid_out:?}");
    let world = rig.app.world_mut();
    let mut materials = world.resource_mut::<Assets<ColorMaterial>>();
    for (_, material) in materials.iter_mut() {
        material.color = Color::srgb(0.0, 1.0, 0.0);
    }
    assert_eq!(work(&mut rig), built(1, 0));
    assert_eq!(work(&mut rig), QueueWork::default());
}

#[cfg(feature = "ui")]
#[test]
#[ignore = "needs a device"]
fn nodes_are_built_when_one_changes() {
    let mut rig = settled();
    let black = |color: &mut BorderColor| *color = BorderColor::all(Color::BLACK);
    change::<BorderColor, With<Children>>(&mut rig, black);
    let built = work(&mut rig).built_nodes;
    assert!(built >= 2, "{built} nodes");
    assert_eq!(work(&mut rig), QueueWork::default());
}

#[cfg(feature = "ui")]
#[test]
#[ignore = "needs a device"]
fn text_colors_of_nodes_are_compared_by_value() {
    let mut rig = settled();
    for (color, is_other) in [
        (Color::WHITE, false),
        (Color::BLACK, true),
        (Color::BLACK, false),
    ] {
        change::<TextColor, With<Text>>(&mut rig, |it| it.0 = color);
        let built = work(&mut rig).built_nodes;
        assert_eq!(built > 0, is_other, "{color:?}: {built} nodes");
    }
    let world = rig.app.world_mut();
    let mut texts = world.query_filtered::<Entity, With<Text>>();
    let text = texts.single(world).expect("there is one");
    world.entity_mut(text).with_child((
        TextSpan::new("!"),
        TextColor(Color::WHITE),
        TextBackgroundColor(Color::BLACK),
    ));
    rig.update(3);
    change::<TextColor, With<TextSpan>>(&mut rig, |it| it.0 = Color::WHITE);
    assert_eq!(work(&mut rig).built_nodes, 0, "a span as it was");
    change::<TextColor, With<TextSpan>>(&mut rig, |it| it.0 = Color::BLACK);
    assert!(work(&mut rig).built_nodes > 0, "a span of another color");
    change::<TextBackgroundColor, With<TextSpan>>(&mut rig, |it| it.0 = Color::WHITE);
    assert!(work(&mut rig).built_nodes > 0, "a span on another color");
}

#[cfg(feature = "ui")]
#[test]
#[ignore = "needs a device"]
fn sprites_and_texts_of_the_world_build_no_nodes() {
    let mut rig = settled();
    change::<TextColor, With<Text2d>>(&mut rig, |color| color.0 = Color::BLACK);
    assert_eq!(work(&mut rig).built_nodes, 0, "a changed text");
    let world = rig.app.world_mut();
    let mut sprites = world.query_filtered::<Entity, With<Sprite>>();
    let sprite = sprites.iter(world).next().expect("it was spawned");
    world.despawn(sprite);
    assert_eq!(work(&mut rig).built_nodes, 0, "a despawned sprite");
    let mut texts = rig.app.world_mut().query_filtered::<Entity, With<Text2d>>();
    let text = texts.iter(rig.app.world()).next().expect("it was spawned");
    rig.app.world_mut().despawn(text);
    assert_eq!(work(&mut rig).built_nodes, 0, "a despawned text");
    // Nodes still follow what they lose.
    let mut nodes = rig
        .app
        .world_mut()
        .query_filtered::<Entity, (With<BorderColor>, With<Children>)>();
    let node = nodes.iter(rig.app.world()).next().expect("it was spawned");
    rig.app.world_mut().entity_mut(node).remove::<BorderColor>();
    assert!(work(&mut rig).built_nodes >= 2, "a removed border");
}
