//! The device: one real queue carries all virtual queues.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk::{self, Handle};

use crate::calls::{Call, Calls, complain};
use crate::commands::null;
use crate::dispatch::chain::slice;
use crate::dispatch::loader::{self, Adopt};
use crate::dispatch::tables::DeviceTable;
use crate::queues::virtual_queue::VirtualQueues;
use crate::settings::emulated::MadeUp;
use crate::state::deadlock::report_at_exit;
use crate::state::instance::Instance;
use crate::state::names::Names;
use crate::state::poison::Poison;
use crate::state::pools::Pools;
use crate::state::present_ids::Shown;
use crate::state::registry::{add_device, device_of, instance_of, remove_device};
use crate::state::swapchains::Swapchains;
use crate::state::work::Work;

/// What the layer knows of a device.
pub(crate) struct Device {
    pub(crate) instance: Arc<Instance>,
    pub(crate) next: DeviceTable,
    lookup: vk::PFN_vkGetDeviceProcAddr,
    adopt: Adopt,
    /// The real family that all pools and queues are mapped to.
    pub(crate) family: u32,
    /// The real queue. Only used while `work` is locked.
    pub(crate) queue: vk::Queue,
    pub(crate) queues: VirtualQueues,
    work: Mutex<Work>,
    pub(crate) pools: Pools,
    pub(crate) names: Names,
    pub(crate) swapchains: Swapchains,
    pub(crate) shown: Shown,
    /// The address that was asked for last; 0 before.
    pub(crate) last_address: AtomicU64,
    /// What garbage is made with, if poison is on.
    pub(crate) poison: Option<Poison>,
    lost: AtomicBool,
}

impl Device {
    /// The handle, which the layer does not wrap.
    pub(crate) fn handle(&self) -> vk::Device {
        self.next.core.handle()
    }

    /// Counting, log and script.
    pub(crate) fn calls(&self) -> &Calls {
        &self.instance.calls
    }

    /// The held submissions; the lock also guards the real queue.
    pub(crate) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless another thread holds it.
    pub(crate) fn try_work(&self) -> Option<MutexGuard<'_, Work>> {
        self.work.try_lock().ok()
    }

    /// Whether the device has been lost, really or by the script.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Loses the device. What was forwarded is completed first, so that the app may destroy its
    /// objects; what is held is dropped.
    pub(crate) fn lose(&self, work: &mut Work) {
        work.drop_held();
        // A device that is really lost may say so; there is nothing more to do about it.
        // SAFETY: the lock on `work` guards the real queue.
        let _ = unsafe { self.next.core.device_wait_idle() };
        // Only now, or another thread of the app that hears of it would destroy what still runs.
        // Nothing can be forwarded meanwhile: that takes the lock.
        self.lost.store(true, Ordering::Release);
    }

    /// Runs a call that may lose the device. One that the script lets fail so loses it first: a
    /// device that is lost executes nothing when the app hears of it.
    pub(crate) fn run(&self, call: Call<'_>, real: impl FnOnce() -> vk::Result) -> vk::Result {
        if call.injected() == Some(vk::Result::ERROR_DEVICE_LOST) {
            self.lose(&mut self.work());
        }
        call.run(real)
    }

    /// The position of a virtual queue.
    pub(crate) fn position(&self, queue: vk::Queue) -> usize {
        match self.queues.position(queue) {
            Some(position) => position,
            None => unreachable!("the app passes a queue that vkGetDeviceQueue returned"),
        }
    }

    /// Lets the loader set the first word of a dispatchable object that the layer has made.
    ///
    /// # Safety
    /// `object` is such an object.
    pub(crate) unsafe fn adopt(&self, object: *mut std::ffi::c_void) -> vk::Result {
        // SAFETY: passed on; the device is valid.
        unsafe { (self.adopt)(self.handle(), object) }
    }
}

/// `vkCreateDevice`: the virtual queues asked for become one real queue.
pub(crate) unsafe extern "system" fn create_device(
    physical_device: vk::PhysicalDevice,
    create_info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let instance = unsafe { instance_of(physical_device) };
    let calls = Arc::clone(&instance);
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*create_info };
    calls.calls.begin("vkCreateDevice").run(|| {
        // SAFETY: the app's own arguments.
        match unsafe { create(instance, physical_device, info, allocator, out) } {
            Ok(()) => vk::Result::SUCCESS,
            Err(result) => result,
        }
    })
}

