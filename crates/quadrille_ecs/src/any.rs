//! Accesses of handles that are known only at run time.

#![expect(
    unsafe_code,
    reason = "`SystemParam` is an unsafe trait: it promises to register what it accesses"
)]

use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{
    SystemAccess, SystemMeta, SystemParam, SystemParamBuilder, SystemParamValidationError,
};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use quadrille_sync::SubRange;
use quadrille_vulkan::Handle;

use crate::access::PassUse;
use crate::bind::ResourceRef;
use crate::declaration::DeclaredAccess;
use crate::kind::{AccessKind, StageWish};
use crate::named::GpuResource;
use crate::registry::{declare, handle_entity, register_access};

/// A declared access of a buffer or image whose handle, and kind of access, are known only at run
/// time. Build the system with [`declared`] in the parameter's place:
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
/// # use quadrille_ecs::*;
/// fn blur(mut recorder: Recorder, from: AnyAccess, to: AnyAccess) {}
///
/// fn add_blur(app: &mut App, from: &Image, to: &Image) {
///     let parameters = (
///         ParamBuilder::of::<Recorder>(),
///         declared(AccessKind::Sampled, from),
///         declared(AccessKind::ColorTarget, to),
///     );
///     app.add_systems(Render, parameters.build_system(blur));
/// }
/// ```
#[derive(Clone, Copy)]
pub struct AnyAccess<'s> {
    pub(crate) resource: ResourceRef<'s>,
    pub(crate) kind: AccessKind,
    pub(crate) stages: StageWish,
}

impl<'s> AnyAccess<'s> {
    /// The buffer or image.
    pub fn resource(&self) -> ResourceRef<'s> {
        self.resource
    }

    /// The declared access.
    pub fn kind(&self) -> AccessKind {
        self.kind
    }

    /// A read as one access of a pass within the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.part(AccessKind::StorageRead)
    }

    /// A write that reads nothing, as one access of a pass within the system.
    pub fn writes(&self) -> PassUse {
        self.part(AccessKind::StorageWrite)
    }

    /// A read and write as one access of a pass within the system.
    pub fn reads_and_writes(&self) -> PassUse {
        self.part(AccessKind::StorageReadWrite)
    }

    /// The declared access as it is, as one access of a pass within the system.
    pub fn as_declared(&self) -> PassUse {
        self.part(self.kind)
    }

    fn part(&self, kind: AccessKind) -> PassUse {
        let (declared, stages) = (self.kind, self.stages);
        PassUse {
            handle: self.resource.to_handle(),
            declared,
            kind,
            stages,
            range: SubRange::Whole,
        }
    }
}

/// The state of an [`AnyAccess`]; opaque.
pub struct AnyAccessState {
    handle: Option<Handle>,
    kind: AccessKind,
    declared: Option<ComponentId>,
}

// SAFETY: no world access is registered, and `get_param` makes none.
unsafe impl SystemParam for AnyAccess<'_> {
    type State = AnyAccessState;
    type Item<'w, 's> = AnyAccess<'s>;

    fn init_state(_: &mut World) -> AnyAccessState {
        AnyAccessState {
            handle: None,
            kind: AccessKind::Sampled,
            declared: None,
        }
    }

    fn init_access(
        state: &AnyAccessState,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        _: &mut World,
    ) {
        if let Some(id) = state.declared {
            declare::<Self>(id, meta, system_access);
        }
    }

    unsafe fn get_param<'w, 's>(
        state: &'s mut AnyAccessState,
        _: &SystemMeta,
        _: UnsafeWorldCell<'w>,
        _: Tick,
    ) -> Result<AnyAccess<'s>, SystemParamValidationError> {
        let Some(handle) = &state.handle else {
            return Err(SystemParamValidationError::invalid::<Self>(
                "it names no resource; build the system with \
                 `(.., declared(AccessKind::Sampled, &image), ..).build_system(pass)`",
            ));
        };
        let resource = ResourceRef::from(handle);
        Ok(AnyAccess {
            resource,
            kind: state.kind,
            stages: StageWish::Auto,
        })
    }
}

/// Builds an [`AnyAccess`]: see [`declared`].
pub struct DeclaredBuilder {
    handle: Handle,
    kind: AccessKind,
}

/// Builds an [`AnyAccess`] parameter that declares this access of this buffer or image.
pub fn declared(kind: AccessKind, resource: &impl GpuResource) -> DeclaredBuilder {
    DeclaredBuilder {
        handle: resource.to_handle(),
        kind,
    }
}

// SAFETY: `AnyAccess` accesses nothing of the world, so there is no access to register.
unsafe impl SystemParamBuilder<AnyAccess<'_>> for DeclaredBuilder {
    fn build(self, world: &mut World) -> AnyAccessState {
        let entity = handle_entity(world, self.handle.clone());
        let access = DeclaredAccess {
            stages: StageWish::Auto,
            ..DeclaredAccess::new(self.kind)
        };
        AnyAccessState {
            handle: Some(self.handle),
            kind: self.kind,
            declared: Some(register_access(world, entity, access)),
        }
    }
}
