//! Single cases of what random lives meet.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent};
use bevy_math::{UVec2, Vec2};
use quadrille_2d::prelude::*;

use super::{Asleep, assets};
use crate::common::lifecycle::{Made as _, Random};
use crate::common::{Picture, Rig};

/// A camera and one entity.
pub(super) fn one(bundle: impl Bundle) -> (Rig, Entity) {
    let mut rig = super::rig();
    rig.app.world_mut().spawn(Camera2d);
    let entity = rig.app.world_mut().spawn(bundle).id();
    rig.start();
    rig.update(3);
    (rig, entity)
}

pub(super) fn insert(rig: &mut Rig, entity: Entity, bundle: impl Bundle) -> Picture {
    rig.app.world_mut().entity_mut(entity).insert(bundle);
    rig.update(3);
    rig.picture()
}

pub(super) fn remove<B: Bundle>(rig: &mut Rig, entity: Entity) -> Picture {
    rig.app.world_mut().entity_mut(entity).remove::<B>();
    rig.update(3);
    rig.picture()
}

pub(super) fn same(found: &Picture, wanted: &Picture, what: &str) {
    assert!(found == wanted, "{what}: another picture");
}

/// Another world gets what is registered, and no word of the rest.
#[test]
#[ignore = "needs a device"]
fn components_of_lives_that_travel_are_registered() {
    let mut life = (super::DRAWN.begin)();
    let world = life.app.world_mut();
    for kind in super::DRAWN.assets {
        (kind.begin)(world, kind.slots);
    }
    for part in super::DRAWN.parts.iter().filter(|part| !part.is_related) {
        let entity = world.spawn_empty().id();
        (part.insert)(world, entity, &mut Random::new(0));
        let types = world.resource::<AppTypeRegistry>().read();
        for id in world.entity(entity).archetype().components() {
            let info = world.components().get_info(*id).expect("it is there");
            // Required again by the material that it is made of.
            if info.name().to_string().ends_with("::MaterialInstance") {
                continue;
            }
            let of = info.type_id().expect("all are Rust types");
            let registered = types.get_type_data::<ReflectComponent>(of);
            assert!(registered.is_some(), "{}: {}", part.name, info.name());
        }
    }
}

/// bevy leaves all that it computed of these components.
#[test]
#[ignore = "needs a device"]
fn texts_and_nodes_that_lose_their_component_are_not_drawn() {
    let (mut rig, entity) = one(());
    let empty = rig.picture();
    let full = insert(&mut rig, entity, Text2d::new("text"));
    assert!(full != empty);
    same(&remove::<Text2d>(&mut rig, entity), &empty, "a `Text2d`");
    same(
        &insert(&mut rig, entity, Text2d::new("text")),
        &full,
        "a `Text2d` that came back",
    );
    let (mut rig, entity) = one(());
    let full = insert(&mut rig, entity, Text::new("text"));
    assert!(full != empty);
    same(&remove::<Text>(&mut rig, entity), &empty, "a `Text`");
    let node = Node {
        width: Val::Px(20.0),
        height: Val::Px(20.0),
        ..Node::default()
    };
    let full = insert(
        &mut rig,
        entity,
        (node.clone(), BackgroundColor(Color::WHITE)),
    );
    assert!(full != empty);
    same(&remove::<Node>(&mut rig, entity), &empty, "a `Node`");
    same(&insert(&mut rig, entity, node), &full, "a `Node` that came");
}

fn chunk(rig: &mut Rig) -> TilemapChunk {
    let mut random = Random::new(5);
    let image = Image::made(rig.app.world(), assets::LAYERED, &mut random);
    let tileset = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Image>>()
        .add(image);
    TilemapChunk {
        chunk_size: UVec2::ONE,
        tile_display_size: UVec2::splat(20),
        tileset,
        ..TilemapChunk::default()
    }
}

fn tile(index: u16) -> TilemapChunkTileData {
    TilemapChunkTileData(vec![Some(TileData::from_tileset_index(index))])
}

#[test]
#[ignore = "needs a device"]
fn chunks_that_lose_their_tiles_are_not_drawn() {
    let (mut rig, entity) = one(Visibility::default());
    let empty = rig.picture();
    let chunk = chunk(&mut rig);
    let full = insert(&mut rig, entity, (chunk, tile(0)));
    assert!(full != empty);
    same(
        &remove::<TilemapChunkTileData>(&mut rig, entity),
        &empty,
        "a chunk without tiles",
    );
    same(
        &insert(&mut rig, entity, tile(0)),
        &full,
        "tiles that came back",
    );
}

/// Disables an entity, changes a component, and enables it again.
pub(super) fn change_while<D: Component + Default, B: Bundle>(
    rig: &mut Rig,
    entity: Entity,
    value: B,
) -> Picture {
    insert(rig, entity, D::default());
    insert(rig, entity, value);
    remove::<D>(rig, entity)
}

#[test]
#[ignore = "needs a device"]
fn changes_while_entities_are_disabled_count_afterwards() {
    changes_while::<Disabled>();
    changes_while::<Asleep>();
}