/// # Safety
/// The arguments are those of the `vkCreateDevice` that the loader called.
unsafe fn create(
    instance: Arc<Instance>,
    physical_device: vk::PhysicalDevice,
    info: &vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> Result<(), vk::Result> {
    let failed = vk::Result::ERROR_INITIALIZATION_FAILED;
    // SAFETY: the app passes `count` structures.
    let requests = unsafe { slice(info.p_queue_create_infos, info.queue_create_info_count) };
    let queues = VirtualQueues::new(&instance.settings.families, requests).ok_or_else(|| {
        complain("vkCreateDevice asks for queues that no virtual family has");
        failed
    })?;
    // SAFETY: the app passes a valid handle.
    let family = unsafe { instance.real_family(physical_device) }.ok_or_else(|| {
        complain("no queue family of this device can carry all of QUADRILLE_LAYER_FAMILIES");
        failed
    })?;
    let real = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let real_info = (*info).queue_create_infos(&real);

    // SAFETY: this is the structure of the loader's call.
    let next = unsafe { loader::next_device(info) }.ok_or(failed)?;
    let adopt = next.adopt.ok_or(failed)?;
    // SAFETY: the instance is valid, the name is a C string.
    let create = unsafe { (next.instance_lookup)(instance.handle(), c"vkCreateDevice".as_ptr()) };
    // SAFETY: the lookup returned the function of this name.
    let create: vk::PFN_vkCreateDevice = unsafe { std::mem::transmute(create.ok_or(failed)?) };
    let made_up = instance.settings.made_up;
    // SAFETY: the app passes a valid structure.
    let names = unsafe { real_extensions(info, made_up) };
    let real_info = real_info.enabled_extension_names(&names);
    // SAFETY: the app's own arguments but for the queues and what is made up.
    let run = || unsafe { create(physical_device, &real_info, allocator, out) };
    // SAFETY: the app's chain is valid, and this is its call.
    unsafe { made_up.without_features(info.p_next, run) }.result()?;
    // SAFETY: the next layer has written the handle.
    let handle = unsafe { *out };
    // SAFETY: this is still within vkCreateDevice.
    let table = unsafe { DeviceTable::load(handle, next.device_lookup) };
    // SAFETY: the real device was created with this queue.
    let queue = unsafe { table.core.get_device_queue(family, 0) };

    let poison = instance.settings.poison.then(|| {
        // SAFETY: the physical device is that of the new device.
        unsafe { Poison::new(&instance, physical_device) }
    });
    let device = Device {
        work: Mutex::new(Work::new(instance.settings.seed, queues.len())),
        lookup: next.device_lookup,
        adopt,
        next: table,
        family,
        queue,
        queues,
        pools: Pools::default(),
        names: Names::default(),
        swapchains: Swapchains::default(),
        shown: Shown::default(),
        last_address: AtomicU64::new(0),
        poison,
        lost: AtomicBool::new(false),
        instance,
    };
    let objects = device
        .queues
        .iter()
        .map(|virtual_queue| virtual_queue.object());
    for object in objects.chain([queue.as_raw() as *mut std::ffi::c_void]) {
        // SAFETY: dispatchable objects that the loader has not seen yet.
        if let Err(error) = unsafe { device.adopt(object) }.result() {
            let destroy = device.next.core.fp_v1_0().destroy_device;
            // SAFETY: the app's allocator, and a device that nobody has seen yet.
            unsafe { destroy(handle, allocator) };
            return Err(error);
        }
    }
    // SAFETY: the loader has set the first word of the device.
    unsafe { add_device(Arc::new(device)) };
    report_at_exit();
    Ok(())
}

/// The extensions that the driver gets: all but those that are made up.
///
/// # Safety
/// The structure is valid.
unsafe fn real_extensions(info: &vk::DeviceCreateInfo<'_>, made_up: MadeUp) -> Vec<*const c_char> {
    // SAFETY: the caller vouches for the array.
    let names = unsafe {
        slice(
            info.pp_enabled_extension_names,
            info.enabled_extension_count,
        )
    };
    let is_real = |name: &&*const c_char| {
        // SAFETY: the names are C strings.
        let name = unsafe { CStr::from_ptr(**name) };
        !made_up.extensions().any(|made_up| made_up == name)
    };
    names.iter().filter(is_real).copied().collect()
}

/// `vkDestroyDevice`; says so if submissions are still held.
pub(crate) unsafe extern "system" fn destroy_device(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if device == vk::Device::null() {
        return;
    }
    // SAFETY: the app passes a valid handle.
    let Some(removed) = (unsafe { remove_device(device) }) else {
        return;
    };
    removed.calls().begin("vkDestroyDevice").done();
    removed.report_left_over();
    if let Some(poison) = &removed.poison {
        // SAFETY: the app has waited for the device.
        unsafe { poison.destroy(&removed) };
    }
    // SAFETY: the app's own arguments.
    unsafe { (removed.next.core.fp_v1_0().destroy_device)(device, allocator) };
}

/// `vkGetDeviceQueue`.
pub(crate) unsafe extern "system" fn device_queue(
    device: vk::Device,
    family: u32,
    index: u32,
    out: *mut vk::Queue,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetDeviceQueue").done();
    let queue = device
        .queues
        .find(family, index, vk::DeviceQueueCreateFlags::empty());
    // SAFETY: the app passes a valid pointer.
    unsafe { out.write(queue) };
}

/// `vkGetDeviceQueue2`.
pub(crate) unsafe extern "system" fn device_queue2(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    out: *mut vk::Queue,
) {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetDeviceQueue2").done();
    // SAFETY: the app passes a valid structure.
    let info = unsafe { &*info };
    let queue = device
        .queues
        .find(info.queue_family_index, info.queue_index, info.flags);
    // SAFETY: the app passes a valid pointer.
    unsafe { out.write(queue) };
}

/// `vkGetDeviceProcAddr`.
pub(crate) unsafe extern "system" fn device_lookup(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a valid handle.
    let known = unsafe { device_of(device) };
    // SAFETY: the caller passes a C string.
    let text = unsafe { CStr::from_ptr(name) };
    if known.instance.settings.made_up.has_command(text) {
        // The driver does not have what is made up.
        return crate::commands::find(text)?.function;
    }
    // SAFETY: the handle is valid, the name is a C string.
    let next = unsafe { (known.lookup)(device, name) }?;
    if known.instance.leaves_alone(text) {
        return Some(next);
    }
    if crate::commands::is_hidden(text) {
        return None;
    }
    if known.instance.settings.null && null::is_swallowed(text) {
        return null::swallow();
    }
    let own = crate::commands::find(text).filter(|command| command.is_of_device());
    Some(own.and_then(|command| command.function).unwrap_or(next))
}
