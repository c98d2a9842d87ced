//! Commands: two words each, so that lists of them are quick to write, to compare and to read.

use super::Bind;

/// One command: a variant for each noun, whose file beside this one has its kinds. What does not fit
/// lies in the list's side arrays, at the index that it has.
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
    /// So many workgroups, the usual kind.
    Dispatch {
        groups: [u32; 3],
    },
    /// Every other kind.
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
    /// Returns its name in errors, which the methods that record it have in their names.
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

    /// Whether it is the same as another. Inlined where a command is written, whose kind is known
    /// there: so those of the hot path are compared field by field, without a call.
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
