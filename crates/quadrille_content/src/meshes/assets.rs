//! Mesh assets for the mesh allocators of 2D and 3D: errors reported once, data released once.

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetServer, Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_mesh::{Mesh, MeshAccessError};
use bevy_platform::collections::{HashMap, HashSet};

use crate::warnings::asset_label;

/// State that 2D and 3D share of the mesh assets that they draw.
#[derive(Resource, Default)]
pub struct DrawnMeshes {
    /// Meshes that were read in this frame.
    read: Vec<AssetId<Mesh>>,
    /// Meshes that cannot be drawn, or not all of them, with the kinds of vertices for which that was said, and why.
    errors: HashMap<AssetId<Mesh>, Vec<(TypeId, String)>>,
    /// Meshes of which it was said that a change after their release is lost.
    change_reported: HashSet<AssetId<Mesh>>,
}

impl DrawnMeshes {
    /// Notes the last reason for a kind of vertices. Returns it if it was the last of neither kind.
    fn record_reason<V: 'static>(&mut self, id: AssetId<Mesh>, reason: String) -> Option<&str> {
        let reasons = self.errors.entry(id).or_default();
        let is_known = reasons.iter().any(|(_, known)| *known == reason);
        reasons.retain(|(kind, _)| *kind != TypeId::of::<V>());
        reasons.push((TypeId::of::<V>(), reason));
        let (_, reason) = reasons.last()?;
        (!is_known).then_some(reason)
    }
}

/// The mesh assets, and what happened to them since the last frame.
#[derive(SystemParam)]
pub struct MeshAssets<'w, 's> {
    events: MessageReader<'w, 's, AssetEvent<Mesh>>,
    assets: Res<'w, Assets<Mesh>>,
    drawn: ResMut<'w, DrawnMeshes>,
    server: Res<'w, AssetServer>,
}

/// Whether the data of a mesh went to the device ([`RenderAssetUsages::RENDER_WORLD`]).
pub fn is_released(mesh: &Mesh) -> bool {
    matches!(
        mesh.try_attribute_option(Mesh::ATTRIBUTE_POSITION),
        Err(MeshAccessError::ExtractedToRenderWorld)
    )
}

impl MeshAssets<'_, '_> {
    /// Events since the last call.
    pub(crate) fn events(&mut self) -> Vec<AssetEvent<Mesh>> {
        self.events.read().copied().collect()
    }

    /// The asset, if it is there.
    pub fn get(&self, id: AssetId<Mesh>) -> Option<&Mesh> {
        self.assets.get(id)
    }

    /// Notes that a mesh was read for vertices of a kind: its data may go at the end of the frame. Says what
    /// of it is left out.
    pub(crate) fn mark_read<V: 'static>(&mut self, id: AssetId<Mesh>, skipped: Option<String>) {
        self.drawn.read.push(id);
        self.drawn.change_reported.remove(&id);
        match skipped {
            Some(reason) => {
                if let Some(reason) = self.drawn.record_reason::<V>(id, reason) {
                    let name = asset_label(id, &self.server);
                    tracing::warn!("a part of {name} cannot be drawn: {reason}");
                }
            }
            None => {
                if let Some(reasons) = self.drawn.errors.get_mut(&id) {
                    reasons.retain(|(kind, _)| *kind != TypeId::of::<V>());
                }
            }
        }
    }

    /// Says why a mesh cannot be drawn, unless that was the last reason for either kind of vertices.
    pub(crate) fn report_error<V: 'static>(&mut self, id: AssetId<Mesh>, reason: String) {
        if let Some(reason) = self.drawn.record_reason::<V>(id, reason) {
            let name = asset_label(id, &self.server);
            tracing::error!("{name} cannot be drawn: {reason}");
        }
    }

    /// Says that a mesh stays as the device has it, once for each upload.
    pub(crate) fn report_lost_change(&mut self, id: AssetId<Mesh>) {
        if self.drawn.change_reported.insert(id) {
            tracing::error!(
                "{} was changed after its data went to the device, so it stays as it was; give it \
                 `RenderAssetUsages::MAIN_WORLD` as well, or insert a whole mesh in its place",
                asset_label(id, &self.server)
            );
        }
    }

    /// Forgets what was said of a mesh that is gone.
    pub(crate) fn remove(&mut self, id: AssetId<Mesh>) {
        self.drawn.errors.remove(&id);
        self.drawn.change_reported.remove(&id);
    }

    /// Has the file of a mesh loaded again, whose data went with a lost device. Tells whether there is one.
    pub(crate) fn reload(&self, id: AssetId<Mesh>) -> bool {
        let path = self.server.get_path(id);
        let has_file = path.is_some();
        if let Some(path) = path {
            self.server.reload(path.without_label());
        }
        has_file
    }
}

/// Takes the data out of meshes that only the renderer wants, once all that draw them have read it.
pub(crate) fn release_meshes(mut drawn: ResMut<DrawnMeshes>, mut assets: ResMut<Assets<Mesh>>) {
    if drawn.read.is_empty() {
        return;
    }
    for id in drawn.read.drain(..) {
        if let Some(mesh) = assets.get_mut_untracked(id)
            && mesh.asset_usage == RenderAssetUsages::RENDER_WORLD
        {
            // Taking fails where the data is gone already: two allocators have read the mesh.
            let _ = mesh.take_gpu_data();
        }
    }
}
