//! Single cases of what random lives cover.

use bevy_ecs::entity_disabling::{DefaultQueryFilters, Disabled};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::common::{Picture, Rig};

/// Disables entities, as a program's own disabling component.
#[derive(Component)]
struct Asleep;

/// A camera, a light, and a cube of this material in the center.
fn cube(material: impl Into<StandardMaterial>) -> (Rig, Entity) {
    let mut rig = Rig::new(32, 32);
    let world = rig.app.world_mut();
    let asleep = world.register_component::<Asleep>();
    let mut filters = world.resource_mut::<DefaultQueryFilters>();
    filters.register_disabling_component(asleep);
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    world.spawn((Camera3d::default(), eye));
    world.spawn((DirectionalLight::default(), eye));
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Cuboid::default());
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material.into());
    let cube = world.spawn((Mesh3d(mesh), MeshMaterial3d(material))).id();
    rig.start();
    (rig, cube)
}

fn same(found: &Picture, wanted: &Picture, what: &str) {
    assert!(found == wanted, "{what}: another picture");
}

#[test]
#[ignore = "needs a device"]
fn meshes_without_loaded_material_are_not_drawn() {
    let (mut rig, entity) = cube(Color::srgb(1.0, 0.0, 0.0));
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Visibility::Hidden);
    let empty = rig.picture();
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Visibility::Visible);
    let full = rig.picture();
    assert!(full != empty);
    // Another mesh and material take the first rows of all tables.
    let world = rig.app.world_mut();
    let red = world
        .get::<MeshMaterial3d<StandardMaterial>>(entity)
        .cloned();
    let late = world
        .resource::<Assets<StandardMaterial>>()
        .reserve_handle();
    for absent in [late.clone(), Handle::default()] {
        let world = rig.app.world_mut();
        world.entity_mut(entity).insert(MeshMaterial3d(absent));
        same(&rig.picture(), &empty, "a material that is not there");
        let world = rig.app.world_mut();
        world
            .entity_mut(entity)
            .insert(red.clone().expect("it had one"));
        same(&rig.picture(), &full, "the material that is there");
    }
    let world = rig.app.world_mut();
    world
        .entity_mut(entity)
        .insert(MeshMaterial3d(late.clone()));
    same(&rig.picture(), &empty, "a material that is late");
    let mut materials = rig
        .app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>();
    let red = StandardMaterial::from(Color::srgb(1.0, 0.0, 0.0));
    materials
        .insert(late.id(), red)
        .expect("the handle is kept");
    same(&rig.picture(), &full, "a material that came");
}

#[test]
#[ignore = "needs a device"]
fn disabled_meshes_are_not_drawn() {
    for alpha in [1.0, 0.5] {
        let (mut rig, entity) = cube(Color::srgba(1.0, 0.0, 0.0, alpha));
        let full = rig.picture();
        rig.app.world_mut().entity_mut(entity).insert(Disabled);
        let empty = rig.picture();
        assert!(empty != full, "with an alpha of {alpha}");
        rig.app.world_mut().entity_mut(entity).remove::<Disabled>();
        same(&rig.picture(), &full, "enabled");
        rig.app.world_mut().entity_mut(entity).insert(Asleep);
        same(
            &rig.picture(),
            &empty,
            "disabled by a component of the program",
        );
        // Changes made while disabled apply afterwards.
        let away = Transform::from_xyz(99.0, 0.0, 0.0);
        rig.app
            .world_mut()
            .entity_mut(entity)
            .insert((away, GlobalTransform::from(away)));
        rig.app.world_mut().entity_mut(entity).remove::<Asleep>();
        same(&rig.picture(), &empty, "moved while it was disabled");
        let world = rig.app.world_mut();
        world.entity_mut(entity).insert(Transform::default());
        same(&rig.picture(), &full, "moved back");
        rig.app.world_mut().entity_mut(entity).insert(Disabled);
        rig.update(1);
        rig.app.world_mut().despawn(entity);
        same(&rig.picture(), &empty, "despawned while it was disabled");
    }
}

#[test]
#[ignore = "needs a device"]
fn meshes_without_transform_are_not_drawn() {
    let (mut rig, entity) = cube(Color::srgb(1.0, 0.0, 0.0));
    let full = rig.picture();
    let both = |rig: &mut Rig| {
        let mut entity = rig.app.world_mut().entity_mut(entity);
        entity.remove::<(Transform, GlobalTransform)>();
    };
    both(&mut rig);
    assert!(rig.picture() != full);
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Transform::default());
    same(&rig.picture(), &full, "a transform that came back");
    rig.app
        .world_mut()
        .entity_mut(entity)
        .insert(Visibility::Hidden);
    assert!(rig.picture() != full);
    rig.app
        .world_mut()
        .entity_mut(entity)
        .remove::<(Visibility, InheritedVisibility, ViewVisibility)>();
    same(&rig.picture(), &full, "nothing says that it is hidden");
}

#[test]
#[ignore = "needs a device"]
fn lights_that_were_removed_and_inserted_light_once() {
    let (mut rig, _) = cube(Color::srgb(0.2, 0.2, 0.2));
    let light = SpotLight {
        intensity: 40_000.0,
        ..SpotLight::default()
    };
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    let spot = rig.app.world_mut().spawn((light, eye)).id();
    let once = rig.picture();
    rig.app.world_mut().entity_mut(spot).remove::<SpotLight>();
    let without = rig.picture();
    assert!(without != once);
    rig.app.world_mut().entity_mut(spot).insert(light);
    same(&rig.picture(), &once, "inserted again");
    // A directional light shines everywhere, also where the light before it was too far away.
    let sun = DirectionalLight::default();
    let sun_after = |light: Option<PointLight>| {
        let (mut rig, _) = cube(Color::srgb(0.2, 0.2, 0.2));
        let far = Transform::from_xyz(0.0, 0.0, 500.0);
        let entity = rig.app.world_mut().spawn(far).id();
        if let Some(light) = light {
            rig.app.world_mut().entity_mut(entity).insert(light);
            rig.update(2);
            rig.app
                .world_mut()
                .entity_mut(entity)
                .remove::<PointLight>();
        }
        rig.app.world_mut().entity_mut(entity).insert(sun);
        rig.picture()
    };
    let wanted = sun_after(None);
    same(
        &sun_after(Some(PointLight::default())),
        &wanted,
        "after a point light",
    );
}

#[test]
#[ignore = "needs a device"]
fn more_views_of_no_mesh_are_drawn_after_many_meshes_left() {
    let (mut rig, entity) = cube(Color::srgb(1.0, 0.0, 0.0));
    let world = rig.app.world_mut();
    let mesh = world.get::<Mesh3d>(entity).cloned().expect("it has one");
    let material = world
        .get::<MeshMaterial3d<StandardMaterial>>(entity)
        .cloned()
        .expect("it has one");
    let crowd = (0..1500).map(|_| (mesh.clone(), material.clone()));
    let crowd: Vec<_> = world.spawn_batch(crowd.collect::<Vec<_>>()).collect();
    let full = rig.picture();
    let world = rig.app.world_mut();
    for entity in crowd.into_iter().chain([entity]) {
        world.despawn(entity);
    }
    assert!(rig.picture() != full);
    let light = DirectionalLight {
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    };
    rig.app.world_mut().spawn((light, Transform::default()));
    // An invalid plan of a frame fails here.
    rig.update(2);
}
