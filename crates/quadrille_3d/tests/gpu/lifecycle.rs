//! 3D pictures of worlds in which entities and assets are added, changed and removed at random: see
//! `common/lifecycle.rs`.

#[path = "lifecycle/assets.rs"]
mod assets;
#[path = "lifecycle/cameras.rs"]
mod cameras;
#[path = "lifecycle/cases.rs"]
mod cases;
#[path = "lifecycle/effects.rs"]
mod effects;
#[path = "lifecycle/lights.rs"]
mod lights;
#[path = "lifecycle/materials.rs"]
mod materials;
#[path = "lifecycle/own_cases.rs"]
mod own_cases;
#[path = "lifecycle/parts.rs"]
mod parts;

use bevy_ecs::entity_disabling::DefaultQueryFilters;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{DirectionalLightShadowMap, GlobalAmbientLight, PointLightShadowMap};
use bevy_reflect::Reflect;
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::WireframePlugin;

use crate::common::Rig;
use crate::common::lifecycle::{AssetKind, Crowd, Files, Fixed, Stage, run};

/// Disables entities like `Disabled`, as a program's own disabling component.
#[derive(Component, Clone, Default, Reflect)]
#[reflect(Component)]
struct Asleep;

const MESHES: usize = 5;

/// A picture of 64 by 64 pixels, and shadow maps of that size: the order of changes is tested, not image quality.
fn begin() -> Rig {
    let plugins = (
        Quadrille3dPlugin::default(),
        WireframePlugin {},
        GizmoPlugin,
    );
    let mut rig = Rig::built(64, 64, |app, renderer| {
        Files::add_to(app);
        app.add_plugins(renderer).add_plugins(plugins);
        materials::add_materials(app);
        app.register_type::<Asleep>();
    });
    let world = rig.app.world_mut();
    let asleep = world.register_component::<Asleep>();
    let mut filters = world.resource_mut::<DefaultQueryFilters>();
    filters.register_disabling_component(asleep);
    world.insert_resource(ClearColor(Color::srgb(0.1, 0.2, 0.3)));
    world.insert_resource(DirectionalLightShadowMap { size: 64 });
    world.insert_resource(PointLightShadowMap { size: 32 });
    world.insert_resource(GlobalAmbientLight {
        brightness: 1000.0,
        ..GlobalAmbientLight::default()
    });
    let camera = (
        Camera3d::default(),
        Transform::from_xyz(0.0, 1.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
    );
    let mut fixed = vec![world.spawn(camera).id(), world.spawn_empty().id()];
    for _ in 0..parts::GROUPS {
        let group = world.spawn((Transform::default(), Visibility::default()));
        fixed.push(group.id());
    }
    world.insert_resource(Fixed(fixed));
    rig
}

const STAGE: Stage = Stage {
    begin,
    // Lights, probes and gizmos are drawn in the order of indices.
    order: |entity| u64::from(entity.index_u32()),
    parts: parts::ENTITY_PARTS,
    presets: &[
        &["transform", "mesh", "material"],
        &["transform", "mesh", "material"],
        &["transform", "mesh", "material", "group"],
        &["transform", "mesh", "material", "skin"],
        &["transform", "directional light"],
        &["transform", "point light"],
        &["transform", "spot light"],
        &["transform", "rectangle of light"],
        &["transform", "reflection probe"],
        &["transform", "irradiance volume"],
        &["transform", "gizmo"],
        &["transform", "fog volume"],
        &["transform", "directional light", "volumetric light"],
        &["transform", "clustered decal"],
        &["transform", "forward decal", "material"],
    ],
    fixed: &[
        cameras::CAMERA_PARTS,
        cameras::PLANET_PARTS,
        parts::GROUP_PARTS,
        parts::GROUP_PARTS,
        parts::GROUP_PARTS,
    ],
    fixed_percentage: 5,
    assets: &[
        AssetKind::new::<Mesh>("mesh", MESHES),
        AssetKind::new::<StandardMaterial>("material", 5),
        AssetKind::new::<materials::Tinted>("tinted material", 3),
        AssetKind::new::<materials::Mirror>("mirror", 3),
        AssetKind::new::<materials::Extended>("extended material", 3),
        AssetKind::new::<materials::DecalMaterial>("material of decals", 2),
        AssetKind::new::<ScatteringMedium>("medium", 2),
        AssetKind::new::<Image>("image", assets::IMAGES).with_files::<Image>(assets::FILES),
        AssetKind::new::<GizmoAsset>("lines", 2),
        AssetKind::new::<bevy_mesh::skinning::SkinnedMeshInverseBindposes>("bind poses", 2),
    ],
    crowd: Crowd {
        most: 2000,
        insert: parts::insert_one_of_many,
    },
    travels: true,
    settling: 2,
};

/// The same with effects, and less of the rest.
const EFFECTS: Stage = Stage {
    fixed: &[
        effects::EFFECT_PARTS,
        cameras::PLANET_PARTS,
        parts::GROUP_PARTS,
        parts::GROUP_PARTS,
        parts::GROUP_PARTS,
    ],
    fixed_percentage: 40,
    ..STAGE
};

#[test]
#[ignore = "needs a device"]
fn random_changes_match_fresh_world() {
    run(&STAGE, [1, 60, 30]);
}

#[test]
#[ignore = "needs a device"]
fn random_changes_of_effects_match_fresh_world() {
    run(&EFFECTS, [1, 60, 30]);
}
