//! [`Command`]: two machine words, so that lists are cheap to write, compare and read.

use super::Bind;

/// One command. Larger data is in the list's side arrays, referred to by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    BeginRendering {
        data: u32,
    },
    EndRendering,
    State {
        state: u32,
    },
    Bind(Bind),
    Draw {
        draw: u32,
    },
    /// A direct dispatch.
    Dispatch {
        groups: [u32; 3],
    },
    /// Any other dispatch.
    DispatchFrom {
        dispatch: u32,
    },
    Copy {
        copy: u32,
    },
    Query {
        query: u32,
    },
    BeginLabel {
        start: u32,
        bytes: u32,
    },
    EndLabel,
    Raw {
        closure: u32,
    },
    DrawRaw {
        closure: u32,
    },
}

impl Command {
    /// Returns its name in errors, similar to the method that records it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::BeginRendering { .. } => "`render`",
            Self::EndRendering => "the end of `render`",
            Self::State { .. } => "`viewport`, `scissor` or `stencil_reference`",
            Self::Bind(Bind::Compute { .. } | Bind::Graphics { .. }) => "`pipeline`",
            Self::Bind(Bind::Constants { .. }) => "`push`",
            Self::Bind(Bind::Table { .. }) => "`table`",
            Self::Bind(_) => "`bind`",
            Self::Draw { .. } => "`draw`",
            Self::Dispatch { .. } | Self::DispatchFrom { .. } => "`dispatch`",
            Self::Copy { .. } => "`copy`",
            Self::Query { .. } => "`query`, `when` or `unless`",
            Self::BeginLabel { .. } | Self::EndLabel => "a label",
            Self::Raw { .. } => "`raw`",
            Self::DrawRaw { .. } => "`draw_raw`",
        }
    }

    /// Whether it equals another. Inlined into the recording methods, where the variant is a constant, so that
    /// commands of the hot path are compared field by field without a call.
    #[inline(always)]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bind(old), Self::Bind(new)) => old.is_same(new),
            (Self::Dispatch { groups: old }, Self::Dispatch { groups: new }) => old == new,
            (_, Self::Bind(_) | Self::Dispatch { .. }) => false,
            _ => self == other,
        }
    }
}
