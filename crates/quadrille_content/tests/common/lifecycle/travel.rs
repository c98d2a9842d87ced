//! Entities that move from one world to another, by reflection, as scenes do.

use std::any::TypeId;

use bevy_ecs::prelude::*;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent};

/// The types of a world.
pub(super) fn registry(world: &World) -> AppTypeRegistry {
    world.resource::<AppTypeRegistry>().clone()
}

/// Copies all registered components of an entity, except those that relate it to others.
pub(super) fn copy(from: &World, to: &mut World, entity: Entity, types: AppTypeRegistry) -> Entity {
    let types = types.read();
    let copy = to.spawn_empty().id();
    let relations = [TypeId::of::<ChildOf>(), TypeId::of::<Children>()];
    for id in from.entity(entity).archetype().components() {
        let info = from.components().get_info(*id);
        let Some(of) = info.and_then(|info| info.type_id()) else {
            continue;
        };
        if let Some(component) = types.get_type_data::<ReflectComponent>(of)
            && !relations.contains(&of)
        {
            component.copy(from, to, entity, copy, &types);
        }
    }
    copy
}
