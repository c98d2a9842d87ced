//! System parameters that declare what a pass touches.
//!
//! A parameter such as [`StorageRead<Cells>`] does two things: it declares the access for the
//! plan, and it is the only key with which the [`Recorder`](crate::Recorder) lets the pass at the
//! resource. So what is recorded cannot exceed what was declared.

#![expect(
    unsafe_code,
    reason = "`SystemParam` is an unsafe trait: it promises to register what it accesses"
)]

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Deref;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;

use bevy_ecs::system::{SystemAccess, SystemMeta, SystemParam, SystemParamValidationError};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use quadrille_sync::SubRange;

use crate::declare::any::AnyAccess;
use crate::declare::bind::{Bound, ResourceRef};
use crate::declare::declaration::DeclaredAccess;
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::missing::missing;
use crate::declare::named::{GpuResource, Named};
use crate::declare::parameter::ResourceAccess;
use crate::declare::registry::{Awaited, resource_entity};
use crate::declare::view::is_within;

/// Types that stand for an [`AccessKind`] in parameters.
pub mod kind {
    use super::AccessKind;

    /// An [`AccessKind`] as a type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no kind of access",
        label = "a type of `access_kind`, such as `access_kind::Sampled`, is expected here"
    )]
    pub trait Kind: Send + Sync + 'static {
        /// The kind.
        const KIND: AccessKind;
    }

    macro_rules! kinds {
        ($($(#[$doc:meta])* $name:ident $word:literal,)*) => { $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Kind for $name {
                const KIND: AccessKind = AccessKind::$name;
            }
        )* };
    }
    crate::declare::kind::for_each_kind!(kinds);
}

/// Types that stand for a [`StageScope`] in parameters: `StorageRead<Cells, stage::Fragment>`.
pub mod stage {
    use super::StageScope;

    /// A [`StageScope`] as a type.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` stands for no shader stages",
        label = "a type of `stage`, such as `stage::Fragment`, is expected here"
    )]
    pub trait Stage: Send + Sync + 'static {
        /// The stages.
        const STAGES: StageScope;
    }

    macro_rules! stages {
        ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Stage for $name {
                const STAGES: StageScope = StageScope::$name;
            }
        )* };
    }
    stages! {
        /// [`StageScope::Auto`].
        Auto,
        /// [`StageScope::Vertex`].
        Vertex,
        /// [`StageScope::Fragment`].
        Fragment,
        /// [`StageScope::Graphics`].
        Graphics,
        /// [`StageScope::Compute`].
        Compute,
        /// [`StageScope::Any`].
        Any,
    }
}

/// A declared access of the resource named `T`: the parameter behind [`StorageRead`] and its
/// siblings. Dereferences to the [`GpuBuffer`](crate::GpuBuffer) or [`GpuImage`](crate::GpuImage).
///
/// The resource exists when the pass runs, or the frame is lost. In bevy's `Option<..>` the access is
/// declared if it exists, and the pass is given `None` if not; in bevy's `If<..>` the pass is left out
/// then, as with `run_if(resource_exists::<T>)`.
pub struct Access<'w, T: Named, K: kind::Kind, S: stage::Stage = stage::Auto> {
    handle: &'w T::Handle,
    kind: PhantomData<fn() -> (K, S)>,
}

