//! Parser of the text form of a frame.

use std::sync::Arc;

use super::lexer::{Line, ParseError, Word, lines};
use super::names::Names;
use crate::access::{Access, CustomAccess};
use crate::flags::{Aspects, Layout};
use crate::frame::{
    Frame, Give, PassDecl, PassIndex, PassKind, Preference, QueueRequest, TimelineUse,
    TimelineUseKind, Use, UserTimeline,
};
use crate::range::{Slices, SubRange, SubresourceRange};
use crate::resource::{BlockId, Lifetime, Placement, Resource, ResourceId, ResourceKind, Sharing};
use crate::topology::{FamilyIndex, QueueIndex};

/// Parses the output of [`Subresources`](super::frame::Subresources).
pub(super) fn subresources(line: &mut Line) -> Result<SubresourceRange, ParseError> {
    let aspects = aspects(line)?;
    of_aspects(line, aspects)
}

/// Reads the rest of a subresource range, after `aspects COLOR`.
fn of_aspects(line: &mut Line, aspects: Aspects) -> Result<SubresourceRange, ParseError> {
    line.expect("mips")?;
    let (base_mip, mip_count) = line.range("mip levels such as 0..1")?;
    line.expect("layers")?;
    let (base_layer, layer_count) = line.range("array layers such as 0..1")?;
    Ok(SubresourceRange {
        aspects,
        base_mip,
        mip_count,
        base_layer,
        layer_count,
    })
}

/// Reads a frame.
///
/// ```
/// use quadrille_sync::text::parse_frame;
/// let text = "\
/// buffer cells 0 bytes 1024
/// pass fill requires COMPUTE async
///   StorageWriteCompute cells discard
/// pass draw requires GRAPHICS
///   VertexRead cells bytes 0..512
///   after fill
/// ";
/// let frame = parse_frame(text).unwrap();
/// assert_eq!(frame.to_string(), text);
/// let error = parse_frame("pass draw\n  VertexRead stars").unwrap_err();
/// assert_eq!(error.to_string(), "Line 2, column 14: expected a resource, found `stars`.");
/// ```
///
/// # Errors
/// Returns the position of the first error, and the expected token.
pub fn parse_frame(text: &str) -> Result<Frame, ParseError> {
    let lines = lines(text)?;
    let mut frame = Frame::default();
    // A pass may refer to later passes, so names are read first.
    let mut bodies: Vec<Vec<Line>> = Vec::new();
    let mut gives = Vec::new();
    for mut line in lines {
        if line.indent > 0 {
            let body = bodies
                .last_mut()
                .ok_or_else(|| line.error("a pass before its uses"))?;
            body.push(line);
        } else if line.accept("cull") {
            frame.cull = true;
            line.end()?;
        } else if line.accept("pass") {
            frame.passes.push(pass(&mut line)?);
            bodies.push(Vec::new());
        } else if line.accept("timeline") {
            frame.timelines.push(timeline(&mut line)?);
        } else if line.accept("give") {
            gives.push(line);
        } else {
            frame.resources.push(resource(&mut line)?);
        }
    }
    let (mut uses, mut after) = (Vec::new(), Vec::new());
    let mut slices = Vec::new();
    let names = Names::new(&frame);
    let mut timeline_uses = Vec::new();
    for (pass, body) in (0..).map(PassIndex).zip(&mut bodies) {
        let (first_use, first_after) = (uses.len() as u32, after.len() as u32);
        for line in body {
            if line.accept("after") {
                after.push(names.read_pass(line)?);
                line.end()?;
            } else if line.accept("signal") {
                let kind = TimelineUseKind::Signal;
                timeline_uses.push(timeline_use(line, &frame, (pass, kind))?);
            } else if line.accept("wait") {
                let kind = TimelineUseKind::Wait;
                timeline_uses.push(timeline_use(line, &frame, (pass, kind))?);
            } else {
                uses.push(one_use(line, &names)?);
            }
        }
        slices.push((
            first_use..uses.len() as u32,
            first_after..after.len() as u32,
        ));
    }
    let gives = gives.iter_mut().map(|line| give(line, &names));
    let gives = gives.collect::<Result<_, _>>()?;
    for (pass, (uses, after)) in frame.passes.iter_mut().zip(slices) {
        (pass.uses, pass.after) = (uses, after);
    }
    (frame.uses, frame.after, frame.gives) = (uses, after, gives);
    frame.timeline_uses = timeline_uses;
    Ok(frame)
}

