//! `specialize` of materials, shared by those with equal keys.

use std::hash::Hash;
use std::sync::Arc;

use bevy_mesh::MeshVertexBufferLayoutRef;
use bevy_platform::collections::HashMap;

use crate::materials::descriptor::{RenderPipelineDescriptor, SpecializedMeshPipelineError};

/// `specialize` of a material with its key: changes the state of the pipelines for meshes of a vertex layout.
pub type Specialize = dyn Fn(
        &mut RenderPipelineDescriptor,
        &MeshVertexBufferLayoutRef,
    ) -> Result<(), SpecializedMeshPipelineError>
    + Send
    + Sync;

/// [`Specialize`] of a material type by key. A changed material that gets the same one ([`Arc::ptr_eq`]) keeps its
/// pipelines.
///
/// ```
/// use std::sync::Arc;
/// use quadrille_content::materials::Specializers;
///
/// let mut specializers = Specializers::default();
/// let first = specializers.get("mirror", |_key| |_, _| Ok(()));
/// assert!(Arc::ptr_eq(&first, &specializers.get("mirror", |_key| |_, _| Ok(()))));
/// assert!(!Arc::ptr_eq(&first, &specializers.get("glass", |_key| |_, _| Ok(()))));
/// ```
pub struct Specializers<K>(HashMap<K, Arc<Specialize>>);

impl<K> Default for Specializers<K> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Clone + Eq + Hash> Specializers<K> {
    /// Returns the one of a key, created by `create` if it is new.
    pub fn get<F>(&mut self, key: K, create: impl FnOnce(K) -> F) -> Arc<Specialize>
    where
        F: Fn(
                &mut RenderPipelineDescriptor,
                &MeshVertexBufferLayoutRef,
            ) -> Result<(), SpecializedMeshPipelineError>
            + Send
            + Sync
            + 'static,
    {
        let entry = self.0.entry(key);
        let specialize = entry.or_insert_with_key(|key| Arc::new(create(key.clone())));
        Arc::clone(specialize)
    }

    /// Drops those that no material has any more.
    pub fn forget_unused(&mut self) {
        self.0
            .retain(|_, specialize| Arc::strong_count(specialize) > 1);
    }
}

#[cfg(test)]
mod tests;
