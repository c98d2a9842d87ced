//! Source of a device's extensions and features: those that a physical device supports, or those that an imported
//! device was created with.

use std::ffi::{CStr, CString, c_char};

use ash::vk;

use crate::error::SetupError;
use crate::instance::{Instance, vulkan};

/// Source of extensions and features: a physical device, or the create info of an imported device.
pub(crate) struct Source<'a> {
    pub instance: &'a Instance,
    pub physical: vk::PhysicalDevice,
    extensions: Vec<CString>,
    made_by: Option<&'a vk::DeviceCreateInfo<'a>>,
}

impl<'a> Source<'a> {
    /// Reads everything that a physical device supports.
    pub(crate) fn physical(
        instance: &'a Instance,
        physical: vk::PhysicalDevice,
    ) -> Result<Self, SetupError> {
        // SAFETY: `physical` was enumerated from this instance.
        let found = unsafe { instance.raw.enumerate_device_extension_properties(physical) }
            .map_err(vulkan("vkEnumerateDeviceExtensionProperties"))?;
        let found = found
            .iter()
            .filter_map(|it| it.extension_name_as_c_str().ok());
        Ok(Self {
            instance,
            physical,
            extensions: found.map(CStr::to_owned).collect(),
            made_by: None,
        })
    }

    /// Reads the extensions and features that a device was created with.
    ///
    /// # Safety
    /// All pointers in `info` must be valid, and its `pNext` chain must consist of Vulkan structures.
    pub(crate) unsafe fn made(
        instance: &'a Instance,
        physical: vk::PhysicalDevice,
        info: &'a vk::DeviceCreateInfo<'a>,
    ) -> Self {
        Self {
            instance,
            physical,
            // SAFETY: by the caller's contract.
            extensions: unsafe {
                names(
                    info.pp_enabled_extension_names,
                    info.enabled_extension_count,
                )
            },
            made_by: Some(info),
        }
    }

    /// Whether the extension is available.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|it| it.as_c_str() == name)
    }

    /// All available extensions.
    pub(crate) fn extensions(&self) -> &[CString] {
        &self.extensions
    }

    /// Reads a feature structure, whose extension must be available.
    pub(crate) fn read<F>(&self) -> F
    where
        F: vk::TaggedStructure + vk::ExtendsPhysicalDeviceFeatures2 + Copy + Default,
    {
        let mut read = F::default();
        if self.made_by.is_some() {
            if let Some(found) = self.in_chain(F::STRUCTURE_TYPE) {
                // SAFETY: `sType` identifies the type.
                read = unsafe { *found.cast::<F>() };
            }
            return read;
        }
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut read);
        self.ask(&mut features);
        read
    }

    /// The features of Vulkan 1.0.
    pub(crate) fn core(&self) -> vk::PhysicalDeviceFeatures {
        let Some(info) = self.made_by else {
            let mut features = vk::PhysicalDeviceFeatures2::default();
            self.ask(&mut features);
            return features.features;
        };
        // SAFETY: the pointer is null, or points to features that live as long as `info`.
        if let Some(features) = unsafe { info.p_enabled_features.as_ref() } {
            return *features;
        }
        let found = self.in_chain(vk::StructureType::PHYSICAL_DEVICE_FEATURES_2);
        // SAFETY: `sType` identifies the type.
        let found = found.map(|found| unsafe { *found.cast::<vk::PhysicalDeviceFeatures2<'_>>() });
        found.map_or_else(Default::default, |found| found.features)
    }

    /// Queries features of the physical device.
    pub(crate) fn ask(&self, features: &mut vk::PhysicalDeviceFeatures2<'_>) {
        let raw = &self.instance.raw;
        // SAFETY: `physical` belongs to this instance, and supports the extensions of the chain's structures.
        unsafe { raw.get_physical_device_features2(self.physical, features) };
    }

    /// Whether the source is an imported device.
    pub(crate) fn is_made(&self) -> bool {
        self.made_by.is_some()
    }

    /// Finds a structure in the `pNext` chain of the device's create info.
    pub(crate) fn in_chain(
        &self,
        s_type: vk::StructureType,
    ) -> Option<*const vk::BaseInStructure<'a>> {
        let mut at = self.made_by?.p_next.cast::<vk::BaseInStructure<'a>>();
        // SAFETY: by the contract of `made` the chain is alive and consists of Vulkan structures.
        while let Some(structure) = unsafe { at.as_ref() } {
            if structure.s_type == s_type {
                return Some(at);
            }
            at = structure.p_next;
        }
        None
    }
}

/// Copies an array of C strings.
///
/// # Safety
/// `from` must point to `count` valid, NUL-terminated strings.
pub(crate) unsafe fn names(from: *const *const c_char, count: u32) -> Vec<CString> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: by the caller's contract.
    let pointers = unsafe { std::slice::from_raw_parts(from, count as usize) };
    // SAFETY: by the caller's contract.
    let name = |&name: &*const c_char| unsafe { CStr::from_ptr(name) }.to_owned();
    pointers.iter().map(name).collect()
}
