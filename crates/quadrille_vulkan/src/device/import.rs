//! Import of a device that the program created.

use std::sync::Arc;

use ash::vk;

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::device::open::{plan_queues, with_queue_infos};
use crate::device::properties::text;
use crate::error::SetupError;
use crate::instance::Instance;
use crate::instance::device_choice::{self, Candidate};
use crate::instance::environment;
use crate::instance::features;
use crate::instance::imported::{ImportedInstance, KeepAlive};
use crate::instance::settings::Settings;
use crate::instance::source::Source;

/// A device that the program created: see [`Gpu::import`].
pub struct ImportedDevice<'a> {
    /// Its instance.
    pub instance: ImportedInstance<'a>,
    /// The device.
    pub device: &'a ash::Device,
    /// Its create info: queues, enabled extensions and enabled features are read from it.
    /// [`Gpu::with_device_info`] provides a suitable one.
    pub info: &'a vk::DeviceCreateInfo<'a>,
    /// Dropped after Quadrille's last call to the device, also after an error. Its `Drop` may destroy device and
    /// instance.
    pub keep: KeepAlive,
}

impl Gpu {
    /// Imports a device that the program created, for instance through a runtime such as OpenXR. Quadrille destroys
    /// neither the device nor its instance, and does not replace a lost device
    /// ([`Gpu::rebuild`]): both are up to the program.
    ///
    /// The instance must be of Vulkan 1.3. The device must have the extensions and features of the baseline in the
    /// crate's docs, as [`Gpu::with_device_info`] enables them, and at least one queue
    /// for graphics, compute or transfer. Features of Vulkan 1.1 to 1.3 are read from the structures
    /// of these versions (`VkPhysicalDeviceVulkan12Features`), those of 1.0 from `pEnabledFeatures` or
    /// `VkPhysicalDeviceFeatures2`. Enabled optional features are used. Windows
    /// need the surface and swapchain extensions, and [`Settings::windows`].
    ///
    /// ```no_run
    /// use quadrille_vulkan::ash;
    /// use quadrille_vulkan::device::{Gpu, ImportedDevice};
    /// use quadrille_vulkan::instance::{ImportedInstance, Settings};
    /// use quadrille_vulkan::vk;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // SAFETY: the loader is the system's.
    /// let entry = unsafe { ash::Entry::load() }?;
    /// let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    /// let instance_info = vk::InstanceCreateInfo::default().application_info(&app);
    /// // With OpenXR: xrCreateVulkanInstanceKHR.
    /// // SAFETY: what `instance_info` points to lives.
    /// let instance = unsafe { entry.create_instance(&instance_info, None) }?;
    /// // With OpenXR: xrGetVulkanGraphicsDevice2KHR.
    /// // SAFETY: the instance lives.
    /// let physical_device = unsafe { instance.enumerate_physical_devices() }?[0];
    /// let of = ImportedInstance {
    ///     entry: &entry,
    ///     instance: &instance,
    ///     info: &instance_info,
    ///     physical_device,
    /// };
    /// let settings = Settings::headless("example");
    /// // SAFETY: the handles belong together, and are valid until the program ends.
    /// let gpu = unsafe {
    ///     Gpu::with_device_info(of, &settings, |info| {
    ///         // With OpenXR: xrCreateVulkanDeviceKHR.
    ///         let device = instance.create_device(physical_device, info, None).expect("a device");
    ///         let keep = Box::new(());
    ///         Gpu::import(ImportedDevice { instance: of, device: &device, info, keep }, &settings)
    ///     })
    /// }??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The handles must belong together, must be valid until `keep` is dropped, and the `info`s must be their complete
    /// create infos. Until then the program must access the queues of `info` only through [`Gpu::with_queue`], so a
    /// device must not be imported twice at a time.
    ///
    /// # Errors
    /// [`SetupError::Import`] with all requirements that the device was created without; the errors of [`Gpu::new`].
    pub unsafe fn import(
        made: ImportedDevice<'_>,
        settings: &Settings,
    ) -> Result<Self, SetupError> {
        let ImportedDevice {
            instance: of,
            device,
            info,
            keep,
        } = made;
        let settings = environment::overrule(settings)?;
        // SAFETY: by the caller's contract.
        let instance = unsafe { Instance::import(of, &settings, Some(keep)) }?;
        let physical = of.physical_device;
        // SAFETY: by the caller's contract.
        let source = unsafe { Source::made(&instance, physical, info) };
        let mut support = features::probe(&source, &settings)?;
        support.add_extensions(source.extensions());
        let lacking = support.granted.lacking.iter();
        let missing: Vec<_> = support.missing.iter().chain(lacking).cloned().collect();
        if !missing.is_empty() {
            let what = format!("the device `{}`", name(&instance, physical));
            return Err(SetupError::Import { what, missing });
        }
        let queues = match info.queue_create_info_count {
            0 => &[][..],
            // SAFETY: by the caller's contract; `count` is the length of the array.
            count => unsafe {
                std::slice::from_raw_parts(info.p_queue_create_infos, count as usize)
            },
        };
        let topology = plan_queues(&instance, physical, &support, &settings, Some(queues))?;
        let on = (Arc::new(instance), physical);
        Device::of(on, device.clone(), (support, topology), &settings).map(Self)
    }

    /// Calls a function with the create info that [`Gpu::new`] would use: the features, extensions and queues
    /// that Quadrille needs, and the optional ones that it uses. A device created with these, or more, can be
    /// [imported](Gpu::import).
    ///
    /// # Safety
    /// The handles must be valid and belong together, and `info` must be the instance's complete create info.
    ///
    /// # Errors
    /// The instance or the physical device lacks a requirement.
    pub unsafe fn with_device_info<R>(
        of: ImportedInstance<'_>,
        settings: &Settings,
        call: impl FnOnce(&vk::DeviceCreateInfo<'_>) -> R,
    ) -> Result<R, SetupError> {
        let settings = environment::overrule(settings)?;
        // SAFETY: by the caller's contract.
        let instance = unsafe { Instance::import(of, &settings, None) }?;
        let physical = of.physical_device;
        let support = features::probe(&Source::physical(&instance, physical)?, &settings)?;
        let only = Candidate {
            name: name(&instance, physical),
            kind: vk::PhysicalDeviceType::OTHER,
            missing: support.missing.clone(),
            lacking: support.granted.lacking.clone(),
        };
        device_choice::choose(&[only], None)?;
        let topology = plan_queues(&instance, physical, &support, &settings, None)?;
        Ok(with_queue_infos(&topology, |queues| {
            support.with_create_info(queues, call)
        }))
    }
}

fn name(instance: &Instance, physical: vk::PhysicalDevice) -> String {
    // SAFETY: the physical device is of this instance.
    let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
    text(properties.device_name_as_c_str().unwrap_or_default())
}
