//! Commands: two words each, so that lists of them are quick to write, to compare and to read.

use quadrille_sync::ResourceId;

use super::IndexType;
use crate::resources::view::View;

/// One command. What does not fit lies in the list's side arrays, at the index that it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    BeginRendering { data: u32 },
    EndRendering,
    Area { area: u32 },
    Bind(Bind),
    Draw { draw: u32 },
    Dispatch { groups: [u32; 3] },
    DispatchIndirect { buffer: ResourceId, offset: Offset },
    Copy { copy: u32 },
    BeginLabel { start: u32, bytes: u32 },
    EndLabel,
    Raw { closure: u32 },
}

impl Command {
    /// What errors call it: the methods that record it have this in their names.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::BeginRendering { .. } => "`render`",
            Self::EndRendering => "the end of `render`",
            Self::Area { .. } => "`viewport` or `scissor`",
            Self::Bind(Bind::Compute { .. } | Bind::Graphics { .. }) => "`pipeline`",
            Self::Bind(Bind::Constants { .. }) => "`push`",
            Self::Bind(Bind::Table { .. }) => "`table`",
            Self::Bind(_) => "`bind`",
            Self::Draw { .. } => "`draw`",
            Self::Dispatch { .. } | Self::DispatchIndirect { .. } => "`dispatch`",
            Self::Copy { .. } => "`copy`",
            Self::BeginLabel { .. } | Self::EndLabel => "a label",
            Self::Raw { .. } => "`raw`",
        }
    }

    /// Whether it is the same as another. Inlined where a command is written, whose kind is known
    /// there: so those of the hot path are compared field by field, without a call.
    #[inline(always)]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bind(old), Self::Bind(new)) => match (old, new) {
                (Bind::Compute { pipeline: old }, Bind::Compute { pipeline: new }) => old == new,
                (
                    Bind::Buffer {
                        binding: old_binding,
                        buffer: old_buffer,
                        range: old_range,
                    },
                    Bind::Buffer {
                        binding,
                        buffer,
                        range,
                    },
                ) => old_binding == binding && old_buffer == buffer && old_range == range,
                (_, Bind::Compute { .. } | Bind::Buffer { .. }) => false,
                _ => old == new,
            },
            (Self::Dispatch { groups: old }, Self::Dispatch { groups: new }) => old == new,
            (_, Self::Bind(_) | Self::Dispatch { .. }) => false,
            _ => self == other,
        }
    }
}

/// Commands that set what draws and dispatches use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bind {
    Compute {
        pipeline: u32,
    },
    Graphics {
        pipeline: u32,
    },
    Buffer {
        binding: u8,
        buffer: ResourceId,
        /// [`Bind::WHOLE`], or which range.
        range: u32,
    },
    Image {
        binding: u8,
        storage: bool,
        image: ResourceId,
        view: View,
    },
    Sampler {
        binding: u8,
        sampler: u32,
    },
    Table {
        group: u8,
        table: u32,
    },
    Constants {
        start: u32,
        bytes: u16,
    },
    Vertices {
        slot: u8,
        buffer: ResourceId,
        offset: Offset,
    },
    Indices {
        buffer: ResourceId,
        offset: Offset,
        kind: IndexType,
    },
}

impl Bind {
    /// The range of a buffer that is bound as a whole.
    pub(crate) const WHOLE: u32 = u32::MAX;
}

/// Bytes from the start of a buffer, aligned as the rest of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset([u32; 2]);

impl From<u64> for Offset {
    fn from(bytes: u64) -> Self {
        Self([bytes as u32, (bytes >> 32) as u32])
    }
}

impl From<Offset> for u64 {
    fn from(Offset([low, high]): Offset) -> Self {
        Self::from(high) << 32 | Self::from(low)
    }
}

/// Left, top, width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// The bits of four `f32`, of which -0 is not 0.
    Viewport([u32; 4]),
    Scissor([u32; 4]),
}

/// Draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Draw {
    Plain {
        vertices: [u32; 2],
        instances: [u32; 2],
    },
    Indexed {
        indices: [u32; 2],
        base_vertex: i32,
        instances: [u32; 2],
    },
    Indirect {
        buffer: ResourceId,
        offset: u64,
        count: u32,
        stride: u32,
    },
    IndexedIndirect {
        buffer: ResourceId,
        offset: u64,
        count: u32,
        stride: u32,
    },
    /// As many as another buffer says.
    Counted { counted: u32 },
}

/// Draws whose number the device reads from a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counted {
    pub buffer: ResourceId,
    pub offset: u64,
    pub counts: ResourceId,
    pub count_offset: u64,
    /// No more than this are drawn.
    pub most: u32,
    pub stride: u32,
    pub indexed: bool,
}

/// Copies, fills and clears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copying {
    Buffer {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    BufferToImage {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    ImageToBuffer {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    Image {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
    },
    Blit {
        src: ResourceId,
        dst: ResourceId,
        copy: u32,
        linear: bool,
    },
    Fill {
        dst: ResourceId,
        value: u32,
        range: u32,
    },
    Update {
        dst: ResourceId,
        offset: u64,
        start: u32,
        bytes: u32,
    },
    Clear {
        image: ResourceId,
        view: View,
        /// The bits of four `f32`, of which -0 is not 0.
        color: [u32; 4],
    },
}
