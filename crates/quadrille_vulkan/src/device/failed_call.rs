//! The errors of failed calls. A call that finds the device lost is noted.

use ash::vk;

use crate::device::Device;
use crate::error::{Error, FrameError, SurfaceError};

impl Error {
    /// The error of a failed call on a named object. A lost device is noted.
    pub(crate) fn vulkan(
        device: &Device,
        name: &str,
        call: &'static str,
    ) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost {
                call: device.lost_by(call),
            },
            result => Self::Vulkan {
                name: name.to_owned(),
                call,
                result,
            },
        }
    }
}

impl FrameError {
    /// The error of a failed call. A lost device is noted.
    pub(crate) fn vulkan(device: &Device, call: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost {
                call: device.lost_by(call),
            },
            result => Self::Vulkan { call, result },
        }
    }
}

impl SurfaceError {
    /// The error of a failed call. A lost device is noted.
    pub(crate) fn vulkan(device: &Device, call: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost {
                call: device.lost_by(call),
            },
            vk::Result::ERROR_SURFACE_LOST_KHR => Self::Lost,
            result => Self::Vulkan { call, result },
        }
    }
}
