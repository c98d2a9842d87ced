//! Slots of entities in the instance table, and detection of despawned and disabled entities.

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use quadrille_content::enabling::disabling_components;

/// Instance index of an entity.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
#[component(on_remove = note_removed, clone_behavior = Ignore)]
pub(crate) struct Slot(pub(super) u32);

impl Default for Slot {
    fn default() -> Self {
        Self::NONE
    }
}

impl Slot {
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// Slots of entities that were despawned, disabled or lost their slot.
#[derive(Resource, Default)]
pub(crate) struct FreedSlots(pub(super) Vec<Slot>);

/// Entities that were enabled since the previous frame.
#[derive(Resource, Default)]
pub(crate) struct EnabledMeshes(pub(crate) Vec<Entity>);

/// Observes disabling components: change detection does not cover disabled entities.
pub(crate) fn watch_disabling(world: &mut World) {
    let ids = disabling_components(world);
    if !ids.is_empty() {
        world.spawn(Observer::new(note_disabled).with_components(ids.iter().copied()));
        world.spawn(Observer::new(note_enabled).with_components(ids));
    }
}

fn note_disabled(event: On<Add<()>>, mut world: DeferredWorld) {
    let slot = world
        .get_mut::<Slot>(event.entity)
        .map(|mut slot| std::mem::take(&mut *slot));
    if let Some(slot) = slot
        && slot != Slot::NONE
        && let Some(mut freed) = world.get_resource_mut::<FreedSlots>()
    {
        freed.0.push(slot);
    }
}

fn note_enabled(event: On<Remove<()>>, mut world: DeferredWorld) {
    if world.get::<Slot>(event.entity).is_some()
        && let Some(mut enabled) = world.get_resource_mut::<EnabledMeshes>()
    {
        enabled.0.push(event.entity);
    }
}

fn note_removed(mut world: DeferredWorld, context: HookContext) {
    let slot = world.get::<Slot>(context.entity).copied();
    if let Some(slot) = slot
        && slot != Slot::NONE
        && let Some(mut freed) = world.get_resource_mut::<FreedSlots>()
    {
        freed.0.push(slot);
    }
}
