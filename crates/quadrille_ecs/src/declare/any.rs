//! [`AnyAccess`]: access of a handle that is known only at run time.

#![expect(
    unsafe_code,
    reason = "`SystemParam` is an unsafe trait: it promises to register what it accesses"
)]

use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::query::FilteredAccess;
use bevy_ecs::system::{
    SystemAccess, SystemMeta, SystemParam, SystemParamBuilder, SystemParamValidationError,
};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use quadrille_sync::range::SubRange;
use quadrille_vulkan::resources::Handle;

use crate::declare::access::PassUse;
use crate::declare::bind::ResourceRef;
use crate::declare::declaration::{Bound, DeclaredAccess};
use crate::declare::interned;
use crate::declare::kind::AccessKind;
use crate::declare::named::GpuResource;
use crate::declare::registry::{Absence, bound_entity, declare, register_access};
use crate::declare::window_image::WindowImage;

/// A declared access of a buffer or image whose handle, and kind of access, are known only at run
/// time. Build the system with [`declared`] in the parameter's place:
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::resources::GpuImage;
/// fn blur(mut recorder: Recorder, from: AnyAccess, to: AnyAccess) {}
///
/// fn add_blur(app: &mut App, from: &GpuImage, to: &GpuImage) {
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
    /// By reference, because the value is large and bevy copies a system's parameters several times.
    pub(crate) access: &'s DeclaredAccess,
}

impl<'s> AnyAccess<'s> {
    /// Creates an access of a buffer, an image, or a ring slot for a pass of a [`Stream`](crate::Stream).
    pub fn of(resource: &'s impl GpuResource, kind: AccessKind) -> Self {
        Self {
            resource: resource.to_ref(),
            access: interned::access(kind),
        }
    }

    /// The buffer or image.
    pub fn resource(&self) -> ResourceRef<'s> {
        self.resource
    }

    /// The declared access.
    pub fn kind(&self) -> AccessKind {
        self.access.kind
    }

    /// Returns a read for one pass of the system: see [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.part(AccessKind::StorageRead)
    }

    /// Returns a write without a read for one pass of the system.
    pub fn writes(&self) -> PassUse {
        self.part(AccessKind::StorageWrite)
    }

    /// Returns a read and write for one pass of the system.
    pub fn reads_and_writes(&self) -> PassUse {
        self.part(AccessKind::StorageReadWrite)
    }

    /// Returns the declared access for one pass of the system.
    pub fn as_declared(&self) -> PassUse {
        self.part(self.access.kind)
    }

    fn part(&self, kind: AccessKind) -> PassUse {
        let (declared, stages) = (self.access.kind, self.access.stages);
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
///
/// Kept small, because passes have several states and each frame reads all of them.
pub struct AnyAccessState {
    /// `None` for the image of a window, for a system built without a resource, and after the resource was lost.
    handle: Option<Handle>,
    access: &'static DeclaredAccess,
    declaration: Option<Box<Declaration>>,
}

/// Rarely read part of the state: to build and inspect systems, and for images of windows.
struct Declaration {
    id: ComponentId,
    absence: Absence,
    /// The window, if the access is of a window's image.
    window: Option<TrackedDeclaration>,
}

/// Current image of a window.
struct TrackedDeclaration {
    window: Entity,
    /// The id of [`WindowImage`].
    image: ComponentId,
    /// The last known image.
    handle: Option<Handle>,
}

// SAFETY: `init_access` registers a read of `WindowImage` if there is a window; `get_param` reads
// that component then, and nothing otherwise.
unsafe impl SystemParam for AnyAccess<'_> {
    type State = AnyAccessState;
    type Item<'w, 's> = AnyAccess<'s>;

    fn init_state(_: &mut World) -> AnyAccessState {
        AnyAccessState {
            handle: None,
            access: interned::access(AccessKind::Sampled),
            declaration: None,
        }
    }

    fn init_access(
        state: &AnyAccessState,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        _: &mut World,
    ) {
        let Some(declaration) = &state.declaration else {
            return;
        };
        declare::<Self>(declaration.id, meta, system_access);
        if let Some(followed) = &declaration.window {
            let mut access = FilteredAccess::default();
            access.add_read(followed.image);
            let shared = system_access.require_shared_access::<Self>(meta);
            shared.add(access);
        }
    }

    // Inlined into the system: a result returned through memory would be loaded right after its store.
    #[inline]
    unsafe fn get_param<'w, 's>(
        state: &'s mut AnyAccessState,
        _: &SystemMeta,
        world: UnsafeWorldCell<'w>,
        run: Tick,
    ) -> Result<AnyAccess<'s>, SystemParamValidationError> {
        if state.handle.as_ref().is_some_and(Handle::is_given_up) {
            if let Some(declaration) = &state.declaration {
                declaration.absence.note(run);
            }
            return Err(destroyed_resource(&mut state.handle));
        }
        let handle = match (&state.handle, &mut state.declaration) {
            (Some(handle), _) => handle,
            // SAFETY: `init_access` registered the read of the window's image.
            (None, Some(declaration)) => unsafe { follow_window(declaration, world, run) }?,
            (None, None) => return Err(unnamed()),
        };
        let resource = ResourceRef::from(handle);
        Ok(AnyAccess {
            resource,
            access: state.access,
        })
    }
}

