//! Registry of the declarations of a schedule's systems, by component id.
//!
//! A declaring parameter adds an *archetypal* access on a virtual component id to its system:
//! it never conflicts on the CPU, yet travels with the system to the schedule's build pass, which
//! looks the id up here.

#![expect(
    unsafe_code,
    reason = "a component without a type can only be described by an unsafe function"
)]

use std::alloc::Layout;
use std::any::TypeId;
use std::mem::Discriminant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bevy_ecs::change_detection::{DetectChanges, Tick};
use bevy_ecs::component::{ComponentCloneBehavior, ComponentDescriptor, ComponentId, StorageType};
use bevy_ecs::prelude::*;
use bevy_ecs::query::FilteredAccess;
use bevy_ecs::system::{SystemAccess, SystemMeta};
use bevy_platform::collections::HashMap;
use bevy_window::Window;

use crate::declare::declaration::{Bound, DeclaredAccess, ListBinding, TableBinding, TypeBinding};
use crate::declare::list::NamedList;
use crate::declare::named::{GpuResource, Named};
use crate::declare::table::NamedTable;

/// Meaning of a virtual component id.
#[derive(Clone, Debug)]
pub(crate) enum Declared {
    /// The recorder of the pass with this slot.
    Recorder(u32),
    /// An access to the resource entity.
    Access {
        resource: Entity,
        access: DeclaredAccess,
        /// Last run of the system in which the resource did not exist.
        absence: Absence,
    },
}

/// Tick of the last run in which an access's resource did not exist. With bevy's `Option` the system still
/// runs, and the access is then not part of the frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Absence(Arc<AtomicU32>);

impl Absence {
    /// Notes a run of the system in which the resource did not exist.
    #[cold]
    pub(crate) fn note(&self, run: Tick) {
        self.0.store(run.get(), Ordering::Relaxed);
    }

    /// Whether the noted run came after this tick.
    pub(crate) fn is_since(&self, began: Tick, now: Tick) -> bool {
        Tick::new(self.0.load(Ordering::Relaxed)).is_newer_than(began, now)
    }
}

/// All virtual component ids of a world.
#[derive(Resource, Default)]
pub(crate) struct Registry {
    declared: HashMap<ComponentId, Declared>,
    /// Resource entities of bevy resources, by type and kind of binding.
    bound: HashMap<(TypeId, Discriminant<Bound>), Entity>,
    tables: Vec<(Entity, TableBinding)>,
    awaited: HashMap<TypeId, Awaited>,
}

/// Flag of a bevy resource that is inserted and removed automatically, because it belongs to a window or an asset.
/// Passes that declare it are skipped while it does not exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct Awaited(Arc<AtomicBool>);

impl Awaited {
    /// Returns the flag of a resource type, shared by all callers.
    pub(crate) fn of(world: &mut World, resource: TypeId) -> Self {
        let mut registry = world.get_resource_or_init::<Registry>();
        registry.awaited.entry(resource).or_default().clone()
    }

    /// Marks the resource as inserted automatically.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Registry {
    /// Returns the resource entities of tables.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Entity, TableBinding)> + '_ {
        self.tables.iter().copied()
    }

    pub(crate) fn get(&self, id: ComponentId) -> Option<Declared> {
        self.declared.get(&id).cloned()
    }
}

/// Returns the resource entity of the bevy resource `T`, spawned by the first call.
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::resource_entity;
/// # use quadrille_vulkan::resources::GpuBuffer;
/// #[derive(Resource, Deref)]
/// struct Cells(GpuBuffer);
///
/// let mut world = World::new();
/// let cells = resource_entity::<Cells>(&mut world);
/// assert_eq!(cells, resource_entity::<Cells>(&mut world));
/// ```
pub fn resource_entity<T: Named>(world: &mut World) -> Entity {
    let bound = Bound::Type(TypeBinding {
        name: short_name::<T>(),
        resolve: |world| Some(world.get_resource::<T>()?.named().to_handle()),
        changed: last_changed::<T>,
    });
    entity_of::<T>(world, bound)
}

