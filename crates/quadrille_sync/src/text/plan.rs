//! The text form of a plan.

use std::fmt::{self, Display, Formatter};

use super::frame::Subresources;
use super::lexer::{Flags, Name};
use super::names::Names;
use crate::frame::{Frame, PassIndex, TimelineUseKind};
use crate::plan::{
    BarrierBatch, HostStep, PassRef, Plan, Reason, Scope, Step, Submission, Transfer, TransferHalf,
};
use crate::topology::Topology;

/// The text form of a plan, with names from the frame and topology; created by [`Plan::display`].
pub struct PlanText<'a> {
    plan: &'a Plan,
    frame: &'a Frame,
    topology: &'a Topology,
}

impl Plan {
    /// Returns the text form of the plan, for people, comparisons and [`parse_plan`](crate::text::parse_plan).
    pub fn display<'a>(&'a self, frame: &'a Frame, topology: &'a Topology) -> PlanText<'a> {
        PlanText {
            plan: self,
            frame,
            topology,
        }
    }
}

impl Display for PlanText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let names = Names::new(self.frame);
        let mut host = self.plan.host.iter().peekable();
        for (at, submission) in (0..).zip(&self.plan.submissions) {
            let is_due = |step: &&HostStep| step.before.is_some_and(|before| before <= at);
            while let Some(step) = host.next_if(is_due) {
                write_host(out, step, &names)?;
            }
            let queue = self.topology.queues.get(usize::from(submission.queue.0));
            let family = queue.map_or(0, |queue| queue.family.0);
            writeln!(
                out,
                "submit {} signal {} // family {family}",
                submission.queue.0, submission.signal
            )?;
            write_timelines(out, self.frame, submission, &names)?;
            write_submission(out, submission, &names)?;
        }
        for step in host {
            write_host(out, step, &names)?;
        }
        for pass in &self.plan.culled {
            write_culled(out, (self.frame, self.plan), *pass, &names)?;
        }
        Ok(())
    }
}

/// Writes a culled pass, and the culled readers of each resource that it writes.
fn write_culled(
    out: &mut Formatter<'_>,
    (frame, plan): (&Frame, &Plan),
    pass: PassIndex,
    names: &Names<'_>,
) -> fmt::Result {
    write!(out, "culled {} //", names.pass(pass))?;
    for (at, unread) in plan.unread_writes(frame, pass).iter().enumerate() {
        let separator = if at == 0 { "" } else { "," };
        write!(
            out,
            "{separator} {} is read by",
            names.resource(unread.resource)
        )?;
        if unread.readers.is_empty() {
            write!(out, " no pass")?;
        } else {
            write!(out, " culled passes alone:")?;
        }
        for reader in &unread.readers {
            write!(out, " {}", names.pass(*reader))?;
        }
    }
    writeln!(out)
}

/// Writes a host pass. Its place is before the first submission that depends on it, or at the end.
fn write_host(out: &mut Formatter<'_>, step: &HostStep, names: &Names<'_>) -> fmt::Result {
    writeln!(out, "host {}", names.pass(step.pass))?;
    for wait in &step.waits {
        writeln!(out, "  wait {} value {}", wait.queue.0, wait.offset)?;
    }
    Ok(())
}

/// Writes values of applications' timelines, as comments, since they are determined by the frame.
fn write_timelines(
    out: &mut Formatter<'_>,
    frame: &Frame,
    submission: &Submission,
    names: &Names<'_>,
) -> fmt::Result {
    for one in submission.timeline_uses(frame) {
        let Some(timeline) = frame.timelines.get(one.timeline as usize) else {
            continue;
        };
        let word = match one.kind {
            TimelineUseKind::Wait => "waits for",
            TimelineUseKind::Signal => "signals",
        };
        let (name, pass) = (Name(&timeline.name), names.pass(one.pass));
        let value = timeline.base.saturating_add(one.value);
        writeln!(out, "  // pass {pass} {word} {name} value {value}")?;
    }
    Ok(())
}

