//! Common parts of the parameters that declare an access of a bevy resource.

#![expect(
    unsafe_code,
    reason = "reading a resource through `UnsafeWorldCell` is unsafe"
)]

use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemAccess, SystemMeta, SystemParam};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;

use crate::declare::declaration::DeclaredAccess;
use crate::declare::registry::{Absence, declare, register_access};

/// The state of a parameter that declares an access of a bevy resource; opaque.
pub struct ResourceAccess {
    resource: ComponentId,
    declared: ComponentId,
    absence: Absence,
}

impl ResourceAccess {
    /// Declares an access of the bevy resource `T` by its resource entity.
    pub(crate) fn new<T: Resource>(
        world: &mut World,
        entity: Entity,
        access: DeclaredAccess,
    ) -> Self {
        let (declared, absence) = register_access(world, entity, access);
        Self {
            resource: world.register_component::<T>(),
            declared,
            absence,
        }
    }

    /// Registers a read of the bevy resource `T` and the virtual id of the declared access.
    pub(crate) fn init_access<T: Resource, P>(
        &self,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        <Res<T> as SystemParam>::init_access(&self.resource, meta, system_access, world);
        declare::<P>(self.declared, meta, system_access);
    }

    /// Returns the bevy resource. If it does not exist, the access is not part of the frame.
    ///
    /// # Safety
    /// The caller must be a system for which [`ResourceAccess::init_access`] registered the read of `T`.
    pub(crate) unsafe fn get<'w, T: Resource>(
        &self,
        world: UnsafeWorldCell<'w>,
        run: Tick,
    ) -> Option<&'w T> {
        // SAFETY: the caller has registered the read.
        let resource = unsafe { world.get_resource::<T>() };
        if resource.is_none() {
            self.absence.note(run);
        }
        resource
    }
}