/// Reads `aspects COLOR`.
fn aspects(line: &mut Line) -> Result<Aspects, ParseError> {
    line.expect("aspects")?;
    let refused = line.error("aspects that one format has, such as COLOR or DEPTH|STENCIL");
    let aspects = line.flags::<Aspects>("aspects such as COLOR")?;
    if aspects.are_of_one_format() {
        Ok(aspects)
    } else {
        Err(refused)
    }
}

/// Reads a queue family: its number, or the external owner.
pub(super) fn family(line: &mut Line) -> Result<FamilyIndex, ParseError> {
    line.map("the number of a family", |word| match word.text.as_str() {
        "EXTERNAL" => Some(FamilyIndex::EXTERNAL),
        "FOREIGN" => Some(FamilyIndex::FOREIGN),
        number => number.parse().ok().map(FamilyIndex),
    })
}

fn timeline(line: &mut Line) -> Result<UserTimeline, ParseError> {
    let name = line.word("a name")?.text.into();
    line.expect("base")?;
    let base = line.parse("a value")?;
    line.end()?;
    Ok(UserTimeline { name, base })
}

fn timeline_use(
    line: &mut Line,
    frame: &Frame,
    (pass, kind): (PassIndex, TimelineUseKind),
) -> Result<TimelineUse, ParseError> {
    let names = || frame.timelines.iter().map(|it| it.name.as_ref());
    let find = |word: &Word| names().position(|name| name == word.text);
    let timeline = line.choose("a timeline", names, find)? as u32;
    line.expect("value")?;
    let value = line.parse("a value")?;
    line.end()?;
    Ok(TimelineUse {
        pass,
        timeline,
        kind,
        value,
    })
}

fn give(line: &mut Line, names: &Names<'_>) -> Result<Give, ParseError> {
    let resource = names.read_resource(line)?;
    line.expect("to")?;
    let family = family(line)?;
    line.expect("layout")?;
    let layout = layout(line)?;
    line.end()?;
    Ok(Give {
        resource,
        family,
        layout,
    })
}

fn resource(line: &mut Line) -> Result<Resource, ParseError> {
    let image = line.accept("image");
    if !image && !line.accept("buffer") {
        const ITEMS: [&str; 6] = ["buffer", "image", "pass", "timeline", "give", "cull"];
        line.choose(
            "buffer, image, pass, timeline, give or cull",
            || ITEMS,
            |_| None::<()>,
        )?;
    }
    let name: Arc<str> = line.word("a name")?.text.into();
    let id = ResourceId(line.parse("the number of a resource")?);
    let kind = if image {
        let aspects = aspects(line)?;
        line.expect("mips")?;
        let mip_levels = line.parse("a number of mip levels")?;
        line.expect("layers")?;
        let array_layers = line.parse("a number of array layers")?;
        let slices = if line.accept("slices") {
            line.parse("a number of slices")?
        } else {
            1
        };
        ResourceKind::Image {
            aspects,
            mip_levels,
            array_layers,
            slices,
        }
    } else {
        line.expect("bytes")?;
        ResourceKind::Buffer {
            bytes: line.parse("a number of bytes")?,
        }
    };
    let sharing = if line.accept("concurrent") {
        Sharing::Concurrent
    } else {
        Sharing::Exclusive
    };
    let lifetime = if line.accept("transient") {
        Lifetime::Transient
    } else if line.accept("swapchain") {
        Lifetime::Swapchain
    } else {
        Lifetime::Persistent
    };
    let memory = placement(line)?;
    line.end()?;
    Ok(Resource {
        id,
        name,
        kind,
        sharing,
        lifetime,
        memory,
    })
}

