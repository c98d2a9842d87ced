//! The driver's reasons for a lost device (`VK_EXT_device_fault`).

use ash::{ext, vk};

use crate::device::Device;
use crate::device::addresses::Addresses;

/// Maximum number of addresses, and of vendor infos, in a report.
const MOST: u32 = 16;

/// The function, where the device has the extension.
pub(crate) type Fault = Option<ext::device_fault::Device>;

/// Returns the driver's reasons, one sentence each; empty while the device is not lost.
pub(crate) fn describe(device: &Device) -> Vec<String> {
    let Some(functions) = device
        .extensions
        .fault
        .as_ref()
        .filter(|_| device.is_lost())
    else {
        return Vec::new();
    };
    let get = functions.fp().get_device_fault_info_ext;
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: the device is lost; with a null `pFaultInfo` only the counts are written.
    let result = unsafe { get(device.raw.handle(), &mut counts, std::ptr::null_mut()) };
    if result.as_raw() < 0 {
        return vec![format!(
            "the driver does not say what the fault was: {result}"
        )];
    }
    counts.address_info_count = counts.address_info_count.min(MOST);
    counts.vendor_info_count = counts.vendor_info_count.min(MOST);
    // Vendor binaries are readable only by the vendor's tools, so they stay out of a report.
    counts.vendor_binary_size = 0;
    let no_address = vk::DeviceFaultAddressInfoEXT::default();
    let mut addresses = vec![no_address; counts.address_info_count as usize];
    let no_vendor = vk::DeviceFaultVendorInfoEXT::default();
    let mut vendors = vec![no_vendor; counts.vendor_info_count as usize];
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendors.as_mut_ptr(),
        ..Default::default()
    };
    // SAFETY: the device is lost; the arrays have as many elements as the counts say. `INCOMPLETE`
    // is a success.
    let result = unsafe { get(device.raw.handle(), &mut counts, &mut info) };
    if result.as_raw() < 0 {
        return vec![format!(
            "the driver does not say what the fault was: {result}"
        )];
    }
    addresses.truncate(counts.address_info_count as usize);
    vendors.truncate(counts.vendor_info_count as usize);
    let mut report = vec![format!("the driver says: {}", text(&info.description))];
    let address = |info| address(info, device.addresses.as_ref());
    report.extend(addresses.iter().map(address));
    report.extend(vendors.iter().map(|vendor| {
        format!(
            "the driver says: {}, code {:#x}, data {:#x}",
            text(&vendor.description),
            vendor.vendor_fault_code,
            vendor.vendor_fault_data
        )
    }));
    report
}

/// Describes a fault address: the range within its precision, and the buffers in it.
fn address(info: &vk::DeviceFaultAddressInfoEXT, known: Option<&Addresses>) -> String {
    use vk::DeviceFaultAddressTypeEXT as Kind;
    let what = match info.address_type {
        Kind::READ_INVALID => "a read from",
        Kind::WRITE_INVALID => "a write to",
        Kind::EXECUTE_INVALID => "an instruction fetched from",
        Kind::INSTRUCTION_POINTER_UNKNOWN => "an instruction at",
        Kind::INSTRUCTION_POINTER_INVALID => "an instruction that is none at",
        Kind::INSTRUCTION_POINTER_FAULT => "an instruction that failed at",
        _ => "something about",
    };
    // The precision is a power of two (section "VkDeviceFaultAddressInfoEXT").
    let rest = info.address_precision.max(1) - 1;
    let (first, last) = (info.reported_address & !rest, info.reported_address | rest);
    let whose = known.map(|known| format!(", {}", known.describe(first, last)));
    let whose = whose.unwrap_or_default();
    format!("the driver names {what} the device addresses {first:#x} to {last:#x}{whose}")
}

/// Converts a driver's text to one line.
fn text(text: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = text
        .iter()
        .map(|&byte| byte.to_ne_bytes()[0])
        .take_while(|&byte| byte != 0)
        .collect();
    let text = String::from_utf8_lossy(&bytes);
    text.replace(|c: char| c.is_control(), " ")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests;
