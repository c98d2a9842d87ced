//! Single cases of what random lives with materials of programs, skies, fog and planets cover.

use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{Atmosphere, ClusteredDecal, FogVolume, VolumetricFog, VolumetricLight};
use quadrille_3d::AtmosphereSettings;
use quadrille_3d::prelude::*;

use super::Asleep;
use super::materials::Tinted;
use crate::common::lifecycle::Fixed;
use crate::common::lifecycle::HEIGHT;
use crate::common::{Picture, Rig};
use crate::environment;

/// The app of random lives, with a camera alone.
fn rig() -> Rig {
    let mut rig = super::begin();
    rig.start();
    rig
}

fn add<A: Asset>(rig: &mut Rig, asset: A) -> Handle<A> {
    let mut assets = rig.app.world_mut().resource_mut::<Assets<A>>();
    assets.add(asset)
}

fn camera(rig: &mut Rig) -> EntityWorldMut<'_> {
    let world = rig.app.world_mut();
    let camera = world.resource::<Fixed>().0[0];
    world.entity_mut(camera)
}

fn same(found: &Picture, wanted: &Picture, what: &str) {
    assert!(found == wanted, "{what}: another picture");
}

/// A cuboid, with an attribute of the program if it is high.
fn cuboid(side: f32, is_high: bool) -> Mesh {
    let mesh = Mesh::from(Cuboid::from_length(side));
    let count = mesh.count_vertices();
    match is_high {
        true => mesh.with_inserted_attribute(HEIGHT, vec![0.5_f32; count]),
        false => mesh,
    }
}

/// A mesh with a material of the program, in the center.
fn tinted(rig: &mut Rig) -> (Entity, Handle<Mesh>) {
    let mesh = add(rig, cuboid(1.0, false));
    let material = add(rig, Tinted::of(LinearRgba::RED));
    let bundle = (
        Mesh3d(mesh.clone()),
        MeshMaterial3d(material),
        NoFrustumCulling,
    );
    (rig.app.world_mut().spawn(bundle).id(), mesh)
}

