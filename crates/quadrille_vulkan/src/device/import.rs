//! A device that the program made itself.

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
use crate::instance::imported::{ImportedInstance, Keep};
use crate::instance::settings::Settings;
use crate::instance::source::Source;

/// A device that the program made: see [`Gpu::import`].
pub struct ImportedDevice<'a> {
    /// Its instance.
    pub instance: ImportedInstance<'a>,
    /// The device.
    pub device: &'a ash::Device,
    /// Its create info: queues, enabled extensions and enabled features are read from it.
    /// [`Gpu::with_device_info`] gives one that suits.
    pub info: &'a vk::DeviceCreateInfo<'a>,
    /// Is dropped when Quadrille makes no more calls to the device, also after an error: for what
    /// destroys device and instance then, if that is wanted.
    pub keep: Keep,
}

impl Gpu {
    /// A device that the program made, by a runtime such as OpenXR for instance, which has a say in
    /// it. Quadrille destroys neither the device nor its instance, and does not replace a device when
    /// it is lost ([`Gpu::rebuild`]): that is for the program to do.
    ///
    /// The instance is of Vulkan 1.3. The device has the extensions and features of the baseline that
    /// the crate's docs name, as [`Gpu::with_device_info`] puts them together, and a queue at least
    /// for graphics, compute or copies. Features of Vulkan 1.1 to 1.3 are looked for in the structures
    /// of these versions (`VkPhysicalDeviceVulkan12Features`), those of 1.0 in `pEnabledFeatures` or
    /// `VkPhysicalDeviceFeatures2`. Whatever else is enabled and Quadrille can use it uses. Windows
    /// take the extensions for surfaces and swapchains, and [`Settings::windows`].
    ///
    /// ```no_run
    /// use quadrille_vulkan::ash;
    /// use quadrille_vulkan::{Gpu, ImportedDevice, ImportedInstance, Settings, vk};
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
    /// // SAFETY: the parts belong together, and live until the program ends.
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
    /// The handles are valid and belong together, and were made by these `info`s, which are whole. They
    /// stay so until `keep` is dropped. Access to the queues of `info` goes until then through
    /// Quadrille, in the program by [`Gpu::with_queue`]; so a device is imported once at a time.
    ///
    /// # Errors
    /// [`SetupError::Import`] with all that the device was made without, or what [`Gpu::new`] says.
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
        // SAFETY: as the caller promises.
        let instance = unsafe { Instance::import(of, &settings, Some(keep)) }?;
        let physical = of.physical_device;
        // SAFETY: likewise.
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
            // SAFETY: likewise; there are so many.
            count => unsafe {
                std::slice::from_raw_parts(info.p_queue_create_infos, count as usize)
            },
        };
        let topology = plan_queues(&instance, physical, &support, &settings, Some(queues))?;
        let on = (Arc::new(instance), physical);
        Device::of(on, device.clone(), (support, topology), &settings).map(Self)
    }

    /// Calls with what [`Gpu::new`] would make a device by: with the features, extensions and queues
    /// that Quadrille needs, and that it would use. A device that is made by that, or by more, can be
    /// [imported](Gpu::import).
    ///
    /// # Safety
    /// The handles are valid and belong together, and the instance was made by this `info`, which is
    /// whole.
    ///
    /// # Errors
    /// The instance or the physical device lacks something that is needed.
    pub unsafe fn with_device_info<R>(
        of: ImportedInstance<'_>,
        settings: &Settings,
        call: impl FnOnce(&vk::DeviceCreateInfo<'_>) -> R,
    ) -> Result<R, SetupError> {
        let settings = environment::overrule(settings)?;
        // SAFETY: as the caller promises.
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
