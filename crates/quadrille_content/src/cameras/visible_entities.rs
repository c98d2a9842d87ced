//! Deduplication of bevy's visible entities.

use std::any::TypeId;

use bevy_camera::visibility::VisibleEntities;
use bevy_ecs::prelude::*;

/// Visible entities of a visibility class without duplicates: bevy lists an entity once per insertion of a component
/// that adds the class, also after its removal.
pub fn unique_visible_entities<C: 'static>(
    visible: &VisibleEntities,
) -> impl Iterator<Item = Entity> {
    let sorted = visible.get(TypeId::of::<C>());
    sorted.chunk_by(|a, b| a == b).map(|same| same[0])
}