/// Reads a uniform buffer.
pub type Uniform<'w, T, S = stage::Auto> = Access<'w, T, kind::Uniform, S>;
/// Samples or fetches from an image.
pub type Sampled<'w, T, S = stage::Auto> = Access<'w, T, kind::Sampled, S>;
/// Reads a storage buffer or storage image.
pub type StorageRead<'w, T, S = stage::Auto> = Access<'w, T, kind::StorageRead, S>;
/// Writes a storage buffer or storage image without reading it.
pub type StorageWrite<'w, T, S = stage::Auto> = Access<'w, T, kind::StorageWrite, S>;
/// Reads and writes a storage buffer or storage image.
pub type StorageReadWrite<'w, T, S = stage::Auto> = Access<'w, T, kind::StorageReadWrite, S>;
/// Draws to a colour attachment.
pub type ColorTarget<'w, T> = Access<'w, T, kind::ColorTarget>;
/// Draws with a depth attachment that is tested and written.
pub type DepthTarget<'w, T> = Access<'w, T, kind::DepthTarget>;
/// Draws with a depth attachment that is only tested.
pub type DepthRead<'w, T> = Access<'w, T, kind::DepthRead>;
/// Draws to a colour attachment that later draws of the same rendering read at their own pixel
/// (`VK_KHR_dynamic_rendering_local_read`), so that it need not leave the memory of the tile. Their fragment shader is
/// SPIR-V, which has input attachments (`subpassInput` of GLSL, `SubpassInput` of HLSL and Slang) where WGSL
/// has none; its `input_attachment_index` is the number of the attachment, which binds itself. The image has the
/// usage [`ImageUsage::INPUT_ATTACHMENT`](crate::ImageUsage::INPUT_ATTACHMENT).
///
/// A draw sees what the draws before it wrote. Fragments of one draw that overlap see each other in no order.
/// On a device without the feature, passes that declare this are an error.
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # #[derive(Resource, Deref)] struct Albedo(GpuImage);
/// # #[derive(Resource, Deref)] struct Normals(GpuImage);
/// # #[derive(Resource, Deref)] struct Depth(GpuImage);
/// # #[derive(Resource, Deref)] struct Lit(GpuImage);
/// # #[derive(Resource)] struct Deferred { statues: GraphicsPipeline, lights: GraphicsPipeline }
/// /// Geometry and light in one rendering: no barrier is written, none is forgotten.
/// fn deferred(
///     mut recorder: Recorder,
///     albedo: ColorLocalRead<Albedo>,
///     normals: ColorLocalRead<Normals>,
///     depth: DepthLocalRead<Depth>,
///     lit: ColorTarget<Lit>,
///     deferred: Res<Deferred>,
/// ) {
///     let colors = [albedo.clear([0.0; 4]), normals.clear([0.0; 4]), lit.clear([0.0; 4])];
///     let mut rendering = recorder.render((colors, depth.clear_depth(1.0)));
///     rendering.pipeline(&deferred.statues).draw(0..90_000, 0..1);
///     // layout(input_attachment_index = 0, binding = 0) uniform subpassInput albedo;
///     // layout(input_attachment_index = 1, binding = 1) uniform subpassInput normals;
///     // layout(binding = 2) uniform subpassInput depth;
///     rendering.pipeline(&deferred.lights).draw(0..36, 0..100);
/// }
/// ```
pub type ColorLocalRead<'w, T> = Access<'w, T, kind::ColorLocalRead>;
/// Draws with a depth attachment that later draws of the same rendering read at their own pixel: see
/// [`ColorLocalRead`]. In the shader it is the input attachment without an index.
pub type DepthLocalRead<'w, T> = Access<'w, T, kind::DepthLocalRead>;
/// Reads vertices.
pub type VertexRead<'w, T> = Access<'w, T, kind::Vertex>;
/// Reads indices.
pub type IndexRead<'w, T> = Access<'w, T, kind::Index>;
/// Reads draw or dispatch arguments.
pub type IndirectRead<'w, T> = Access<'w, T, kind::Indirect>;
/// Reads what decides about draws and dispatches:
/// [`Rendering::when`](crate::Rendering::when).
pub type ConditionRead<'w, T> = Access<'w, T, kind::Condition>;
/// Uses queries of a [`QuerySet`](crate::QuerySet): [`Rendering::query`](crate::Rendering::query).
pub type QueryWrite<'w, T> = Access<'w, T, kind::Query>;
/// Is the source of copies.
pub type TransferRead<'w, T> = Access<'w, T, kind::TransferRead>;
/// Is the destination of copies.
pub type TransferWrite<'w, T> = Access<'w, T, kind::TransferWrite>;
/// Is read by a host pass: see [`Recorder::host`](crate::Recorder::host).
pub type HostRead<'w, T> = Access<'w, T, kind::HostRead>;
/// Is written by a host pass, which keeps what it does not write.
pub type HostWrite<'w, T> = Access<'w, T, kind::HostWrite>;
/// Is read and written by a host pass.
pub type HostReadWrite<'w, T> = Access<'w, T, kind::HostReadWrite>;

