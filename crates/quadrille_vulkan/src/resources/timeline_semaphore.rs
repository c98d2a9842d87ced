//! Timeline semaphores of the program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::device::retire::Retired;
use crate::device::timeline::nanoseconds;
use crate::error::Error;
use crate::instance::imported::KeepAlive;
use crate::lock;
use crate::resources::binary_state::{Binary, BinaryState};

/// Guaranteed minimum of `maxTimelineSemaphoreValueDifference` (table "Required Limits").
pub(crate) const MAX_DIFFERENCE: u64 = (1 << 31) - 1;

/// A timeline semaphore that passes wait for and signal, and that the program may signal too: from the host, from
/// another queue, or in another library. Created by [`Gpu::timeline_semaphore`](crate::device::Gpu::timeline_semaphore). Clones
/// are the same semaphore.
///
/// Its value only increases: a signalled value must be greater than the current one, less than the values of all
/// pending signal operations, and at most 2^31 - 1 greater than the current one.
///
/// ```no_run
/// use quadrille_vulkan::device::Gpu;
/// use quadrille_vulkan::instance::Settings;
/// use std::time::Duration;
///
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let physics = gpu.timeline_semaphore("physics", 0)?;
/// std::thread::spawn({
///     let physics = physics.clone();
///     move || physics.signal(1)
/// });
/// assert!(physics.wait(1, Duration::from_secs(1))?);
/// assert_eq!(physics.value()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TimelineSemaphore(Arc<Inner>);

struct Inner {
    name: Arc<str>,
    raw: vk::Semaphore,
    /// Values that submitted frames signal, in order; reached values may be missing.
    pending: Mutex<Vec<u64>>,
    /// Keep-alive of an imported semaphore, whose drop tells the program that the semaphore is unused.
    imported: Option<KeepAlive>,
    is_exportable: bool,
    /// State of a binary semaphore, which has one step from 0 to 1.
    binary: Option<BinaryState>,
    device: Arc<Device>,
}

impl Gpu {
    /// Creates a timeline semaphore with an initial value.
    ///
    /// # Errors
    /// Returns the driver's error.
    pub fn timeline_semaphore(&self, name: &str, value: u64) -> Result<TimelineSemaphore, Error> {
        self.create_timeline_semaphore(name, value, vk::ExternalSemaphoreHandleTypeFlags::empty())
    }

    /// Makes a semaphore that can be exported by these handles, if any.
    pub(crate) fn create_timeline_semaphore(
        &self,
        name: &str,
        value: u64,
        exported: vk::ExternalSemaphoreHandleTypeFlags,
    ) -> Result<TimelineSemaphore, Error> {
        let device = &self.0;
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(value);
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(exported);
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        if !exported.is_empty() {
            info = info.push_next(&mut export);
        }
        // SAFETY: the device is alive and has timeline semaphores enabled.
        let raw = unsafe { device.raw.create_semaphore(&info, None) };
        let raw = raw.map_err(Error::vulkan(device, name, "vkCreateSemaphore"))?;
        device.names.name(raw, name);
        Ok(self.wrap(name, (raw, !exported.is_empty()), None, None))
    }

    /// Makes a binary semaphore that can be exported by these handles, if any.
    pub(crate) fn create_binary_semaphore(
        &self,
        name: &str,
        kind: Binary,
        exported: vk::ExternalSemaphoreHandleTypeFlags,
    ) -> Result<TimelineSemaphore, Error> {
        let device = &self.0;
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(exported);
        let mut info = vk::SemaphoreCreateInfo::default();
        if !exported.is_empty() {
            info = info.push_next(&mut export);
        }
        // SAFETY: the device is alive.
        let raw = unsafe { device.raw.create_semaphore(&info, None) };
        let raw = raw.map_err(Error::vulkan(device, name, "vkCreateSemaphore"))?;
        device.names.name(raw, name);
        // A sync file takes the signal with it, so it is exported by other means.
        let is_exportable = kind == Binary::Shared && !exported.is_empty();
        Ok(self.wrap(name, (raw, is_exportable), Some(kind), None))
    }

    /// Imports a timeline semaphore that the program or one of its libraries has created from this device. Quadrille
    /// does not destroy it, and drops `keep` when no submission uses it any more.
    ///
    /// # Safety
    /// The handle must be a timeline semaphore of this device, and must be valid until `keep` is dropped.
    pub unsafe fn import_timeline_semaphore(
        &self,
        name: &str,
        raw: vk::Semaphore,
        keep: KeepAlive,
    ) -> TimelineSemaphore {
        self.wrap(name, (raw, false), None, Some(keep))
    }

    /// Takes a semaphore of this device.
    pub(crate) fn wrap(
        &self,
        name: &str,
        (raw, is_exportable): (vk::Semaphore, bool),
        binary: Option<Binary>,
        imported: Option<KeepAlive>,
    ) -> TimelineSemaphore {
        TimelineSemaphore(Arc::new(Inner {
            name: name.into(),
            raw,
            pending: Mutex::default(),
            imported,
            is_exportable,
            binary: binary.map(BinaryState::new),
            device: Arc::clone(&self.0),
        }))
    }
}

impl TimelineSemaphore {
    /// Name in errors, plans and debuggers.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// The handle, for another library or for your own submissions.
    pub fn raw(&self) -> vk::Semaphore {
        self.0.raw
    }