/// Disables an entity, changes it, and enables it again.
fn change_while<D: Component + Default>(
    rig: &mut Rig,
    entity: Entity,
    change: impl FnOnce(&mut EntityWorldMut<'_>),
) -> Picture {
    rig.app.world_mut().entity_mut(entity).insert(D::default());
    rig.update(2);
    change(&mut rig.app.world_mut().entity_mut(entity));
    rig.update(2);
    rig.app.world_mut().entity_mut(entity).remove::<D>();
    rig.picture()
}

#[test]
#[ignore = "needs a device"]
fn own_materials_that_change_while_entities_are_disabled_apply_afterwards() {
    materials_while::<Disabled>();
    materials_while::<Asleep>();
}

fn materials_while<D: Component + Default>() {
    let mut rig = rig();
    let empty = rig.picture();
    let (entity, _) = tinted(&mut rig);
    let red = rig.picture();
    let mesh = Mesh3d(add(&mut rig, cuboid(2.0, true)));
    let other = MeshMaterial3d(add(&mut rig, Tinted::of(LinearRgba::BLUE)));
    let blue = change_while::<D>(&mut rig, entity, |entity| {
        entity.insert(other.clone());
    });
    assert!(blue != red, "another material");
    rig.app.world_mut().entity_mut(entity).insert(other.clone());
    same(&rig.picture(), &blue, "another material");
    let large = change_while::<D>(&mut rig, entity, |entity| {
        entity.insert(mesh.clone());
    });
    assert!(
        large != empty && large != blue,
        "a mesh with another layout"
    );
    rig.app.world_mut().entity_mut(entity).insert(mesh);
    same(&rig.picture(), &large, "a mesh with another layout");
    let found = change_while::<D>(&mut rig, entity, |entity| {
        entity.remove::<MeshMaterial3d<Tinted>>();
    });
    same(&found, &empty, "no material");
    let found = change_while::<D>(&mut rig, entity, |entity| {
        entity.insert(other);
    });
    same(&found, &large, "a material that came back");
}

#[test]
#[ignore = "needs a device"]
fn mesh_that_comes_back_with_other_attributes_is_drawn_with_own_material() {
    let mut rig = rig();
    let empty = rig.picture();
    let (_, mesh) = tinted(&mut rig);
    let full = rig.picture();
    assert!(full != empty);
    let mut meshes = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes.remove(&mesh);
    same(&rig.picture(), &empty, "no mesh");
    let mut meshes = rig.app.world_mut().resource_mut::<Assets<Mesh>>();
    meshes
        .insert(mesh.id(), cuboid(1.0, true))
        .expect("the handle is kept");
    same(&rig.picture(), &full, "a mesh that came back");
}

/// A cube, or a panorama, with cubes of about this side.
fn sky(side: u32, is_cube: bool) -> Image {
    let size = match is_cube {
        true => [side, side, 6],
        false => [4 * side, 2 * side, 1],
    };
    environment::image(size, |[x, y, face]| {
        let part = |at: u32, count: u32| (at % count) as f32 / count as f32;
        [part(x, size[0]), part(y, size[1]), part(face, 6)]
    })
}

/// A sphere under the first image, which then becomes the second one.
fn under_skies(first: Image, second: Option<Image>) -> Picture {
    let mut rig = rig();
    let image = add(&mut rig, first);
    let surroundings = GeneratedEnvironmentMapLight {
        environment_map: image.clone(),
        intensity: 1000.0,
        ..GeneratedEnvironmentMapLight::default()
    };
    let skybox = Skybox {
        image: Some(image.clone()),
        brightness: 1000.0,
        ..Skybox::default()
    };
    camera(&mut rig).insert((surroundings, skybox));
    let mesh = add(&mut rig, Mesh::from(Sphere::new(1.5)));
    let material = add(
        &mut rig,
        StandardMaterial {
            metallic: 1.0,
            perceptual_roughness: 0.3,
            ..StandardMaterial::default()
        },
    );
    let sphere = (Mesh3d(mesh), MeshMaterial3d(material));
    rig.app.world_mut().spawn(sphere);
    rig.update(3);
    if let Some(second) = second {
        let mut images = rig.app.world_mut().resource_mut::<Assets<Image>>();
        *images.get_mut(&image).expect("it is there") = second;
        rig.update(3);
    }
    rig.picture()
}

#[test]
#[ignore = "needs a device"]
fn sky_that_becomes_another_kind_of_image_is_converted_anew() {
    for is_cube in [true, false] {
        let found = under_skies(sky(4, is_cube), Some(sky(4, !is_cube)));
        let wanted = under_skies(sky(4, !is_cube), None);
        same(&found, &wanted, &format!("was a cube: {is_cube}"));
    }
}

#[test]
#[ignore = "needs a device"]
fn sky_of_another_size_is_filtered_anew() {
    let found = under_skies(sky(64, false), Some(sky(128, false)));
    let wanted = under_skies(sky(128, false), None);
    same(&found, &wanted, "a larger panorama");
}

/// bevy keeps bounds of a light and the mark of a material that an entity has lost, and culls by these.
#[test]
#[ignore = "needs a device"]
fn decals_on_former_lights_and_meshes_are_seen_by_layers_alone() {
    let mut rig = rig();
    let floor = Mesh3d(add(
        &mut rig,
        Mesh::from(Plane3d::default().mesh().size(9.0, 9.0)),
    ));
    let white = MeshMaterial3d(add(&mut rig, StandardMaterial::from(Color::WHITE)));
    rig.app.world_mut().spawn((floor.clone(), white.clone()));
    let empty = rig.picture();
    let image = environment::image([1, 1, 1], |_| [1.0, 0.0, 0.0]);
    let decal = ClusteredDecal {
        base_color_texture: Some(add(&mut rig, image)),
        ..ClusteredDecal::default()
    };
    // The center is far outside of the picture, which the box reaches.
    let place = Transform::from_xyz(20.0, 0.0, 0.0)
        .looking_to(Vec3::NEG_Y, Vec3::X)
        .with_scale(Vec3::new(44.0, 44.0, 2.0));
    let entity = rig.app.world_mut().spawn((decal, place)).id();
    let full = rig.picture();
    assert!(full != empty, "the decal is seen");
    let light = PointLight {
        range: 0.1,
        ..PointLight::default()
    };
    rig.app.world_mut().entity_mut(entity).insert(light);
    rig.update(2);
    rig.app
        .world_mut()
        .entity_mut(entity)
        .remove::<PointLight>();
    same(&rig.picture(), &full, "a former light");
    let mut entity = rig.app.world_mut().entity_mut(entity);
    entity.insert(RenderLayers::layer(1));
    let id = entity.id();
    same(&rig.picture(), &empty, "another layer");
    let mut entity = rig.app.world_mut().entity_mut(id);
    entity.insert((floor, white));
    rig.update(2);
    let mut entity = rig.app.world_mut().entity_mut(id);
    entity.remove::<(Mesh3d, MeshMaterial3d<StandardMaterial>)>();
    same(&rig.picture(), &empty, "a former mesh of another layer");
}

/// A component that was inserted later has a later row in all tables.
#[test]
#[ignore = "needs a device"]
fn blended_meshes_of_equal_depth_are_drawn_by_index() {
    let pictures = [false, true].map(|is_late| {
        let mut rig = rig();
        let mesh = Mesh3d(add(&mut rig, Mesh::from(Rectangle::new(2.0, 2.0))));
        let colors = [
            Color::srgba(1.0, 0.0, 0.0, 0.5),
            Color::srgba(0.0, 0.0, 1.0, 0.5),
        ];
        let [red, blue] = colors.map(|color| {
            let material = StandardMaterial {
                unlit: true,
                alpha_mode: AlphaMode::Blend,
                ..StandardMaterial::from(color)
            };
            MeshMaterial3d(add(&mut rig, material))
        });
        let first = rig.app.world_mut().spawn_empty().id();
        if !is_late {
            let bundle = (mesh.clone(), red.clone());
            rig.app.world_mut().entity_mut(first).insert(bundle);
        }
        rig.app.world_mut().spawn((mesh.clone(), blue));
        rig.update(2);
        if is_late {
            rig.app.world_mut().entity_mut(first).insert((mesh, red));
        }
        rig.picture()
    });
    same(&pictures[1], &pictures[0], "the first mesh came later");
}

#[derive(Component)]
struct Other;

/// A query's order changes with any component of an entity.
#[test]
#[ignore = "needs a device"]
fn fog_volumes_of_equal_depth_are_drawn_by_index() {
    let mut rig = rig();
    camera(&mut rig).insert(VolumetricFog::default());
    let world = rig.app.world_mut();
    world.spawn((DirectionalLight::default(), VolumetricLight));
    let volume = |fog_color| FogVolume {
        fog_color,
        density_factor: 1.0,
        ..FogVolume::default()
    };
    let at = Transform::from_scale(Vec3::splat(2.0));
    let colors = [Color::srgb(1.0, 0.0, 0.0), Color::srgb(0.0, 0.0, 1.0)];
    let [first, _] = colors.map(|color| world.spawn((volume(color), at)).id());
    let wanted = rig.picture();
    rig.app.world_mut().entity_mut(first).insert(Other);
    same(&rig.picture(), &wanted, "another component");
}

#[test]
#[ignore = "needs a device"]
fn sky_is_drawn_anew_after_another_size_of_multiple_scattering() {
    let settings = |side| AtmosphereSettings {
        multiscattering_lut_size: UVec2::splat(side),
        sky_view_lut_size: UVec2::new(32, 16),
        ..AtmosphereSettings::default()
    };
    let [found, wanted] = [[2, 32], [32, 32]].map(|sides| {
        let mut rig = rig();
        let medium = add(
            &mut rig,
            ScatteringMedium::earth(8, 8).with_density_multiplier(20.0),
        );
        let center = GlobalTransform::from_translation(Vec3::NEG_Y * 6_360_000.0);
        let world = rig.app.world_mut();
        world.spawn((Atmosphere::earth(medium), center));
        world.spawn(DirectionalLight::default());
        let pictures = sides.map(|side| {
            camera(&mut rig).insert(settings(side));
            rig.picture()
        });
        assert_eq!(pictures[0] == pictures[1], sides[0] == sides[1]);
        pictures[1].clone()
    });
    same(&found, &wanted, "another size");
}

/// Two entities: the one with the smaller index, and one that comes before it in the order of identifiers, where an index
/// that was used before comes later.
fn later_with_smaller_index(rig: &mut Rig) -> [Entity; 2] {
    for _ in 0..100 {
        let world = rig.app.world_mut();
        let spawned = [(); 8].map(|()| world.spawn_empty().id());
        for a in spawned {
            let mut others = spawned.into_iter();
            let other = others.find(|b| a.index_u32() < b.index_u32() && a > *b);
            if let Some(b) = other {
                return [a, b];
            }
        }
        for entity in spawned.into_iter().step_by(3) {
            world.despawn(entity);
        }
        rig.update(1);
    }
    panic!("no index was used again");
}

#[test]
#[ignore = "needs a device"]
fn planets_of_equal_distance_are_seen_by_index() {
    let mut rig = rig();
    camera(&mut rig).insert(AtmosphereSettings {
        sky_view_lut_size: UVec2::new(32, 16),
        ..AtmosphereSettings::default()
    });
    let mut planet = |factor: f32| {
        let medium = ScatteringMedium::earth(8, 8).with_density_multiplier(factor);
        let center = GlobalTransform::from_translation(Vec3::NEG_Y * 6_360_000.0);
        (Atmosphere::earth(add(&mut rig, medium)), center)
    };
    let [thin, thick] = [0.1, 20.0].map(&mut planet);
    rig.app.world_mut().spawn(DirectionalLight::default());
    let [first, second] = later_with_smaller_index(&mut rig);
    rig.app.world_mut().entity_mut(second).insert(thin);
    let other = rig.picture();
    rig.app.world_mut().entity_mut(first).insert(thick);
    let wanted = rig.picture();
    assert!(wanted != other, "the first index counts");
}
