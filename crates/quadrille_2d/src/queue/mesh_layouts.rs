//! Vertex layouts of the meshes that materials of programs are drawn on.

use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_mesh::{Mesh, Mesh2d};

use crate::scene::materials::{MaterialInstance, Materials2d};

/// Components of a mesh with a material.
type Pair = (&'static Mesh2d, &'static MaterialInstance);

/// Filter of entities whose mesh or material is another one, including disabled entities.
type ChangedPairs = (
    Or<(Changed<Mesh2d>, Changed<MaterialInstance>)>,
    Allow<Disabled>,
);

/// Reads the layouts of loaded and changed meshes, and specializes the materials of entities for them.
pub(crate) fn find_mesh_layouts(
    mut materials: ResMut<Materials2d>,
    assets: Res<Assets<Mesh>>,
    mut events: MessageReader<AssetEvent<Mesh>>,
    changed: Query<Pair, ChangedPairs>,
    all: Query<Pair, Allow<Disabled>>,
) {
    if materials.types.is_empty() {
        events.clear();
        return;
    }
    let mut is_other = false;
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                is_other |= read_layout(&mut materials, id, &assets);
            }
            // An asset that is removed may come back with other attributes.
            AssetEvent::Unused { id } => {
                materials.layouts.remove(id);
                materials.awaited.remove(&id);
            }
            AssetEvent::Removed { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    let pair = |(mesh, material): (&Mesh2d, &MaterialInstance)| Some((mesh.id(), material.0?));
    let pairs: Vec<_> = match is_other {
        true => all.iter().filter_map(pair).collect(),
        false => changed.iter().filter_map(pair).collect(),
    };
    for (mesh, material) in pairs {
        if materials.layouts.of(mesh).is_none() {
            materials.awaited.insert(mesh);
            read_layout(&mut materials, mesh, &assets);
        }
        if let Some(layout) = materials.layouts.of(mesh) {
            materials.add_layout(material, layout);
        }
    }
}

/// Reads the layout of a mesh if it is loaded. Returns whether entities that have it are to be visited.
fn read_layout(materials: &mut Materials2d, id: AssetId<Mesh>, assets: &Assets<Mesh>) -> bool {
    let Some(mesh) = assets.get(id) else {
        return false;
    };
    let was_known = materials.layouts.of(id).is_some();
    let is_other = materials.layouts.update(id, mesh);
    if is_other && was_known {
        materials.change_layout();
    }
    is_other && (materials.awaited.remove(&id) || was_known)
}
