//! Lights and probes that bevy lists for no camera.

use bevy_camera::visibility::{InheritedVisibility, RenderLayers};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;

/// An entity that may be visible to cameras without being in their lists.
#[derive(QueryData)]
pub(crate) struct Unculled {
    pub(crate) entity: Entity,
    is_visible: &'static InheritedVisibility,
    layers: Option<&'static RenderLayers>,
}

impl UnculledItem<'_, '_> {
    /// Whether it is visible to a camera with these layers.
    pub(crate) fn is_visible_to(&self, layers: &RenderLayers) -> bool {
        self.is_visible.get() && layers.intersects(self.layers.unwrap_or_default())
    }
}
