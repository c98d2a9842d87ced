//! Marks components of reenabled entities as changed: a `Changed` query misses changes made while a
//! component such as `Disabled` excludes the entity.

use bevy_ecs::component::{ComponentId, Mutable};
use bevy_ecs::entity_disabling::DefaultQueryFilters;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_mesh::Mesh2d;
use bevy_text::{InlineBox, LetterSpacing, LineHeight, TextBounds, TextFont};

use crate::components::tilemap::TilemapChunkTileData;

/// Whether any entity was disabled or enabled since this was last reset.
#[derive(Resource, Default)]
pub(crate) struct EnablingChanges(pub(crate) bool);

/// Observes all disabling components. Call it after all plugins have registered theirs.
pub(crate) fn watch_enabling(world: &mut World) {
    world.init_resource::<EnablingChanges>();
    let ids = disabling_components(world);
    if !ids.is_empty() {
        world.spawn(Observer::new(mark_changed).with_components(ids.iter().copied()));
        world.spawn(Observer::new(note_disabled).with_components(ids));
    }
}

/// The components that disable entities. Complete once all plugins are built.
pub(crate) fn disabling_components(world: &mut World) -> Vec<ComponentId> {
    let filters = world.get_resource_or_init::<DefaultQueryFilters>();
    filters.disabling_ids().collect()
}

fn note_disabled(_: On<Insert<()>>, mut changes: ResMut<EnablingChanges>) {
    changes.0 = true;
}

/// Marks all components that this crate queries with `Changed`.
fn mark_changed(event: On<Remove<()>>, mut world: DeferredWorld) {
    let (entity, world) = (event.entity, &mut world);
    world.resource_mut::<EnablingChanges>().0 = true;
    set_changed::<Mesh2d>(world, entity);
    set_changed::<TilemapChunkTileData>(world, entity);
    set_changed::<TextFont>(world, entity);
    set_changed::<LineHeight>(world, entity);
    set_changed::<LetterSpacing>(world, entity);
    set_changed::<TextBounds>(world, entity);
    set_changed::<InlineBox>(world, entity);
    #[cfg(feature = "ui")]
    {
        use bevy_ui::prelude::{Node, Outline, ScrollPosition, UiTransform};
        set_changed::<bevy_text::EditableText>(world, entity);
        set_changed::<Node>(world, entity);
        set_changed::<UiTransform>(world, entity);
        set_changed::<Outline>(world, entity);
        set_changed::<ScrollPosition>(world, entity);
    }
}

fn set_changed<C: Component<Mutability = Mutable>>(world: &mut DeferredWorld, entity: Entity) {
    if let Some(mut component) = world.get_mut::<C>(entity) {
        component.set_changed();
    }
}