impl<T: Named, K: kind::Kind, S: stage::Stage> Deref for Access<'_, T, K, S> {
    type Target = T::Handle;

    fn deref(&self) -> &T::Handle {
        self.handle
    }
}

/// The state of an [`Access`] parameter; opaque.
pub struct AccessState {
    declared: ResourceAccess,
    awaited: Awaited,
}

// SAFETY: `init_access` registers a read of the resource `T`, which is all that `get_param` reads.
unsafe impl<T: Named, K: kind::Kind, S: stage::Stage> SystemParam for Access<'_, T, K, S> {
    type State = AccessState;
    type Item<'w, 's> = Access<'w, T, K, S>;

    fn init_state(world: &mut World) -> AccessState {
        let entity = resource_entity::<T>(world);
        AccessState {
            declared: ResourceAccess::new::<T>(world, entity, *DeclaredAccess::of::<K, S>()),
            awaited: Awaited::of(world, TypeId::of::<T>()),
        }
    }

    fn init_access(
        state: &AccessState,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        let declared = &state.declared;
        declared.init_access::<T, Self>(meta, system_access, world);
    }

    unsafe fn get_param<'w, 's>(
        state: &'s mut AccessState,
        _: &SystemMeta,
        world: UnsafeWorldCell<'w>,
        run: Tick,
    ) -> Result<Self::Item<'w, 's>, SystemParamValidationError> {
        // SAFETY: `init_access` registered the read of `T`.
        let resource = unsafe { state.declared.get::<T>(world, run) };
        let resource = resource.ok_or_else(|| missing::<T, Self>(state.awaited.is_set()))?;
        Ok(Access {
            handle: resource.named(),
            kind: PhantomData,
        })
    }
}

impl<T: Named, K: kind::Kind, S: stage::Stage> Access<'_, T, K, S> {
    /// The same without its types, so that accesses of different resources fit into one array.
    pub fn any(&self) -> AnyAccess<'_> {
        AnyAccess {
            resource: self.handle.to_ref(),
            access: DeclaredAccess::of::<K, S>(),
        }
    }

    /// This access as one of a pass within the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn as_declared(&self) -> PassUse {
        self.any().as_declared()
    }
}

impl<T: Named, S: stage::Stage> StorageRead<'_, T, S> {
    /// This access as one of a pass within the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.any().reads()
    }
}

impl<T: Named, S: stage::Stage> StorageWrite<'_, T, S> {
    /// This access as one of a pass within the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn writes(&self) -> PassUse {
        self.any().writes()
    }
}

impl<T: Named, S: stage::Stage> StorageReadWrite<'_, T, S> {
    /// A read as one access of a pass within the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.any().reads()
    }

    /// A write that reads nothing, as one access of a pass within the system.
    pub fn writes(&self) -> PassUse {
        self.any().writes()
    }

    /// A read and write as one access of a pass within the system.
    pub fn reads_and_writes(&self) -> PassUse {
        self.any().reads_and_writes()
    }
}

/// One access of one of several passes that a single system records.
#[derive(Clone, Debug)]
pub struct PassUse {
    pub(crate) handle: quadrille_vulkan::Handle,
    pub(crate) declared: AccessKind,
    pub(crate) kind: AccessKind,
    pub(crate) stages: StageScope,
    pub(crate) range: SubRange,
}

impl PassUse {
    /// Only this part of the resource. That shaders touch no other bytes of a buffer, and no other slices
    /// of a 3D image, is for the caller to see to: bindings are of whole buffers, unless
    /// [`Compute::bind_bytes`](crate::Compute::bind_bytes) makes them, and of whole mip levels.
    pub fn range(mut self, range: SubRange) -> Self {
        self.range = range;
        self
    }

    /// Whether a bound, attached or copied resource is what this declares, or part of it.
    pub(crate) fn declares(&self, bound: Bound<'_>) -> bool {
        // A parameter may be declared for more than one of the passes does.
        self.handle.id() == bound.id()
            && (self.kind.covers(bound.kind) || bound.kind.covers(&self.kind))
            && match bound.resource {
                ResourceRef::Image(image) => is_within(image, bound.view, &self.range),
                ResourceRef::Buffer(_) => true,
            }
    }
}
