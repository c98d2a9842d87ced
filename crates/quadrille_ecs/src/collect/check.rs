//! Checks of a collected frame: memory of host passes, resources of other devices.

use quadrille_sync::frame::Use;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{Handle, Memory};

use super::Collector;
use crate::error::{RecordError, RenderError};

impl Collector {
    /// Checks that the CPU can access the buffers that a host pass declares.
    pub(super) fn check_host_memory(
        &self,
        at: usize,
        first_use: u32,
        errors: &mut Vec<RenderError>,
    ) {
        for used in &self.frame.uses[first_use as usize..] {
            let handle = &self.handles[used.resource.0 as usize];
            let reachable = match handle {
                Handle::Buffer(buffer) => buffer.desc().memory != Memory::Device,
                _ => false,
            };
            if used.access.is_host() && !reachable {
                errors.push(RenderError::Record {
                    pass: self.passes[at].name.to_string(),
                    error: RecordError::NotHostVisible {
                        resource: handle.name().into(),
                    },
                });
            }
        }
    }

    /// Reports resources of another device than the renderer's.
    pub(super) fn check_device(&self, gpu: &Gpu, errors: &mut Vec<RenderError>) {
        let mut strange = |pass: usize, handle: &Handle| {
            let pass = self.frame.passes.get(pass).map(|pass| &pass.name);
            errors.push(RenderError::OtherDevice {
                pass: pass.map_or_else(String::new, |name| name.to_string()),
                resource: handle.name().to_owned(),
            });
        };
        for (pass, handle) in &self.strangers {
            strange(*pass, handle);
        }
        for (index, handle) in self.handles.iter().enumerate() {
            if !handle.is_of(gpu) {
                let first = |used: &Use| used.resource.0 as usize == index;
                let used = self.frame.uses.iter().position(first).unwrap_or_default() as u32;
                let mut passes = self.frame.passes.iter();
                let pass = passes.position(|pass| pass.uses.contains(&used));
                strange(pass.unwrap_or_default(), handle);
            }
        }
    }
}
