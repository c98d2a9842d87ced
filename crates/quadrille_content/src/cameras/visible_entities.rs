//! Entities that bevy lists as visible to a camera.

use std::any::TypeId;

use bevy_camera::visibility::VisibleEntities;
use bevy_ecs::prelude::*;

/// Visible entities of a visibility class, each once: bevy lists an entity again for each component that
/// added the class, also if one was removed and inserted.
pub fn unique_visible_entities<C: 'static>(
    visible: &VisibleEntities,
) -> impl Iterator<Item = Entity> {
    let sorted = visible.get(TypeId::of::<C>());
    sorted.chunk_by(|a, b| a == b).map(|same| same[0])
}
