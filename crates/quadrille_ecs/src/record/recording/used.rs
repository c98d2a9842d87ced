//! Checks of commands against declared accesses.

use quadrille_vulkan::resources::{GpuBuffer, GpuImage, View};

use super::SubRecording;
use crate::declare::bind::{Bound, ResourceRef};
use crate::declare::kind::AccessKind;
use crate::error::RecordError;

impl SubRecording {
    /// Returns the buffer that a command uses, if the resource is a buffer declared for that use.
    pub(crate) fn used_buffer<'b>(
        &mut self,
        bound: Bound<'b>,
        needed: AccessKind,
        command: &'static str,
    ) -> Option<&'b GpuBuffer> {
        match bound.resource {
            ResourceRef::Buffer(buffer) => self.allows(bound, needed, command).then_some(buffer),
            ResourceRef::Image(_) => {
                self.fail_kind(bound, command, "a buffer", "an image");
                None
            }
        }
    }

    /// Returns the image and view that a command uses, if the resource is an image declared for that use.
    pub(crate) fn used_image<'b>(
        &mut self,
        bound: Bound<'b>,
        needed: AccessKind,
        command: &'static str,
    ) -> Option<(&'b GpuImage, View)> {
        match bound.resource {
            ResourceRef::Image(image) => self
                .allows(bound, needed, command)
                .then_some((image, bound.view)),
            ResourceRef::Buffer(_) => {
                self.fail_kind(bound, command, "an image", "a buffer");
                None
            }
        }
    }

    fn allows(&mut self, bound: Bound<'_>, needed: AccessKind, command: &'static str) -> bool {
        self.check_declared(bound);
        if *bound.kind == needed {
            return true;
        }
        self.fail(RecordError::WrongUse {
            command,
            resource: bound.name().into(),
            declared: bound.kind.name(),
            needed: needed.name(),
        });
        false
    }

    fn fail_kind(
        &mut self,
        bound: Bound<'_>,
        command: &'static str,
        needed: &'static str,
        given: &'static str,
    ) {
        self.fail(RecordError::WrongResource {
            command,
            resource: bound.name().into(),
            needed,
            given,
        });
    }
}