/// Returns the current image of a window.
///
/// # Safety
/// The caller must be allowed to read the window's [`WindowImage`].
unsafe fn follow_window<'s>(
    declaration: &'s mut Declaration,
    world: UnsafeWorldCell<'_>,
    run: Tick,
) -> Result<&'s Handle, SystemParamValidationError> {
    let Some(followed) = &mut declaration.window else {
        return Err(unnamed());
    };
    let window = world.get_entity(followed.window).ok();
    // SAFETY: the caller may read this component.
    let image = window.and_then(|window| unsafe { window.get::<WindowImage>() });
    let Some(image) = image else {
        // A minimized or closed window has no image. The pass is skipped without an error.
        followed.handle = None;
        declaration.absence.note(run);
        return Err(SystemParamValidationError::skipped::<AnyAccess<'_>>(
            "the window has no image now",
        ));
    };
    // Ids are unique per device only: the handle of a lost device may have the id of the new image.
    let known = followed.handle.as_ref().filter(|it| !it.is_given_up());
    if known.map(Handle::id) != Some(image.id()) {
        followed.handle = Some(image.to_handle());
    }
    followed.handle.as_ref().ok_or_else(unnamed)
}

/// Error of a pass whose resource was destroyed with its device.
#[cold]
fn destroyed_resource(handle: &mut Option<Handle>) -> SystemParamValidationError {
    let name = handle.take().map(|handle| handle.name().to_owned());
    SystemParamValidationError::invalid::<AnyAccess<'_>>(format!(
        "{} was made from a device that is gone; build the system again, with what is made in the \
         `RenderStartup` schedule, which runs again for each device",
        name.unwrap_or_default()
    ))
}

/// Error of a pass whose system was built without the resource.
#[cold]
fn unnamed() -> SystemParamValidationError {
    SystemParamValidationError::invalid::<AnyAccess<'_>>(
        "it names no resource; build the system with \
         `(.., declared(AccessKind::Sampled, &image), ..).build_system(pass)`",
    )
}

/// Builds an [`AnyAccess`]: see [`declared`] and [`declared_window`].
pub struct DeclaredBuilder {
    /// A handle or a window.
    bound: Bound,
    kind: AccessKind,
}

/// Builds an [`AnyAccess`] parameter that declares this access of this buffer or image.
pub fn declared(kind: AccessKind, resource: &impl GpuResource) -> DeclaredBuilder {
    DeclaredBuilder {
        bound: Bound::Handle(resource.to_handle()),
        kind,
    }
}

/// Builds an [`AnyAccess`] parameter that declares this access of the image of a window, by the
/// window's entity. The pass is skipped while the window has no image, and after it is closed.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
/// # use bevy_window::Window;
/// # use quadrille_ecs::*;
/// fn clear(mut recorder: Recorder, window: AnyAccess) {
///     recorder.render(window.clear([0.0, 0.0, 1.0, 1.0]));
/// }
///
/// fn open(world: &mut World) {
///     let window = world.spawn(Window::default()).id();
///     let parameters = (ParamBuilder, declared_window(AccessKind::ColorTarget, window));
///     let clear = parameters.build_system(clear);
///     world.schedule_scope(Render, |_, schedule| {
///         schedule.add_systems(clear);
///     });
/// }
/// ```
pub fn declared_window(kind: AccessKind, window: Entity) -> DeclaredBuilder {
    DeclaredBuilder {
        bound: Bound::Window(window),
        kind,
    }
}

// SAFETY: `AnyAccess` registers all of its world accesses itself.
unsafe impl SystemParamBuilder<AnyAccess<'_>> for DeclaredBuilder {
    fn build(self, world: &mut World) -> AnyAccessState {
        let entity = bound_entity(world, self.bound.clone());
        let access = interned::access(self.kind);
        let (handle, window) = match self.bound {
            Bound::Handle(handle) => (Some(handle), None),
            Bound::Window(window) => {
                let followed = TrackedDeclaration {
                    window,
                    image: world.register_component::<WindowImage>(),
                    handle: None,
                };
                (None, Some(followed))
            }
            Bound::Type(_) | Bound::List(_) | Bound::Table(_) | Bound::Gone(_) => (None, None),
        };
        let (id, absence) = register_access(world, entity, *access);
        AnyAccessState {
            handle,
            access,
            declaration: Some(Box::new(Declaration {
                id,
                absence,
                window,
            })),
        }
    }
}
