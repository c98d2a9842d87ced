//! Emulation of `VK_EXT_device_fault`.
//!
//! Software drivers lack it, so `QUADRILLE_LAYER_DEVICE_FAULT=1` emulates it. A device that the script has lost reports
//! a write to an address without a buffer, and a read from the buffer whose address was queried last.

use std::sync::atomic::Ordering;

use ash::vk;

use crate::state::device::Device;
use crate::state::registry::device_of;

/// Description of the fault.
const DESCRIPTION: &str = "the test layer has lost the device";
/// Address of the reported write.
const ADDRESS: vk::DeviceAddress = 0xdead_0000;
/// Precision of reported addresses: a page.
const PRECISION_BYTES: vk::DeviceSize = 4096;
/// Vendor information: description, code, data.
const VENDOR: (&str, u64, u64) = ("made up", 0x51, 0x52);

/// `vkGetDeviceFaultInfoEXT`, emulated.
pub(crate) unsafe extern "system" fn device_fault_info(
    device: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    info: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    let call = device.calls().begin("vkGetDeviceFaultInfoEXT");
    call.run(|| {
        // SAFETY: the app passes a valid structure.
        let counts = unsafe { &mut *counts };
        let room = (counts.address_info_count, counts.vendor_info_count);
        let there = addresses(&device);
        let vendors = u32::from(!there.is_empty());
        counts.address_info_count = there.len() as u32;
        counts.vendor_info_count = vendors;
        counts.vendor_binary_size = 0;
        // SAFETY: the app passes a valid structure, or none.
        let Some(info) = (unsafe { info.as_mut() }) else {
            return vk::Result::SUCCESS;
        };
        if there.is_empty() {
            return vk::Result::SUCCESS;
        }
        write_text(&mut info.description, DESCRIPTION);
        counts.address_info_count = room.0.min(there.len() as u32);
        counts.vendor_info_count = room.1.min(vendors);
        let fits = &there[..counts.address_info_count as usize];
        if !info.p_address_infos.is_null() {
            // SAFETY: the app's array has at least this length.
            let out = unsafe { std::slice::from_raw_parts_mut(info.p_address_infos, fits.len()) };
            out.copy_from_slice(fits);
        }
        let has_room = counts.vendor_info_count > 0;
        let vendor = info.p_vendor_infos;
        // SAFETY: the app's array has at least one element, or is null.
        if let Some(vendor) = unsafe { vendor.as_mut() }.filter(|_| has_room) {
            write_text(&mut vendor.description, VENDOR.0);
            vendor.vendor_fault_code = VENDOR.1;
            vendor.vendor_fault_data = VENDOR.2;
        }
        if fits.len() < there.len() || !has_room {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        }
    })
}

/// Returns the addresses of the emulated fault; none while the device is not lost.
fn addresses(device: &Device) -> Vec<vk::DeviceFaultAddressInfoEXT> {
    if !device.is_lost() {
        return Vec::new();
    }
    let wild = vk::DeviceFaultAddressInfoEXT::default()
        .address_type(vk::DeviceFaultAddressTypeEXT::WRITE_INVALID)
        .reported_address(ADDRESS)
        .address_precision(PRECISION_BYTES);
    let last = device.last_address.load(Ordering::Relaxed);
    let known = vk::DeviceFaultAddressInfoEXT::default()
        .address_type(vk::DeviceFaultAddressTypeEXT::READ_INVALID)
        .reported_address(last)
        .address_precision(1);
    match last {
        0 => vec![wild],
        _ => vec![wild, known],
    }
}

/// `vkGetBufferDeviceAddress`: stored for the report of a fault.
pub(crate) unsafe extern "system" fn buffer_device_address(
    device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: the app passes a valid handle.
    let device = unsafe { device_of(device) };
    device.calls().begin("vkGetBufferDeviceAddress").done();
    let ask = device.driver.next.core.fp_v1_2().get_buffer_device_address;
    // SAFETY: the app's own arguments.
    let address = unsafe { ask(device.handle(), info) };
    device.last_address.store(address, Ordering::Relaxed);
    address
}

/// Writes a C string, truncated to the array.
fn write_text(out: &mut [std::ffi::c_char], text: &str) {
    let room = out.len() - 1;
    out.fill(0);
    for (out, byte) in out[..room].iter_mut().zip(text.bytes()) {
        *out = byte as std::ffi::c_char;
    }
}