    /// The current value.
    ///
    /// # Errors
    /// The device is lost.
    pub fn value(&self) -> Result<u64, Error> {
        const CALL: &str = "vkGetSemaphoreCounterValue";
        if let Some(binary) = &self.0.binary {
            return Ok(binary.value());
        }
        let device = &self.0.device;
        // SAFETY: the semaphore is a timeline semaphore of this device and alive.
        let value = unsafe { device.raw.get_semaphore_counter_value(self.0.raw) };
        device.note(CALL, value).map_err(self.error(CALL))
    }

    /// Signals a value from the host.
    ///
    /// # Errors
    /// The value is not greater than the current one, not less than a pending one of a submitted frame
    /// (`VUID-VkSemaphoreSignalInfo-value-03258` and `-03259`), or too far above the current one; or the device is
    /// lost.
    pub fn signal(&self, value: u64) -> Result<(), Error> {
        const CALL: &str = "vkSignalSemaphore";
        self.check_host()?;
        let pending = lock(&self.0.pending);
        let reached = self.value()?;
        let next = pending.iter().copied().find(|next| *next > reached);
        let problem = if value <= reached {
            format!("value {value} is signalled, and {reached} is reached; signal a higher one")
        } else if let Some(next) = next.filter(|next| value >= *next) {
            format!(
                "value {value} is signalled before value {next} of a frame that is submitted; signal a lower one"
            )
        } else if value - reached > MAX_DIFFERENCE {
            format!(
                "value {value} is more than {MAX_DIFFERENCE} above {reached}, the value reached"
            )
        } else {
            let info = vk::SemaphoreSignalInfo::default()
                .semaphore(self.0.raw)
                .value(value);
            let device = &self.0.device;
            // SAFETY: as in `value`; the value increases.
            let signalled = unsafe { device.raw.signal_semaphore(&info) };
            return device.note(CALL, signalled).map_err(self.error(CALL));
        };
        Err(Error::Invalid {
            name: self.0.name.to_string(),
            problem,
        })
    }

    /// Waits on the host until a value is reached; false after `timeout`.
    ///
    /// # Errors
    /// The device is lost.
    pub fn wait(&self, value: u64, timeout: Duration) -> Result<bool, Error> {
        const CALL: &str = "vkWaitSemaphores";
        self.check_host()?;
        let (semaphores, values) = ([self.0.raw], [value]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        let device = &self.0.device;
        // SAFETY: as in `value`; the arrays have one element each and outlive the call.
        let waited = unsafe { device.raw.wait_semaphores(&info, nanoseconds(timeout)) };
        match device.note(CALL, waited) {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(self.error(CALL)(result)),
        }
    }

    /// Checks that the host can wait for it and signal it.
    fn check_host(&self) -> Result<(), Error> {
        if self.0.binary.is_none() {
            return Ok(());
        }
        Err(self.invalid(
            "it is a binary semaphore, which the host neither signals nor waits for; wait for the sync file that \
             `BinarySemaphore::export` returns, or use a timeline semaphore",
        ))
    }

    /// The error about a use.
    pub(crate) fn invalid(&self, problem: &str) -> Error {
        Error::Invalid {
            name: self.0.name.to_string(),
            problem: problem.to_owned(),
        }
    }

    /// Its state, if it is binary.
    pub(crate) fn binary(&self) -> Option<&BinaryState> {
        self.0.binary.as_ref()
    }

    /// Whether it can be exported.
    pub(crate) fn is_exportable(&self) -> bool {
        self.0.is_exportable
    }

    /// The device that it was made from.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.0.device
    }

    /// The error of a call.
    pub(crate) fn error(&self, call: &'static str) -> impl FnOnce(vk::Result) -> Error {
        Error::vulkan(&self.0.device, &self.0.name, call)
    }

    /// Returns the highest value that is reached or that a submitted frame signals.
    pub(crate) fn highest(&self) -> Result<u64, Error> {
        let reached = self.value()?;
        let pending = lock(&self.0.pending).last().copied();
        Ok(reached.max(pending.unwrap_or_default()))
    }

    /// Records that a submission signals a value, the highest so far.
    pub(crate) fn submitted(&self, value: u64) {
        let reached = self.value().unwrap_or_default();
        let mut pending = lock(&self.0.pending);
        pending.retain(|one| *one > reached);
        pending.push(value);
    }

    /// Whether a value is reached, or a submitted frame signals exactly this value. A pending signal of a higher value
    /// is no proof, since it may depend on a wait for this one.
    pub(crate) fn is_certain(&self, value: u64) -> Result<bool, Error> {
        let is_submitted = lock(&self.0.pending).contains(&value);
        Ok(is_submitted || self.value()? >= value)
    }

    /// Signals the value just below the next one that a submitted frame signals, if it is not reached: what the
    /// frame waits for is at most that.
    pub(crate) fn release_next(&self) -> Result<(), Error> {
        let reached = self.value()?;
        let pending = lock(&self.0.pending).clone();
        match pending.into_iter().find(|next| *next > reached) {
            Some(next) if next - 1 > reached => self.signal(next - 1),
            _ => Ok(()),
        }
    }

    /// Returns the highest value below another that a submitted frame signals.
    pub(crate) fn pending_below(&self, value: u64) -> Option<u64> {
        let pending = lock(&self.0.pending);
        pending.iter().copied().filter(|one| *one < value).max()
    }

    pub(crate) fn is_of(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.0.device, device)
    }
}

impl PartialEq for TimelineSemaphore {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TimelineSemaphore {}

impl Drop for Inner {
    fn drop(&mut self) {
        let (raw, imported) = (self.raw, self.imported.take());
        lock(&self.device.dropped).push(Retired::Semaphore { raw, imported });
    }
}

impl std::fmt::Debug for TimelineSemaphore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "TimelineSemaphore({})", self.0.name)
    }
}
