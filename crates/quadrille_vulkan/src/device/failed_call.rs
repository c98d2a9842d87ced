//! Errors of failed Vulkan calls. A call that reports a lost device is recorded.

use ash::vk;

use crate::device::Device;
use crate::error::{Error, FrameError, SurfaceError};

impl Error {
    /// Returns the error of a failed call on a named object, and records a lost device.
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
    /// Returns the error of a failed call, and records a lost device.
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
    /// Returns the error of a failed call, and records a lost device.
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
