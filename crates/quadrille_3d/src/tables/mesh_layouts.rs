//! Vertex layouts of meshes, for materials with shaders of their own.

use bevy_asset::AssetId;
use bevy_mesh::{Mesh, MeshVertexBufferLayoutRef};
use bevy_platform::collections::HashMap;
use bevy_platform::sync::Arc;
use quadrille_content::meshes::{OwnAttributes, is_released};

use crate::tables::mesh_vertex::{STANDARD_ATTRIBUTES, Vertex};

/// Index of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayoutId(usize);

/// Vertex layout that meshes share.
pub(crate) struct MeshLayout {
    /// The layout for `specialize`.
    pub(crate) reference: MeshVertexBufferLayoutRef,
    /// Attributes of programs.
    pub(crate) own: OwnAttributes,
}

/// Layouts of all meshes.
#[derive(Default)]
pub(crate) struct MeshLayouts {
    layouts: Vec<MeshLayout>,
    by_mesh: HashMap<AssetId<Mesh>, LayoutId>,
}

impl MeshLayouts {
    /// The layout of a mesh; `None` while it is not loaded.
    pub(crate) fn of(&self, mesh: AssetId<Mesh>) -> Option<LayoutId> {
        self.by_mesh.get(&mesh).copied()
    }

    /// The layout with this index.
    pub(crate) fn get(&self, LayoutId(index): LayoutId) -> &MeshLayout {
        &self.layouts[index]
    }

    /// Reads the layout of a loaded mesh. Returns whether it is new or another one than before. A mesh whose data was
    /// released keeps its layout.
    pub(crate) fn update(&mut self, id: AssetId<Mesh>, mesh: &Mesh) -> bool {
        if is_released(mesh) {
            return false;
        }
        let own = OwnAttributes::of(mesh);
        let stride = size_of::<Vertex>() as u64;
        let layout = own.buffer_layout(mesh, &STANDARD_ATTRIBUTES, stride);
        let mut known = self.layouts.iter();
        let index = known.position(|it| *it.reference.0 == layout && it.own == own);
        let index = index.unwrap_or_else(|| {
            self.layouts.push(MeshLayout {
                reference: MeshVertexBufferLayoutRef(Arc::new(layout)),
                own,
            });
            self.layouts.len() - 1
        });
        let layout = LayoutId(index);
        self.by_mesh.insert(id, layout) != Some(layout)
    }

    /// Removes a mesh.
    pub(crate) fn remove(&mut self, mesh: AssetId<Mesh>) {
        self.by_mesh.remove(&mesh);
    }
}
