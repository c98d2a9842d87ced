//! Entities that a component such as `Disabled` excludes from queries, and that are enabled again: `Changed` queries miss
//! what happens to them meanwhile.

use std::any::TypeId;

use bevy_asset::{Asset, UntypedAssetId};
use bevy_ecs::component::{ComponentId, Mutable};
use bevy_ecs::entity_disabling::DefaultQueryFilters;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

/// Returns the components that disable entities. The list is complete once all plugins are built.
pub fn disabling_components(world: &mut World) -> Vec<ComponentId> {
    let filters = world.get_resource_or_init::<DefaultQueryFilters>();
    filters.disabling_ids().collect()
}

/// Marks a component of an entity as changed, if the entity has it. Returns whether it has.
pub fn mark_changed<C: Component<Mutability = Mutable>>(
    world: &mut DeferredWorld,
    entity: Entity,
) -> bool {
    let component = world.get_mut::<C>(entity);
    component.is_some_and(|mut component| {
        component.set_changed();
        true
    })
}

/// Component of a renderer with the material of an entity, whatever its type.
pub trait MaterialId: Component<Mutability = Mutable> {
    /// Asset of the material; `None` without one.
    fn id(&mut self) -> &mut Option<UntypedAssetId>;
}

/// Has materials `M`, which the component `C` gives to entities, looked up again when an entity is enabled; one that the
/// entity has lost meanwhile is removed from its `I`. Call it once all plugins are built.
pub fn watch_materials<M, C, I>(world: &mut World)
where
    M: Asset,
    C: Component<Mutability = Mutable>,
    I: MaterialId,
{
    let disabling = disabling_components(world);
    if !disabling.is_empty() {
        let observer = Observer::new(refresh_material::<M, C, I>).with_components(disabling);
        world.spawn(observer);
    }
}

fn refresh_material<M, C, I>(event: On<Remove<()>>, mut world: DeferredWorld)
where
    M: Asset,
    C: Component<Mutability = Mutable>,
    I: MaterialId,
{
    let entity = event.entity;
    let Some(mut instance) = world.get_mut::<I>(entity) else {
        return;
    };
    let is_of_type = |id: UntypedAssetId| id.type_id() == TypeId::of::<M>();
    if !instance
        .bypass_change_detection()
        .id()
        .is_none_or(is_of_type)
    {
        return;
    }
    // The mesh may be another one as well.
    instance.set_changed();
    if !mark_changed::<C>(&mut world, entity)
        && let Some(mut instance) = world.get_mut::<I>(entity)
    {
        *instance.id() = None;
    }
}
