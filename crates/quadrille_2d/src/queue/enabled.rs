//! Marks components of reenabled entities as changed: a `Changed` query misses changes made while a
//! component such as `Disabled` excludes the entity.

use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_mesh::Mesh2d;
use bevy_text::{InlineBox, LetterSpacing, LineHeight, TextBounds, TextFont};
use quadrille_content::enabling::{disabling_components, mark_changed};

use crate::components::tilemap::TilemapChunkTileData;

/// Whether any entity was disabled or enabled since this was last reset.
#[derive(Resource, Default)]
pub(crate) struct EnablingChanges(pub(crate) bool);

/// Observes all disabling components. Call it after all plugins have registered theirs.
pub(crate) fn watch_enabling(world: &mut World) {
    world.init_resource::<EnablingChanges>();
    let ids = disabling_components(world);
    if !ids.is_empty() {
        world.spawn(Observer::new(mark_all_changed).with_components(ids.iter().copied()));
        world.spawn(Observer::new(note_disabled).with_components(ids));
    }
}

fn note_disabled(_: On<Insert<()>>, mut changes: ResMut<EnablingChanges>) {
    changes.0 = true;
}

/// Marks all components that this crate queries with `Changed`.
fn mark_all_changed(event: On<Remove<()>>, mut world: DeferredWorld) {
    let (entity, world) = (event.entity, &mut world);
    world.resource_mut::<EnablingChanges>().0 = true;
    mark_changed::<Mesh2d>(world, entity);
    mark_changed::<TilemapChunkTileData>(world, entity);
    mark_changed::<TextFont>(world, entity);
    mark_changed::<LineHeight>(world, entity);
    mark_changed::<LetterSpacing>(world, entity);
    mark_changed::<TextBounds>(world, entity);
    mark_changed::<InlineBox>(world, entity);
    #[cfg(feature = "ui")]
    {
        use bevy_ui::prelude::{Node, Outline, ScrollPosition, UiTransform};
        mark_changed::<bevy_text::EditableText>(world, entity);
        mark_changed::<Node>(world, entity);
        mark_changed::<UiTransform>(world, entity);
        mark_changed::<Outline>(world, entity);
        mark_changed::<ScrollPosition>(world, entity);
    }
}
