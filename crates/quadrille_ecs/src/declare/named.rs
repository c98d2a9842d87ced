//! Bevy resources that name a buffer or an image.

use std::ops::Deref;

use bevy_ecs::prelude::*;
use quadrille_vulkan::resources::{GpuBuffer, GpuImage, Handle, QuerySet};

use crate::declare::bind::ResourceRef;

/// A buffer, an image or a query set.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a buffer nor an image",
    label = "`GpuBuffer`, `GpuImage` or `Handle` is expected here",
    note = "a bevy resource names one for passes by dereferencing to it: `#[derive(Resource, Deref)] struct Cells(GpuBuffer);`"
)]
pub trait GpuResource: Send + Sync + 'static {
    /// Returns the handle for declarations.
    fn to_handle(&self) -> Handle;

    /// Returns the resource by reference.
    fn to_ref(&self) -> ResourceRef<'_>;
}

impl GpuResource for GpuBuffer {
    fn to_handle(&self) -> Handle {
        Handle::Buffer(self.clone())
    }

    fn to_ref(&self) -> ResourceRef<'_> {
        ResourceRef::Buffer(self)
    }
}

impl GpuResource for GpuImage {
    fn to_handle(&self) -> Handle {
        Handle::Image(self.clone())
    }

    fn to_ref(&self) -> ResourceRef<'_> {
        ResourceRef::Image(self)
    }
}

/// Query results are in a buffer, so a query set is declared as one.
impl GpuResource for QuerySet {
    fn to_handle(&self) -> Handle {
        Handle::Buffer((**self).clone())
    }

    fn to_ref(&self) -> ResourceRef<'_> {
        ResourceRef::Buffer(self)
    }
}

impl GpuResource for Handle {
    fn to_handle(&self) -> Handle {
        self.clone()
    }

    fn to_ref(&self) -> ResourceRef<'_> {
        ResourceRef::from(self)
    }
}

/// A bevy resource that names a buffer or an image: any resource that dereferences to one.
///
/// ```
/// use bevy_derive::Deref;
/// use bevy_ecs::prelude::Resource;
/// use quadrille_ecs::{Recorder, StorageRead};
/// use quadrille_vulkan::resources::GpuBuffer;
///
/// #[derive(Resource, Deref)]
/// struct Cells(GpuBuffer);
///
/// fn count(mut recorder: Recorder, cells: StorageRead<Cells>) {}
/// ```
/// The handle inside may change each frame; passes use the current one.
pub trait Named: Resource {
    /// [`GpuBuffer`] or [`GpuImage`].
    type Handle: GpuResource;

    /// The current handle.
    fn named(&self) -> &Self::Handle;
}

impl<T> Named for T
where
    T: Resource + Deref,
    T::Target: GpuResource + Sized,
{
    type Handle = T::Target;

    fn named(&self) -> &Self::Handle {
        self
    }
}
