//! Entities of the buildings and of what stands on their roofs. All share a few meshes and materials, so that the
//! renderer draws thousands of them by one indirect call.

use bevy_app::{App, Plugin, Startup};
use bevy_ecs::prelude::*;
use examples::random::Random;
use quadrille_3d::prelude::*;

use crate::city::Solid;
use crate::game::Game;
use crate::quality::Quality;
use crate::windows::{Facade, facades};

/// Spawns the buildings.
pub(crate) struct BuildingsPlugin;

impl Plugin for BuildingsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_solids, spawn_props));
    }
}

/// Returns one mesh of boxes, each with its size and its middle.
pub(crate) fn merged<const N: usize>(boxes: [(Vec3, Vec3); N]) -> Mesh {
    let mut parts = boxes
        .into_iter()
        .map(|(size, middle)| Cuboid::from_size(size).mesh().build().translated_by(middle));
    let first = parts.next().unwrap_or_else(|| Cuboid::default().into());
    parts.fold(first, |mut all, part| {
        // Boxes have the same attributes, so nothing can fail.
        let _ = all.merge(&part);
        all
    })
}

/// One unit cube, scaled to each solid. Solids are not turned, so the shader of windows gets the size from the scale.
fn spawn_solids(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Facade>>,
    game: Res<Game>,
) {
    let cube = meshes.add(Cuboid::from_length(1.0));
    let facades = facades(&mut materials);
    for solid in &game.city.solids {
        commands.spawn((
            Mesh3d(cube.clone()),
            MeshMaterial3d(facades[solid.style].clone()),
            Transform::from_translation(solid.center()).with_scale(solid.size()),
        ));
    }
}

/// Shared meshes and materials of props.
struct Props {
    vent: Handle<Mesh>,
    tank: Handle<Mesh>,
    mast: Handle<Mesh>,
    beacon: Handle<Mesh>,
    metal: Handle<StandardMaterial>,
    red: Handle<StandardMaterial>,
}

fn spawn_props(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    game: Res<Game>,
    quality: Res<Quality>,
) {
    let props = Props {
        vent: meshes.add(merged([
            (Vec3::new(2.4, 1.3, 1.8), Vec3::Y * 0.65),
            (Vec3::new(1.2, 0.5, 1.2), Vec3::Y * 1.5),
        ])),
        tank: meshes.add(
            Cylinder::new(1.3, 2.6)
                .mesh()
                .resolution(10)
                .build()
                .translated_by(Vec3::Y * 2.4),
        ),
        mast: meshes.add(merged([
            (Vec3::new(0.25, 9.0, 0.25), Vec3::Y * 4.5),
            (Vec3::new(1.6, 0.12, 0.12), Vec3::Y * 6.5),
        ])),
        beacon: meshes.add(Cuboid::from_length(0.55)),
        metal: materials.add(StandardMaterial {
            perceptual_roughness: 0.7,
            ..StandardMaterial::from(Color::srgb(0.22, 0.24, 0.28))
        }),
        red: materials.add(StandardMaterial {
            emissive: LinearRgba::rgb(14.0, 0.7, 0.4),
            emissive_exposure_weight: 0.0,
            ..StandardMaterial::from(Color::BLACK)
        }),
    };
    let mut random = Random::new(0x90f);
    for solid in game.city.solids.iter().filter(|solid| solid.is_top) {
        if random.within(0.0, 1.0) < quality.props() {
            spawn_on_roof(&mut commands, &props, solid, &mut random, *quality);
        }
    }
}

/// Puts something on a roof: a mast with a light on a tower, tanks and vents on others.
fn spawn_on_roof(
    commands: &mut Commands,
    props: &Props,
    solid: &Solid,
    random: &mut Random,
    quality: Quality,
) {
    let half = solid.size() / 2.0 - 1.6;
    let roof = solid.center().with_y(solid.max.y);
    let mut anywhere = || {
        let x = random.within(-half.x.max(0.1), half.x.max(0.1));
        roof + Vec3::new(x, 0.0, random.within(-half.z.max(0.1), half.z.max(0.1)))
    };
    let mut spawn = |mesh: &Handle<Mesh>, material: &Handle<StandardMaterial>, at: Vec3, range| {
        commands.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            Transform::from_translation(at),
            quality.visible_up_to(range),
        ));
    };
    if solid.max.y > 60.0 {
        spawn(&props.mast, &props.metal, roof, 900.0);
        spawn(&props.beacon, &props.red, roof + Vec3::Y * 9.2, 2500.0);
    }
    let things = 1 + (solid.size().x * solid.size().z / 150.0) as u32;
    for index in 0..things.min(4) {
        let mesh = [&props.vent, &props.tank][(index % 2) as usize];
        spawn(mesh, &props.metal, anywhere(), 320.0);
    }
}
