//! Registry of the layer's objects by dispatchable handle.
//!
//! The first word of a dispatchable object is a pointer to the loader's dispatch table. An instance shares it with its
//! physical devices, a device with its queues and command buffers, so it serves as the key.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use ash::vk::{self, Handle};

use crate::state::device::Device;
use crate::state::instance::Instance;

static INSTANCES: LazyLock<RwLock<HashMap<usize, Arc<Instance>>>> = LazyLock::new(RwLock::default);
static DEVICES: LazyLock<RwLock<HashMap<usize, Arc<Device>>>> = LazyLock::new(RwLock::default);

/// Handles that share the dispatch table of an instance.
pub(crate) trait OfInstance: Handle {}
impl OfInstance for vk::Instance {}
impl OfInstance for vk::PhysicalDevice {}

/// Handles that share the dispatch table of a device.
pub(crate) trait OfDevice: Handle {}
impl OfDevice for vk::Device {}
impl OfDevice for vk::Queue {}
impl OfDevice for vk::CommandBuffer {}

/// Adds an instance under its dispatch table.
///
/// # Safety
/// The handle must be valid, with its first word set by the loader.
pub(crate) unsafe fn add_instance(instance: Arc<Instance>) {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(instance.handle()) };
    INSTANCES
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key, instance);
}

/// Adds a device under its dispatch table.
///
/// # Safety
/// The handle must be valid, with its first word set by the loader.
pub(crate) unsafe fn add_device(device: Arc<Device>) {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(device.handle()) };
    DEVICES
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key, device);
}

/// Returns the instance that a handle belongs to.
///
/// # Safety
/// The handle must be valid.
pub(crate) unsafe fn instance_of(handle: impl OfInstance) -> Arc<Instance> {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(handle) };
    let instances = INSTANCES.read().unwrap_or_else(PoisonError::into_inner);
    match instances.get(&key) {
        Some(instance) => Arc::clone(instance),
        None => unreachable!("the loader hands over handles of instances this layer created"),
    }
}

/// Returns the device that a handle belongs to.
///
/// # Safety
/// The handle must be valid.
pub(crate) unsafe fn device_of(handle: impl OfDevice) -> Arc<Device> {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(handle) };
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    match devices.get(&key) {
        Some(device) => Arc::clone(device),
        None => unreachable!("the loader hands over handles of devices this layer created"),
    }
}

/// Returns all devices; none while one is being created or destroyed.
pub(crate) fn all_devices() -> Vec<Arc<Device>> {
    let devices = DEVICES.try_read();
    devices.map_or_else(
        |_| Vec::new(),
        |devices| devices.values().cloned().collect(),
    )
}

/// Removes and returns an instance.
///
/// # Safety
/// The handle must be valid.
pub(crate) unsafe fn remove_instance(handle: vk::Instance) -> Option<Arc<Instance>> {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(handle) };
    INSTANCES
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&key)
}

/// Removes and returns a device.
///
/// # Safety
/// The handle must be valid.
pub(crate) unsafe fn remove_device(handle: vk::Device) -> Option<Arc<Device>> {
    // SAFETY: by the caller's contract.
    let key = unsafe { key(handle) };
    DEVICES
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&key)
}

/// # Safety
/// The handle must be valid.
unsafe fn key(handle: impl Handle) -> usize {
    let object = handle.as_raw() as *const usize;
    // SAFETY: a dispatchable object begins with a pointer to the loader's table.
    unsafe { object.read() }
}
