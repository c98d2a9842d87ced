//! Vertex layouts of meshes, for materials with shaders of their own.

use std::marker::PhantomData;

use bevy_asset::AssetId;
use bevy_mesh::{Mesh, MeshVertexAttribute, MeshVertexBufferLayout, MeshVertexBufferLayoutRef};
use bevy_platform::collections::HashMap;
use bevy_platform::sync::Arc;

use crate::meshes::assets::is_released;
use crate::meshes::data::MeshVertex;
use crate::meshes::own_attributes::OwnAttributes;

/// Index of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutId(usize);

/// Vertex layout that meshes share.
pub struct MeshLayout {
    /// The layout for `specialize`.
    pub reference: MeshVertexBufferLayoutRef,
    /// Attributes of programs.
    pub own: OwnAttributes,
}

/// Layouts of all meshes with vertices of type `V`.
pub struct MeshLayouts<V> {
    layouts: Vec<MeshLayout>,
    by_mesh: HashMap<AssetId<Mesh>, LayoutId>,
    vertex: PhantomData<fn() -> V>,
}

impl<V> Default for MeshLayouts<V> {
    fn default() -> Self {
        Self {
            layouts: Vec::new(),
            by_mesh: HashMap::default(),
            vertex: PhantomData,
        }
    }
}

impl<V: MeshVertex> MeshLayouts<V> {
    /// The layout of vertices with all attributes of `V`, and none of programs.
    pub fn plain(&mut self) -> LayoutId {
        self.add(OwnAttributes::default(), |own| {
            own.buffer_layout(|_| true, V::ATTRIBUTES, size_of::<V>() as u64)
        })
    }

    /// The layout of a mesh; `None` while it is not loaded.
    pub fn of(&self, mesh: AssetId<Mesh>) -> Option<LayoutId> {
        self.by_mesh.get(&mesh).copied()
    }

    /// The layout with this index.
    pub fn get(&self, LayoutId(index): LayoutId) -> &MeshLayout {
        &self.layouts[index]
    }

    /// Reads the layout of a loaded mesh. Returns whether it is new or another one than before. A mesh whose data was
    /// released keeps its layout.
    pub fn update(&mut self, id: AssetId<Mesh>, mesh: &Mesh) -> bool {
        if is_released(mesh) {
            return false;
        }
        let has = |attribute: &MeshVertexAttribute| {
            let found = mesh.try_attribute_option(*attribute);
            V::HAS_ALL_ATTRIBUTES || found.is_ok_and(|it| it.is_some())
        };
        let layout = self.add(OwnAttributes::of(mesh), |own| {
            own.buffer_layout(has, V::ATTRIBUTES, size_of::<V>() as u64)
        });
        self.by_mesh.insert(id, layout) != Some(layout)
    }

    /// Index of the layout of meshes with these attributes of programs, which is added if it is new.
    fn add(
        &mut self,
        own: OwnAttributes,
        layout: impl FnOnce(&OwnAttributes) -> MeshVertexBufferLayout,
    ) -> LayoutId {
        let layout = layout(&own);
        let mut known = self.layouts.iter();
        let index = known.position(|it| *it.reference.0 == layout && it.own == own);
        let index = index.unwrap_or_else(|| {
            self.layouts.push(MeshLayout {
                reference: MeshVertexBufferLayoutRef(Arc::new(layout)),
                own,
            });
            self.layouts.len() - 1
        });
        LayoutId(index)
    }

    /// Removes a mesh.
    pub fn remove(&mut self, mesh: AssetId<Mesh>) {
        self.by_mesh.remove(&mesh);
    }
}
