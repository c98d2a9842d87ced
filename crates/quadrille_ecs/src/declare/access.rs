//! System parameters that declare accesses of a pass.
//!
//! A parameter such as [`StorageRead<Cells>`] declares the access for the plan, and is the argument by which methods of
//! the [`Recorder`](crate::Recorder) take the resource. So a pass cannot record more than it declares.

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
use quadrille_sync::range::SubRange;

use crate::declare::any::AnyAccess;
use crate::declare::bind::{Bound, ResourceRef};
use crate::declare::declaration::DeclaredAccess;
use crate::declare::kind::{AccessKind, StageScope};
use crate::declare::missing::missing;
use crate::declare::named::{GpuResource, Named};
use crate::declare::parameter::ResourceAccess;
use crate::declare::registry::{Awaited, resource_entity};
use crate::declare::view::is_within;

/// Marker types of [`AccessKind`]s for parameters.
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

/// Marker types of [`StageScope`]s for parameters: `StorageRead<Cells, stage::Fragment>`.
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

/// A declared access of the resource named `T`. [`StorageRead`] and the other access parameters are aliases of it.
/// Dereferences to the [`GpuBuffer`](quadrille_vulkan::resources::GpuBuffer) or [`GpuImage`](quadrille_vulkan::resources::GpuImage).
///
/// If the resource does not exist when the pass runs, the frame fails. With bevy's `Option<..>` the pass gets
/// `None` instead and declares no access; with bevy's `If<..>` the pass is skipped,
/// as with `run_if(resource_exists::<T>)`.
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
/// Draws to a color attachment.
pub type ColorTarget<'w, T> = Access<'w, T, kind::ColorTarget>;
/// Draws with a depth attachment that is tested and written.
pub type DepthTarget<'w, T> = Access<'w, T, kind::DepthTarget>;
/// Draws with a depth attachment that is only tested.
pub type DepthRead<'w, T> = Access<'w, T, kind::DepthRead>;
/// Draws to a color attachment that later draws of the same rendering read at their own pixel
/// (`VK_KHR_dynamic_rendering_local_read`), so that it can stay in tile memory. The reading fragment shader must be
/// SPIR-V with input attachments (`subpassInput` of GLSL, `SubpassInput` of HLSL and Slang), which WGSL lacks.
/// Its `input_attachment_index` is the number of the attachment, which is bound automatically. The image needs the
/// usage [`ImageUsage::INPUT_ATTACHMENT`](quadrille_vulkan::resources::ImageUsage::INPUT_ATTACHMENT).
///
/// A draw reads the writes of earlier draws. Overlapping fragments of one draw are not ordered.
/// Passes that declare this are an error on devices without the feature.
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::pipeline::GraphicsPipeline;
/// # use quadrille_vulkan::resources::GpuImage;
/// # #[derive(Resource, Deref)] struct Albedo(GpuImage);
/// # #[derive(Resource, Deref)] struct Normals(GpuImage);
/// # #[derive(Resource, Deref)] struct Depth(GpuImage);
/// # #[derive(Resource, Deref)] struct Lit(GpuImage);
/// # #[derive(Resource)] struct Deferred { statues: GraphicsPipeline, lights: GraphicsPipeline }
/// /// Geometry and lighting in one rendering.
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
/// [`ColorLocalRead`]. The shader declares an input attachment without an index.
pub type DepthLocalRead<'w, T> = Access<'w, T, kind::DepthLocalRead>;
/// Reads vertices.
pub type VertexRead<'w, T> = Access<'w, T, kind::Vertex>;
/// Reads indices.
pub type IndexRead<'w, T> = Access<'w, T, kind::Index>;
/// Reads draw or dispatch arguments.
pub type IndirectRead<'w, T> = Access<'w, T, kind::Indirect>;
/// Reads the predicate of conditional rendering:
/// [`Rendering::when`](crate::Rendering::when).
pub type ConditionRead<'w, T> = Access<'w, T, kind::Condition>;
/// Uses queries of a [`QuerySet`](quadrille_vulkan::resources::QuerySet): [`Rendering::query`](crate::Rendering::query).
pub type QueryWrite<'w, T> = Access<'w, T, kind::Query>;
/// Reads as the source of copies.
pub type TransferRead<'w, T> = Access<'w, T, kind::TransferRead>;
/// Writes as the destination of copies.
pub type TransferWrite<'w, T> = Access<'w, T, kind::TransferWrite>;
/// Reads in a host pass: see [`Recorder::host`](crate::Recorder::host).
pub type HostRead<'w, T> = Access<'w, T, kind::HostRead>;
/// Writes in a host pass; bytes that it does not write are kept.
pub type HostWrite<'w, T> = Access<'w, T, kind::HostWrite>;
/// Reads and writes in a host pass.
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
    /// Erases the types, so that accesses of different resources can be elements of one array.
    pub fn any(&self) -> AnyAccess<'_> {
        AnyAccess {
            resource: self.handle.to_ref(),
            access: DeclaredAccess::of::<K, S>(),
        }
    }

    /// Returns this access for one pass of the system: see [`Recorder::pass`](crate::Recorder::pass).
    pub fn as_declared(&self) -> PassUse {
        self.any().as_declared()
    }
}

impl<T: Named, S: stage::Stage> StorageRead<'_, T, S> {
    /// Returns this access for one pass of the system: see [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.any().reads()
    }
}

impl<T: Named, S: stage::Stage> StorageWrite<'_, T, S> {
    /// Returns this access for one pass of the system: see [`Recorder::pass`](crate::Recorder::pass).
    pub fn writes(&self) -> PassUse {
        self.any().writes()
    }
}

impl<T: Named, S: stage::Stage> StorageReadWrite<'_, T, S> {
    /// Returns a read for one pass of the system: see [`Recorder::pass`](crate::Recorder::pass).
    pub fn reads(&self) -> PassUse {
        self.any().reads()
    }

    /// Returns a write without a read for one pass of the system.
    pub fn writes(&self) -> PassUse {
        self.any().writes()
    }

    /// Returns a read and write for one pass of the system.
    pub fn reads_and_writes(&self) -> PassUse {
        self.any().reads_and_writes()
    }
}

/// Access of one of several passes that a single system records.
#[derive(Clone, Debug)]
pub struct PassUse {
    pub(crate) handle: quadrille_vulkan::resources::Handle,
    pub(crate) declared: AccessKind,
    pub(crate) kind: AccessKind,
    pub(crate) stages: StageScope,
    pub(crate) range: SubRange,
}

impl PassUse {
    /// Restricts the access to a part of the resource. The caller must ensure that shaders access no other bytes of a
    /// buffer, and no other slices of a 3D image: bindings include whole mip levels, and whole buffers except with
    /// [`Compute::bind_bytes`](crate::Compute::bind_bytes).
    pub fn range(mut self, range: SubRange) -> Self {
        self.range = range;
        self
    }

    /// Whether this is the declaration of a bound, attached or copied resource.
    pub(crate) fn declares(&self, bound: Bound<'_>) -> bool {
        // A parameter may be declared for a wider access than a single pass needs.
        self.handle.id() == bound.id()
            && (self.kind.covers(bound.kind) || bound.kind.covers(&self.kind))
            && match bound.resource {
                ResourceRef::Image(image) => is_within(image, bound.view, &self.range),
                ResourceRef::Buffer(_) => true,
            }
    }
}
