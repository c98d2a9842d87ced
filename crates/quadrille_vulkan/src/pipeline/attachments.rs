//! Attachments that a pipeline reads and writes.

use super::graphics_code::GraphicsInterface;
use crate::shader::{Binding, BindingKind, Location};

/// Bit masks of attachments: color attachments by number, and [`DEPTH`](Self::DEPTH).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttachmentUse {
    /// The attachments that the fragment shader reads as input attachments.
    pub reads: u16,
    /// The attachments that draws may write.
    pub writes: u16,
}

impl AttachmentUse {
    /// The bit of depth and stencil.
    pub(crate) const DEPTH: u16 = 1 << 15;

    /// The bit of a color attachment.
    pub(crate) fn color(at: u32) -> u16 {
        1_u16.checked_shl(at).unwrap_or(0)
    }

    /// Returns the use of a pipeline whose fragment shader has these outputs.
    pub(super) fn of(interface: &GraphicsInterface, outputs: &[Location]) -> Self {
        let reads = |binding: &Binding| match binding.kind {
            BindingKind::InputAttachment(input) => input.index.map_or(Self::DEPTH, Self::color),
            _ => 0,
        };
        let is_written = |location: u32| {
            let own = interface.state.colors.get(location as usize);
            own.is_none_or(|color| !color.mask.is_empty())
        };
        let (depth, stencil) = (interface.depth, interface.state.stencil);
        let depth = depth.is_some_and(|it| it.write) || stencil.is_some_and(|it| it.writes());
        let mut all = Self {
            reads: 0,
            writes: if depth { Self::DEPTH } else { 0 },
        };
        for binding in interface.bindings() {
            all.reads |= reads(binding);
        }
        for Location { location, .. } in outputs {
            if is_written(*location) {
                all.writes |= Self::color(*location);
            }
        }
        all
    }
}
