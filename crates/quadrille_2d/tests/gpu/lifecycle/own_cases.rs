//! Single cases of what random lives with materials of programs meet.

use bevy_asset::RenderAssetUsages;
use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use quadrille_2d::prelude::*;

use super::Asleep;
use super::cases::{change_while, insert, one, remove, same};
use super::materials::{Bar, Faded, Tinted};
use crate::common::Rig;
use crate::common::lifecycle::HEIGHT;

fn add<A: Asset>(rig: &mut Rig, asset: A) -> Handle<A> {
    let mut assets = rig.app.world_mut().resource_mut::<Assets<A>>();
    assets.add(asset)
}

/// A rectangle, with an attribute of the program if it is high.
fn rectangle(side: f32, is_high: bool) -> Mesh {
    let mesh = Mesh::from(Rectangle::from_size(Vec2::splat(side)));
    let count = mesh.count_vertices();
    match is_high {
        true => mesh.with_inserted_attribute(HEIGHT, vec![0.5_f32; count]),
        false => mesh,
    }
}

#[test]
#[ignore = "needs a device"]
fn own_materials_that_change_while_entities_are_disabled_count_afterwards() {
    let sprite = Sprite::from_color(Color::WHITE, Vec2::splat(20.0));
    let node = Node {
        width: Val::Px(20.0),
        height: Val::Px(20.0),
        ..Node::default()
    };
    materials_while::<Disabled, _, Faded>(sprite.clone(), SpriteMaterial);
    materials_while::<Asleep, _, Faded>(sprite, SpriteMaterial);
    materials_while::<Disabled, _, Bar>(node.clone(), MaterialNode);
    materials_while::<Asleep, _, Bar>(node, MaterialNode);
    meshes_while::<Disabled>();
    meshes_while::<Asleep>();
}

/// Changes the material of an entity while it is disabled, removes it and brings it back.
fn materials_while<D: Component + Default, C: Component, M: Asset + From<LinearRgba>>(
    bundle: impl Bundle,
    component: fn(Handle<M>) -> C,
) {
    let (mut rig, entity) = one(bundle);
    let [red, blue] = [LinearRgba::RED, LinearRgba::BLUE].map(|it| add(&mut rig, M::from(it)));
    let without = rig.picture();
    let wanted = insert(&mut rig, entity, component(blue.clone()));
    let before = insert(&mut rig, entity, component(red));
    assert!(wanted != before && wanted != without);
    let found = change_while::<D, _>(&mut rig, entity, component(blue.clone()));
    same(&found, &wanted, "another material");
    insert(&mut rig, entity, D::default());
    remove::<C>(&mut rig, entity);
    same(&remove::<D>(&mut rig, entity), &without, "no material");
    let found = change_while::<D, _>(&mut rig, entity, component(blue));
    same(&found, &wanted, "a material that came back");
}

fn meshes_while<D: Component + Default>() {
    let (mut rig, entity) = one(NoFrustumCulling);
    let meshes = [rectangle(20.0, false), rectangle(30.0, true)];
    let [small, large] = meshes.map(|mesh| Mesh2d(add(&mut rig, mesh)));
    let material = MeshMaterial2d(add(&mut rig, Tinted::from(LinearRgba::RED)));
    insert(&mut rig, entity, (small, material));
    let found = change_while::<D, _>(&mut rig, entity, large.clone());
    let wanted = insert(&mut rig, entity, large);
    same(&found, &wanted, "a mesh with another layout");
    assert_eq!(wanted.at(48 + 13, 32), [255, 0, 0, 255]);
}

#[test]
#[ignore = "needs a device"]
fn mesh_that_comes_back_with_other_attributes_is_drawn_with_own_material() {
    let (mut rig, entity) = one(NoFrustumCulling);
    let empty = rig.picture();
    let mesh = add(&mut rig, rectangle(20.0, false));
    let material = MeshMaterial2d(add(&mut rig, Tinted::from(LinearRgba::RED)));
    let full = insert(&mut rig, entity, (Mesh2d(mesh.clone()), material));
    assert!(full != empty);
    let mut meshes = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.remove(&mesh);
    same(&rig.picture(), &empty, "no mesh");
    let mut meshes = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes
        .insert(mesh.id(), rectangle(20.0, true))
        .expect("the handle is kept");
    same(&rig.picture(), &full, "a mesh that came back");
}

/// Its data is released in the frame that it is added in.
#[test]
#[ignore = "needs a device"]
fn mesh_of_the_device_alone_is_drawn_with_own_material() {
    let (mut rig, entity) = one(NoFrustumCulling);
    let material = MeshMaterial2d(add(&mut rig, Tinted::from(LinearRgba::RED)));
    let mut mesh = rectangle(20.0, false);
    mesh.asset_usage = RenderAssetUsages::RENDER_WORLD;
    let mesh = Mesh2d(add(&mut rig, mesh));
    let picture = insert(&mut rig, entity, (mesh, material));
    assert_eq!(picture.at(48, 32), [255, 0, 0, 255]);
}
