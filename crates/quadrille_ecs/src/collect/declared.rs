//! What the entities of a pass declare, read when they change.

use std::sync::Arc;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille_sync::SubRange;

use crate::declaration::{AccessTo, Accesses, Bound, DeclaredAccess, QueueWish};
use crate::error::RenderError;
use crate::kind::{AccessKind, StageWish};

/// A pass's declaration as its entities had it when they changed last.
pub(super) struct CachedPass {
    pub name: Arc<str>,
    pub queue: QueueWish,
    pub disabled: bool,
    pub uses: Vec<CachedUse>,
}

pub(super) struct CachedUse {
    /// Index of the resource entity in [`Collector::bindings`].
    pub binding: u32,
    pub kind: AccessKind,
    pub stages: StageWish,
    pub range: SubRange,
}

/// Reads the declaration of a pass; what it names is added to `bindings`.
pub(super) fn read_pass(
    world: &World,
    entity: Entity,
    (bindings, known): (&mut Vec<(Entity, Bound)>, &mut HashMap<Entity, u32>),
    errors: &mut Vec<RenderError>,
) -> CachedPass {
    let name = world.get::<Name>(entity).map_or("pass", Name::as_str);
    let mut pass = CachedPass {
        name: name.into(),
        queue: world.get::<QueueWish>(entity).copied().unwrap_or_default(),
        // A despawned pass is gone, though its system still runs.
        disabled: world
            .get_entity(entity)
            .map_or(true, |entity| entity.contains::<Disabled>()),
        uses: Vec::new(),
    };
    for access_entity in world
        .get::<Accesses>(entity)
        .into_iter()
        .flat_map(|a| a.iter())
    {
        let access = world.get::<DeclaredAccess>(access_entity);
        let to = world.get::<AccessTo>(access_entity);
        let (Some(access), Some(&AccessTo(to))) = (access, to) else {
            continue;
        };
        let Some(bound) = world.get::<Bound>(to) else {
            errors.push(RenderError::Unbound {
                pass: name.to_owned(),
            });
            continue;
        };
        let binding = *known.entry(to).or_insert_with(|| {
            bindings.push((to, bound.clone()));
            bindings.len() as u32 - 1
        });
        let DeclaredAccess {
            kind,
            stages,
            range,
        } = *access;
        pass.uses.push(CachedUse {
            binding,
            kind,
            stages,
            range,
        });
    }
    pass
}

/// A pass declares what stands for nothing.
pub(super) fn missing(pass: &str, bound: &Bound) -> RenderError {
    let (pass, resource) = (pass.to_owned(), binding_name(bound));
    match bound {
        Bound::Gone(_) => RenderError::OtherDevice { pass, resource },
        _ => RenderError::Missing { pass, resource },
    }
}

fn binding_name(bound: &Bound) -> String {
    match bound {
        Bound::Handle(handle) => handle.name().to_owned(),
        Bound::Type(binding) => binding.name.to_owned(),
        Bound::List(binding) => binding.name.to_owned(),
        Bound::Window(window) => format!("the image of the window {window}"),
        Bound::Gone(name) => name.to_string(),
    }
}
