//! Mesh assets shared by the allocators of 2D and 3D: errors are reported once, data is released once.

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_mesh::{Mesh, MeshAccessError};
use bevy_platform::collections::{HashMap, HashSet};

use crate::warnings::asset_label;

/// Shared state of 2D and 3D about drawn mesh assets.
#[derive(Resource, Default)]
pub struct DrawnMeshes {
    /// Meshes that were read in this frame.
    read: Vec<AssetId<Mesh>>,
    /// Reported errors by mesh: vertex type and reason.
    errors: HashMap<AssetId<Mesh>, Vec<(TypeId, String)>>,
    /// Released meshes for which a lost change was reported.
    change_reported: HashSet<AssetId<Mesh>>,
}

impl DrawnMeshes {
    /// Records the last error for a vertex type. Returns it if it is not yet reported for any type.
    fn record_reason<V: 'static>(&mut self, id: AssetId<Mesh>, reason: String) -> Option<&str> {
        let reasons = self.errors.entry(id).or_default();
        let is_known = reasons.iter().any(|(_, known)| *known == reason);
        reasons.retain(|(kind, _)| *kind != TypeId::of::<V>());
        reasons.push((TypeId::of::<V>(), reason));
        let (_, reason) = reasons.last()?;
        (!is_known).then_some(reason)
    }
}

/// Mesh assets and their events.
#[derive(SystemParam)]
pub struct MeshAssets<'w, 's> {
    events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    assets: Res<'w, Assets<Mesh>>,
    drawn: ResMut<'w, DrawnMeshes>,
    server: Res<'w, AssetServer>,
}

/// Whether the data of a mesh was released after its upload ([`RenderAssetUsages::RENDER_WORLD`]).
pub fn is_released(mesh: &Mesh) -> bool {
    matches!(
        mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION),
        Err(MeshAccessError::ExtractedToRenderWorld)
    )
}

impl MeshAssets<'_, '_> {
    /// Reads the events since the last call.
    pub(crate) fn events(&mut self) -> Vec<AssetEvent<Mesh>> {
        self.events.read().copied().collect()
    }

    /// Returns the asset if it is loaded.
    pub fn get(&self, id: AssetId<Mesh>) -> Option<&Mesh> {
        self.assets.get(id)
    }

    /// Records that a mesh was read for a vertex type, so that its data may be released at the end of the frame. Warns
    /// about skipped primitives.
    pub(crate) fn mark_read<V: 'static>(&mut self, id: AssetId<Mesh>, skipped: Option<String>) {
        self.drawn.read.push(id);
        self.drawn.change_reported.remove(&id);
        match skipped {
            Some(reason) => {
                if let Some(reason) = self.drawn.record_reason::<V>(id, reason) {
                    let name = asset_label(id, &self.server);
                    tracing::warn!("{name} cannot be drawn completely: {reason}");
                }
            }
            None => {
                if let Some(reasons) = self.drawn.errors.get_mut(&id) {
                    reasons.retain(|(kind, _)| *kind != TypeId::of::<V>());
                }
            }
        }
    }

    /// Logs why a mesh cannot be drawn, unless that is already reported.
    pub(crate) fn report_error<V: 'static>(&mut self, id: AssetId<Mesh>, reason: String) {
        if let Some(reason) = self.drawn.record_reason::<V>(id, reason) {
            let name = asset_label(id, &self.server);
            tracing::error!("{name} cannot be drawn: {reason}");
        }
    }

    /// Logs that a change of a released mesh is lost, once per upload.
    pub(crate) fn report_lost_change(&mut self, id: AssetId<Mesh>) {
        if self.drawn.change_reported.insert(id) {
            tracing::error!(
                "{} was changed after its data was moved to the device, so the change is lost; add \
                 `RenderAssetUsages::MAIN_WORLD`, or insert a complete mesh",
                asset_label(id, &self.server)
            );
        }
    }

    /// Removes the reports of a removed mesh.
    pub(crate) fn remove(&mut self, id: AssetId<Mesh>) {
        self.drawn.errors.remove(&id);
        self.drawn.change_reported.remove(&id);
    }

    /// Reloads the file of a mesh whose data was lost with a device. Returns whether it has one.
    pub(crate) fn reload(&self, id: AssetId<Mesh>) -> bool {
        let path = self.server.get_path(id);
        let has_file = path.is_some();
        if let Some(path) = path {
            self.server.reload(path.without_label());
        }
        has_file
    }
}

/// Releases the data of read meshes without `RenderAssetUsages::MAIN_WORLD`, after both allocators have run.
pub(crate) fn release_meshes(mut drawn: ResMut<DrawnMeshes>, mut assets: ResMut<Assets<Mesh>>) {
    if drawn.read.is_empty() {
        return;
    }
    for id in drawn.read.drain(..) {
        if let Some(mesh) = assets.get_mut_untracked(id)
            && mesh.asset_usage == RenderAssetUsages::RENDER_WORLD
        {
            // Fails if already taken: both allocators have read the mesh.
            let _ = mesh.take_gpu_data();
        }
    }
}
