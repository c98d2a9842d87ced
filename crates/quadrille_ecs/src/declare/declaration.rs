//! Passes and their accesses as entities: the truth that each frame is collected from.
//!
//! ```text
//! Pass entity   Name, Pass, QueuePreference, Accesses <----- AccessOf -- access entity: DeclaredAccess
//! resource entity   Name, Bound, AccessedBy <--------- AccessTo ---'
//! ```
//! The schedule's build pass mirrors each pass system like this once. From then on the entities
//! count: systems in [`RenderSystems::Declare`](crate::RenderSystems::Declare) may spawn and
//! despawn accesses or replace [`QueuePreference`], and tools can query them. Despawning a pass takes
//! its accesses with it and keeps its system from being collected.
//!
//! Recording a use of a resource that the pass no longer declares is an error of the frame, and
//! so is recording more than a replaced access allows: a write where the
//! entity now declares a read, other stages, or more bytes, levels or layers. The callback of a host pass,
//! which cannot be inspected, counts as all that its system's parameters allow.

use std::sync::Arc;

use bevy_ecs::change_detection::{DetectChanges, Tick};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_ecs::world::DeferredWorld;
use quadrille_sync::{Preference, QueueIndex, SubRange};
use quadrille_vulkan::{Handle, SharedTable};

use crate::declare::access::{kind, stage};
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::window_image::WindowImage;

/// Marks the entity of a pass system. Add bevy's `Disabled` component to leave the pass out.
#[derive(Component, Clone, Copy, Debug)]
pub struct Pass;

/// Where a pass would like to run; what it must be able to run follows from its commands.
///
/// Set it with [`on_queue`](crate::OnQueue::on_queue) or replace the component at run time.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
pub enum QueuePreference {
    /// The main queue, or another one where measured times say that frames get shorter by at least a
    /// fiftieth, and shorter they must get: what runs where is in
    /// [`Renderer::report`](crate::Renderer::report). Frames begin on the main queue, and
    /// [`Settings::auto_queues`](crate::Settings::auto_queues) keeps passes there.
    #[default]
    Auto,
    /// The main queue, which can do everything.
    Main,
    /// A queue beside the main one, if the device has one that can run the pass: async compute,
    /// or a transfer queue for copies.
    Async,
    /// The queue with this index in the topology, if it can run the pass.
    Exactly(u8),
}

/// Marks the entity of a pass that runs though no pass reads its results: it has effects that it does not
/// declare, such as those of Vulkan commands of your own ([`Recorder::raw`](crate::Recorder::raw)).
///
/// Other passes are culled in frames where they write transient resources alone that no pass which runs
/// reads, directly or not, and no readback either: the device is spared their commands, and their system
/// runs as any system. Writes to resources that outlive the frame are never culled, because a
/// later frame may read them. Passes with the marker keep their declared order among themselves.
///
/// Set it with [`always_run`](crate::AlwaysRunExt::always_run), or insert and remove it at run time.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
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

/// An access entity belongs to this pass entity.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Accesses)]
pub struct AccessOf(pub Entity);

/// The access entities of a pass.
#[derive(Component, Debug)]
#[relationship_target(relationship = AccessOf, linked_spawn)]
pub struct Accesses(Vec<Entity>);

/// An access entity touches this resource entity.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = AccessedBy)]
pub struct AccessTo(pub Entity);

/// The access entities that touch a resource.
#[derive(Component, Debug)]
#[relationship_target(relationship = AccessTo, linked_spawn)]
pub struct AccessedBy(Vec<Entity>);

/// How an access entity's pass touches its resource.
///
/// Immutable: to change an access, insert it again. One that does less than what the pass records is
/// an error of the frame.
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
    /// An access of the whole resource in the stages that the pass really uses.
    pub const fn new(kind: AccessKind) -> Self {
        Self {
            kind,
            stages: StageScope::Auto,
            range: SubRange::Whole,
        }
    }

    /// The access that these types stand for.
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

/// The buffer or image that a resource entity stands for.
#[derive(Component, Clone, Debug)]
#[component(immutable, on_insert = declarations_changed, on_remove = declarations_changed)]
pub enum Bound {
    /// This handle.
    Handle(Handle),
    /// Whatever handle the bevy resource of this type holds when the frame is collected.
    Type(TypeBinding),
    /// All handles that the bevy resource of this type lists when the frame is collected.
    List(ListBinding),
    /// All members of the table that the bevy resource of this type is when the frame is collected.
    Table(TableBinding),
    /// The image of the window with this entity.
    Window(Entity),
    /// Nothing any more: what had this name went with its device. Give the entity another.
    Gone(Arc<str>),
}

/// A bevy resource that names a buffer or an image.
pub type TypeBinding = ResourceBinding<fn(&World) -> Option<Handle>>;

/// A bevy resource that lists buffers or images. `resolve` adds them to a list, and returns false if
/// the resource does not exist.
pub type ListBinding = ResourceBinding<fn(&World, &mut Vec<Handle>) -> bool>;

/// A bevy resource that is a table.
pub type TableBinding = ResourceBinding<fn(&World) -> Option<SharedTable>>;

/// How what a bevy resource names is found in the world.
#[derive(Clone, Copy, Debug)]
pub struct ResourceBinding<F> {
    pub(crate) name: &'static str,
    pub(crate) resolve: F,
    /// When the resource was changed last.
    pub(crate) changed: fn(&World) -> Option<Tick>,
}

impl Bound {
    /// Adds the handles that it stands for now to a list; false if it stands for none because
    /// what it names does not exist.
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
            // The table knows which members are declared in each frame.
            Self::Table(binding) => (binding.resolve)(world).is_some(),
            Self::Window(window) => {
                let image = world.get::<WindowImage>(*window);
                handles.extend(image.map(|image| Handle::Image((**image).clone())));
                image.is_some()
            }
            Self::Gone(_) => false,
        }
    }

    /// When what it stands for was changed last, if that can be other than a change of itself.
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

/// Counts changes of declarations, so that an unchanged frame costs one comparison.
#[derive(Resource, Default, Debug)]
pub(crate) struct DeclarationVersion(pub(crate) u64);

/// Sees passes disabled and enabled: bevy's marker has no hooks of ours.
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

/// Disabled or not.
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
