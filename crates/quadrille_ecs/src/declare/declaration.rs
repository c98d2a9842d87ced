//! Passes and their accesses as entities, the input of frame collection.
//!
//! ```text
//! Pass entity   Name, Pass, QueuePreference, Accesses <----- AccessOf -- access entity: DeclaredAccess
//! resource entity   Name, Bound, AccessedBy <--------- AccessTo ---'
//! ```
//! The schedule's build pass creates these entities for each pass system once. From then on the entities
//! are authoritative: systems in [`RenderSystems::Declare`](crate::RenderSystems::Declare) may spawn and
//! despawn accesses or replace [`QueuePreference`], and tools can query them. Despawning a pass also despawns
//! its accesses, and excludes its system from collection.
//!
//! Recording an access that the entities no longer declare is an error of the frame: an undeclared resource, a write
//! where a read is declared, other stages, or more bytes, levels or layers. The callback of a host pass
//! cannot be inspected, and is assumed to make all accesses that its system's parameters declare.

use std::sync::Arc;

use bevy_ecs::change_detection::{DetectChanges, Tick};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_ecs::world::DeferredWorld;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use quadrille_sync::frame::Preference;
use quadrille_sync::range::SubRange;
use quadrille_sync::topology::QueueIndex;
use quadrille_vulkan::resources::{Handle, SharedTable};

use crate::declare::access::{kind, stage};
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::window_image::WindowImage;

/// Marks the entity of a pass system. Add bevy's `Disabled` component to skip the pass.
#[derive(Component, Reflect, Clone, Copy, Debug)]
#[reflect(Component, Clone, Debug)]
pub struct Pass;

/// Preferred queue of a pass. The required capabilities are derived from its commands.
///
/// Set it with [`on_queue`](crate::OnQueue::on_queue) or replace the component at run time.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
#[reflect(Component, Clone, Debug, Default, Hash, PartialEq)]
pub enum QueuePreference {
    /// The main queue at first; another one if measured frame times then get shorter by at least 2 %. The
    /// assignment is in [`Renderer::report`](crate::Renderer::report). With
    /// [`Settings::auto_queues`](quadrille_vulkan::instance::Settings::auto_queues) off, passes stay on the main queue.
    #[default]
    Auto,
    /// The main queue, which can do everything.
    Main,
    /// A queue other than the main one, if the device has one that can run the pass: async compute,
    /// or a transfer queue for copies.
    Async,
    /// The queue with this index in the topology, if it can run the pass.
    Exactly(u8),
}

/// Marks the entity of a pass that runs even if no pass reads its results: it has undeclared effects, such as those of
/// your own Vulkan commands ([`Recorder::raw`](crate::Recorder::raw)).
///
/// Without the marker, a pass is culled in frames where it writes only transient resources that neither a readback nor
/// a pass that runs reads, directly or indirectly. Its commands are then not submitted, but its system runs as usual.
/// Writes to resources that outlive the frame are never culled, because a later frame may read them. Passes with the
/// marker keep their declared order among themselves.
///
/// Set it with [`always_run`](crate::AlwaysRunExt::always_run), or insert and remove it at run time.
#[derive(Component, Reflect, Clone, Copy, Debug, Default)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
#[reflect(Component, Clone, Debug, Default)]
pub struct AlwaysRun;

impl QueuePreference {
    pub(crate) fn preference(self) -> (Preference, Option<QueueIndex>) {
        match self {
            Self::Auto | Self::Main => (Preference::Main, None),
            Self::Async => (Preference::Async, None),
            Self::Exactly(index) => (Preference::Main, Some(QueueIndex(index))),
        }
    }
}

/// Relationship of an access entity to its pass entity.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Accesses)]
pub struct AccessOf(pub Entity);

/// The access entities of a pass.
#[derive(Component, Debug)]
#[relationship_target(relationship = AccessOf, linked_spawn)]
pub struct Accesses(Vec<Entity>);

/// Relationship of an access entity to its resource entity.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = AccessedBy)]
pub struct AccessTo(pub Entity);

/// The access entities of a resource.
#[derive(Component, Debug)]
#[relationship_target(relationship = AccessTo, linked_spawn)]
pub struct AccessedBy(Vec<Entity>);

/// The access that an access entity declares.
///
/// Immutable: to change an access, insert it again. Recording a wider access is an error of the frame.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
pub struct DeclaredAccess {
    /// The kind of access.
    pub kind: AccessKind,
    /// Shader stages of the access.
    pub stages: StageScope,
    /// Part of the resource.
    pub range: SubRange,
}

