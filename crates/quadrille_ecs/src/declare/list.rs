//! Declared accesses of all buffers or images in a bevy resource.

#![expect(
    unsafe_code,
    reason = "`SystemParam` is an unsafe trait: it promises to register what it accesses"
)]

use std::marker::PhantomData;
use std::ops::Deref;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemAccess, SystemMeta, SystemParam, SystemParamValidationError};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;

use crate::declare::access::{kind, stage};
use crate::declare::any::AnyAccess;
use crate::declare::declaration::DeclaredAccess;
use crate::declare::named::GpuResource;
use crate::declare::parameter::ResourceAccess;
use crate::declare::registry::{list_entity, short_name};

/// A list of buffers or images: any bevy resource that dereferences to a `Vec` of them. The list may change each frame.
pub trait NamedList: Resource {
    /// [`GpuBuffer`](quadrille_vulkan::resources::GpuBuffer) or [`GpuImage`](quadrille_vulkan::resources::GpuImage).
    type Handle: GpuResource;

    /// The current handles.
    fn handles(&self) -> &[Self::Handle];
}

impl<T, H> NamedList for T
where
    T: Resource + Deref<Target = Vec<H>>,
    H: GpuResource,
{
    type Handle = H;

    fn handles(&self) -> &[H] {
        self
    }
}

/// One declared access for each buffer or image in the resource `T`, for passes whose resources are
/// known only at run time, such as the textures of all sprites.
///
/// A pass within a system ([`Recorder::pass`](crate::Recorder::pass)) lists
/// those that it uses; any other pass accesses all of them.
///
/// ```
/// use bevy_derive::Deref;
/// use bevy_ecs::prelude::Resource;
/// use quadrille_ecs::{AccessList, Recorder, access_kind};
/// use quadrille_vulkan::resources::GpuImage;
///
/// #[derive(Resource, Deref)]
/// struct Textures(Vec<GpuImage>);
///
/// fn draw(mut recorder: Recorder, textures: AccessList<Textures, access_kind::Sampled>) {
///     for texture in textures.iter() {
///         // bind it, draw
///     }
/// }
/// ```
pub struct AccessList<'w, T: NamedList, K: kind::Kind, S: stage::Stage = stage::Auto> {
    handles: &'w [T::Handle],
    kind: PhantomData<fn() -> (K, S)>,
}

impl<'w, T: NamedList, K: kind::Kind, S: stage::Stage> AccessList<'w, T, K, S> {
    /// Number of accesses.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// The access of the resource at this index.
    pub fn get(&self, index: usize) -> Option<AnyAccess<'w>> {
        self.handles.get(index).map(access::<T, K, S>)
    }

    /// The accesses in the order of the list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = AnyAccess<'w>> {
        self.handles.iter().map(access::<T, K, S>)
    }
}

fn access<T: NamedList, K: kind::Kind, S: stage::Stage>(handle: &T::Handle) -> AnyAccess<'_> {
    AnyAccess {
        resource: handle.to_ref(),
        access: DeclaredAccess::of::<K, S>(),
    }
}

// SAFETY: `init_access` registers a read of the resource `T`, which is all that `get_param` reads.
unsafe impl<T: NamedList, K: kind::Kind, S: stage::Stage> SystemParam for AccessList<'_, T, K, S> {
    type State = ResourceAccess;
    type Item<'w, 's> = AccessList<'w, T, K, S>;

    fn init_state(world: &mut World) -> ResourceAccess {
        let entity = list_entity::<T>(world);
        ResourceAccess::new::<T>(world, entity, *DeclaredAccess::of::<K, S>())
    }

    fn init_access(
        state: &ResourceAccess,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        state.init_access::<T, Self>(meta, system_access, world);
    }

    unsafe fn get_param<'w, 's>(
        state: &'s mut ResourceAccess,
        _: &SystemMeta,
        world: UnsafeWorldCell<'w>,
        run: Tick,
    ) -> Result<Self::Item<'w, 's>, SystemParamValidationError> {
        // SAFETY: `init_access` registered the read of `T`.
        let Some(resource) = (unsafe { state.get::<T>(world, run) }) else {
            let name = short_name::<T>();
            return Err(SystemParamValidationError::invalid::<Self>(format!(
                "the resource `{name}` does not exist while the frame is recorded; insert it \
                 before, for example with `app.init_resource::<{name}>()`"
            )));
        };
        Ok(AccessList {
            handles: resource.handles(),
            kind: PhantomData,
        })
    }
}
