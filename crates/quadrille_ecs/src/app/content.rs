//! Warnings about bevy components that no plugin of the app renders.
//!
//! Such entities are valid but invisible, which would be hard to debug without a warning. Components are identified by
//! type name, since this crate does not depend on the crates that define them. Only archetypes that are new since the
//! last frame are checked, so an unchanged world costs one comparison a frame.

mod ignored;
mod kinds;

use std::any::TypeId;

use bevy_app::{App, Last};
use bevy_ecs::archetype::{ArchetypeGeneration, Archetypes};
use bevy_ecs::component::{ComponentId, Components};
use bevy_ecs::prelude::*;
use bevy_platform::collections::{HashMap, HashSet};

pub use ignored::IGNORED_COMPONENTS;
pub use kinds::{ContentKind, DRAWN_COMPONENTS};

/// Kinds of components that the app renders. A plugin that renders components adds its kind.
///
/// If a kind is missing and an entity has one of its components, one warning is logged. Apps whose own
/// passes render such entities add the kind as well:
///
/// ```
/// # use bevy_app::App;
/// use quadrille_ecs::{ContentKind, DrawnContent};
///
/// # let mut app = App::new();
/// app.world_mut().get_resource_or_init::<DrawnContent>().add(ContentKind::ThreeD);
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct DrawnContent {
    kinds: HashSet<ContentKind>,
    components: HashSet<TypeId>,
}

impl DrawnContent {
    /// Declares that the app draws components of this kind.
    pub fn add(&mut self, kind: ContentKind) {
        self.kinds.insert(kind);
    }

    /// Whether the app draws components of this kind.
    pub fn contains(&self, kind: ContentKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Declares that the app draws this component, such as `MeshMaterial3d` with a material of its own.
    pub fn add_component<C: Component>(&mut self) {
        self.components.insert(TypeId::of::<C>());
    }

    /// Whether the app draws this component.
    pub fn contains_component<C: Component>(&self) -> bool {
        self.components.contains(&TypeId::of::<C>())
    }
}

/// Adds the warnings to an app.
pub(crate) fn add_warnings(app: &mut App) {
    app.init_resource::<DrawnContent>()
        .add_systems(Last, warn_about_undrawn);
}

/// State of [`warn_about_undrawn`].
pub(crate) struct Watched {
    /// Archetypes before this one were checked.
    seen: ArchetypeGeneration,
    /// Warnings that were not logged yet, by type name.
    pending: HashMap<&'static str, Notice>,
    /// Cache of component ids: the key in `pending`, or `None` for a component without a warning.
    known: HashMap<ComponentId, Option<&'static str>>,
}

/// Reason for a warning.
#[derive(Clone, Copy)]
enum Notice {
    /// Drawn by a plugin that may be missing.
    NeedsPlugin(ContentKind),
    /// Rendered by no plugin; holds the consequence and a workaround.
    Ignored(&'static str),
}

impl Default for Watched {
    fn default() -> Self {
        let drawn = DRAWN_COMPONENTS
            .iter()
            .map(|&(name, kind)| (name, Notice::NeedsPlugin(kind)));
        let ignored = IGNORED_COMPONENTS
            .iter()
            .map(|&(name, advice)| (name, Notice::Ignored(advice)));
        Self {
            seen: ArchetypeGeneration::initial(),
            pending: drawn.chain(ignored).collect(),
            known: HashMap::default(),
        }
    }
}

impl Watched {
    /// Returns the pending notice of a component and its type name; `None` once it was given.
    fn notice(
        &mut self,
        id: ComponentId,
        components: &Components,
    ) -> Option<(&'static str, Notice)> {
        let pending = &self.pending;
        let name = self.known.entry(id).or_insert_with(|| {
            let name = components.get_name(id)?;
            pending.get_key_value(&*name).map(|(&name, _)| name)
        });
        let name = (*name)?;
        Some((name, *self.pending.get(name)?))
    }
}

/// Warns once about each component type that an entity has and no plugin draws.
pub(crate) fn warn_about_undrawn(
    archetypes: &Archetypes,
    components: &Components,
    drawn: Res<DrawnContent>,
    names: Query<&Name>,
    mut watched: Local<Watched>,
) {
    let new = archetypes.generation();
    if watched.seen == new {
        return;
    }
    let seen = std::mem::replace(&mut watched.seen, new);
    let new = &archetypes[seen..];
    // Entities move between archetypes as systems add components: only non-empty ones have an entity to name.
    let filled = new.iter().filter(|archetype| !archetype.is_empty());
    let left = new.iter().filter(|archetype| archetype.is_empty());
    for archetype in filled.chain(left) {
        for id in archetype.iter_components() {
            let Some((component, notice)) = watched.notice(id, components) else {
                continue;
            };
            let first = archetype.entities().first().map(|entity| entity.id());
            let entity = first.map_or_else(
                || "an entity".to_owned(),
                |entity| label(entity, names.get(entity).ok()),
            );
            let short = component.rsplit("::").next().unwrap_or(component);
            match notice {
                Notice::NeedsPlugin(kind) if drawn.contains(kind) => {}
                Notice::NeedsPlugin(kind) => {
                    let advice = kind.advice();
                    tracing::warn!(
                        "{entity} has a `{short}`, and nothing in this app draws it: {advice}. An app \
                         that draws it by passes of its own says so with `DrawnContent::add`. There is \
                         no further warning of this kind"
                    );
                }
                Notice::Ignored(advice) => tracing::warn!(
                    "{entity} has a `{short}`, which Quadrille ignores: {advice}. There is no further \
                     warning about `{short}`"
                ),
            }
            // A kind is reported once, by the first of its components that is found.
            match notice {
                Notice::NeedsPlugin(kind) => watched.pending.retain(
                    |_, other| !matches!(other, Notice::NeedsPlugin(other) if *other == kind),
                ),
                Notice::Ignored(_) => drop(watched.pending.remove(component)),
            }
        }
    }
}

/// Names an entity in a message: by its [`Name`] where it has one, and by its id.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::entity_label;
/// let entity = Entity::PLACEHOLDER;
/// assert!(entity_label(entity, Some(&Name::new("player"))).starts_with("`player` ("));
/// assert!(entity_label(entity, None).ends_with("(no `Name`)"));
/// ```
pub fn label(entity: Entity, name: Option<&Name>) -> String {
    match name {
        Some(name) => format!("`{name}` ({entity})"),
        None => format!("entity {entity} (no `Name`)"),
    }
}

#[cfg(test)]
mod tests;
