//! 2D pictures of worlds in which entities and assets are added, changed and removed at random: see
//! `common/lifecycle.rs`.

#[path = "lifecycle/assets.rs"]
mod assets;
#[path = "lifecycle/cases.rs"]
mod cases;
#[path = "lifecycle/drawn.rs"]
mod drawn;
#[path = "lifecycle/materials.rs"]
mod materials;
#[path = "lifecycle/nodes.rs"]
mod nodes;
#[path = "lifecycle/own_cases.rs"]
mod own_cases;
#[path = "lifecycle/values.rs"]
mod values;
#[path = "lifecycle/viewports.rs"]
mod viewports;

use bevy_app::First;
use bevy_ecs::entity_disabling::{DefaultQueryFilters, Disabled};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::*;

use crate::common::Rig;
use crate::common::lifecycle::{AssetKind, Crowd, Files, Stage, run};

/// Disables entities like `Disabled`, as a program's own disabling component.
#[derive(Component, Clone, Default, Reflect)]
#[reflect(Component)]
struct Asleep;

/// An app of 96 by 64 pixels whose children are sorted by index: draw order depends on the order of children, which is
/// not part of a life.
fn rig() -> Rig {
    let mut rig = Rig::built(96, 64, |app, renderer| {
        Files::add_to(app);
        app.add_plugins(renderer)
            .add_plugins((Quadrille2dPlugin::default(), GizmoPlugin))
            .register_type::<Asleep>();
        materials::add_materials(app);
    });
    let world = rig.app.world_mut();
    let asleep = world.register_component::<Asleep>();
    let mut filters = world.resource_mut::<DefaultQueryFilters>();
    filters.register_disabling_component(asleep);
    world.insert_resource(ClearColor(Color::srgb(0.1, 0.2, 0.3)));
    rig.app.add_systems(First, (sort_children, lay_out_again));
    rig
}

/// Lays everything out again in every second frame, as fresh worlds do: bevy keeps the layout of a text that lost its last span
/// or changed while no camera saw it, and the size of a node whose content went. Each frame draws what bevy laid out.
fn lay_out_again(
    mut texts: Query<&mut Text2d>,
    mut nodes: Query<(&mut Node, Option<&mut Text>, Option<&mut ImageNode>)>,
    mut is_second: Local<bool>,
) {
    *is_second = !*is_second;
    if !*is_second {
        return;
    }
    texts.iter_mut().for_each(|mut text| text.set_changed());
    for (mut node, mut text, mut image) in &mut nodes {
        node.set_changed();
        text.iter_mut().for_each(|text| text.set_changed());
        image.iter_mut().for_each(|image| image.set_changed());
    }
}

fn sort_children(world: &mut World) {
    type All = (Allow<Disabled>, Allow<Asleep>);
    let mut parents = world.query_filtered::<(Entity, &Children), All>();
    let sorted = |children: &Children| children.is_sorted_by_key(|child| child.index_u32());
    let unsorted: Vec<_> = parents
        .iter(world)
        .filter(|(_, children)| !sorted(children))
        .map(|(parent, children)| (parent, children.to_vec()))
        .collect();
    for (parent, mut children) in unsorted {
        children.sort_unstable_by_key(|child| child.index_u32());
        world.entity_mut(parent).replace_children(&children);
    }
}

const ASSETS: &[AssetKind] = &[
    AssetKind::new::<Image>("image", assets::IMAGES).with_files::<Image>(assets::FILES),
    AssetKind::new::<TextureAtlasLayout>("atlas", 2),
    AssetKind::new::<Mesh>("mesh", 4),
    AssetKind::new::<ColorMaterial>("material", 4),
    AssetKind::new::<materials::Tinted>("tinted material", 3),
    AssetKind::new::<materials::High>("high material", 2),
    AssetKind::new::<materials::Faded>("material of sprites", 2),
    AssetKind::new::<materials::Bar>("material of nodes", 2),
    AssetKind::new::<GizmoAsset>("gizmo", 2),
];

const DRAWN: Stage = Stage {
    begin: drawn::begin,
    order: |entity| u64::from(entity.index_u32()),
    parts: drawn::OF_ENTITIES,
    presets: &[
        &["transform", "sprite"],
        &["transform", "sprite", "anchor"],
        &["transform", "sprite", "material"],
        &["transform", "sprite", "group"],
        &["transform", "mesh", "material"],
        &["transform", "mesh", "material"],
        &["transform", "text"],
        &["transform", "gizmo"],
        &["span", "group"],
    ],
    fixed: drawn::OF_FIXED,
    fixed_percentage: 0,
    assets: ASSETS,
    crowd: Crowd {
        most: 500,
        insert: drawn::insert_one_of_many,
    },
    travels: true,
    settling: 4,
};

const NODES: Stage = Stage {
    begin: nodes::begin,
    order: |entity| u64::from(entity.index_u32()),
    parts: nodes::OF_ENTITIES,
    presets: &[
        &["node", "background"],
        &["node", "background", "border"],
        &["node", "content"],
        &["node", "content"],
        &["node", "gradient", "group"],
        &["node", "shadow", "outline", "group"],
        &["span", "group"],
        &["node", "material"],
        &["inline image", "group"],
    ],
    fixed: nodes::OF_FIXED,
    fixed_percentage: 0,
    assets: ASSETS,
    crowd: Crowd {
        most: 200,
        insert: nodes::insert_one_of_many,
    },
    // A cloned node keeps the layout that bevy computed for it elsewhere.
    travels: false,
    settling: 4,
};

#[test]
#[ignore = "needs a device"]
fn random_lives_of_sprites_look_like_fresh_worlds() {
    run(&DRAWN, [2, 60, 15]);
}

#[test]
#[ignore = "needs a device"]
fn random_lives_of_nodes_look_like_fresh_worlds() {
    run(&NODES, [2, 60, 15]);
}
