//! Functions of the enabled device extensions.

use ash::{ext, khr};

use super::fault::Fault;
use crate::instance::Instance;
use crate::instance::features::Support;

/// Functions of device extensions; `None` for disabled ones.
pub(crate) struct Extensions {
    /// `vkCmdPushDescriptorSetKHR`.
    pub push_descriptor: khr::push_descriptor::Device,
    /// The swapchain functions, if windows are enabled.
    pub swapchain: Option<khr::swapchain::Device>,
    /// `vkWaitForPresentKHR`.
    pub present_wait: Option<khr::present_wait::Device>,
    /// `VK_EXT_conditional_rendering`.
    pub conditional_rendering: Option<ext::conditional_rendering::Device>,
    /// Reports why the device was lost.
    pub fault: Fault,
}

impl Extensions {
    /// Loads the functions of the enabled extensions.
    pub(super) fn new(instance: &Instance, raw: &ash::Device, support: &Support) -> Self {
        let of = &instance.raw;
        let has_swapchain = support.has(khr::swapchain::NAME);
        Self {
            push_descriptor: khr::push_descriptor::Device::new(of, raw),
            swapchain: has_swapchain.then(|| khr::swapchain::Device::new(of, raw)),
            present_wait: (support.present_wait).then(|| khr::present_wait::Device::new(of, raw)),
            conditional_rendering: (support.conditional_rendering)
                .then(|| ext::conditional_rendering::Device::new(of, raw)),
            fault: (support.device_fault).then(|| ext::device_fault::Device::new(of, raw)),
        }
    }
}
