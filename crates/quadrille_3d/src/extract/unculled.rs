//! Lights and probes without CPU culling, which are in no camera's list of visible entities.

use bevy_camera::visibility::{InheritedVisibility, RenderLayers};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;

/// Visibility components of an entity without CPU culling.
#[derive(QueryData)]
pub(crate) struct Unculled {
    pub(crate) entity: Entity,
    is_visible: &'static InheritedVisibility,
    layers: Option<&'static RenderLayers>,
}

impl UnculledItem<'_, '_> {
    /// Whether the entity is visible to a camera with these render layers.
    pub(crate) fn is_visible_to(&self, layers: &RenderLayers) -> bool {
        self.is_visible.get() && layers.intersects(self.layers.unwrap_or_default())
    }
}
