//! Vertex layouts of the meshes that materials of programs are drawn on.

use bevy_asset::{AssetEvent, AssetId, Assets, UntypedAssetId};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_ecs::system::SystemParam;
use bevy_mesh::{Mesh, Mesh3d};

use super::{CustomMaterials, MaterialInstance};
use crate::extract::materials::MaterialRow;
use crate::tables::table::Table;
use crate::tables::textures::TextureSource;
use quadrille_content::meshes::LayoutId;

/// Filter of entities whose mesh or material is another one, including disabled entities.
type ChangedPairs = (
    Or<(Changed<Mesh3d>, Changed<MaterialInstance>)>,
    Allow<Disabled>,
);

/// Meshes with materials of programs.
#[derive(SystemParam)]
pub(crate) struct MaterialMeshes<'w, 's> {
    assets: Res<'w, Assets<Mesh>>,
    events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    changed: Query<'w, 's, (&'static Mesh3d, &'static MaterialInstance), ChangedPairs>,
    all: Query<'w, 's, (&'static Mesh3d, &'static MaterialInstance), Allow<Disabled>>,
}

impl CustomMaterials {
    /// Reads the layouts of loaded and changed meshes, and specializes the materials of entities for them.
    pub(crate) fn find_layouts(
        &mut self,
        meshes: &mut MaterialMeshes<'_, '_>,
        (table, textures): (&mut Table<MaterialRow>, &mut TextureSource<'_>),
    ) {
        if self.types.is_empty() {
            meshes.events.clear();
            return;
        }
        let mut is_other = false;
        for event in meshes.events.read() {
            match *event {
                AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                    is_other |= self.read_layout(id, &meshes.assets);
                }
                // An asset that is removed may come back with other attributes.
                AssetEvent::Unused { id } => {
                    self.layouts.remove(id);
                    self.awaited.remove(&id);
                }
                AssetEvent::Removed { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
            }
        }
        let pairs: Vec<_> = match is_other {
            true => meshes.all.iter().map(pair).collect(),
            false => meshes.changed.iter().map(pair).collect(),
        };
        for (mesh, material) in pairs {
            let Some(material) = material else {
                continue;
            };
            if self.layouts.of(mesh).is_none() {
                self.awaited.insert(mesh);
                self.read_layout(mesh, &meshes.assets);
            }
            if let Some(layout) = self.layouts.of(mesh) {
                self.add_layout((material, layout), (table, textures));
            }
        }
    }

    /// Reads the layout of a mesh if it is loaded. Returns whether entities that have it are to be visited.
    fn read_layout(&mut self, id: AssetId<Mesh>, assets: &Assets<Mesh>) -> bool {
        let Some(mesh) = assets.get(id) else {
            return false;
        };
        let was_known = self.layouts.of(id).is_some();
        let is_other = self.layouts.update(id, mesh);
        is_other && (self.awaited.remove(&id) || was_known)
    }

    /// Specializes a material for meshes of a layout.
    fn add_layout(
        &mut self,
        (id, layout): (UntypedAssetId, LayoutId),
        (table, textures): (&mut Table<MaterialRow>, &mut TextureSource<'_>),
    ) {
        let wanted = self.layouts_of.entry(id).or_default();
        if wanted.contains(&layout) {
            return;
        }
        wanted.push(layout);
        let Some(material) = self.materials.get_mut(&id) else {
            return;
        };
        let of_type = &mut self.types[material.of_type];
        of_type.add_layout(material, (layout, self.layouts.get(layout)));
        table.set(material.index, of_type.base_row(material, textures));
        self.is_other = true;
        self.are_bound_dirty = true;
    }

    /// Forgets the layouts of a material whose last handle was dropped.
    pub(crate) fn forget(&mut self, id: UntypedAssetId) {
        self.layouts_of.remove(&id);
    }
}

fn pair((mesh, instance): (&Mesh3d, &MaterialInstance)) -> (AssetId<Mesh>, Option<UntypedAssetId>) {
    (mesh.id(), instance.0)
}
