//! Cached declarations of passes, read from their entities when they change.

use std::sync::Arc;

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bevy_window::Window;
use quadrille_sync::range::SubRange;

use super::{Collector, undeclared_use};
use crate::collect::mirror::{PassGraph, PassNode};
use crate::declare::declaration::{
    AccessTo, Accesses, AlwaysRun, Bound, DeclarationVersion, DeclaredAccess, QueuePreference,
};
use crate::declare::kind::{AccessKind, StageScope, Used};
use crate::error::RenderError;

/// The declaration of a pass, read from its entities after their last change.
pub(super) struct CachedPass {
    pub name: Arc<str>,
    pub queue: QueuePreference,
    pub always_runs: bool,
    pub disabled: bool,
    /// The access entities allow less than the parameters of the system.
    pub may_exceed: bool,
    pub uses: Vec<CachedUse>,
}

pub(super) struct CachedUse {
    /// Index of the resource entity in [`Collector::bindings`].
    pub binding: u32,
    pub kind: AccessKind,
    pub stages: StageScope,
    pub range: SubRange,
}

impl CachedUse {
    /// Whether the access may write.
    pub(super) fn is_write(&self) -> bool {
        self.kind.access(self.stages, Used::default()).is_write()
    }
}

impl Collector {
    /// Reads the declarations again if any of them changed. Returns whether that is so.
    pub(super) fn refresh(&mut self, world: &mut World) -> Result<bool, Vec<RenderError>> {
        self.replaced.clear();
        let version = world.get_resource_or_init::<DeclarationVersion>().0;
        if version == self.version {
            return Ok(false);
        }
        self.passes.clear();
        self.bindings.clear();
        self.may_exceed.clear();
        let mut errors = Vec::new();
        let mut known = HashMap::default();
        let graph = world.get_resource::<PassGraph>();
        for node in graph.iter().flat_map(|graph| &graph.passes) {
            let bindings = (&mut self.bindings, &mut known);
            let pass = read_pass(world, node, bindings, &mut errors);
            if pass.may_exceed {
                self.may_exceed.push(self.passes.len() as u32);
            }
            self.passes.push(pass);
        }
        let resolve = |(_, bound): &(Entity, Bound)| {
            let mut handles = Vec::new();
            bound.resolve(world, &mut handles).then_some(handles)
        };
        self.resolved.clear();
        self.resolved.extend(self.bindings.iter().map(resolve));
        let is_followed = |at: &u32| !matches!(self.bindings[*at as usize].1, Bound::Handle(_));
        self.followed.clear();
        self.followed
            .extend((0..self.bindings.len() as u32).filter(is_followed));
        let replaced = self.followed.iter().copied();
        let is_late = |at: &u32| self.is_replaced_late(world, &self.bindings[*at as usize].1);
        self.replaced = replaced.filter(is_late).collect();
        if errors.is_empty() {
            self.version = version;
            Ok(true)
        } else {
            Err(errors)
        }
    }

    /// Resolves bindings to their current handles. Returns whether one changed.
    pub(super) fn resolve(&mut self, world: &World) -> bool {
        let mut changed = false;
        for followed in 0..self.followed.len() {
            let at = self.followed[followed] as usize;
            self.scratch.clear();
            let bound = &self.bindings[at].1;
            let exists = bound.resolve(world, &mut self.scratch);
            if self.resolved[at].as_ref() != exists.then_some(&self.scratch) {
                if self.is_replaced_late(world, bound) {
                    self.replaced.push(at as u32);
                }
                self.resolved[at] = exists.then(|| self.scratch.clone());
                changed = true;
            }
        }
        self.scratch.clear();
        changed
    }
}

/// Reads the declaration of a pass, and adds its resource entities to `bindings`.
fn read_pass(
    world: &World,
    node: &PassNode,
    (bindings, known): (&mut Vec<(Entity, Bound)>, &mut HashMap<Entity, u32>),
    errors: &mut Vec<RenderError>,
) -> CachedPass {
    let entity = node.entity;
    let name = world.get::<Name>(entity).map_or("pass", Name::as_str);
    let mut pass = CachedPass {
        name: name.into(),
        queue: world
            .get::<QueuePreference>(entity)
            .copied()
            .unwrap_or_default(),
        always_runs: world.get::<AlwaysRun>(entity).is_some(),
        // Without its entity a pass is disabled, though its system still runs.
        disabled: world
            .get_entity(entity)
            .map_or(true, |entity| entity.contains::<Disabled>()),
        may_exceed: false,
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
    pass.may_exceed = node.declared.iter().any(|parameter| {
        let is_of_it = |used: &&CachedUse| bindings[used.binding as usize].0 == parameter.resource;
        let mut of_it = pass.uses.iter().filter(is_of_it);
        !of_it.any(|used| undeclared_use::allows(used, &parameter.access))
    });
    pass
}

/// The error for a pass that declares a resource entity without a resource.
pub(super) fn missing(world: &World, pass: &str, bound: &Bound) -> RenderError {
    let (pass, resource) = (pass.to_owned(), binding_name(world, bound));
    match bound {
        Bound::Gone(_) => RenderError::OtherDevice { pass, resource },
        _ => RenderError::Missing { pass, resource },
    }
}

fn binding_name(world: &World, bound: &Bound) -> String {
    match bound {
        Bound::Handle(handle) => handle.name().to_owned(),
        Bound::Type(binding) => binding.name.to_owned(),
        Bound::List(binding) => binding.name.to_owned(),
        Bound::Table(binding) => binding.name.to_owned(),
        Bound::Window(window) => match world.get::<Window>(*window) {
            Some(Window { title, .. }) => format!("image of the window `{title}`"),
            None => format!("image of the window {window}, which is closed"),
        },
        Bound::Gone(name) => name.to_string(),
    }
}