fn write_submission(
    out: &mut Formatter<'_>,
    submission: &Submission,
    names: &Names<'_>,
) -> fmt::Result {
    for wait in &submission.waits {
        let (queue, value) = (wait.point.queue.0, wait.point.offset);
        writeln!(
            out,
            "  wait {queue} value {value} at {}",
            Flags(wait.stages)
        )?;
        for reason in &wait.reasons {
            write_reason(out, reason, names)?;
        }
    }
    for acquire in &submission.acquires {
        let resource = names.resource(acquire.resource);
        writeln!(out, "  acquire {resource} at {}", Flags(acquire.stages))?;
    }
    for step in &submission.steps {
        match step {
            Step::Barriers(batch) => write_batch(out, batch, names)?,
            Step::Pass(pass) => writeln!(out, "  pass {}", names.pass(*pass))?,
        }
    }
    for resource in &submission.presents {
        writeln!(out, "  present {}", names.resource(*resource))?;
    }
    Ok(())
}

fn write_batch(out: &mut Formatter<'_>, batch: &BarrierBatch, names: &Names<'_>) -> fmt::Result {
    writeln!(out, "  barriers")?;
    if let Some(memory) = &batch.memory {
        writeln!(out, "    memory {}", Scopes(memory.src, memory.dst))?;
        for reason in &memory.reasons {
            write_reason(out, reason, names)?;
        }
    }
    for buffer in &batch.buffers {
        let resource = names.resource(buffer.resource);
        let end = u128::from(buffer.offset) + u128::from(buffer.size);
        write!(out, "    buffer {resource} bytes {}..{end}", buffer.offset)?;
        write!(out, " {}", Scopes(buffer.src, buffer.dst))?;
        write_transfer(out, buffer.transfer)?;
        write_reason(out, &buffer.reason, names)?;
    }
    for image in &batch.images {
        let resource = names.resource(image.resource);
        write!(out, "    image {resource} {}", Subresources(&image.range))?;
        write!(out, " {}", Scopes(image.src, image.dst))?;
        write!(
            out,
            " layout {:?} -> {:?}",
            image.old_layout, image.new_layout
        )?;
        write_transfer(out, image.transfer)?;
        write_reason(out, &image.reason, names)?;
    }
    Ok(())
}

/// The rest of a barrier's line.
fn write_transfer(out: &mut Formatter<'_>, transfer: Option<Transfer>) -> fmt::Result {
    let Some(Transfer { from, to, half }) = transfer else {
        return writeln!(out);
    };
    let half = match half {
        TransferHalf::Release => "release",
        TransferHalf::Acquire => "acquire",
    };
    writeln!(out, " {half} {from} -> {to}")
}

fn write_reason(out: &mut Formatter<'_>, reason: &Reason, names: &Names<'_>) -> fmt::Result {
    write!(
        out,
        "      because {} {:?} ",
        names.resource(reason.resource),
        reason.dependency_kind
    )?;
    write_pass_ref(out, &reason.earlier, names)?;
    write!(out, " -> ")?;
    write_pass_ref(out, &reason.later, names)?;
    writeln!(out)
}

fn write_pass_ref(out: &mut Formatter<'_>, pass: &PassRef, names: &Names<'_>) -> fmt::Result {
    match pass {
        PassRef::Pass(pass) => write!(out, "pass {}", names.pass(*pass)),
        PassRef::Earlier(name) => write!(out, "earlier {}", Name(name)),
        PassRef::Next(name) => write!(out, "next {}", Name(name)),
        PassRef::Presentation => write!(out, "presentation"),
        PassRef::None => write!(out, "none"),
    }
}

/// `STAGES ACCESS -> STAGES ACCESS`.
struct Scopes(Scope, Scope);

impl Display for Scopes {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Scopes(src, dst) = self;
        write!(out, "{} {}", Flags(src.stages), Flags(src.access))?;
        write!(out, " -> {} {}", Flags(dst.stages), Flags(dst.access))
    }
}
