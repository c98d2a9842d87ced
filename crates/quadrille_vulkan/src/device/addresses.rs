//! Device addresses of buffers, so that the report of a fault can name the buffer.
//!
//! Addresses of buffers are queried only if the driver can report the address of a fault
//! (`VK_EXT_device_fault`); buffers then have the usage `SHADER_DEVICE_ADDRESS`. Addresses of images are available
//! only with `VK_EXT_device_address_binding_report`.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use ash::vk;

use crate::device::Device;
use crate::lock;

/// Number of destroyed buffers to remember: most faults are accesses to objects destroyed too early.
const MAX_REMOVED_BUFFERS: usize = 64;
/// Maximum number of buffers in a report, since a page can hold very many.
const MAX_NAMED_BUFFERS: usize = 4;

/// Addresses of all buffers of a device, and of recently destroyed ones.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<AddressRanges>);

#[derive(Debug, Default)]
struct AddressRanges {
    alive: HashMap<vk::Buffer, Span>,
    /// Destroyed buffers, most recent first.
    destroyed: VecDeque<Span>,
}

/// Address range of a buffer, including its last address.
#[derive(Debug)]
struct Span {
    first: u64,
    last: u64,
    name: String,
}

impl Span {
    fn overlaps(&self, first: u64, last: u64) -> bool {
        self.first <= last && first <= self.last
    }
}

impl Addresses {
    fn add(&self, buffer: vk::Buffer, first: u64, bytes: u64, name: &str) {
        let span = Span {
            first,
            last: first.saturating_add(bytes.saturating_sub(1)),
            name: name.to_owned(),
        };
        lock(&self.0).alive.insert(buffer, span);
    }

    fn remove(&self, buffer: vk::Buffer) {
        let mut ranges = lock(&self.0);
        if let Some(span) = ranges.alive.remove(&buffer) {
            ranges.destroyed.truncate(MAX_REMOVED_BUFFERS - 1);
            ranges.destroyed.push_front(span);
        }
    }

    /// Describes the current and former buffers at any of these addresses, as the end of a sentence.
    pub(crate) fn describe(&self, first: u64, last: u64) -> String {
        let ranges = lock(&self.0);
        let overlapping = |span: &&Span| span.overlaps(first, last);
        let mut alive: Vec<&Span> = ranges.alive.values().filter(overlapping).collect();
        alive.sort_by_key(|span| span.first);
        if !alive.is_empty() {
            return format!("which {} has", names(&alive));
        }
        let destroyed: Vec<&Span> = ranges.destroyed.iter().filter(overlapping).collect();
        if destroyed.is_empty() {
            "which no buffer has".to_owned()
        } else {
            format!("which {} had, now destroyed", names(&destroyed))
        }
    }
}

fn names(spans: &[&Span]) -> String {
    let named = spans.iter().take(MAX_NAMED_BUFFERS);
    let named: Vec<_> = named.map(|span| format!("`{}`", span.name)).collect();
    match spans.len().saturating_sub(MAX_NAMED_BUFFERS) {
        0 => named.join(" or "),
        more => format!("{} or one of {more} others", named.join(" or ")),
    }
}

impl Device {
    /// Returns the usage that all buffers are created with in addition to their own.
    pub(crate) fn usage_for_addresses(&self) -> vk::BufferUsageFlags {
        match self.addresses {
            Some(_) => vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
            None => vk::BufferUsageFlags::empty(),
        }
    }

    /// Records the address of a buffer with bound memory.
    pub(crate) fn note_address(&self, buffer: vk::Buffer, bytes: u64, name: &str) {
        let Some(addresses) = &self.addresses else {
            return;
        };
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer is of this device, was created with the usage, and is bound to memory.
        let first = unsafe { self.raw.get_buffer_device_address(&info) };
        addresses.add(buffer, first, bytes, name);
    }

    /// Marks the address range of a buffer as destroyed.
    pub(crate) fn forget_address(&self, buffer: vk::Buffer) {
        if let Some(addresses) = &self.addresses {
            addresses.remove(buffer);
        }
    }
}

#[cfg(test)]
mod tests;
