//! Where it is read which extensions and features a device has: what a physical device could have, or
//! what a device has that the program made.

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
    /// Reads all that a physical device supports.
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

    /// Reads what a device was created with.
    ///
    /// # Safety
    /// All that `info` points to lives, and its chain consists of Vulkan's structures.
    pub(crate) unsafe fn made(
        instance: &'a Instance,
        physical: vk::PhysicalDevice,
        info: &'a vk::DeviceCreateInfo<'a>,
    ) -> Self {
        Self {
            instance,
            physical,
            // SAFETY: as the caller promises.
            extensions: unsafe {
                names(
                    info.pp_enabled_extension_names,
                    info.enabled_extension_count,
                )
            },
            made_by: Some(info),
        }
    }

    /// Whether there is an extension.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|it| it.as_c_str() == name)
    }

    /// The extensions.
    pub(crate) fn extensions(&self) -> &[CString] {
        &self.extensions
    }

    /// The features of a structure, of an extension that there is.
    pub(crate) fn read<F>(&self) -> F
    where
        F: vk::TaggedStructure + vk::ExtendsPhysicalDeviceFeatures2 + Copy + Default,
    {
        let mut read = F::default();
        if self.made_by.is_some() {
            if let Some(found) = self.in_chain(F::STRUCTURE_TYPE) {
                // SAFETY: the structure's type says that it is one of these.
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
        // SAFETY: it is null, or points to features that live as long as `info`.
        if let Some(features) = unsafe { info.p_enabled_features.as_ref() } {
            return *features;
        }
        let found = self.in_chain(vk::StructureType::PHYSICAL_DEVICE_FEATURES_2);
        // SAFETY: the structure's type says that it is one of these.
        let found = found.map(|found| unsafe { *found.cast::<vk::PhysicalDeviceFeatures2<'_>>() });
        found.map_or_else(Default::default, |found| found.features)
    }

    /// Asks the physical device.
    pub(crate) fn ask(&self, features: &mut vk::PhysicalDeviceFeatures2<'_>) {
        let raw = &self.instance.raw;
        // SAFETY: `physical` is of this instance, and knows the structures of the chain, whose
        // extensions it has.
        unsafe { raw.get_physical_device_features2(self.physical, features) };
    }

    /// Whether a device is at hand that was made already.
    pub(crate) fn is_made(&self) -> bool {
        self.made_by.is_some()
    }

    /// A structure in the chain that the device was made by.
    pub(crate) fn in_chain(
        &self,
        s_type: vk::StructureType,
    ) -> Option<*const vk::BaseInStructure<'a>> {
        let mut at = self.made_by?.p_next.cast::<vk::BaseInStructure<'a>>();
        // SAFETY: `made` demands that the chain lives and is one of Vulkan's structures.
        while let Some(structure) = unsafe { at.as_ref() } {
            if structure.s_type == s_type {
                return Some(at);
            }
            at = structure.p_next;
        }
        None
    }
}

/// Names that a structure points to.
///
/// # Safety
/// There are so many, and each ends with a zero.
pub(crate) unsafe fn names(from: *const *const c_char, count: u32) -> Vec<CString> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: as the caller promises.
    let pointers = unsafe { std::slice::from_raw_parts(from, count as usize) };
    // SAFETY: likewise.
    let name = |&name: &*const c_char| unsafe { CStr::from_ptr(name) }.to_owned();
    pointers.iter().map(name).collect()
}
