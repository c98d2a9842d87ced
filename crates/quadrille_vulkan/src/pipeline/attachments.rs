//! Which attachments of its rendering a pipeline reads, and which it writes.

use super::graphics_code::GraphicsInterface;
use crate::shader::{BindingKind, Location};

/// Attachments, a bit each: colours by number, and [`DEPTH`](Self::DEPTH).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttachmentUse {
    /// What its fragment shader reads at the place of the fragment.
    pub reads: u16,
    /// What its draws may write.
    pub writes: u16,
}

impl AttachmentUse {
    /// The bit of depth and stencil.
    pub(crate) const DEPTH: u16 = 1 << 15;

    /// The bit of a colour attachment.
    pub(crate) fn color(at: u32) -> u16 {
        1_u16.checked_shl(at).unwrap_or(0)
    }

    /// Of a pipeline whose fragment shader has these outputs.
    pub(super) fn of(interface: &GraphicsInterface, outputs: &[Location]) -> Self {
        let reads = interface
            .bindings()
            .iter()
            .map(|binding| match binding.kind {
                BindingKind::InputAttachment(input) => input.index.map_or(Self::DEPTH, Self::color),
                _ => 0,
            });
        let is_written = |location: u32| {
            let own = interface.state.colors.get(location as usize);
            own.is_none_or(|color| !color.mask.is_empty())
        };
        let written = outputs.iter().map(|output| output.location);
        let colors = written.filter(|&at| is_written(at)).map(Self::color);
        let (depth, stencil) = (interface.depth, interface.state.stencil);
        let depth = depth.is_some_and(|it| it.write) || stencil.is_some_and(|it| it.writes());
        let all = |bits: &mut dyn Iterator<Item = u16>| bits.fold(0, |all, bit| all | bit);
        Self {
            reads: all(&mut { reads }),
            writes: all(&mut { colors }) | if depth { Self::DEPTH } else { 0 },
        }
    }
}