impl DeclaredAccess {
    /// Creates an access of the whole resource, in the stages of the pass's pipelines.
    pub const fn new(kind: AccessKind) -> Self {
        Self {
            kind,
            stages: StageScope::Auto,
            range: SubRange::Whole,
        }
    }

    /// Returns the access of these marker types.
    pub(crate) fn of<K: kind::Kind, S: stage::Stage>() -> &'static Self {
        const {
            &Self {
                kind: K::KIND,
                stages: S::STAGES,
                range: SubRange::Whole,
            }
        }
    }
}

/// The buffers or images of a resource entity.
#[derive(Component, Clone, Debug)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
pub enum Bound {
    /// A known handle.
    Handle(Handle),
    /// The handle in the bevy resource of this type at collection of the frame.
    Type(TypeBinding),
    /// All handles in the bevy resource of this type at collection of the frame.
    List(ListBinding),
    /// All members of the table in the bevy resource of this type at collection of the frame.
    Table(TableBinding),
    /// The image of the window with this entity.
    Window(Entity),
    /// Nothing: the resource with this name was lost with its device. Insert another `Bound`.
    Gone(Arc<str>),
}

/// A bevy resource that names a buffer or an image.
pub type TypeBinding = ResourceBinding<fn(&World) -> Option<Handle>>;

/// A bevy resource that lists buffers or images. `resolve` adds them to a list, and returns false if
/// the resource does not exist.
pub type ListBinding = ResourceBinding<fn(&World, &mut Vec<Handle>) -> bool>;

/// A bevy resource that is a table.
pub type TableBinding = ResourceBinding<fn(&World) -> Option<SharedTable>>;

/// Access to the handle, list or table in a bevy resource.
#[derive(Clone, Copy, Debug)]
pub struct ResourceBinding<F> {
    pub(crate) name: &'static str,
    pub(crate) resolve: F,
    /// Returns the tick of the last change of the resource.
    pub(crate) changed: fn(&World) -> Option<Tick>,
}

impl Bound {
    /// Appends the current handles to a list. Returns false if the bevy resource does not exist.
    pub(crate) fn resolve(&self, world: &World, handles: &mut Vec<Handle>) -> bool {
        match self {
            Self::Handle(handle) => {
                handles.push(handle.clone());
                true
            }
            Self::Type(binding) => {
                let handle = (binding.resolve)(world);
                let exists = handle.is_some();
                handles.extend(handle);
                exists
            }
            Self::List(binding) => (binding.resolve)(world, handles),
            // The members of a table that need a declaration differ from frame to frame; the table provides them.
            Self::Table(binding) => (binding.resolve)(world).is_some(),
            Self::Window(window) => {
                let image = world.get::<WindowImage>(*window);
                handles.extend(image.map(|image| Handle::Image((**image).clone())));
                image.is_some()
            }
            Self::Gone(_) => false,
        }
    }

    /// Returns the last change of the bevy resource behind this value; `None` if only the value itself can change.
    pub(crate) fn last_changed(&self, world: &World) -> Option<Tick> {
        match self {
            Self::Type(binding) => (binding.changed)(world),
            Self::List(binding) => (binding.changed)(world),
            Self::Table(binding) => (binding.changed)(world),
            Self::Window(window) => {
                let window = world.get_entity(*window).ok()?;
                Some(window.get_ref::<WindowImage>()?.last_changed())
            }
            Self::Handle(_) | Self::Gone(_) => None,
        }
    }
}

/// Counter of declaration changes, so that detecting an unchanged frame costs one comparison.
#[derive(Resource, Default, Debug)]
pub(crate) struct DeclarationVersion(pub(crate) u64);

/// Observes passes being disabled and enabled: `Disabled` is bevy's, so it cannot have component hooks of this crate.
pub(crate) fn observe_disabling(world: &mut World) {
    world.add_observer(
        |on: On<Insert<Disabled>>, passes: AllPasses, version: ResMut<DeclarationVersion>| {
            disabling_changed(on.entity, passes, version);
        },
    );
    world.add_observer(
        |on: On<Remove<Disabled>>, passes: AllPasses, version: ResMut<DeclarationVersion>| {
            disabling_changed(on.entity, passes, version);
        },
    );
}

/// All passes, including disabled ones.
type AllPasses<'w, 's> = Query<'w, 's, (), (With<Pass>, Allow<Disabled>)>;

fn disabling_changed(entity: Entity, passes: AllPasses, mut version: ResMut<DeclarationVersion>) {
    if passes.contains(entity) {
        version.0 += 1;
    }
}

fn declarations_changed(mut world: DeferredWorld, _: HookContext) {
    if let Some(mut version) = world.get_resource_mut::<DeclarationVersion>() {
        version.0 += 1;
    }
}
