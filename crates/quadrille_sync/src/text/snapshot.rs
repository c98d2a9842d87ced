//! The text form of a snapshot.
//!
//! ```text
//! queue 0 value 412
//! queue 1 value 300
//!   knows 0 value 411 stages COMPUTE_SHADER
//! state cells [lent | given] [imported]
//!   part 0..end [owner FAMILY] layout Undefined [defined]
//!     write 0 value 412 stages COMPUTE_SHADER access SHADER_STORAGE_WRITE pass simulate
//!     read 1 value 299 stages COPY access TRANSFER_READ pass save
//!     visible 0 stages COMPUTE_SHADER access SHADER_STORAGE_READ [ready]
//!     promised ACCESS
//!     release FAMILY to FAMILY layouts LAYOUT LAYOUT whole ACCESS
//!     host none | now | before ACCESS
//!     first 3 queue 0 family 0 stages FLAGS access FLAGS layout LAYOUT [writes] [discard] pass NAME
//! block 2
//!   bytes 0..end
//!     access 0 value 400 stages COPY access TRANSFER_WRITE pass stage
//! ```

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

use super::frame::Subresources;
use super::frame_parse::{family, layout, subresources};
use super::lexer::{Flags, Line, Name, ParseError, lines};
use super::names::Names;
use crate::frame::Frame;
use crate::plan::Scope;
use crate::range::SubRange;
use crate::resource::BlockId;
use crate::states::{
    BlockSnapshot, First, FirstUse, HostVisibility, HostWait, PastAccess, Pending,
    QueueOrderSnapshot, QueueSnapshot, RangeSnapshot, ResourceSnapshot, Snapshot, StreamOwnership,
    TimelinePoint, VisibleScope,
};
use crate::topology::QueueIndex;

impl Snapshot {
    /// Returns the text form of the snapshot, with the names of the frame that it was taken for.
    pub fn display<'a>(&'a self, frame: &'a Frame) -> impl Display + 'a {
        SnapshotText {
            snapshot: self,
            frame,
        }
    }
}

struct SnapshotText<'a> {
    snapshot: &'a Snapshot,
    frame: &'a Frame,
}

impl Display for SnapshotText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let names = Names::new(self.frame);
        for (queue, past) in self.snapshot.queues.iter().enumerate() {
            writeln!(out, "queue {queue} value {}", past.value)?;
            for QueueOrderSnapshot { of, value, stages } in &past.known {
                let stages = Flags(*stages);
                writeln!(out, "  knows {} value {value} stages {stages}", of.0)?;
            }
        }
        for past in &self.snapshot.resources {
            write!(out, "state {}", names.resource(past.resource))?;
            match past.stream_ownership {
                StreamOwnership::Own => {}
                StreamOwnership::Lent => write!(out, " lent")?,
                StreamOwnership::Given => write!(out, " given")?,
            }
            let imported = if past.is_declared { "" } else { " imported" };
            writeln!(out, "{imported}")?;
            past.parts
                .iter()
                .try_for_each(|part| write_part(out, part))?;
        }
        for BlockSnapshot { block, bytes } in &self.snapshot.blocks {
            writeln!(out, "block {}", block.0)?;
            for (bytes, accesses) in bytes {
                writeln!(out, "  bytes {}", Positions(bytes))?;
                for tracked in accesses {
                    writeln!(out, "    access {}", Access(tracked))?;
                }
            }
        }
        Ok(())
    }
}

fn write_part(out: &mut Formatter<'_>, part: &RangeSnapshot) -> fmt::Result {
    write!(out, "  part {}", Positions(&part.positions))?;
    if let Some(owner) = part.owner {
        write!(out, " owner {owner}")?;
    }
    let defined = if part.is_defined { " defined" } else { "" };
    writeln!(out, " layout {:?}{defined}", part.layout)?;
    let accesses = part.write.iter().map(|tracked| ("write", tracked));
    let accesses = accesses.chain(part.reads.iter().map(|tracked| ("read", tracked)));
    for (word, tracked) in accesses.chain(part.promised.iter().map(|tracked| ("promised", tracked)))
    {
        writeln!(out, "    {word} {}", Access(tracked))?;
    }
    for seen in &part.visible {
        let (stages, access) = (Flags(seen.scope.stages), Flags(seen.scope.access));
        let ready = if seen.is_ready { " ready" } else { "" };
        let queue = seen.queue.0;
        writeln!(
            out,
            "    visible {queue} stages {stages} access {access}{ready}"
        )?;
    }
    if let Some(release) = &part.release {
        let Pending {
            from,
            to,
            old_layout,
            new_layout,
            range,
            tracked,
        } = release;
        write!(
            out,
            "    release {from} to {to} layouts {old_layout:?} {new_layout:?} "
        )?;
        match range {
            SubRange::Bytes { offset, size } => {
                write!(
                    out,
                    "bytes {offset}..{}",
                    u128::from(*offset) + u128::from(*size)
                )?;
            }
            SubRange::Subresources(range) => write!(out, "{}", Subresources(range))?,
            // A release is of whole mip levels.
            SubRange::Whole | SubRange::Slices(_) => write!(out, "whole")?,
        }
        writeln!(out, " by {}", Access(tracked))?;
    }
    if let Some(HostVisibility { tracked, wait }) = &part.host {
        let wait = match wait {
            HostWait::None => "none",
            HostWait::Now => "now",
            HostWait::Before => "before",
        };
        writeln!(out, "    host {wait} {}", Access(tracked))?;
    }
    part.first
        .iter()
        .try_for_each(|first| write_first(out, first))
}

