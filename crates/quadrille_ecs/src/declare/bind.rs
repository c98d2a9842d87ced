//! Declared accesses as arguments of binds, attachments and copies.

use quadrille_sync::resource::ResourceId;
use quadrille_vulkan::resources::{GpuBuffer, GpuImage, Handle, View};

use crate::declare::access::{Access, kind, stage};
use crate::declare::any::AnyAccess;
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::named::{GpuResource as _, Named};

/// A buffer or image, by reference.
#[derive(Clone, Copy)]
pub enum ResourceRef<'a> {
    /// A buffer.
    Buffer(&'a GpuBuffer),
    /// An image.
    Image(&'a GpuImage),
}

/// A resource with its declared access.
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    pub(crate) resource: ResourceRef<'a>,
    pub(crate) kind: &'a AccessKind,
    /// The declared shader stages.
    pub(crate) stages: StageScope,
    /// The part of an image.
    pub(crate) view: View,
}

impl<'a> From<&'a Handle> for ResourceRef<'a> {
    fn from(handle: &'a Handle) -> Self {
        match handle {
            Handle::Buffer(buffer) => Self::Buffer(buffer),
            Handle::Image(image) => Self::Image(image),
        }
    }
}

impl ResourceRef<'_> {
    pub(crate) fn to_handle(self) -> Handle {
        match self {
            Self::Buffer(buffer) => buffer.to_handle(),
            Self::Image(image) => image.to_handle(),
        }
    }
}

impl<'a> Bound<'a> {
    pub(crate) fn id(&self) -> ResourceId {
        match self.resource {
            ResourceRef::Buffer(buffer) => buffer.id(),
            ResourceRef::Image(image) => image.id(),
        }
    }

    pub(crate) fn name(&self) -> &'a str {
        match self.resource {
            ResourceRef::Buffer(buffer) => buffer.name(),
            ResourceRef::Image(image) => image.name(),
        }
    }
}

/// Declared access that recorder methods take as an argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no declared access",
    label = "a parameter such as `StorageRead<Cells>` is expected here, by reference",
    note = "what a pass binds, draws to or copies it declares as a parameter of its system; a `GpuBuffer` or `GpuImage` itself is no key to it; a `Sampler` is bound by `.sampler(binding, &sampler)`"
)]
pub trait Declared {
    /// The resource and the declared access.
    fn bound(&self) -> Bound<'_>;
}

impl<T, K, S> Declared for Access<'_, T, K, S>
where
    T: Named,
    K: kind::Kind,
    S: stage::Stage,
{
    #[inline]
    fn bound(&self) -> Bound<'_> {
        Bound {
            resource: (**self).to_ref(),
            kind: &K::KIND,
            stages: S::STAGES,
            view: View::WHOLE,
        }
    }
}

impl Declared for AnyAccess<'_> {
    #[inline]
    fn bound(&self) -> Bound<'_> {
        Bound {
            resource: self.resource,
            kind: &self.access.kind,
            stages: self.access.stages,
            view: View::WHOLE,
        }
    }
}
