//! Components that entities get and lose.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;

use super::Random;

/// A component, or a few that belong together, that entities get and lose.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// Inserts it, or another value of it. The same numbers give the same value.
    pub(crate) insert: fn(&mut World, Entity, &mut Random),
    pub(crate) remove: fn(&mut World, Entity),
    /// Another world does not get the component: it names other entities, or has no reflection.
    pub(crate) is_related: bool,
}

/// Removes a component.
pub(crate) fn remove<B: Bundle>(world: &mut World, entity: Entity) {
    world.entity_mut(entity).remove::<B>();
}

/// A part that is one value.
macro_rules! part {
    ($name:literal, $remove:expr, |$world:ident, $random:ident| $value:expr) => {
        $crate::common::lifecycle::Part {
            name: $name,
            insert: |$world, entity, $random| {
                let value = $value;
                $world.entity_mut(entity).insert(value);
            },
            remove: $remove,
            is_related: false,
        }
    };
}
pub(crate) use part;

/// Sets a component back that entities of its kind always have.
pub(crate) fn reset<C: Bundle + Default>(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(C::default());
}

/// Marks a component as changed, where bevy's own systems do not notice what they should.
pub(crate) fn touch<C: Component<Mutability = bevy_ecs::component::Mutable>>(
    world: &mut World,
    entity: Entity,
) {
    if let Some(mut component) = world.get_mut::<C>(entity) {
        component.set_changed();
    }
}

/// The parts of an entity, and the seed of each.
pub(super) type Parts = BTreeMap<usize, u64>;

/// Inserts all parts of an entity.
pub(super) fn apply(world: &mut World, entity: Entity, table: &[Part], parts: &Parts) {
    for (&part, &seed) in parts {
        (table[part].insert)(world, entity, &mut Random::new(seed));
    }
}