fn write_first(out: &mut Formatter<'_>, first: &First) -> fmt::Result {
    let FirstUse {
        queue,
        family,
        scope,
        layout,
        writes,
        discard,
        pass,
    } = &*first.used;
    let (stages, access) = (Flags(scope.stages), Flags(scope.access));
    write!(
        out,
        "    first {} queue {} family {family} stages {stages} access {access} layout {layout:?}",
        first.step, queue.0
    )?;
    for (word, is_so) in [("writes", writes), ("discard", discard)] {
        if *is_so {
            write!(out, " {word}")?;
        }
    }
    writeln!(out, " pass {}", Name(pass))
}

/// `0..16`, or `16..end`.
struct Positions<'a>(&'a Range<u64>);

impl Display for Positions<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}..", self.0.start)?;
        match self.0.end {
            u64::MAX => write!(out, "end"),
            end => write!(out, "{end}"),
        }
    }
}

/// `0 value 412 stages COPY access TRANSFER_READ pass save`.
struct Access<'a>(&'a PastAccess);

impl Display for Access<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let PastAccess { point, scope, pass } = self.0;
        let (stages, access) = (Flags(scope.stages), Flags(scope.access));
        let TimelinePoint { queue, value } = point;
        write!(
            out,
            "{} value {value} stages {stages} access {access} pass {}",
            queue.0,
            Name(pass)
        )
    }
}

/// Parses a snapshot of a frame; [`Snapshot`] has an example.
///
/// # Errors
/// Returns the position of the first error, and the expected token.
pub fn parse_snapshot(text: &str, frame: &Frame) -> Result<Snapshot, ParseError> {
    let names = Names::new(frame);
    let mut snapshot = Snapshot::default();
    // Lines with more indentation belong to the last of these.
    let mut last = Item::None;
    for mut line in lines(text)? {
        let line = &mut line;
        if line.accept("queue") {
            let next = snapshot.queues.len();
            line.map("the next queue", |word| {
                (word.text == next.to_string() && next < crate::topology::Topology::MAX_QUEUES)
                    .then_some(())
            })?;
            line.expect("value")?;
            let value = line.parse("a value")?;
            snapshot.queues.push(QueueSnapshot {
                value,
                known: Vec::new(),
            });
            last = Item::Queue;
        } else if line.accept("state") {
            let resource = names.read_resource(line)?;
            let stream_ownership = if line.accept("lent") {
                StreamOwnership::Lent
            } else if line.accept("given") {
                StreamOwnership::Given
            } else {
                StreamOwnership::Own
            };
            snapshot.resources.push(ResourceSnapshot {
                resource,
                stream_ownership,
                is_declared: !line.accept("imported"),
                parts: Vec::new(),
            });
            last = Item::Resource;
        } else if line.accept("block") {
            snapshot.blocks.push(BlockSnapshot {
                block: BlockId(line.parse("the number of a block")?),
                bytes: Vec::new(),
            });
            last = Item::Block;
        } else {
            detail(line, last, &mut snapshot)?;
        }
        line.end()?;
    }
    Ok(snapshot)
}

/// Items that have lines of details.
#[derive(Clone, Copy)]
enum Item {
    None,
    Queue,
    Resource,
    Block,
}

/// Reads a line of details of the last item.
fn detail(line: &mut Line, last: Item, snapshot: &mut Snapshot) -> Result<(), ParseError> {
    match last {
        Item::None => {}
        Item::Queue => {
            line.expect("knows")?;
            let of = queue(line)?;
            line.expect("value")?;
            let value = line.parse("a value")?;
            line.expect("stages")?;
            let stages = line.flags("stages such as COPY")?;
            let known = QueueOrderSnapshot { of, value, stages };
            return snapshot.queues.last_mut().map_or(Ok(()), |queue| {
                queue.known.push(known);
                Ok(())
            });
        }
        Item::Resource => {
            if let Some(resource) = snapshot.resources.last_mut() {
                return detail_of_resource(line, &mut resource.parts);
            }
        }
        Item::Block => {
            if let Some(block) = snapshot.blocks.last_mut() {
                if line.accept("bytes") {
                    block.bytes.push((positions(line)?, Vec::new()));
                    return Ok(());
                }
                if let Some((_, accesses)) = block.bytes.last_mut() {
                    line.expect("access")?;
                    accesses.push(tracked(line)?);
                    return Ok(());
                }
            }
        }
    }
    Err(line.error("queue, state or block"))
}