fn changes_while<D: Component + Default>() {
    let (mut rig, entity) = one(Visibility::default());
    let chunk = chunk(&mut rig);
    let zero = insert(&mut rig, entity, (chunk, tile(0)));
    let found = change_while::<D, _>(&mut rig, entity, tile(1));
    let wanted = insert(&mut rig, entity, tile(1));
    assert!(wanted != zero);
    same(&found, &wanted, "tiles");

    let (mut rig, entity) = one(Visibility::default());
    let empty = rig.picture();
    let mesh = |rig: &mut Rig, size| {
        let mut meshes = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
        Mesh2d(meshes.add(Rectangle::from_size(Vec2::splat(size))))
    };
    let material = ColorMaterial::from(Color::WHITE);
    let mut materials = rig.app.world_mut().resource_mut::<Assets<ColorMaterial>>();
    let material = MeshMaterial2d(materials.add(material));
    let first = mesh(&mut rig, 20.0);
    let full = insert(&mut rig, entity, (first.clone(), material));
    assert!(full != empty);
    let second = mesh(&mut rig, 10.0);
    let found = change_while::<D, _>(&mut rig, entity, second.clone());
    let wanted = insert(&mut rig, entity, second);
    assert!(wanted != full && wanted != empty);
    same(&found, &wanted, "a mesh");
}

/// bevy ends a program whose nodes have such numbers, at the latest when it lays all out again.
#[test]
#[ignore = "needs a device"]
fn odd_numbers_that_come_while_entities_are_disabled_end_no_frame() {
    odd_while::<Disabled>();
    odd_while::<Asleep>();
}

fn odd_while<D: Component + Default>() {
    let (mut rig, entity) = one((Node::default(), BackgroundColor(Color::WHITE)));
    let text = Text2d::new("text");
    let text = rig.app.world_mut().spawn(text).id();
    for (size, scale) in [(f32::NAN, 2.0), (f32::INFINITY, 1.0), (1e30, 2.0)] {
        let node = Node {
            width: Val::Px(size),
            height: Val::Px(size),
            border_radius: BorderRadius::all(Val::Px(size)),
            ..Node::default()
        };
        change_while::<D, _>(&mut rig, entity, node);
        let font = TextFont::from_font_size(size);
        let line = bevy_text::LineHeight::Px(size);
        change_while::<D, _>(&mut rig, text, (font, line, TextBounds::new(size, size)));
        rig.app.insert_resource(UiScale(scale));
        rig.app.insert_resource(RemSize(scale * 10.0));
        rig.update(3);
    }
}

/// A query's order changes with any component of an entity, and later lines cover earlier ones.
#[test]
#[ignore = "needs a device"]
fn lines_of_gizmos_cover_each_other_by_index() {
    #[derive(Component)]
    struct Other;
    let mut rig = super::rig();
    let world = rig.app.world_mut();
    world.spawn(Camera2d);
    let mut line = |color: Color| {
        let mut asset = GizmoAsset::new();
        asset.line_2d(Vec2::new(-20.0, 0.0), Vec2::new(20.0, 0.0), color);
        let handle = world.resource_mut::<Assets<GizmoAsset>>().add(asset);
        let gizmo = Gizmo {
            handle,
            ..Gizmo::default()
        };
        world.spawn(gizmo).id()
    };
    let first = line(Color::srgb(1.0, 0.0, 0.0));
    line(Color::srgb(0.0, 1.0, 0.0));
    rig.start();
    rig.update(2);
    let wanted = rig.picture();
    assert_eq!(wanted.at(48, 32), [0, 255, 0, 255]);
    let found = insert(&mut rig, first, Other);
    same(&found, &wanted, "another component");
}

/// Software devices have 1 and 4 samples per pixel, and no 2.
#[test]
#[ignore = "needs a device"]
fn a_count_of_samples_that_is_missing_leaves_the_others() {
    let sprite = Sprite::from_color(Color::WHITE, Vec2::splat(20.0));
    let turned = Transform::from_rotation(bevy_math::Quat::from_rotation_z(0.3));
    let (mut rig, _) = one((sprite, turned));
    let world = rig.app.world_mut();
    let mut cameras = world.query_filtered::<Entity, With<Camera2d>>();
    let camera = cameras.single(world).expect("there is one");
    let wanted = insert(&mut rig, camera, Msaa::Sample4);
    assert!(insert(&mut rig, camera, Msaa::Off) != wanted);
    insert(&mut rig, camera, Msaa::Sample2);
    same(
        &insert(&mut rig, camera, Msaa::Sample4),
        &wanted,
        "four samples after two",
    );
}

/// An image that is not there yet has no size, and leaves that with its node.
#[test]
#[ignore = "needs a device"]
fn nodes_of_former_images_have_the_size_of_their_text() {
    let text = (Text::new("text"), BackgroundColor(Color::BLACK));
    let (mut rig, _) = one(text.clone());
    let wanted = rig.picture();
    let (mut rig, entity) = one(ImageNode::default());
    let empty = remove::<ImageNode>(&mut rig, entity);
    assert!(wanted != empty);
    let found = insert(&mut rig, entity, text.clone());
    same(&found, &wanted, "a text instead of an image");
    let transparent = ImageNode::default().with_color(Color::NONE);
    let (mut rig, _) = one((text, transparent));
    same(&rig.picture(), &wanted, "a text beside an image");
}