/// Returns the resource entity of the list in the bevy resource `T`, spawned by the first call.
pub(crate) fn list_entity<T: NamedList>(world: &mut World) -> Entity {
    let bound = Bound::List(ListBinding {
        name: short_name::<T>(),
        resolve: |world, handles| {
            let list = world.get_resource::<T>();
            let listed = list.into_iter().flat_map(NamedList::handles);
            handles.extend(listed.map(GpuResource::to_handle));
            list.is_some()
        },
        changed: last_changed::<T>,
    });
    entity_of::<T>(world, bound)
}

/// Returns the resource entity of the table in the bevy resource `T`, spawned by the first call.
pub(crate) fn table_entity<T: NamedTable>(world: &mut World) -> Entity {
    let bound = Bound::Table(TableBinding {
        name: short_name::<T>(),
        resolve: |world| Some(world.get_resource::<T>()?.table().shared().clone()),
        changed: last_changed::<T>,
    });
    entity_of::<T>(world, bound)
}

/// Returns the resource entity of the bevy resource `T`; spawns it if it does not exist or was despawned.
fn entity_of<T: Resource>(world: &mut World, bound: Bound) -> Entity {
    let key = (TypeId::of::<T>(), std::mem::discriminant(&bound));
    let registry = world.get_resource_or_init::<Registry>();
    let known = registry.bound.get(&key).copied();
    if let Some(entity) = known.filter(|&entity| world.get_entity(entity).is_ok()) {
        return entity;
    }
    let entity = bound_entity(world, bound.clone());
    let mut registry = world.resource_mut::<Registry>();
    registry.bound.insert(key, entity);
    if let Bound::Table(binding) = bound {
        registry.tables.retain(|(it, _)| Some(*it) != known);
        registry.tables.push((entity, binding));
    }
    entity
}

/// Returns the tick of the last change of a bevy resource.
fn last_changed<T: Resource>(world: &World) -> Option<Tick> {
    Some(world.get_resource_ref::<T>()?.last_changed())
}

/// Spawns a resource entity for a resource that is known only at run time.
pub(crate) fn bound_entity(world: &mut World, bound: Bound) -> Entity {
    let name = match &bound {
        Bound::Handle(handle) => Name::new(handle.name().to_owned()),
        Bound::Type(binding) => Name::new(binding.name),
        Bound::List(binding) => Name::new(binding.name),
        Bound::Table(binding) => Name::new(binding.name),
        Bound::Window(window) => Name::new(match world.get::<Window>(*window) {
            Some(Window { title, .. }) => format!("window `{title}`"),
            None => format!("window {window}, which is closed"),
        }),
        Bound::Gone(name) => Name::new(name.to_string()),
    };
    world.spawn((name, bound)).id()
}

/// Registers one declared access of one system. Returns its virtual id, and the cell for runs without the resource.
pub(crate) fn register_access(
    world: &mut World,
    resource: Entity,
    access: DeclaredAccess,
) -> (ComponentId, Absence) {
    let resource_name = world.get::<Name>(resource).map_or("?", Name::as_str);
    let name = format!("{} of {resource_name}", access.kind.name());
    let absence = Absence::default();
    let declared = Declared::Access {
        resource,
        access,
        absence: absence.clone(),
    };
    (register(world, name, declared), absence)
}

/// Registers a declaration of a system, and returns its virtual id.
pub(crate) fn register(world: &mut World, name: String, declared: Declared) -> ComponentId {
    // SAFETY: the layout is that of `()`, which needs no destructor, and no value of this component is ever inserted.
    let descriptor = unsafe {
        ComponentDescriptor::new_with_layout(
            name,
            StorageType::SparseSet,
            Layout::new::<()>(),
            None,
            false,
            false,
            ComponentCloneBehavior::Ignore,
            None,
        )
    };
    let id = world.register_component_with_descriptor(descriptor);
    world
        .get_resource_or_init::<Registry>()
        .declared
        .insert(id, declared);
    id
}

/// Adds a virtual id to the accesses of a system.
pub(crate) fn declare<P>(id: ComponentId, meta: &SystemMeta, system_access: &mut SystemAccess) {
    let mut access = FilteredAccess::default();
    access.access_mut().add_archetypal(id);
    system_access.require_shared_access::<P>(meta).add(access);
}

/// Type name without its path.
pub(crate) fn short_name<T: ?Sized>() -> &'static str {
    let name = std::any::type_name::<T>();
    let path_end = name.find('<').unwrap_or(name.len());
    name[..path_end]
        .rfind("::")
        .map_or(name, |at| &name[at + 2..])
}