fn detail_of_resource(line: &mut Line, parts: &mut Vec<RangeSnapshot>) -> Result<(), ParseError> {
    if line.accept("part") {
        let mut part = RangeSnapshot {
            positions: positions(line)?,
            ..RangeSnapshot::fresh()
        };
        if line.accept("owner") {
            part.owner = Some(family(line)?);
        }
        line.expect("layout")?;
        part.layout = layout(line)?;
        part.is_defined = line.accept("defined");
        parts.push(part);
        return Ok(());
    }
    let Some(part) = parts.last_mut() else {
        return Err(line.error("a part"));
    };
    if line.accept("write") {
        part.write = Some(tracked(line)?);
    } else if line.accept("read") {
        part.reads.push(tracked(line)?);
    } else if line.accept("promised") {
        part.promised = Some(tracked(line)?);
    } else if line.accept("visible") {
        part.visible.push(VisibleScope {
            queue: queue(line)?,
            scope: scope(line)?,
            is_ready: line.accept("ready"),
        });
    } else if line.accept("release") {
        part.release = Some(release(line)?);
    } else if line.accept("host") {
        let wait = line.map("none, now or before", |word| match word.text.as_str() {
            "none" => Some(HostWait::None),
            "now" => Some(HostWait::Now),
            "before" => Some(HostWait::Before),
            _ => None,
        })?;
        let tracked = tracked(line)?;
        part.host = Some(HostVisibility { tracked, wait });
    } else {
        line.expect("first")?;
        part.first = Some(first(line)?);
    }
    Ok(())
}

fn release(line: &mut Line) -> Result<Pending<PastAccess>, ParseError> {
    let from = family(line)?;
    line.expect("to")?;
    let to = family(line)?;
    line.expect("layouts")?;
    let (old_layout, new_layout) = (layout(line)?, layout(line)?);
    let range = if line.accept("whole") {
        SubRange::Whole
    } else if line.accept("bytes") {
        let (offset, size) = line.range("bytes such as 0..16")?;
        SubRange::Bytes { offset, size }
    } else {
        SubRange::Subresources(subresources(line)?)
    };
    line.expect("by")?;
    Ok(Pending {
        from,
        to,
        old_layout,
        new_layout,
        range,
        tracked: tracked(line)?,
    })
}

fn first(line: &mut Line) -> Result<First, ParseError> {
    let step = line.parse("a step")?;
    line.expect("queue")?;
    let queue = queue(line)?;
    line.expect("family")?;
    let family = family(line)?;
    let scope = scope(line)?;
    line.expect("layout")?;
    let layout = layout(line)?;
    let used = FirstUse {
        queue,
        family,
        scope,
        layout,
        writes: line.accept("writes"),
        discard: line.accept("discard"),
        pass: pass(line)?,
    };
    Ok(First {
        step,
        again: 0,
        used: Arc::new(used),
    })
}

fn tracked(line: &mut Line) -> Result<PastAccess, ParseError> {
    let queue = queue(line)?;
    line.expect("value")?;
    let value = line.parse("a value")?;
    Ok(PastAccess {
        point: TimelinePoint { queue, value },
        scope: scope(line)?,
        pass: pass(line)?,
    })
}

fn scope(line: &mut Line) -> Result<Scope, ParseError> {
    line.expect("stages")?;
    let stages = line.flags("stages such as COPY")?;
    line.expect("access")?;
    let access = line.flags("an access mask such as TRANSFER_READ")?;
    Ok(Scope { stages, access })
}

fn pass(line: &mut Line) -> Result<Arc<str>, ParseError> {
    line.expect("pass")?;
    Ok(line.word("a name")?.text.into())
}

fn queue(line: &mut Line) -> Result<QueueIndex, ParseError> {
    line.map("the number of a queue", |word| {
        let queue = word.text.parse().ok()?;
        (usize::from(queue) < crate::topology::Topology::MAX_QUEUES).then_some(QueueIndex(queue))
    })
}

/// Parses the output of [`Positions`].
fn positions(line: &mut Line) -> Result<Range<u64>, ParseError> {
    line.map("positions such as 0..16 or 0..end", |word| {
        let (start, end) = word.text.split_once("..")?;
        let start: u64 = start.parse().ok()?;
        let end = if end == "end" {
            u64::MAX
        } else {
            end.parse().ok()?
        };
        (start < end).then_some(start..end)
    })
}
