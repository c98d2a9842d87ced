//! The text form of a frame; `frame_parse.rs` reads it.

use std::fmt::{self, Display, Formatter};

use super::lexer::{Flags, Name};
use super::names::Names;
use crate::access::Access;
use crate::frame::{Frame, PassDecl, PassKind, Preference, TimelineUseKind, Use};
use crate::range::{Slices, SubRange, SubresourceRange};
use crate::resource::{Lifetime, Resource, ResourceKind, Sharing};

/// Resources, then passes with their uses and predecessors; [`parse_frame`](crate::text::parse_frame) has an example.
impl Display for Frame {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let names = Names::new(self);
        if self.cull {
            writeln!(out, "cull")?;
        }
        for resource in &self.resources {
            write_resource(out, resource)?;
        }
        for give in &self.gives {
            let name = names.resource(give.resource);
            writeln!(
                out,
                "give {name} to {} layout {:?}",
                give.family, give.layout
            )?;
        }
        for timeline in &self.timelines {
            writeln!(
                out,
                "timeline {} base {}",
                Name(&timeline.name),
                timeline.base
            )?;
        }
        for (index, pass) in self.pass_indices().zip(&self.passes) {
            write_pass(out, pass)?;
            let slice = pass.uses.start as usize..pass.uses.end as usize;
            for one in self.uses.get(slice).unwrap_or_default() {
                write_use(out, one, &names)?;
            }
            let slice = pass.after.start as usize..pass.after.end as usize;
            for before in self.after.get(slice).unwrap_or_default() {
                writeln!(out, "  after {}", names.pass(*before))?;
            }
            for one in self.timeline_uses_of(index) {
                let name = self.timelines.get(one.timeline as usize);
                let name = name.map_or("", |timeline| timeline.name.as_ref());
                let word = match one.kind {
                    TimelineUseKind::Signal => "signal",
                    TimelineUseKind::Wait => "wait",
                };
                writeln!(out, "  {word} {} value {}", Name(name), one.value)?;
            }
        }
        Ok(())
    }
}

fn write_resource(out: &mut Formatter<'_>, resource: &Resource) -> fmt::Result {
    let (name, id) = (Name(&resource.name), resource.id.0);
    match resource.kind {
        ResourceKind::Buffer { bytes } => write!(out, "buffer {name} {id} bytes {bytes}")?,
        ResourceKind::Image {
            aspects,
            mip_levels,
            array_layers,
            slices,
        } => {
            write!(
                out,
                "image {name} {id} aspects {} mips {mip_levels} layers {array_layers}",
                Flags(aspects)
            )?;
            if slices != 1 {
                write!(out, " slices {slices}")?;
            }
        }
    }
    if resource.sharing == Sharing::Concurrent {
        write!(out, " concurrent")?;
    }
    match resource.lifetime {
        Lifetime::Persistent => {}
        Lifetime::Transient => write!(out, " transient")?,
        Lifetime::Swapchain => write!(out, " swapchain")?,
    }
    if let Some(memory) = resource.memory {
        let end = u128::from(memory.offset) + u128::from(memory.bytes);
        write!(
            out,
            " block {} bytes {}..{end}",
            memory.block.0, memory.offset
        )?;
    }
    writeln!(out)
}

fn write_pass(out: &mut Formatter<'_>, pass: &PassDecl) -> fmt::Result {
    write!(out, "pass {}", Name(&pass.name))?;
    if pass.kind == PassKind::Host {
        write!(out, " host")?;
    }
    if !pass.queue.required.is_empty() {
        write!(out, " requires {}", Flags(pass.queue.required))?;
    }
    if pass.queue.preference == Preference::Async {
        write!(out, " async")?;
    }
    if let Some(queue) = pass.queue.fixed {
        write!(out, " fixed {}", queue.0)?;
    }
    if pass.cost_us > 0 {
        write!(out, " cost {}", pass.cost_us)?;
    }
    if pass.side_effect {
        write!(out, " side-effect")?;
    }
    if pass.prologue {
        write!(out, " prologue")?;
    }
    writeln!(out)
}

fn write_use(out: &mut Formatter<'_>, one: &Use, names: &Names<'_>) -> fmt::Result {
    write!(out, "  {}", one.access.name())?;
    if let Access::Custom(custom) = one.access {
        let (stages, access) = (Flags(custom.stages), Flags(custom.access));
        write!(
            out,
            " stages {stages} access {access} layout {:?}",
            custom.layout
        )?;
        if custom.writes {
            write!(out, " writes")?;
        }
        write!(out, " of")?;
    }
    write!(out, " {}", names.resource(one.resource))?;
    match one.range {
        SubRange::Whole => {}
        SubRange::Bytes { offset, size } => {
            write!(
                out,
                " bytes {offset}..{}",
                u128::from(offset) + u128::from(size)
            )?;
        }
        SubRange::Subresources(range) => write!(out, " {}", Subresources(&range))?,
        SubRange::Slices(Slices {
            aspects,
            mip,
            base,
            count,
        }) => {
            let (aspects, end) = (Flags(aspects), u64::from(base) + u64::from(count));
            write!(out, " aspects {aspects} mip {mip} slices {base}..{end}")?;
        }
    }
    writeln!(out, "{}", if one.discard { " discard" } else { "" })
}

/// `aspects COLOR mips 0..1 layers 0..1`.
pub(super) struct Subresources<'a>(pub(super) &'a SubresourceRange);

impl Display for Subresources<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let SubresourceRange {
            aspects,
            base_mip,
            mip_count,
            base_layer,
            layer_count,
        } = *self.0;
        write!(
            out,
            "aspects {} mips {base_mip}..{} layers {base_layer}..{}",
            Flags(aspects),
            u64::from(base_mip) + u64::from(mip_count),
            u64::from(base_layer) + u64::from(layer_count),
        )
    }
}