/// Reads the placement of a resource in shared memory, if it has one.
fn placement(line: &mut Line) -> Result<Option<Placement>, ParseError> {
    if !line.accept("block") {
        return Ok(None);
    }
    let block = BlockId(line.parse("the number of a block")?);
    line.expect("bytes")?;
    let (offset, bytes) = line.range("bytes such as 0..16")?;
    Ok(Some(Placement {
        block,
        offset,
        bytes,
    }))
}

fn pass(line: &mut Line) -> Result<PassDecl, ParseError> {
    let name = line.word("a name")?.text.into();
    let kind = if line.accept("host") {
        PassKind::Host
    } else {
        PassKind::Device
    };
    let mut queue = QueueRequest::default();
    if line.accept("requires") {
        queue.required = line.flags("capabilities such as COMPUTE")?;
    }
    if line.accept("async") {
        queue.preference = Preference::Async;
    }
    if line.accept("fixed") {
        queue.fixed = Some(QueueIndex(line.parse("the number of a queue")?));
    }
    let cost_us = if line.accept("cost") {
        line.parse("microseconds")?
    } else {
        0
    };
    let side_effect = line.accept("side-effect");
    let prologue = line.accept("prologue");
    line.end()?;
    Ok(PassDecl {
        name,
        kind,
        queue,
        side_effect,
        prologue,
        cost_us,
        uses: 0..0,
        after: 0..0,
    })
}

fn one_use(line: &mut Line, names: &Names<'_>) -> Result<Use, ParseError> {
    let access = if line.accept("Custom") {
        Access::Custom(custom(line)?)
    } else {
        let named = |word: &Word| {
            Access::ALL
                .iter()
                .find(|it| it.name() == word.text)
                .copied()
        };
        let names = || {
            Access::ALL
                .iter()
                .map(|it| it.name())
                .chain(["after", "Custom"])
        };
        line.choose("an access or `after`", names, named)?
    };
    let resource = names.read_resource(line)?;
    let range = if line.accept("bytes") {
        let (offset, size) = line.range("bytes such as 0..16")?;
        SubRange::Bytes { offset, size }
    } else if line.sees("aspects") {
        image_range(line)?
    } else {
        SubRange::Whole
    };
    let discard = line.accept("discard");
    line.end()?;
    Ok(Use {
        resource,
        range,
        access,
        discard,
    })
}

/// Reads a range of an image: subresources, or slices of a mip level.
fn image_range(line: &mut Line) -> Result<SubRange, ParseError> {
    let aspects = aspects(line)?;
    if !line.accept("mip") {
        return of_aspects(line, aspects).map(SubRange::Subresources);
    }
    let mip = line.parse("the number of a mip level")?;
    line.expect("slices")?;
    let (base, count) = line.range("slices such as 0..1")?;
    Ok(SubRange::Slices(Slices {
        aspects,
        mip,
        base,
        count,
    }))
}

fn custom(line: &mut Line) -> Result<CustomAccess, ParseError> {
    line.expect("stages")?;
    let stages = line.flags("stages such as COPY")?;
    line.expect("access")?;
    let access = line.flags("an access mask such as TRANSFER_READ")?;
    line.expect("layout")?;
    let layout = layout(line)?;
    let writes = line.accept("writes");
    line.expect("of")?;
    Ok(CustomAccess {
        stages,
        access,
        layout,
        writes,
    })
}

/// Reads a layout.
pub(super) fn layout(line: &mut Line) -> Result<Layout, ParseError> {
    let names: Vec<String> = Layout::ALL.iter().map(|it| format!("{it:?}")).collect();
    let known = || names.iter().map(String::as_str);
    line.choose("a layout such as General", known, |word| {
        let at = names.iter().position(|name| *name == word.text)?;
        Layout::ALL.get(at).copied()
    })
}
